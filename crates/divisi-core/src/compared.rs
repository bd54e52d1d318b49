//! Doors of comparisons: how many bits a check compares is told to tests.
//!
//! An honest run passes a comparison of one byte as well as one of all bytes, and a digest of everything but
//! the last item as well as one of all. So whoever compares goes through these doors: a digest that parties
//! compare is made by [`ComparedDigest::to_compare`], which knows how much was hashed; words that must be
//! equal go into a [`Difference`], bytes through [`same_bytes`], and a random combination says by
//! [`Session::covers`](crate::Session::covers) what was combined. In tests
//! [`Session::require`](crate::Session::require) adds up for each check what was compared for it, and nets
//! compare the sums with a list (docs/nets.md). In what ships these functions compare, and count nothing.

use subtle::ConstantTimeEq;

/// Digests that parties compare.
pub trait ComparedDigest {
    /// The digest of what was hashed, to be compared with that of another party.
    #[must_use]
    fn to_compare(&self) -> [u8; 32];
}

impl ComparedDigest for blake3::Hasher {
    #[inline]
    fn to_compare(&self) -> [u8; 32] {
        let digest = *self.finalize().as_bytes();
        #[cfg(feature = "testing")]
        tally::made(&digest, self.count());
        digest
    }
}

/// What differs between words that must be equal: the OR of all differences, so that one verdict is about all
/// of them.
#[derive(Default)]
#[must_use = "a difference that nobody demands to be zero is no check"]
pub struct Difference {
    found: u128,
    #[cfg(feature = "testing")]
    bits: u64,
}

impl Difference {
    /// Add the difference (XOR) of two words that must be equal.
    #[inline(always)]
    pub fn add(&mut self, difference: u128) {
        self.add_masked(difference, u128::MAX);
    }

    /// The same for words of which only these bits must be equal.
    #[inline(always)]
    pub fn add_masked(&mut self, difference: u128, bits: u128) {
        self.found |= difference & bits;
        #[cfg(feature = "testing")]
        {
            self.bits += u64::from(bits.count_ones());
        }
    }

    /// Add all that another difference has found.
    #[inline(always)]
    pub fn add_all(&mut self, other: &Difference) {
        self.found |= other.found;
        #[cfg(feature = "testing")]
        {
            self.bits += other.bits;
        }
    }

    /// Whether all words were equal. The caller makes the verdict public.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        #[cfg(feature = "testing")]
        tally::compared(self.bits);
        verdict(self.found == 0)
    }
}

/// Whether two lists of bytes are equal: all of them, in constant time.
#[must_use]
pub fn same_bytes(ours: &[u8], theirs: &[u8]) -> bool {
    #[cfg(feature = "testing")]
    tally::compared(8 * ours.len() as u64);
    verdict(ours.ct_eq(theirs).into())
}

/// Whether two digests are equal: all 32 bytes, in constant time. What was compared is what went into ours.
#[must_use]
pub(crate) fn same_digest(ours: &[u8; 32], theirs: &[u8; 32]) -> bool {
    #[cfg(feature = "testing")]
    tally::digests(ours);
    verdict(ours.ct_eq(theirs).into())
}

/// The outcome of a comparison. A run of a test may have it say that everything differs.
#[inline(always)]
fn verdict(same: bool) -> bool {
    #[cfg(feature = "testing")]
    let same = crate::draws::doubted(same);
    same
}

/// What this thread compared since its last check.
#[cfg(feature = "testing")]
pub(crate) mod tally {
    use std::cell::Cell;
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex, PoisonError};

    /// What was compared for a check.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Tally {
        /// How many bits, those that went into digests included.
        pub bits: u64,
        /// How many digests were compared that did not come from [`ComparedDigest`](super::ComparedDigest).
        pub unknown: u64,
    }

    thread_local! {
        static SINCE: Cell<Tally> = const { Cell::new(Tally { bits: 0, unknown: 0 }) };
    }

    /// How many bytes went into each digest: of those made last, and of as many before. A thread may compare
    /// what another one made.
    static MADE: LazyLock<Mutex<[HashMap<[u8; 32], u64>; 2]>> = LazyLock::new(Mutex::default);
    /// At least so many digests are remembered: long tests make millions, and compare each soon.
    const MOST: usize = 1 << 17;

    pub fn made(digest: &[u8; 32], bytes: u64) {
        let mut all = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let [last, before] = &mut *all;
        if last.len() >= MOST {
            *before = std::mem::take(last);
        }
        last.insert(*digest, bytes);
    }

    pub fn compared(bits: u64) {
        SINCE.with(|since| {
            let now = since.get();
            since.set(Tally { bits: now.bits + bits, ..now });
        });
    }

    pub fn digests(ours: &[u8; 32]) {
        let all = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = all.iter().find_map(|made| made.get(ours).copied());
        drop(all);
        compared(bytes.map_or(256, |bytes| 8 * bytes));
        if bytes.is_none() {
            SINCE.with(|since| {
                let now = since.get();
                since.set(Tally { unknown: now.unknown + 1, ..now });
            });
        }
    }

    /// What this thread compared since the last call.
    pub fn take() -> Tally {
        SINCE.with(Cell::take)
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::tally::{Tally, take};
    use super::*;

    #[test]
    fn every_bit_makes_a_difference() {
        for at in 0..3 {
            for bit in 0..128 {
                let mut words = [0_u128; 3];
                words[at] ^= 1 << bit;
                let mut difference = Difference::default();
                words.iter().for_each(|word| difference.add(*word));
                assert!(!difference.is_zero());
            }
        }
        // nor do differences that are alike cancel each other
        for (words, add_all) in (2..6).flat_map(|words| [(words, false), (words, true)]) {
            let mut difference = Difference::default();
            for _ in 0..words {
                let mut other = Difference::default();
                other.add_masked(0b110, 0b010);
                if add_all { difference.add_all(&other) } else { difference.add(0b110) }
            }
            assert!(!difference.is_zero(), "{words} equal differences, {add_all}");
        }
        for bit in 0..256 {
            let mut digest = [7; 32];
            digest[bit / 8] ^= 1 << (bit % 8);
            assert!(!same_digest(&[7; 32], &digest) && !same_bytes(&[7; 32], &digest));
        }
        assert!(Difference::default().is_zero() && same_digest(&[7; 32], &[7; 32]));
        assert!(!same_bytes(&[7; 3], &[7; 2]) && same_bytes(&[7; 3], &[7; 3]));
    }

    #[test]
    fn what_is_compared_is_counted() {
        let _ = take();
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 tests of comparisons v1");
        hasher.update(&[1; 100]).update(&[2; 11]);
        let digest = hasher.to_compare();
        assert_eq!(digest, *hasher.finalize().as_bytes());
        assert_eq!(take(), Tally::default());
        assert!(same_digest(&digest, &digest));
        assert_eq!(take(), Tally { bits: 888, unknown: 0 });
        assert!(!same_digest(&[3; 32], &digest) && same_bytes(&[1; 5], &[1; 5]));
        assert_eq!(take(), Tally { bits: 256 + 40, unknown: 1 });
        let mut difference = Difference::default();
        difference.add(0);
        difference.add_masked(0xff00, 0xff);
        assert_eq!(take(), Tally::default());
        assert!(difference.is_zero());
        assert_eq!((take(), take()), (Tally { bits: 136, unknown: 0 }, Tally::default()));
        let mut other = Difference::default();
        other.add_masked(0xff00, 0xf00);
        difference.add_all(&other);
        assert!(!difference.is_zero());
        assert_eq!(take(), Tally { bits: 140, unknown: 0 });
    }
}
