//! Authenticated AND triples: Pi_aAND of Fig. 18 over Pi_LaAND.
//!
//! Leaky triples are put into buckets by a coin that is tossed after all of them are fixed \[W16\]. Each
//! bucket is combined to one triple, of which the adversary knows something only if it guessed a bit of every
//! triple in the bucket. [`divisi_ot::bucket`] has the sizes of buckets \[W18\].

use crate::checks;
use crate::context::TripleContext;
use crate::laand::laand;
use crate::open::{Opening, Tags};
use crate::share::{Seats, Shares, View, spread};
use crate::triples::Triples;
use divisi_core::wipe::{Wipe, WipedVec};
use divisi_core::{Abort, Session, Step, step};
use divisi_ot::Setup;
use divisi_ot::partition::Partition;
use std::ops::BitXor;

const D: Step = step!("3.d");

/// Makes triples from random authenticated bits, three for each of the `m` leaky triples: all x, then all y,
/// then all r. Shares in `random` after these 3 `m` are not touched. Six rounds between two parties, seven
/// among more.
pub(crate) fn aand(
    session: &mut Session,
    setup: &mut Setup,
    context: &TripleContext<'_>,
    bucket: usize,
    m: usize,
    random: &mut Shares,
) -> Result<Triples, Abort> {
    // 1. l B leaky triples
    let (x, y, mut z) = random.thirds(m);
    let partition = laand(session, setup, context, &x, &y, &mut z)?;
    // 2. into buckets
    let partition = Partition::new(&partition, m, bucket);
    // 3.(a) d_k = y_1 + y_k for every triple of a bucket but the first, opened with MACs
    let firsts = first_shares(&partition, &y);
    let d = difference_bits(&partition, &firsts, y.bits);
    let opened = open_differences(session, context.seats, &d, &firsts, &y, &partition, setup.delta().get())?;
    // 3.(b)
    Ok(combine([&x, &z.view()], firsts, &partition, &opened))
}

/// The share of the first triple of each bucket.
pub(crate) fn first_shares(partition: &Partition, y: &View<'_>) -> Shares {
    Shares {
        bits: partition.firsts(y.bits),
        macs: y.macs.iter().map(|words| partition.firsts(words)).collect(),
        keys: y.keys.iter().map(|words| partition.firsts(words)).collect(),
    }
}

/// Our share of each difference d.
pub(crate) fn difference_bits(partition: &Partition, firsts: &Shares, y: &[u8]) -> Vec<u8> {
    partition.differences(&firsts.bits, y).collect()
}

/// Step 3(a) \[W17\]: sends our shares `d` of the differences to all, with their MACs; returns the
/// differences. One round.
pub(crate) fn open_differences(
    session: &mut Session,
    seats: Seats,
    d: &[u8],
    firsts: &Shares,
    y: &View<'_>,
    partition: &Partition,
    delta: u128,
) -> Result<Vec<u8>, Abort> {
    let opening = Opening::new(session, seats, D);
    for (place, peer) in session.peers().into_iter().enumerate() {
        let mut body = Vec::with_capacity(Opening::len(d.len()));
        let macs = |tags: &mut Tags| {
            let macs = partition.differences(&firsts.macs[place], y.macs[place]);
            macs.for_each(|mac| tags.push(mac));
        };
        opening.append_bits(session, place, d, macs, &mut body);
        session.send(D, peer, &body, d.len() as u64)?;
    }
    let mut sum = d.to_vec();
    let mut body = vec![0; Opening::len(d.len())];
    for (place, peer) in session.peers().into_iter().enumerate() {
        session.recv(D, peer, &mut body)?;
        let expected = |told: &[u8], tags: &mut Tags| {
            let keys = partition.differences(&firsts.keys[place], y.keys[place]);
            keys.zip(told).for_each(|(key, bit)| tags.push(key ^ spread(*bit) & delta));
        };
        let told = opening.read_bits(session, checks::W17, place, d.len(), expected, &body)?; // [W17]
        sum.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
    }
    Ok(sum)
}

