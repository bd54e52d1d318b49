//! Shares of the MACs of sums of bits, which SPDZ makes from authenticated bits. They are added up before
//! they are transposed.
//!
//! Let x be the sum of all x^i, and Delta that of all Delta_i. Then the values x^i Delta_i + sum over j of
//! M_j\[x^i\] + K_i\[x^j\] are shares of x Delta. Both this sum and the transposition of columns into rows
//! are linear over GF(2). So the columns of all pairs, after each pair passed its check, are added up first,
//! and only the sum is transposed.

use super::produce::Produced;
use crate::pads::{Checked, Pads, Part};
use crate::softspoken::TILE;
use crate::softspoken::layout::{Layout, MACS};
use crate::vole::{ByGroup, Either, PairRows, Proven};
use divisi_core::Session;
use divisi_core::wipe::WipedVec;
use divisi_field::kernel::vectorize;
use divisi_field::transpose;
use std::ops::Range;
use zeroize::Zeroizing;

/// One party's bits at some positions, and its shares of the MACs of the sums of all parties' bits there.
///
/// Positions come in tiles of [`MacShares::TILE`]. Each tile has one word for each column: bit p of word c is
/// bit c of the share at the tile's position p. Wiped when dropped.
pub struct MacShares {
    len: usize,
    bits: WipedVec<u64>,
    columns: usize,
    words: WipedVec<u128>,
}

impl Produced<Either> {
    /// Splits wide rows into our shares of the MACs of the sums of all parties' bits, and pads. `delta` is
    /// our Delta.
    pub(crate) fn split(self, session: &Session, layout: Layout, delta: u128) -> (MacShares, Pads<Checked>) {
        let Produced { bits, rows: PairRows { macs, keys }, keep } = self;
        let apart = |rows: Vec<ByGroup<Either>>| -> (Vec<ByGroup<Proven>>, Vec<Option<Part>>) {
            let each = rows.into_iter().map(|[macs, pads]| {
                let pads = pads.map(Either::into_rows);
                ([macs.map(Either::into_columns), None], pads.map(Part::of))
            });
            each.unzip()
        };
        let ((macs, own), (keys, others)) = (apart(macs), apart(keys));
        let pads = Pads::new(session, keep, bits.to_vec(), own, others);
        let made = Produced { bits, rows: PairRows { macs, keys }, keep };
        (MacShares::of(made, delta, layout.columns(MACS).len()), pads)
    }
}

impl MacShares {
    /// How many positions a tile has.
    pub const TILE: usize = TILE;

    /// Made from the columns of MACs and of keys of all pairs, and from our own Delta.
    pub(crate) fn of(mut made: Produced<Proven>, delta: u128, columns: usize) -> MacShares {
        let rows = &mut made.rows;
        let all = rows.macs.iter_mut().chain(&mut rows.keys);
        let mut all = all.filter_map(|groups| groups[MACS].take().map(Proven::into_words));
        let mut words = all.next().unwrap_or_default();
        let others: Vec<WipedVec<u128>> = all.collect();
        // each bit of Delta, spread over a whole word
        let delta: Zeroizing<Vec<u64>> =
            Zeroizing::new((0..columns).map(|c| (delta >> c & 1).wrapping_neg() as u64).collect());
        let each = columns.max(1);
        vectorize(
            #[inline(always)]
            || {
                let own = made.bits.as_chunks::<2>().0;
                for (t, (sums, [low, high])) in words.chunks_exact_mut(each).zip(own).enumerate() {
                    for other in &others {
                        let other = &other[t * each..(t + 1) * each];
                        sums.iter_mut().zip(other).for_each(|(sum, word)| *sum ^= word);
                    }
                    for (sum, delta) in sums.iter_mut().zip(delta.iter()) {
                        *sum ^= u128::from(low & delta) | u128::from(high & delta) << 64;
                    }
                }
            },
        );
        MacShares { len: made.keep, bits: std::mem::take(&mut *made.bits).into(), columns, words }.cut()
    }

    /// Made from rows that a dealer made.
    #[cfg(feature = "testing")]
    pub(crate) fn dealt(bits: &crate::AuthBits, delta: u128, columns: usize) -> MacShares {
        let mut words = WipedVec::zeros(bits.len().div_ceil(TILE) * columns);
        let peers = || divisi_core::PartyId::all(bits.parties()).filter(|peer| *peer != bits.me());
        for p in 0..bits.len() {
            let own = u128::from(bits.bit(p)).wrapping_neg() & delta;
            let share = peers().fold(own, |sum, peer| sum ^ bits.macs(peer)[p] ^ bits.keys(peer)[p]);
            let tile = &mut words[p / TILE * columns..][..columns];
            tile.iter_mut().enumerate().for_each(|(c, word)| *word |= (share >> c & 1) << (p % TILE));
        }
        MacShares { len: bits.len(), bits: bits.bits().into(), columns, words }.cut()
    }

    /// Wipes what lies after the last position.
    fn cut(mut self) -> MacShares {
        self.bits.cut(self.len.div_ceil(64));
        self.words.cut(self.len.div_ceil(TILE) * self.columns);
        if !self.len.is_multiple_of(64)
            && let Some(last) = self.bits.last_mut()
        {
            *last &= (1 << (self.len % 64)) - 1;
        }
        if !self.len.is_multiple_of(TILE) {
            let (low, at) = ((1 << (self.len % TILE)) - 1, self.words.len().saturating_sub(self.columns));
            self.words[at..].iter_mut().for_each(|word| *word &= low);
        }
        self
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

    /// Our bits, packed like those of [`AuthBits::bits`](crate::AuthBits::bits).
    #[must_use]
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Our bits at the positions of a tile; zeros after the last position.
    #[must_use]
    pub fn own(&self, tile: usize) -> u128 {
        let word = |at: usize| self.bits.get(at).map_or(0, |word| u128::from(*word));
        word(2 * tile) | word(2 * tile + 1) << 64
    }

    /// The columns of a tile; empty if there is no such tile.
    #[must_use]
    pub fn tile(&self, tile: usize) -> &[u128] {
        self.words.chunks_exact(self.columns.max(1)).nth(tile).unwrap_or(&[])
    }

    /// The shares at these positions, as far as there are any; `of` makes the result from each share's bits.
    pub fn rows<T>(&self, positions: Range<usize>, of: impl Fn(u128) -> T) -> Vec<T> {
        let end = positions.end.min(self.len);
        let mut out = Vec::with_capacity(end.saturating_sub(positions.start));
        let mut at = positions.start;
        while at < end {
            let (tile, first) = (at / TILE, at % TILE);
            let here = (2 * TILE - first).min(end - at);
            let tiles = [self.tile(tile), self.tile(tile + 1)];
            transpose::rows(tiles, first..first + here, &of, &mut out);
            at += here;
        }
        out
    }
}
