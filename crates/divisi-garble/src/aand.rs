//! Authenticated AND triples: Pi_aAND of Fig. 18 over Pi_LaAND.
//!
//! Leaky triples are put into buckets by a coin that follows all of them \[W16\]; in each bucket they are combined to one triple of which
//! nothing is known unless every one in it was spoiled. The sizes are those of [`divisi_ot::bucket`] \[W18\].

use crate::ground::Ground;
use crate::laand::laand;
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
    let partition = Partition::new(&partition, m, bucket);
    // 3.(a) d = y_1 + y_k for every other one of a bucket, opened with MACs
    let firsts = partition.first_shares(&y);
    let d = partition.difference_bits(&firsts, y.bits);
    let opened = open_differences(session, ground.seats, &d, &firsts, &y, &partition, setup.delta().get())?;
    // 3.(b)
    Ok(combine([&x, &z.view()], firsts, &partition, &opened))
}

/// Which triple goes into which bucket. All loops go through the triples in order, and only what comes out of the buckets is
/// reached at random: it is smaller, and stays near.
pub(crate) struct Partition {
    /// The bucket of each triple.
    to: Vec<u32>,
    /// The triples that are the first of their buckets, in order.
    firsts: Vec<u32>,
    /// All others, in order.
    others: Vec<u32>,
}

impl Partition {
    /// A uniform partition, from a coin.
    pub fn new(coin: &[u8; 16], m: usize, bucket: usize) -> Partition {
        // the places of all buckets, of each the first one marked by its lowest bit
        let places = |b: u32| (0..bucket).map(move |k| b << 1 | u32::from(k == 0));
        let mut to: Vec<u32> = (0..(m / bucket) as u32).flat_map(places).collect();
        shuffle(coin, &mut to);
        let buckets = m / bucket;
        let mut kinds = [vec![0; to.len() - buckets], vec![0; buckets]];
        let mut counts = [0; 2];
        for (t, place) in to.iter_mut().enumerate() {
            let first = (*place & 1) as usize;
            kinds[first][counts[first]] = t as u32;
            counts[first] += 1;
            *place >>= 1;
        }
        let [others, firsts] = kinds;
        Partition { to, firsts, others }
    }

    /// The bucket of a triple.
    #[cfg(any(test, feature = "testing"))]
    pub fn bucket_of(&self, triple: usize) -> usize {
        self.to[triple] as usize
    }

    /// Each triple that is not the first one of its bucket, with the one that is, in order.
    #[cfg(any(test, feature = "testing"))]
    pub fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let mut firsts = vec![0; self.firsts.len()];
        self.firsts.iter().for_each(|t| firsts[self.to[*t as usize] as usize] = *t);
        self.others.iter().map(move |t| [*t, firsts[self.to[*t as usize] as usize]])
    }

    /// Of each bucket the word of its first triple.
    fn firsts<T: Keep>(&self, words: &[T]) -> Kept<T> {
        let mut firsts = Kept::<T>::zeros(self.firsts.len());
        for t in &self.firsts {
            firsts[self.to[*t as usize] as usize] = words[*t as usize];
        }
        firsts
    }

    /// Of each bucket the share of its first triple.
    pub fn first_shares(&self, y: &View<'_>) -> Shares {
        Shares {
            bits: self.firsts(y.bits),
            macs: y.macs.iter().map(|words| self.firsts(words)).collect(),
            keys: y.keys.iter().map(|words| self.firsts(words)).collect(),
        }
    }

    /// What `words` of all triples that are not the first ones differ by from the word of their bucket's first one, in order: the bits of
    /// d, or their MACs, or their keys.
    fn differences<T: Keep + BitXor<Output = T>>(
        &self,
        firsts: &[T],
        words: &[T],
    ) -> impl Iterator<Item = T> {
        self.others.iter().map(|t| firsts[self.to[*t as usize] as usize] ^ words[*t as usize])
    }

    /// Our bits of d.
    pub fn difference_bits(&self, firsts: &Shares, y: &[u8]) -> Vec<u8> {
        self.differences(&firsts.bits, y).collect()
    }

    /// Bits of those that are not the first ones as bits of all: zero for the first ones.
    fn of_all(&self, d: &[u8]) -> Vec<u8> {
        let mut all = vec![0; self.to.len()];
        self.others.iter().zip(d).for_each(|(t, d)| all[*t as usize] = *d);
        all
    }
}

