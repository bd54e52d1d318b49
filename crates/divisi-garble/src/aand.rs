//! Authenticated AND triples: Pi_aAND of Fig. 18 over Pi_LaAND.
//!
//! Leaky triples are put into buckets by a coin that follows all of them \[W16\]; in each bucket they are combined to one triple of which
//! nothing is known unless every one in it was spoiled. The sizes are those of [`divisi_ot::bucket`] \[W18\].

use crate::laand::{Ground, laand};
use crate::open::{Opening, Tags};
use crate::share::{Seats, Shares, View, spread};
use crate::triples::Triples;
use divisi_core::{Abort, Check, Prg, Session, Step, step};
use divisi_ot::kept::Keep;
use divisi_ot::{Kept, Setup};
use std::ops::BitXor;

const D: Step = step!("3.d");

/// Triples from random shares of three bits for each of `m` leaky ones: all x, all y, all r; what stands behind them stays as it
/// is. Six rounds.
pub(crate) fn aand(
    session: &mut Session,
    setup: &mut Setup,
    ground: &Ground<'_>,
    bucket: usize,
    m: usize,
    random: &mut Shares,
) -> Result<Triples, Abort> {
    // 1. l B leaky triples
    let (x, y, mut z) = random.thirds(m);
    let partition = laand(session, setup, ground, &x, &y, &mut z)?;
    // 2. into buckets
    let order = permutation(&partition, m);
    // 3.(a) d = y_1 + y_k for every other one of a bucket, opened with MACs
    let d = differences(y.bits, &order, bucket);
    let opened = open_differences(session, ground.seats, &d, &y, &order, bucket, setup.delta().get())?;
    // 3.(b)
    Ok(combine([&x, &y, &z.view()], &order, bucket, &opened))
}

/// Step 3(a) \[W17\]: our differences `d` to all, with their MACs; the sums of everybody's. One round.
pub(crate) fn open_differences(
    session: &mut Session,
    seats: Seats,
    d: &[u8],
    y: &View<'_>,
    order: &[u32],
    bucket: usize,
    delta: u128,
) -> Result<Vec<u8>, Abort> {
    let opening = Opening::new(session, seats, D);
    for (place, peer) in session.peers().into_iter().enumerate() {
        let mut body = Vec::with_capacity(Opening::len(d.len()));
        let macs = |tags: &mut Tags| {
            let y = y.macs[place];
            buckets(order, bucket, |b| {
                let first = y[b[0] as usize];
                b[1..].iter().for_each(|k| tags.push(first ^ y[*k as usize]));
            });
        };
        opening.tell_of(session, place, d, macs, &mut body);
        session.send(D, peer, &body, d.len() as u64)?;
    }
    let mut sum = d.to_vec();
    let mut body = vec![0; Opening::len(d.len())];
    for (place, peer) in session.peers().into_iter().enumerate() {
        session.recv(D, peer, &mut body)?;
        let expected = |told: &[u8], tags: &mut Tags| {
            let y = y.keys[place];
            let mut told = told.iter();
            buckets(order, bucket, |b| {
                let first = y[b[0] as usize];
                for (k, bit) in b[1..].iter().zip(&mut told) {
                    tags.push(first ^ y[*k as usize] ^ spread(*bit) & delta);
                }
            });
        };
        let told = opening.hear_of(session, Check::W17, place, d.len(), expected, &body)?; // [W17]
        sum.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
    }
    Ok(sum)
}

/// A uniform order of `m` things, from a coin.
pub(crate) fn permutation(coin: &[u8; 16], m: usize) -> Vec<u32> {
    let mut prg = Prg::new(coin);
    let mut words = [0; 128];
    let mut used = words.len();
    let mut order: Vec<u32> = (0..m as u32).collect();
    for last in (1..m).rev() {
        // uniform below last + 1: the high half of a product, unless the low half is among the few that come too often
        let below = last as u64 + 1;
        let drawn = loop {
            if used == words.len() {
                prg.words(&mut words);
                used = 0;
            }
            let product = u128::from(words[used]) * u128::from(below);
            used += 1;
            let low = product as u64;
            if low >= below || low >= below.wrapping_neg() % below {
                break product >> 64;
            }
        };
        order.swap(last, drawn as usize);
    }
    order
}

/// Go through the buckets. The usual sizes are constants in `f`.
#[inline(always)]
fn buckets(order: &[u32], bucket: usize, mut f: impl FnMut(&[u32])) {
    match bucket {
        3 => order.as_chunks::<3>().0.iter().for_each(|b| f(b)),
        4 => order.as_chunks::<4>().0.iter().for_each(|b| f(b)),
        5 => order.as_chunks::<5>().0.iter().for_each(|b| f(b)),
        _ => order.chunks_exact(bucket).for_each(f),
    }
}

/// Our shares of d.
pub(crate) fn differences(y: &[u8], order: &[u32], bucket: usize) -> Vec<u8> {
    let mut d = Vec::with_capacity(order.len() / bucket * (bucket - 1));
    buckets(order, bucket, |b| {
        let first = y[b[0] as usize];
        b[1..].iter().for_each(|k| d.push(first ^ y[*k as usize]));
    });
    d
}

/// x = sum of x_k, y = y_1, z = sum of z_k + d_k x_k.
pub(crate) fn combine([x, y, z]: [&View<'_>; 3], order: &[u32], bucket: usize, d: &[u8]) -> Triples {
    let count = order.len() / bucket;
    let mut made = Triples::default();
    (made.x.bits, made.y.bits, made.z.bits) =
        combined([x.bits, y.bits, z.bits], order, bucket, d, count, |d, x| d & x);
    let masked = |d: u8, x: u128| spread(d) & x;
    for place in 0..x.macs.len() {
        let of = [x.macs[place], y.macs[place], z.macs[place]];
        let (x, y, z) = combined(of, order, bucket, d, count, masked);
        made.x.macs.push(x);
        made.y.macs.push(y);
        made.z.macs.push(z);
    }
    for place in 0..x.keys.len() {
        let of = [x.keys[place], y.keys[place], z.keys[place]];
        let (x, y, z) = combined(of, order, bucket, d, count, masked);
        made.x.keys.push(x);
        made.y.keys.push(y);
        made.z.keys.push(z);
    }
    made
}

/// The same for what one peer's words are of the three, or our bits.
#[inline(always)]
fn combined<T: Keep + BitXor<Output = T>>(
    [x, y, z]: [&[T]; 3],
    order: &[u32],
    bucket: usize,
    d: &[u8],
    count: usize,
    times: impl Fn(u8, T) -> T,
) -> (Kept<T>, Kept<T>, Kept<T>) {
    let room = || Kept::with_capacity(count);
    let (mut xs, mut ys, mut zs): (Kept<T>, Kept<T>, Kept<T>) = (room(), room(), room());
    let mut d = d.iter();
    buckets(order, bucket, |b| {
        let first = b[0] as usize;
        let (mut sum_x, mut sum_z) = (x[first], z[first]);
        for (k, d) in b[1..].iter().zip(&mut d) {
            let x = x[*k as usize];
            sum_x = sum_x ^ x;
            sum_z = sum_z ^ z[*k as usize] ^ times(*d, x);
        }
        xs.push(sum_x);
        ys.push(y[first]);
        zs.push(sum_z);
    });
    (xs, ys, zs)
}
