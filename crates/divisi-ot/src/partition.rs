//! Distributes items, some of which may be spoiled, among buckets, by a coin that is tossed after all of them
//! are fixed.
//!
//! A bucket hides what its items leak unless every one of them was spoiled. [`crate::bucket`] computes how
//! large buckets must be. There are two ways, with different bounds:
//!
//! - [`Partition::new`]: every item goes to a random place, also the first item of each bucket (WRK17, Figure
//!   18, step 2; bound [`crate::bucket::size`]).
//! - [`Partition::behind_firsts`]: the first item of each bucket is fixed before the coin, and only the
//!   others are distributed (bound [`crate::bucket::size_behind_firsts`]). Some data is then needed for the
//!   first items alone.
//!
//! All loops read the items in order. Only the buckets' results are accessed at random places; they are
//! smaller and stay in the cache.

use crate::purposes;
use divisi_core::Prg;
use divisi_core::wipe::{Wipe, WipedVec};
use std::ops::BitXor;

/// An assignment of items to buckets.
pub struct Partition {
    /// The bucket of each item.
    to: Vec<u32>,
    /// The items that are the first of their buckets, in order.
    firsts: Vec<u32>,
    /// All others, in order.
    others: Vec<u32>,
}

impl Partition {
    /// A uniform partition of `m` items into buckets of `bucket` items each, derived from a coin.
    ///
    /// # Panics
    /// If `bucket` is zero.
    #[must_use]
    pub fn new(coin: &[u8; 16], m: usize, bucket: usize) -> Partition {
        // the places of all buckets: the number of the bucket, and in the lowest bit whether it is the first
        // place
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

    /// Item b is the first one of bucket b, for b below `buckets`. The items after them, `bucket` - 1 for
    /// each bucket, are distributed uniformly by a coin.
    ///
    /// # Panics
    /// If `bucket` is zero.
    #[must_use]
    pub fn behind_firsts(coin: &[u8; 16], buckets: usize, bucket: usize) -> Partition {
        let firsts: Vec<u32> = (0..buckets as u32).collect();
        let mut spread: Vec<u32> = firsts.iter().flat_map(|b| (1..bucket).map(move |_| *b)).collect();
        shuffle(coin, &mut spread);
        let others = (buckets as u32..(buckets * bucket) as u32).collect();
        let to = [firsts.as_slice(), &spread].concat();
        Partition { to, firsts, others }
    }

    /// How many buckets there are.
    #[inline]
    #[must_use]
    pub fn buckets(&self) -> usize {
        self.firsts.len()
    }

    /// The bucket of each item, in order.
    #[inline]
    #[must_use]
    pub fn to(&self) -> &[u32] {
        &self.to
    }

    /// The bucket of an item.
    ///
    /// # Panics
    /// If there is no such item.
    #[must_use]
    pub fn bucket_of(&self, item: usize) -> usize {
        self.to[item] as usize
    }

    /// The items that are the first of their buckets, in order.
    #[must_use]
    pub fn first_items(&self) -> &[u32] {
        &self.firsts
    }

    /// Each item that is not the first one of its bucket, with the first item of the bucket, in order.
    pub fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let mut firsts = vec![0; self.firsts.len()];
        self.firsts.iter().for_each(|t| firsts[self.to[*t as usize] as usize] = *t);
        self.others.iter().map(move |t| [*t, firsts[self.to[*t as usize] as usize]])
    }

    /// The words of the buckets' first items, one for each bucket.
    ///
    /// # Panics
    /// If there are fewer words than items.
    #[must_use]
    pub fn firsts<T: Wipe>(&self, words: &[T]) -> WipedVec<T> {
        let mut firsts = WipedVec::<T>::zeros(self.firsts.len());
        for t in &self.firsts {
            firsts[self.to[*t as usize] as usize] = words[*t as usize];
        }
        firsts
    }

    /// For each item that is not the first one of its bucket, in order: the difference between its word and
    /// that of the bucket's first item. The words are bits, MACs, or keys.
    pub fn differences<T: Wipe + BitXor<Output = T>>(
        &self,
        firsts: &[T],
        words: &[T],
    ) -> impl Iterator<Item = T> {
        self.others.iter().map(|t| firsts[self.to[*t as usize] as usize] ^ words[*t as usize])
    }

