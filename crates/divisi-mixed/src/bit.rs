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
    pub(crate) fn mark_public(&mut self, step: Step) {
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
mod tests;
