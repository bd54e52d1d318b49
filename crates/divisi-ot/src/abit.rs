//! Authenticated bits among n parties: Pi_aBit of WRK17 (ePrint 2017/189, Figures 4, 14 and 15), with the
//! corrections of docs/garbling.md.
//!
//! At each position every party i has a random bit x^i, and every other party j has a key for it: M_j\[x^i\]
//! = K_j\[x^i\] + x^i Delta_j. The bits of all parties at a position are shares of a random bit that nobody
//! knows; Figure 5 writes it `<x>`.

pub(crate) mod consistency;
pub(crate) mod produce;
pub(crate) mod shares;

use divisi_core::PartyId;
use divisi_core::wipe::WipedVec;

/// One party's part of the authenticated bits of all parties: its own bits, with a MAC of each under every
/// peer's key, and its keys for each peer's bits.
///
/// Position p belongs together at all parties. Each position is used once: [`AuthBits::take`] moves it out.
/// Wiped when dropped.
pub struct AuthBits {
    me: PartyId,
    len: usize,
    bits: WipedVec<u64>,
    macs: Vec<WipedVec<u128>>,
    keys: Vec<WipedVec<u128>>,
}

impl AuthBits {
    /// Authenticated bits at `len` positions among `n` parties. Rows are indexed by party; those at our own
    /// index are empty.
    pub(crate) fn from_rows(
        me: PartyId,
        len: usize,
        bits: Vec<u64>,
        macs: Vec<WipedVec<u128>>,
        keys: Vec<WipedVec<u128>>,
    ) -> AuthBits {
        let mut made = AuthBits { me, len, bits: bits.into(), macs, keys };
        made.truncate(len);
        made
    }

    /// Removes all positions after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        let words = self.len.div_ceil(64);
        self.bits.cut(words);
        if let (Some(last), true) = (self.bits.last_mut(), !self.len.is_multiple_of(64)) {
            *last &= (1 << (self.len % 64)) - 1;
        }
        for rows in self.macs.iter_mut().chain(&mut self.keys) {
            rows.cut(self.len);
        }
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

    /// The party whose part this is.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// How many parties there are.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.macs.len()
    }

    /// Our bits x^i, packed: position p is bit p mod 64 of word p / 64; the bits after the last position are
    /// zero.
    #[must_use]
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Our bit at a position, 0 or 1.
    ///
    /// # Panics
    /// If there is no such position.
    #[must_use]
    pub fn bit(&self, position: usize) -> u64 {
        assert!(position < self.len, "no such position");
        self.bits[position / 64] >> (position % 64) & 1
    }

    /// The MACs M_j\[x^i\] of our bits under the Delta of `peer` = j, by position; empty if `peer` is
    /// ourselves.
    #[must_use]
    pub fn macs(&self, peer: PartyId) -> &[u128] {
        self.macs.get(peer.index()).map_or(&[], |rows| rows)
    }

    /// Our keys K_i\[x^j\] for the bits of `peer` = j, by position; empty if `peer` is ourselves.
    #[must_use]
    pub fn keys(&self, peer: PartyId) -> &[u128] {
        self.keys.get(peer.index()).map_or(&[], |rows| rows)
    }

    /// All parts, moved without a copy.
    #[must_use]
    pub fn into_rows(self) -> AuthRows {
        let AuthBits { bits, macs, keys, .. } = self;
        AuthRows { bits, macs, keys }
    }

    /// Removes the first `count` positions and returns them. If there are fewer: `None`, and nothing is
    /// removed.
    #[must_use]
    pub fn take(&mut self, count: usize) -> Option<AuthBits> {
        if count > self.len {
            return None;
        }
        let (front, rest) = (self.slice(0, count), self.slice(count, self.len));
        *self = rest;
        Some(front)
    }

    /// A copy of the positions `from` to `to` - 1.
    fn slice(&self, from: usize, to: usize) -> AuthBits {
        let mut bits = vec![0; (to - from).div_ceil(64)];
        let word = |at: usize| self.bits.get(at).copied().unwrap_or(0);
        for (at, out) in bits.iter_mut().enumerate() {
            let (first, shift) = (from / 64 + at, from % 64);
            // shifted in two steps, because a shift by 64 at once is not allowed
            *out = word(first) >> shift | word(first + 1) << 1 << (63 - shift);
        }
        let cut = |rows: &WipedVec<u128>| rows.get(from..to).map_or_else(WipedVec::default, WipedVec::from);
        let (macs, keys) = (self.macs.iter().map(cut).collect(), self.keys.iter().map(cut).collect());
        AuthBits::from_rows(self.me, to - from, bits, macs, keys)
    }
}

/// The parts of [`AuthBits`], for code that stores them in another layout.
pub struct AuthRows {
    /// Our bits, packed like those of [`AuthBits::bits`].
    pub bits: WipedVec<u64>,
    /// The MACs of our bits, by party index and position; empty at our own index.
    pub macs: Vec<WipedVec<u128>>,
    /// Our keys for the others' bits, in the same form.
    pub keys: Vec<WipedVec<u128>>,
}
