//! Shared bits, packed, one in each lane; and dense lists of them for messages.

use crate::origin::Origin;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Session, Step, taint};
use divisi_field::transpose;
use std::ops::Range;
use zeroize::Zeroizing;

/// One party's share of a bit in each lane: lane l is bit l mod 64 of word l / 64, and the bits after the
/// last lane are zero. In each lane the shares of all parties add up to the bit, modulo 2. A share that a
/// session made belongs to it, and every other session refuses it. A share that the caller made belongs to no
/// session.
#[derive(Clone, Debug)]
pub struct GmwBit {
    lanes: usize,
    words: WipedVec<u64>,
    origin: Origin,
}

/// How many squares of 64 words are transposed together.
const SQUARES: usize = 8;

/// A word whose lowest `count` bits are one.
pub(crate) fn below(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Copies `bits` bits of a packed string, from position `at` on.
fn pull(words: &[u64], at: usize, bits: usize, out: &mut [u64]) {
    let (first, shift) = (at / 64, at % 64);
    for (i, out) in out.iter_mut().enumerate() {
        let word = |i: usize| words.get(i).copied().unwrap_or(0);
        // shifted in two steps, because a shift by 64 at once is not allowed
        *out = word(first + i) >> shift | word(first + i + 1) << 1 << (63 - shift);
    }
    if let Some(word) = out.last_mut() {
        *word &= last(bits);
    }
}

/// The mask of the bits that are used in the last word of `bits` bits.
pub(crate) fn last(bits: usize) -> u64 {
    if bits.is_multiple_of(64) { u64::MAX } else { below(bits % 64) }
}

impl GmwBit {
    /// A share of zero in each lane.
    #[must_use]
    pub fn zero(lanes: usize) -> GmwBit {
        GmwBit { lanes, words: WipedVec::zeros(lanes.div_ceil(64)), origin: Origin::Brought }
    }

    /// A share with these words. Missing words are zero; bits after the last lane are dropped.
    #[must_use]
    pub fn new(lanes: usize, words: &[u64]) -> GmwBit {
        let mut bit = GmwBit::zero(lanes);
        bit.words.iter_mut().zip(words).for_each(|(own, word)| *own = *word);
        if let Some(word) = bit.words.last_mut() {
            *word &= last(lanes);
        }
        bit
    }

    /// Marks the share as made by this session.
    pub(crate) fn made(mut self, session: &Session) -> GmwBit {
        self.origin = self.origin.and(Origin::of(session));
        self
    }

    /// Whether a caller made it, and no session.
    pub(crate) fn is_brought(&self) -> bool {
        self.origin == Origin::Brought
    }

    /// Demands that this session accepts the share.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if another session made it.
    pub(crate) fn admit(&self, session: &Session, step: Step) -> Result<(), Abort> {
        self.origin.admit(session, step)
    }

    /// A copy of `lanes` lanes from `from` on, or of as many as there are.
    pub(crate) fn slice(&self, from: usize, lanes: usize) -> GmwBit {
        let from = from.min(self.lanes);
        let mut out = GmwBit::zero(lanes.min(self.lanes - from));
        pull(&self.words, from, out.lanes, &mut out.words);
        out.beside(&[self])
    }

    /// The lanes of all parts, one part behind the other.
    pub(crate) fn join(parts: &[&GmwBit]) -> GmwBit {
        let lanes = parts.iter().map(|part| part.lanes).sum();
        let mut all = Dense::with_capacity(lanes);
        parts.iter().for_each(|part| all.push(part.words(), part.lanes));
        GmwBit::new(lanes, all.words()).beside(parts)
    }

    /// Writes each lane's bit to a word.
    pub(crate) fn spread(&self, out: &mut [u64]) {
        for (out, word) in out.chunks_mut(64).zip(self.words.iter()) {
            out.iter_mut().enumerate().for_each(|(lane, out)| *out = word >> lane & 1);
        }
    }

    /// Marks the share as computed with these others: it then belongs to their session, too.
    pub(crate) fn beside(mut self, others: &[&GmwBit]) -> GmwBit {
        self.origin = others.iter().fold(self.origin, |origin, other| origin.and(other.origin));
        self
    }

    /// Our share, packed.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Our share of one lane; zero where there is none.
    #[must_use]
    pub fn lane(&self, lane: usize) -> u64 {
        self.words.get(lane / 64).map_or(0, |word| word >> (lane % 64) & 1)
    }

    /// A share with bit `values[l]` in lane l.
    #[must_use]
    pub fn of(mut values: impl ExactSizeIterator<Item = u64>) -> GmwBit {
        let mut bit = GmwBit::zero(values.len());
        for word in bit.words.iter_mut() {
            let lanes = values.by_ref().take(64).zip(0..);
            *word = lanes.fold(0, |word, (value, lane)| word | (value & 1) << lane);
        }
        bit
    }

    /// A share for each of the `width` lowest bits of these words, the lowest first; lane l is word l's. Bits
    /// beyond the 64th are zero.
    #[must_use]
    pub fn of_words(words: &[u64], width: usize) -> Vec<GmwBit> {
        let mut bits = vec![GmwBit::zero(words.len()); width];
        let mut squares = Zeroizing::new([0; SQUARES * 64]);
        for (at, words) in words.chunks(squares.len()).enumerate() {
            let (now, behind) = squares.split_at_mut(words.len());
            now.copy_from_slice(words);
            behind.fill(0);
            transpose::squares(&mut *squares);
            for (j, bit) in bits.iter_mut().enumerate().take(64) {
                let rows = squares.iter().skip(j).step_by(64);
                bit.words.iter_mut().skip(at * SQUARES).zip(rows).for_each(|(word, row)| *word = *row);
            }
        }
        bits
    }

    /// A word for each lane: its bits are the lane's bits in these shares, the lowest first, of which at most
    /// 64 are used.
    #[must_use]
    pub fn to_words(bits: &[GmwBit]) -> WipedVec<u64> {
        let mut words = WipedVec::zeros(bits.first().map_or(0, |bit| bit.lanes));
        let mut squares = Zeroizing::new([0; SQUARES * 64]);
        for (at, words) in words.chunks_mut(squares.len()).enumerate() {
            squares.fill(0);
            for (j, bit) in bits.iter().enumerate().take(64) {
                let rows = squares.iter_mut().skip(j).step_by(64);
                rows.zip(bit.words.iter().skip(at * SQUARES)).for_each(|(row, word)| *row = *word);
            }
            transpose::squares(&mut *squares);
            words.iter_mut().zip(squares.iter()).for_each(|(word, row)| *word = *row);
        }
        words
    }

    /// Copies the words of `lanes` lanes from lane `first` on, a multiple of 64. A share with a single lane
    /// is repeated in all lanes.
    pub(crate) fn window(&self, first: usize, lanes: usize, out: &mut [u64]) {
        if self.lanes == 1 {
            out.fill((self.lane(0)).wrapping_neg());
        } else {
            out.iter_mut().zip(self.words.iter().skip(first / 64)).for_each(|(out, word)| *out = *word);
        }
        if let Some(word) = out.last_mut() {
            *word &= last(lanes);
        }
    }

    /// Makes the lanes from `from` to `end` zero; those from `end` on must be zero already.
    pub(crate) fn clear(&mut self, from: usize, end: usize) {
        let words = from / 64..end.div_ceil(64).min(self.words.len());
        let mut words = self.words.get_mut(words).unwrap_or_default().iter_mut();
        if let Some(word) = words.next() {
            *word &= below(from % 64);
        }
        words.for_each(|word| *word = 0);
    }

    /// Writes words into the share, from lane `first` on, a multiple of 64.
    pub(crate) fn put(&mut self, first: usize, words: &[u64]) {
        self.words.iter_mut().skip(first / 64).zip(words).for_each(|(own, word)| *own = *word);
    }

    /// The product with public bits, lane by lane; without messages.
    pub(crate) fn and_public(&self, other: &GmwBit) -> GmwBit {
        let mut out = self.clone();
        out.words.iter_mut().zip(other.words.iter()).for_each(|(own, other)| *own &= other);
        out
    }

    /// Adds another share, lane by lane. Returns false, and changes nothing, if lanes or sessions differ.
    #[must_use]
    pub fn add(&mut self, other: &GmwBit) -> bool {
        let origin = self.origin.and(other.origin);
        let fits = self.lanes == other.lanes && origin != Origin::Nowhere;
        if fits {
            self.words.iter_mut().zip(other.words.iter()).for_each(|(own, other)| *own ^= other);
            self.origin = origin;
        }
        fits
    }
}

impl Lanes for GmwBit {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn gather(&self, index: &[usize]) -> Option<GmwBit> {
        index
            .iter()
            .all(|lane| *lane < self.lanes)
            .then(|| GmwBit::of(index.iter().map(|lane| self.lane(*lane))).beside(&[self]))
    }
}

/// A packed string of bits. Wiped when dropped.
#[derive(Default)]
pub(crate) struct Dense {
    words: Zeroizing<Vec<u64>>,
    bits: usize,
}

impl Dense {
    /// An empty string with capacity for `bits` bits.
    pub(crate) fn with_capacity(bits: usize) -> Dense {
        Dense { words: Zeroizing::new(Vec::with_capacity(bits.div_ceil(64) + 1)), bits: 0 }
    }

    /// The first `bits` bits of these words.
    pub(crate) fn of(words: Vec<u64>, bits: usize) -> Dense {
        Dense { words: Zeroizing::new(words), bits }
    }

    /// This many zeros.
    pub(crate) fn zeros(bits: usize) -> Dense {
        Dense::of(vec![0; bits.div_ceil(64)], bits)
    }

    /// The bits in these words.
    pub(crate) fn part(&self, words: Range<usize>) -> Dense {
        let bits = self.bits.min(64 * words.end).saturating_sub(64 * words.start);
        Dense::of(self.words.get(words).unwrap_or_default().to_vec(), bits)
    }

    /// Replaces the bits in these words.
    pub(crate) fn put(&mut self, words: Range<usize>, part: &Dense) {
        let own = self.words.get_mut(words).unwrap_or_default();
        own.iter_mut().zip(part.words()).for_each(|(own, word)| *own = *word);
    }

    pub(crate) fn len(&self) -> usize {
        self.bits
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Marks the string as opened at this step: everybody may know it.
    pub(crate) fn opened(&mut self, step: Step) {
        taint::public(step, &mut self.words);
    }

    /// Appends `bits` bits; the bits after them in `words` must be zero.
    pub(crate) fn push(&mut self, words: &[u64], bits: usize) {
        let shift = self.bits % 64;
        self.bits += bits;
        if shift == 0 {
            self.words.extend_from_slice(words);
        } else {
            for word in words {
                if let Some(open) = self.words.last_mut() {
                    *open |= word << shift;
                }
                self.words.push(word >> (64 - shift));
            }
        }
        let (all, whole) = (self.words.len(), self.bits.div_ceil(64));
        self.words.truncate(whole.min(all));
    }

    /// Copies `bits` bits from position `at` on.
    pub(crate) fn pull(&self, at: usize, bits: usize, out: &mut [u64]) {
        pull(&self.words, at, bits, out);
    }

    /// `bits` bits from position `at` on.
    pub(crate) fn slice(&self, at: usize, bits: usize) -> Dense {
        let mut out = Dense::zeros(bits);
        pull(&self.words, at, bits, &mut out.words);
        out
    }

    /// A share with a lane for each of `lanes` bits from position `at` on.
    pub(crate) fn lanes(&self, at: usize, lanes: usize) -> GmwBit {
        let mut bit = GmwBit::zero(lanes);
        self.pull(at, lanes, &mut bit.words);
        bit
    }

    /// Adds (XORs) words to the string.
    pub(crate) fn add(&mut self, words: &[u64]) {
        self.words.iter_mut().zip(words).for_each(|(own, word)| *own ^= word);
    }

    /// Appends the string as bytes; the lowest bit of the first byte is the first one.
    pub(crate) fn to_bytes(&self, out: &mut Vec<u8>) {
        let from = out.len();
        self.words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.truncate(from + self.bits.div_ceil(8));
    }

    /// The string in the form of [`Dense::to_bytes`].
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 * self.words.len());
        self.to_bytes(&mut out);
        out
    }

    /// Adds a string in the form of [`Dense::to_bytes`]. Returns whether the bits after the last one are
    /// zero.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> bool {
        let mut tail = 0;
        for (own, bytes) in self.words.iter_mut().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            tail = u64::from_le_bytes(word);
            *own ^= tail;
        }
        // only the last word can have bits after the last one
        tail & !last(self.bits) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_bits_come_back() {
        let widths = [1, 64, 63, 65, 7, 128, 130, 3, 1];
        let mut dense = Dense::default();
        let words = |i: usize, bits: usize| {
            let all: Vec<u64> = (0..bits.div_ceil(64))
                .map(|w| ((i + w + 3) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect();
            GmwBit::new(bits, &all)
        };
        for (i, bits) in widths.iter().enumerate() {
            dense.push(words(i, *bits).words(), *bits);
        }
        assert_eq!(dense.len(), widths.iter().sum::<usize>());
        assert_eq!(dense.words().len(), dense.len().div_ceil(64));
        let mut bytes = Vec::new();
        dense.to_bytes(&mut bytes);
        assert_eq!(bytes.len(), dense.len().div_ceil(8));
        let mut again = Dense::of(vec![0; dense.words().len()], dense.len());
        assert!(again.add_bytes(&bytes));
        let mut at = 0;
        for (i, bits) in widths.iter().enumerate() {
            let mut out = vec![u64::MAX; bits.div_ceil(64)];
            again.pull(at, *bits, &mut out);
            assert_eq!(out, words(i, *bits).words(), "{i}");
            at += bits;
        }
        *bytes.last_mut().unwrap() |= 0x80;
        assert!(!again.add_bytes(&bytes));
    }

    /// A single lane is repeated in all lanes; of more lanes some are copied, in whole words.
    #[test]
    fn windows_have_their_lanes_alone() {
        for lanes in [1_usize, 65, 256, 257] {
            let words: Vec<u64> =
                (1..=lanes.div_ceil(64) as u64).map(|w: u64| w.wrapping_mul(u64::MAX / 7)).collect();
            let bit = GmwBit::new(lanes, &words);
            let mut out = [u64::MAX; 2];
            bit.window(0, 65, &mut out);
            let expected =
                if lanes == 1 { [u64::MAX * (words[0] & 1), words[0] & 1] } else { [words[0], words[1] & 1] };
            assert_eq!(out, expected, "{lanes}");
        }
    }

    /// Words become bits and come back, also if they do not fill the squares that are transposed together.
    #[test]
    fn words_become_bits_and_bits_words() {
        for (count, width) in [(1, 1), (64, 32), (65, 64), (8 * 64, 32), (3 * 8 * 64 + 70, 5)] {
            let words: Vec<u64> =
                (0..count).map(|i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) & below(width)).collect();
            let bits = GmwBit::of_words(&words, width);
            assert_eq!(bits.len(), width);
            for (lane, word) in words.iter().enumerate() {
                assert!((0..width).all(|j| bits[j].lane(lane) == word >> j & 1), "{count} {width} {lane}");
            }
            assert!(bits.iter().all(|bit| bit.lanes() == words.len()));
            assert_eq!(*GmwBit::to_words(&bits), words);
        }
        let mut bit = GmwBit::new(130, &[u64::MAX; 3]);
        bit.clear(65, 130);
        assert_eq!(bit.words(), [u64::MAX, 1, 0]);
        bit.clear(64, 65);
        assert_eq!(bit.words(), [u64::MAX, 0, 0]);
        bit.clear(64, 64);
        bit.clear(0, 64);
        assert_eq!(bit.words(), [0; 3]);
        assert!(GmwBit::of_words(&[u64::MAX; 65], 66)[64..].iter().all(|bit| bit.words() == [0; 2]));
    }

    #[test]
    fn lanes_are_gathered_and_one_serves_all() {
        let bit = GmwBit::of([1, 0, 1, 1].into_iter());
        assert_eq!(bit.gather(&[3, 1]).unwrap().words(), [0b01]);
        assert!(bit.gather(&[4]).is_none());
        let mut out = [0; 2];
        GmwBit::of([1].into_iter()).window(0, 70, &mut out);
        assert_eq!(out, [u64::MAX, 0x3f]);
        assert_eq!(GmwBit::new(3, &[u64::MAX, 7]).words(), [7]);
    }

    /// A share that does not fit changes nothing: neither a lane, nor a bit after the last, nor the origin.
    #[test]
    fn what_does_not_fit_is_not_added() {
        use divisi_core::{PublicParameters, local};
        let agreed = PublicParameters::new("bits");
        let made = local::run(2, &agreed, |session| Ok(GmwBit::new(3, &[0b101]).made(&session))).unwrap();
        let ours = &made[0];
        let ends = local::run(2, &agreed, |session| {
            let wide = GmwBit::new(70, &[u64::MAX; 2]);
            let other = GmwBit::new(3, &[0b111]).made(&session);
            // 3 and 259 lanes are as many in eight bits
            let narrow = [2, 259].map(|lanes| GmwBit::new(lanes, &[0b11]));
            for unfit in [&wide, &wide.clone().made(&session), &other, &narrow[0], &narrow[1]] {
                let mut bit = ours.clone();
                assert!(!bit.add(unfit));
                assert_eq!((bit.words(), bit.lanes(), bit.origin), (ours.words(), 3, ours.origin));
            }
            let mut sum = ours.clone();
            assert!(sum.add(&GmwBit::new(3, &[0b110])));
            assert_eq!((sum.words(), sum.origin), (&[0b011][..], ours.origin));
            // a share that a caller made takes the other's origin
            let mut sum = GmwBit::new(3, &[0b110]);
            assert!(sum.add(ours) && sum.origin == ours.origin);
            Ok(())
        });
        assert!(ends.is_ok());
    }
}
