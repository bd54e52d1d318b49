//! Authenticated AND triples: Pi_aAND of Fig. 18 over Pi_LaAND.
//!
//! Leaky triples are put into buckets by a coin that follows all of them \[W16\]; in each bucket they are combined to one triple of which
//! nothing is known unless every one in it was spoiled. The sizes are those of [`divisi_ot::bucket`] \[W18\].

use crate::laand::{Ground, laand};
use crate::open::Opening;
use crate::share::{Seats, Shares, View, spread};
use crate::triples::Triples;
use divisi_core::{Abort, Check, Prg, Session, Step, step};
use divisi_ot::Setup;

const D: Step = step!("3.d");

/// Triples from random shares of three bits for each of `m` leaky ones: all x, all y, all r. Six rounds.
pub(crate) fn aand(
    session: &mut Session,
    setup: &mut Setup,
    ground: &Ground<'_>,
    bucket: usize,
    m: usize,
    random: &Shares,
) -> Result<Triples, Abort> {
    // 1. l B leaky triples
    let (x, y) = (random.view(0..m), random.view(m..2 * m));
    let leaky = laand(session, setup, ground, &x, &y, random.copy(2 * m..3 * m))?;
    // 2. into buckets
    let order = permutation(&leaky.partition, m);
    // 3.(a) d = y_1 + y_k for every other one of a bucket, opened with MACs
    let d = differences(ground.seats, &y, &order, bucket);
    let opened = open_differences(session, ground.seats, &d, setup.delta().get())?;
    // 3.(b)
    Ok(combine([&x, &y, &leaky.z.view(0..m)], &order, bucket, &opened))
}

/// Step 3(a) \[W17\].
pub(crate) fn open_differences(
    session: &mut Session,
    seats: Seats,
    d: &Shares,
    delta: u128,
) -> Result<Vec<u8>, Abort> {
    Opening::new(session, seats, D).to_all(session, Check::W17, &[d], delta) // [W17]
}

/// A uniform order of `m` things, from a coin.
pub(crate) fn permutation(coin: &[u8; 16], m: usize) -> Vec<u32> {
    let mut prg = Prg::new(coin);
    let mut words = [0; 128];
    let mut used = words.len();
    let mut order: Vec<u32> = (0..m as u32).collect();
    for last in (1..m).rev() {
        // uniform below last + 1: what lies beyond the last multiple of it, and that is little, is drawn again
        let below = last as u64 + 1;
        let drawn = loop {
            if used == words.len() {
                prg.words(&mut words);
                used = 0;
            }
            let word = words[used];
            used += 1;
            if word <= u64::MAX - below || word < u64::MAX - u64::MAX % below {
                break word;
            }
        };
        order.swap(last, (drawn % below) as usize);
    }
    order
}

pub(crate) fn differences(seats: Seats, y: &View<'_>, order: &[u32], bucket: usize) -> Shares {
    let count = order.len() / bucket * (bucket - 1);
    let mut d = Shares { bits: Vec::with_capacity(count), macs: Vec::new(), keys: Vec::new() };
    for b in order.chunks_exact(bucket) {
        let first = y.bits[b[0] as usize];
        d.bits.extend(b[1..].iter().map(|k| first ^ y.bits[*k as usize]));
    }
    let sums = |words: &[u128]| {
        let mut sums = Vec::with_capacity(count);
        for b in order.chunks_exact(bucket) {
            let first = words[b[0] as usize];
            sums.extend(b[1..].iter().map(|k| first ^ words[*k as usize]));
        }
        sums
    };
    for place in 0..seats.peers() {
        d.macs.push(sums(y.macs[place]));
        d.keys.push(sums(y.keys[place]));
    }
    d
}

/// x = sum of x_k, y = y_1, z = sum of z_k + d_k x_k.
pub(crate) fn combine([x, y, z]: [&View<'_>; 3], order: &[u32], bucket: usize, d: &[u8]) -> Triples {
    let buckets = || order.chunks_exact(bucket);
    let bits = |of: &dyn Fn(&[u32], &[u8]) -> u8| -> Vec<u8> {
        buckets().zip(d.chunks_exact(bucket - 1)).map(|(b, d)| of(b, d)).collect()
    };
    let at = |k: &u32| *k as usize;
    let sum_x = |words: &[u128]| -> Vec<u128> {
        buckets().map(|b| b.iter().fold(0, |sum, k| sum ^ words[at(k)])).collect()
    };
    let first_y = |words: &[u128]| -> Vec<u128> { buckets().map(|b| words[at(&b[0])]).collect() };
    let sum_z = |z: &[u128], x: &[u128]| -> Vec<u128> {
        let sum = |(b, d): (&[u32], &[u8])| {
            let rest = b[1..].iter().zip(d);
            rest.fold(z[at(&b[0])], |sum, (k, d)| sum ^ z[at(k)] ^ spread(*d) & x[at(k)])
        };
        buckets().zip(d.chunks_exact(bucket - 1)).map(sum).collect()
    };
    let pairs = |z: &[&[u128]], x: &[&[u128]]| z.iter().zip(x).map(|(z, x)| sum_z(z, x)).collect();
    Triples {
        x: Shares {
            bits: bits(&|b, _| b.iter().fold(0, |sum, k| sum ^ x.bits[at(k)])),
            macs: x.macs.iter().map(|words| sum_x(words)).collect(),
            keys: x.keys.iter().map(|words| sum_x(words)).collect(),
        },
        y: Shares {
            bits: bits(&|b, _| y.bits[at(&b[0])]),
            macs: y.macs.iter().map(|words| first_y(words)).collect(),
            keys: y.keys.iter().map(|words| first_y(words)).collect(),
        },
        z: Shares {
            bits: bits(&|b, d| {
                let rest = b[1..].iter().zip(d);
                rest.fold(z.bits[at(&b[0])], |sum, (k, d)| sum ^ z.bits[at(k)] ^ d & x.bits[at(k)])
            }),
            macs: pairs(&z.macs, &x.macs),
            keys: pairs(&z.keys, &x.keys),
        },
    }
}