/// Step 3(b): x = sum of x_k, y = y_1, z = sum of z_k + d_k x_k.
pub(crate) fn combine([x, z]: [&View<'_>; 2], firsts: Shares, partition: &Partition, d: &[u8]) -> Triples {
    let d = partition.of_all(d);
    let mut made = Triples { y: firsts, ..Triples::default() };
    let bit = |d: u8, x: u8| d & x;
    (made.x.bits, made.z.bits) = combined(x.bits, z.bits, partition, &d, bit);
    let word = |d: u8, x: u128| spread(d) & x;
    for place in 0..x.macs.len() {
        let (of_x, of_z) = combined(x.macs[place], z.macs[place], partition, &d, word);
        made.x.macs.push(of_x);
        made.z.macs.push(of_z);
        let (of_x, of_z) = combined(x.keys[place], z.keys[place], partition, &d, word);
        made.x.keys.push(of_x);
        made.z.keys.push(of_z);
    }
    made
}

/// The combined x and z: of one peer's words, or of our bits.
fn combined<T: Wipe + BitXor<Output = T>>(
    x: &[T],
    z: &[T],
    partition: &Partition,
    d: &[u8],
    times: impl Fn(u8, T) -> T,
) -> (WipedVec<T>, WipedVec<T>) {
    // both sums of a bucket are neighbours in memory, so that each triple touches one place
    let mut sums = WipedVec::<T>::zeros(2 * partition.buckets());
    let pairs = sums.as_chunks_mut::<2>().0;
    for (((to, d), x), z) in partition.to().iter().zip(d).zip(x).zip(z) {
        let pair = &mut pairs[*to as usize];
        *pair = [pair[0] ^ *x, pair[1] ^ *z ^ times(*d, *x)];
    }
    (pairs.iter().map(|pair| pair[0]).collect(), pairs.iter().map(|pair| pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "testing")]
    use crate::{hash::Oracle, lab::GarbleLab};
    #[cfg(feature = "testing")]
    use divisi_core::testing::run;
    #[cfg(feature = "testing")]
    use std::collections::HashSet;

    /// \[W16\] Which triples share a bucket is known when all of them are made, and not before: each batch of
    /// a session has a coin of its own for it, the same at all parties.
    #[cfg(feature = "testing")]
    #[test]
    fn buckets_of_a_batch_are_its_own() {
        const M: usize = 50;
        const BATCHES: usize = 4;
        let lab = GarbleLab::default();
        let ends = run(2, &lab.parameters(), |mut session| {
            let session = &mut session;
            let mut setup = divisi_ot::testing::deal(session, lab.config, lab.seed)?;
            let (seats, oracle) = (Seats { me: session.me().index(), n: 2 }, Oracle::new(session));
            let mut seeds = Vec::new();
            for batch in 0..BATCHES {
                let mut bits = Shares::of(session.me(), setup.authenticated_bits(session, 3 * M)?);
                let (fresh, first) = (Shares::zero(1, 0), (batch * M) as u64);
                let context = TripleContext { seats, oracle: &oracle, form: lab.options.form, first, fresh };
                let (x, y, mut z) = bits.thirds(M);
                seeds.push(laand(session, &mut setup, &context, &x, &y, &mut z)?);
            }
            Ok(seeds)
        });
        let ends: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        assert_eq!(ends[0], ends[1]);
        assert_eq!(ends[0].iter().collect::<HashSet<_>>().len(), BATCHES);
    }

    /// Compares d and the three combinations with their definition, bucket by bucket.
    #[test]
    fn buckets_are_combined() {
        let (m, bucket) = (40, 4);
        let partition = Partition::new(&[3; 16], m, bucket);
        let words = |salt: u128| -> Vec<u128> { (1..=m as u128).map(|t| (t * salt).pow(3)).collect() };
        let (x, y, z) = (words(3), words(5), words(7));
        let bits: Vec<u8> = y.iter().map(|y| (y >> 3 & 1) as u8).collect();
        let view = View { bits: &bits, macs: vec![&y], keys: vec![] };
        let firsts = first_shares(&partition, &view);
        let d = difference_bits(&partition, &firsts, &bits);
        let (sum_x, sum_z) = combined(&x, &z, &partition, &partition.of_all(&d), |d, x: u128| spread(d) & x);
        for b in 0..m / bucket {
            let of: Vec<usize> = (0..m).filter(|t| partition.bucket_of(*t) == b).collect();
            let first = of.iter().copied().find(|t| partition.first_items().contains(&(*t as u32))).unwrap();
            assert_eq!((firsts.macs[0][b], firsts.bits[b]), (y[first], bits[first]));
            assert_eq!(sum_x[b], of.iter().fold(0, |sum, t| sum ^ x[*t]));
            let z_of = |t: &usize| z[*t] ^ spread(bits[*t] ^ bits[first]) & x[*t];
            assert_eq!(sum_z[b], of.iter().fold(0, |sum, t| sum ^ z_of(t)));
        }
        assert_eq!(d.len(), m - m / bucket);
    }
}
