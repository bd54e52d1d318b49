//! One party's shares of random bits, in the parts in which they were made: parts are handed on without
//! copying, and what is taken from a part is wiped there.
//!
//! Shares modulo p take four bytes each if p has at most 32 bits, and else eight.

use crate::bit::{Dense, GmwBit};
use divisi_core::wipe::{Wipe, WipedVec};
use divisi_core::{Abort, Session, Step};
use divisi_field::kernel::vectorize;
use divisi_field::zp::Modulus;

/// Shares modulo p of at most this many bits take four bytes each.
pub(crate) const NARROW: u32 = 32;

/// One party's shares of random bits. Using them consumes them \[G7\]: they are neither copied nor cloned.
///
/// ```compile_fail,E0382
/// fn twice(bits: divisi_mixed::dabit::RandomBits) {
///     let first = bits.open();
///     let second = bits.open();
/// }
/// ```
/// One use compiles:
/// ```
/// fn once(bits: divisi_mixed::dabit::RandomBits) {
///     let first = bits.open();
/// }
/// ```
#[derive(Default)]
pub struct RandomBits {
    parts: Vec<Part>,
}

/// Some of the bits, as they were made: parts are handed on without copying.
struct Part {
    /// The shares modulo 2: a lane for each bit.
    bits: GmwBit,
    /// The shares modulo p.
    numbers: Residues,
    /// How many bits are left; those behind them are wiped.
    len: usize,
}

impl Part {
    /// Removes the bits from `at` on, and returns them.
    fn cut(&mut self, at: usize) -> Part {
        let tail = Part {
            bits: self.bits.slice(at, self.len - at),
            numbers: self.numbers.part(at, self.len),
            len: self.len - at,
        };
        self.shorten(at);
        tail
    }

    /// Keeps the first `len` bits and wipes the others.
    fn shorten(&mut self, len: usize) {
        self.bits.clear(len, self.len);
        self.numbers.clear(len, self.len);
        self.len = len;
    }
}

impl RandomBits {
    /// The shares of a list of bits that this session made, and of the same numbers modulo p.
    pub(crate) fn of(session: &Session, plain: Modulus, bits: GmwBit, numbers: &[u64]) -> RandomBits {
        let (bits, len) = (bits.made(session), numbers.len());
        RandomBits { parts: vec![Part { bits, numbers: Residues::of(plain, numbers), len }] }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes the last `count` bits and returns them, in their order; `None` if there are fewer.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<RandomBits> {
        if self.len() < count {
            return None;
        }
        let (mut taken, mut missing) = (RandomBits::default(), count);
        while missing > 0 {
            let last = self.parts.last_mut()?;
            if last.len > missing {
                taken.parts.push(last.cut(last.len - missing));
                missing = 0;
            } else {
                missing -= last.len;
                taken.parts.extend(self.parts.pop());
            }
        }
        taken.parts.reverse();
        Some(taken)
    }

    /// The first `count` bits; the others are dropped.
    pub(crate) fn first(mut self, count: usize) -> RandomBits {
        let mut left = count;
        for part in &mut self.parts {
            part.shorten(part.len.min(left));
            left -= part.len;
        }
        self.parts.retain(|part| part.len > 0);
        self
    }

    /// Adds bits behind these.
    pub(crate) fn append(&mut self, mut more: RandomBits) {
        self.parts.append(&mut more.parts);
    }

    /// Demands that this session accepts them.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if another session made them.
    pub(crate) fn admit(&self, session: &Session, step: Step) -> Result<(), Abort> {
        self.parts.iter().try_for_each(|part| part.bits.admit(session, step))
    }

    /// The shares modulo 2, each 0 or 1, and modulo p.
    #[must_use]
    pub fn open(self) -> (WipedVec<u64>, WipedVec<u64>) {
        let (mut bits, mut numbers) = (WipedVec::zeros(self.len()), WipedVec::zeros(self.len()));
        let (mut bits_left, mut numbers_left) = (&mut bits[..], &mut numbers[..]);
        for part in &self.parts {
            let (bits, numbers);
            (bits, bits_left) = bits_left.split_at_mut(part.len);
            (numbers, numbers_left) = numbers_left.split_at_mut(part.len);
            part.bits.spread(bits);
            part.numbers.copy(numbers);
        }
        (bits, numbers)
    }

    /// The shares modulo 2, packed, and the shares modulo p, which are not copied.
    pub(crate) fn packed(self) -> (Dense, Numbers) {
        let mut bits = Dense::with_capacity(self.len());
        for part in &self.parts {
            // a part that was shortened has zeros behind; they would not fit
            bits.push(&part.bits.words()[..part.len.div_ceil(64)], part.len);
        }
        let ends = self.parts.iter().scan(0, |end, part| {
            *end += part.len;
            Some(*end)
        });
        let ends = ends.collect();
        (bits, Numbers { ends, parts: self.parts.into_iter().map(|part| part.numbers).collect() })
    }
}

/// Numbers below 2^32 in half the room.
fn narrow(numbers: &[u64]) -> WipedVec<u32> {
    let mut words = WipedVec::zeros(numbers.len());
    let all = words.iter_mut().zip(numbers);
    vectorize(
        #[inline(always)]
        || all.for_each(|(word, number)| *word = *number as u32),
    );
    words
}

/// Numbers modulo p in as few bytes as they take; which these are is public. All numbers of a session have
/// the same form.
#[derive(Clone)]
pub(crate) enum Residues {
    Narrow(WipedVec<u32>),
    Wide(WipedVec<u64>),
}

/// A word that holds a residue.
pub(crate) trait Residue: Wipe + Into<u64> {
    /// The residues, if they are such words.
    fn of(residues: &Residues) -> Option<&[Self]>;
}

impl Residue for u32 {
    fn of(residues: &Residues) -> Option<&[u32]> {
        if let Residues::Narrow(words) = residues { Some(words) } else { None }
    }
}

impl Residue for u64 {
    fn of(residues: &Residues) -> Option<&[u64]> {
        if let Residues::Wide(words) = residues { Some(words) } else { None }
    }
}

impl Residues {
    fn of(plain: Modulus, numbers: &[u64]) -> Residues {
        if plain.bits() > NARROW {
            Residues::Wide(WipedVec::from(numbers))
        } else {
            Residues::Narrow(narrow(numbers))
        }
    }