    /// Expands words of the items that are not first ones to words of all items: zero for the first ones.
    #[must_use]
    pub fn of_all<T: Copy + Default>(&self, d: &[T]) -> Vec<T> {
        let mut all = vec![T::default(); self.to.len()];
        self.others.iter().zip(d).for_each(|(t, d)| all[*t as usize] = *d);
        all
    }
}

/// Puts things into a uniformly random order, derived from a coin.
pub fn shuffle(coin: &[u8; 16], things: &mut [u32]) {
    let mut prg = Prg::of(purposes::SHUFFLE, coin);
    let mut words = [0; 128];
    let mut used = words.len();
    for last in (1..things.len()).rev() {
        // uniform below last + 1: the high half of a product; a low half among the few values that would be
        // too frequent is rejected
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bucket gets its number of items, one of them first, and each item goes to each bucket about
    /// equally often.
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

    /// Each item comes to each place equally often, also the first one to its neighbour's.
    #[test]
    fn every_item_comes_to_every_place() {
        let (runs, count) = (6000_u64, 7);
        let mut often = vec![0_u64; count * count];
        for run in 0..runs {
            let mut coin = [0; 16];
            coin[..8].copy_from_slice(&run.to_le_bytes());
            let mut things: Vec<u32> = (0..count as u32).collect();
            shuffle(&coin, &mut things);
            things.iter().enumerate().for_each(|(at, thing)| often[at * count + *thing as usize] += 1);
        }
        let mean = runs as f64 / count as f64;
        let off = often.iter().map(|n| (*n as f64 - mean).powi(2) / mean).sum::<f64>();
        let degrees = ((count - 1) * (count - 1)) as f64;
        assert!(off < degrees + 6.0 * (2.0 * degrees).sqrt(), "{off}");
    }

    /// Long lists are shuffled from their first item to their last: as few items keep their place as by
    /// chance, one in the mean.
    #[test]
    fn long_lists_are_shuffled_from_end_to_end() {
        let mut things: Vec<u32> = (0..50_000).collect();
        shuffle(&[9; 16], &mut things);
        assert!((0..).zip(&things).filter(|(i, thing)| i == *thing).count() < 12);
        assert!(things.iter().take(1000).filter(|thing| **thing < 25_000).count() < 650);
        things.sort_unstable();
        assert!(things.into_iter().eq(0..50_000));
    }

    /// The first items stay fixed, and the others are distributed evenly.
    #[test]
    fn others_are_spread_behind_their_firsts() {
        let (buckets, bucket) = (12, 3);
        let mut first = vec![0_u64; buckets];
        let runs = 6_000_u32;
        for run in 0..runs {
            let mut coin = [0; 16];
            coin[..4].copy_from_slice(&run.to_le_bytes());
            let partition = Partition::behind_firsts(&coin, buckets, bucket);
            let mut many = vec![0; buckets];
            partition.to().iter().for_each(|to| many[*to as usize] += 1);
            assert!(many.iter().all(|many| *many == bucket));
            assert!((0..buckets).all(|b| partition.bucket_of(b) == b));
            assert_eq!((partition.first_items().len(), partition.others.len()), (buckets, 2 * buckets));
            assert!(partition.pairs().all(|[t, first]| partition.bucket_of(t as usize) == first as usize));
            first[partition.bucket_of(buckets)] += 1;
        }
        let expected = f64::from(runs) / buckets as f64;
        let off: f64 = first.iter().map(|n| (*n as f64 - expected).powi(2) / expected).sum();
        let degrees = buckets as f64 - 1.0;
        assert!(off < degrees + 6.0 * (2.0 * degrees).sqrt(), "{off}");
    }

    /// Each word stands at its item, also that of the last one, and first items have none.
    #[test]
    fn words_of_others_stand_at_their_items() {
        for run in 0..20 {
            let partition = Partition::new(&[run; 16], 12, 3);
            let words: Vec<u64> = (100..112).collect();
            let firsts = partition.firsts(&words);
            let d: Vec<u64> = partition.differences(&firsts, &words).collect();
            let all = partition.of_all(&d);
            for (t, word) in words.iter().enumerate() {
                let bucket = partition.bucket_of(t);
                let first = |t: &&u32| partition.bucket_of(**t as usize) == bucket;
                let first = words[*partition.firsts.iter().find(first).unwrap() as usize];
                assert_eq!((firsts[bucket], all[t] ^ first, all.len()), (first, *word, 12), "{run} {t}");
            }
        }
    }
}
