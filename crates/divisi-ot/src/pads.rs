//! Rows whose hashes are pads. Products of one party's bits with another's payloads are made from them
//! ([`crate::correlate`]).

use crate::checks;
use crate::vole::VoleRows;
use divisi_core::wipe::WipedVec;
use divisi_core::{Check, PartyId, Session};
use std::marker::PhantomData;
use std::ops::Range;

mod sealed {
    pub trait Sealed {}
}

/// Whether rows were checked.
pub trait Trust: sealed::Sealed {
    /// The first step of the hash that these rows use; each class of payloads has a step of its own.
    #[doc(hidden)]
    const STEP: u8;
    /// The check that is counted where the pads are used.
    #[doc(hidden)]
    const CHECK: Check;
}

/// Rows that passed the check of [`crate::vole`]: a malicious maker had to guess bits of a key, or was
/// caught.
#[expect(clippy::exhaustive_enums, reason = "it has no values: it stands for a type")]
pub enum Checked {}

/// Rows without a check, secure against semi-honest parties only. It is a type of its own, so that a protocol
/// against malicious parties cannot use such rows.
#[expect(clippy::exhaustive_enums, reason = "it has no values: it stands for a type")]
pub enum SemiHonest {}

impl sealed::Sealed for Checked {}
impl sealed::Sealed for SemiHonest {}

impl Trust for Checked {
    const STEP: u8 = crate::hash::CHECKED;
    const CHECK: Check = checks::K14;
}

impl Trust for SemiHonest {
    const STEP: u8 = crate::hash::SEMI_HONEST;
    const CHECK: Check = checks::G14;
}

/// The rows of one direction of a pair.
pub(crate) struct Part {
    pub(crate) words: WipedVec<u128>,
    /// The number of the first row among all rows of its trees: the unit of its tweak.
    pub(crate) first: u64,
}

impl Part {
    pub(crate) fn of(rows: VoleRows) -> Part {
        Part { first: rows.first(), words: rows.into_words() }
    }

    fn slice(&self, at: &Range<usize>) -> Part {
        let words = self.words.get(at.clone()).map_or_else(WipedVec::default, WipedVec::from);
        Part { words, first: self.first + at.start as u64 }
    }
}

/// One party's part of rows whose hashes are pads: its bits, and its values of the rows with each peer. Each
/// row is used once. Wiped when dropped.
pub struct Pads<S> {
    session: [u8; 32],
    len: usize,
    bits: WipedVec<u64>,
    /// Our rows as maker, by party index; `None` if there is no such direction, or its rows were used.
    pub(crate) own: Vec<Option<Part>>,
    /// Our rows as holder, in the same form.
    pub(crate) others: Vec<Option<Part>>,
    /// By party index, whether the rows in which this party has the bits were used.
    served: Vec<bool>,
    trust: PhantomData<S>,
}

impl<S: Trust> Pads<S> {
    pub(crate) fn new(
        session: &Session,
        len: usize,
        bits: Vec<u64>,
        own: Vec<Option<Part>>,
        others: Vec<Option<Part>>,
    ) -> Pads<S> {
        let (served, session) = (vec![false; session.parties()], *session.id().as_bytes());
        let mut made = Pads { session, len, bits: bits.into(), own, others, served, trust: PhantomData };
        made.cut();
        made
    }

    /// Wipe the bits after the last position.
    fn cut(&mut self) {
        self.bits.cut(self.len.div_ceil(64));
        if let (Some(last), true) = (self.bits.last_mut(), !self.len.is_multiple_of(64)) {
            *last &= (1 << (self.len % 64)) - 1;
        }
        self.own.iter_mut().chain(&mut self.others).flatten().for_each(|part| part.words.cut(self.len));
    }

    /// How many positions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Our bits, packed: position p is bit p mod 64 of word p / 64; the bits after the last position are
    /// zero.
    #[must_use]
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Whether the rows belong to the session with this id.
    pub(crate) fn is_of(&self, session: &[u8; 32]) -> bool {
        self.session == *session
    }