    /// Those from one place to another.
    fn part(&self, from: usize, to: usize) -> Residues {
        match self {
            Residues::Narrow(words) => Residues::Narrow(WipedVec::from(&words[from..to])),
            Residues::Wide(words) => Residues::Wide(WipedVec::from(&words[from..to])),
        }
    }

    /// Wipes those from one place to another.
    fn clear(&mut self, from: usize, to: usize) {
        match self {
            Residues::Narrow(words) => words[from..to].fill(0),
            Residues::Wide(words) => words[from..to].fill(0),
        }
    }

    /// Copies the first ones, as many as there is place for.
    fn copy(&self, out: &mut [u64]) {
        match self {
            Residues::Narrow(words) => {
                out.iter_mut().zip(words.iter()).for_each(|(out, word)| *out = u64::from(*word));
            }
            Residues::Wide(words) => out.iter_mut().zip(words.iter()).for_each(|(out, word)| *out = *word),
        }
    }
}

/// Shares modulo p of random bits, in parts.
#[derive(Default)]
pub(crate) struct Numbers {
    /// Where each part ends, counted from the first number on.
    ends: Vec<usize>,
    parts: Vec<Residues>,
}

impl Numbers {
    /// These numbers in one part.
    #[cfg(test)]
    pub(crate) fn of(plain: Modulus, numbers: &[u64]) -> Numbers {
        Numbers { ends: vec![numbers.len()], parts: vec![Residues::of(plain, numbers)] }
    }

    /// `count` numbers from `from` on.
    pub(crate) fn words(&self, from: usize, count: usize) -> WipedVec<u64> {
        if self.parts.iter().any(|part| matches!(part, Residues::Wide(_))) {
            return self.widened::<u64>(from, count);
        }
        self.widened::<u32>(from, count)
    }

    fn widened<W: Residue>(&self, from: usize, count: usize) -> WipedVec<u64> {
        let (mut words, mut scratch) = (WipedVec::zeros(count), WipedVec::<W>::zeros(count));
        let numbers = self.at(from, &mut scratch);
        words.iter_mut().zip(numbers).for_each(|(word, number)| *word = (*number).into());
        words
    }