/// Step 3(a) \[W17\]: our differences `d` to all, with their MACs; the sums of everybody's. One round.
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
        opening.tell_of(session, place, d, macs, &mut body);
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
        let told = opening.hear_of(session, Check::W17, place, d.len(), expected, &body)?; // [W17]
        sum.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
    }
    Ok(sum)
}

/// Put things into a uniform order, from a coin.
pub(crate) fn shuffle(coin: &[u8; 16], things: &mut [u32]) {
    let mut prg = Prg::new(coin);
    let mut words = [0; 128];
    let mut used = words.len();
    for last in (1..things.len()).rev() {
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
        things.swap(last, drawn as usize);
    }
}

/// x = sum of x_k, y = y_1, z = sum of z_k + d_k x_k.
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

/// x and z of one peer's words, or of our bits.
fn combined<T: Keep + BitXor<Output = T>>(
    x: &[T],
    z: &[T],
    partition: &Partition,
    d: &[u8],
    times: impl Fn(u8, T) -> T,
) -> (Kept<T>, Kept<T>) {
    // both sums of a bucket lie side by side, so that each triple reaches to one place
    let mut sums = Kept::<T>::zeros(2 * partition.firsts.len());
    let pairs = sums.as_chunks_mut::<2>().0;
    for (((to, d), x), z) in partition.to.iter().zip(d).zip(x).zip(z) {
        let pair = &mut pairs[*to as usize];
        *pair = [pair[0] ^ *x, pair[1] ^ *z ^ times(*d, *x)];
    }
    (pairs.iter().map(|pair| pair[0]).collect(), pairs.iter().map(|pair| pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bucket gets its number of triples, one of them first, and each triple ends in each bucket about equally often.
    #[test]
    fn partitions_are_whole_and_uniform() {
        for (m, bucket) in [(6, 3), (40, 4), (7 * 34, 7)] {
            let runs = 4000_u64;
            let mut first = vec![0_u64; m / bucket];
            for run in 0..runs {
                let mut coin = [0; 16];
                coin[..8].copy_from_slice(&run.to_le_bytes());
                let partition = Partition::new(&coin, m, bucket);
                let mut many = vec![(0, 0); m / bucket];
                partition.to.iter().for_each(|to| many[*to as usize].0 += 1);
                partition.firsts.iter().for_each(|t| many[partition.bucket_of(*t as usize)].1 += 1);
                let mut both = [&partition.firsts[..], &partition.others].concat();
                both.sort_unstable();
                assert!(both.into_iter().eq(0..m as u32));
                assert!(many.iter().all(|many| *many == (bucket, 1)));
                first[partition.to[0] as usize] += 1;
            }
            let mean = runs as f64 / first.len() as f64;
            let off = first.iter().map(|n| (*n as f64 - mean).powi(2) / mean).sum::<f64>();
            let degrees = first.len() as f64 - 1.0;
            assert!(off < degrees + 6.0 * (2.0 * degrees).sqrt(), "{m} {bucket} {off}");
        }
    }

    /// d and the three combinations, against their definition bucket by bucket.
    #[test]
    fn buckets_are_combined() {
        let (m, bucket) = (40, 4);
        let partition = Partition::new(&[3; 16], m, bucket);
        let words = |salt: u128| -> Vec<u128> { (1..=m as u128).map(|t| (t * salt).pow(3)).collect() };
        let (x, y, z) = (words(3), words(5), words(7));
        let bits: Vec<u8> = y.iter().map(|y| (y >> 3 & 1) as u8).collect();
        let view = View { bits: &bits, macs: vec![&y], keys: vec![] };
        let firsts = partition.first_shares(&view);
        let d = partition.difference_bits(&firsts, &bits);
        let (sum_x, sum_z) = combined(&x, &z, &partition, &partition.of_all(&d), |d, x: u128| spread(d) & x);
        for b in 0..m / bucket {
            let of: Vec<usize> = (0..m).filter(|t| partition.bucket_of(*t) == b).collect();
            let first = of.iter().copied().find(|t| partition.firsts.contains(&(*t as u32))).unwrap();
            assert_eq!((firsts.macs[0][b], firsts.bits[b]), (y[first], bits[first]));
            assert_eq!(sum_x[b], of.iter().fold(0, |sum, t| sum ^ x[*t]));
            let z_of = |t: &usize| z[*t] ^ spread(bits[*t] ^ bits[first]) & x[*t];
            assert_eq!(sum_z[b], of.iter().fold(0, |sum, t| sum ^ z_of(t)));
        }
        assert_eq!(d.len(), m - m / bucket);
    }
}