    /// Marks the rows as used: those in which this party chooses, or all. Returns whether any of them was
    /// used before.
    pub(crate) fn serve(&mut self, chooser: Option<PartyId>) -> bool {
        let mut before = false;
        for (at, served) in self.served.iter_mut().enumerate() {
            if chooser.is_none_or(|chooser| chooser.index() == at) {
                before |= std::mem::replace(served, true);
            }
        }
        before
    }

    /// Removes the first `count` positions and returns them. If there are fewer: `None`, and nothing is
    /// removed.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<Pads<S>> {
        if count > self.len {
            return None;
        }
        if count == self.len {
            let (bits, own, others) = Default::default();
            let (session, served, trust) = (self.session, self.served.clone(), PhantomData);
            let rest = Pads { session, len: 0, bits, own, others, served, trust };
            return Some(std::mem::replace(self, rest));
        }
        let (front, rest) = (self.slice(0..count), self.slice(count..self.len));
        *self = rest;
        Some(front)
    }

    /// The positions in order, split into parts of `each`; the last part is smaller if `each` does not divide
    /// their number.
    #[must_use]
    pub fn split(self, each: usize) -> Vec<Pads<S>> {
        let each = each.max(1);
        let ranges = (0..self.len).step_by(each).map(|first| first..self.len.min(first + each));
        ranges.map(|at| self.slice(at)).collect()
    }

    fn slice(&self, at: Range<usize>) -> Pads<S> {
        let word = |at: usize| self.bits.get(at).copied().unwrap_or(0);
        let bits = (0..at.len().div_ceil(64)).map(|w| {
            let (first, shift) = (at.start / 64 + w, at.start % 64);
            // shifted in two steps, because a shift by 64 at once is not allowed
            word(first) >> shift | word(first + 1) << 1 << (63 - shift)
        });
        let cut = |parts: &Vec<Option<Part>>| {
            parts.iter().map(|part| part.as_ref().map(|part| part.slice(&at))).collect()
        };
        let (own, others) = (cut(&self.own), cut(&self.others));
        let mut made = Pads {
            session: self.session,
            len: at.len(),
            bits: bits.collect(),
            own,
            others,
            served: self.served.clone(),
            trust: PhantomData,
        };
        made.cut();
        made
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;

    /// Parts of rows that were used are used, too, and the others are not.
    #[test]
    fn parts_of_used_rows_are_used() {
        let ends = run(2, &PublicParameters::new("pads tests"), |session| {
            let peer = session.peers()[0];
            let mut made: Pads<SemiHonest> =
                Pads::new(&session, 70, vec![0; 2], vec![None, None], vec![None, None]);
            made.serve(Some(peer));
            let mut parts = vec![made.take(30).unwrap(), made.take(10).unwrap()];
            parts.extend(made.split(16));
            Ok(parts.iter_mut().map(|part| [session.me(), peer].map(|of| part.serve(Some(of)))).collect())
        });
        assert!(ends.into_iter().all(|end: Result<Vec<_>, _>| end.unwrap() == [[false, true]; 4]));
    }

    /// Nothing is kept of what was made beyond the last position, in either direction.
    #[test]
    fn pads_end_at_their_last_position() {
        let ends = run(2, &PublicParameters::new("pads tests"), |session| {
            let part = || Some(Part { words: vec![7; 128].into(), first: 3 });
            let mut made: Pads<SemiHonest> =
                Pads::new(&session, 70, vec![u64::MAX; 2], vec![None, part()], vec![part(), part()]);
            let lengths = |pads: &Pads<_>| {
                let parts = pads.own.iter().chain(&pads.others).flatten();
                (pads.bits().to_vec(), parts.map(|part| part.words.len()).collect::<Vec<_>>())
            };
            let whole = lengths(&made);
            let front = made.take(65).map(|front| lengths(&front));
            Ok((whole, front, lengths(&made)))
        });
        for end in ends {
            let (whole, front, rest) = end.unwrap();
            assert_eq!(whole, (vec![u64::MAX, 63], vec![70; 3]));
            assert_eq!(front, Some((vec![u64::MAX, 1], vec![65; 3])));
            assert_eq!(rest, (vec![31], vec![5; 3]));
        }
    }
}