    /// The numbers from `from` on, as many as `scratch` has: a reference into their part, or, if they are in
    /// several parts, copied to `scratch`. Missing numbers are zero, and so are those of another form.
    pub(crate) fn at<'n, W: Residue>(&'n self, from: usize, scratch: &'n mut [W]) -> &'n [W] {
        let first = self.ends.partition_point(|end| *end <= from);
        let begins = |part: usize| part.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let of = |part: usize| {
            let (begin, end) = (begins(part).unwrap_or(0), self.ends.get(part).copied()?);
            W::of(self.parts.get(part)?)?.get(from.max(begin) - begin..end - begin)
        };
        if let Some(there) = of(first).and_then(|part| part.get(..scratch.len())) {
            return there;
        }
        let mut filled = 0;
        for part in (first..self.parts.len()).map_while(of) {
            let (_, left) = scratch.split_at_mut(filled);
            let now = part.len().min(left.len());
            left[..now].copy_from_slice(&part[..now]);
            filled += now;
        }
        scratch[filled..].fill(W::default());
        scratch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::Lanes;

    const MODULI: [u64; 2] = [divisi_field::zp::P32, divisi_field::zp::P62];

    /// Bits in parts of these lengths: the shares modulo p are the numbers 0, 1, 2 .., and those modulo 2
    /// their lowest bits.
    fn parts(lens: &[usize], p: u64) -> RandomBits {
        let plain = Modulus::new(p).unwrap();
        let mut all = RandomBits::default();
        let mut from = 0;
        for len in lens {
            let numbers: Vec<u64> = (from..from + len).map(|i| i as u64).collect();
            let bits = GmwBit::of(numbers.iter().copied());
            let part = Part { bits, numbers: Residues::of(plain, &numbers), len: *len };
            all.parts.push(part);
            from += len;
        }
        all
    }

    /// What was taken or dropped is wiped where it was.
    fn are_wiped_behind_their_ends(all: &RandomBits) {
        for part in &all.parts {
            let lanes = part.bits.lanes();
            let mut numbers = vec![1; lanes];
            part.numbers.copy(&mut numbers);
            assert!(numbers[part.len..].iter().all(|number| *number == 0));
            assert!((part.len..lanes).all(|lane| part.bits.lane(lane) == 0));
        }
    }

    /// Bits are taken from the last part first, few of them or many, and are left nowhere else [G7].
    #[test]
    fn bits_are_taken_once() {
        for scale in [1, 70, 1000] {
            MODULI.into_iter().for_each(|p| taken_once(p, scale));
        }
    }

    fn taken_once(p: u64, scale: usize) {
        let mut all = parts(&[100, 70, 3].map(|len| len * scale), p);
        let mut seen = Vec::new();
        for count in [1, 0, 2, 60, 75, 5, 30].map(|count| count * scale) {
            let before = all.len();
            let taken = all.take(count).unwrap();
            assert_eq!((taken.len(), all.len()), (count, before - count));
            let (bits, numbers) = taken.open();
            assert!(bits.iter().zip(numbers.iter()).all(|(bit, number)| *bit == number & 1));
            assert!(numbers.is_sorted(), "in their order");
            seen.extend_from_slice(&numbers);
            are_wiped_behind_their_ends(&all);
        }
        assert!(all.take(1).is_none() && all.is_empty());
        // what is too much takes nothing away
        all = parts(&[3, 4], p);
        assert!(!all.is_empty());
        assert!(all.take(8).is_none() && all.len() == 7);
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..173 * scale as u64));
    }

    /// Bits that are dropped are wiped as well, however many they are.
    #[test]
    fn bits_that_are_dropped_are_wiped() {
        for (p, scale) in MODULI.into_iter().flat_map(|p| [1, 70, 1000].map(|scale| (p, scale))) {
            for count in [0, 1, 99, 100, 101, 172, 173].map(|count| count * scale) {
                let left = parts(&[100, 70, 3].map(|len| len * scale), p).first(count);
                are_wiped_behind_their_ends(&left);
                assert!(left.open().1.iter().copied().eq(0..count as u64), "{count}");
            }
        }
    }

    /// Numbers are found in their places, also across parts and behind a part that is used in part.
    #[test]
    fn numbers_are_found_across_parts() {
        MODULI.into_iter().for_each(found_across_parts);
    }

    fn found_across_parts(p: u64) {
        let mut all = parts(&[100, 70, 30], p);
        drop(all.take(10));
        let mut more = parts(&[7], p);
        more.append(all.first(180));
        let (bits, numbers) = more.packed();
        let expected: Vec<u64> = (0..7).chain(0..180).collect();
        assert_eq!(bits.len(), expected.len());
        for (from, count) in [(0, 187), (3, 50), (5, 2), (7, 100), (100, 20), (107, 80), (180, 7), (180, 9)] {
            let found = numbers.words(from, count);
            let missing = (from + count).saturating_sub(expected.len());
            assert_eq!(found[..count - missing], expected[from..from + count - missing]);
            assert!(found[count - missing..].iter().all(|number| *number == 0));
        }
        // and in a part that is alone
        assert_eq!(parts(&[9], p).packed().1.words(2, 5)[..], [2, 3, 4, 5, 6]);
        let lanes = bits.lanes(0, 187);
        assert!(expected.iter().enumerate().all(|(i, number)| lanes.lane(i) == number & 1));
    }
}
