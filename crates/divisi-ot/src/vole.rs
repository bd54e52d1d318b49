//! Correlated rows of pairs: made chunk by chunk with all peers at once, in both directions, and checked.
//!
//! Types tell what a correlation is worth: [`Columns`] came out of the extension and cannot be used; [`VoleRows`]
//! passed the check.
//!
//! # The check (SoftSpokenOT, section 4.1; column-wise, over GF(2^128))
//! A column of a tile is an element of GF(2^128), so a column of T tiles is t_1, .., t_T, the last tile being
//! sacrificed. After all corrections are here, a coin gives z, and h(t) = t_1 z^(T-1) + .. + t_(T-1) z + t_T:
//! as a map over GF(2) its matrix is (R | I), so that the last tile pads all 128 equations \[W2\]. The maker
//! sends X = h(x) and V_b = h(v_b) of all 128 columns; the holder demands h(w_b) = V_b + X Delta_b \[W1,
//! W5\]. Two different x have one h(x) with probability below T / 2^128. Rows over a field have f columns,
//! 128 of pads, or both: one X stands for all of them \[K11, K13\]. Derivation and what a cheating maker
//! learns: docs/garbling.md, and docs/ot.md for columns of a field.

mod extend;

use crate::Kept;
use crate::delta::Deltas;
use crate::softspoken::layout::{Layout, MOST};
use crate::softspoken::{Holder, Maker, TILE};
use divisi_core::{Abort, Check, PartyId, Session, Step, step, taint};
use divisi_field::{BigField, Gf128, transpose};
pub(crate) use extend::Request;
use zeroize::Zeroize;

pub(crate) const CORRECT: Step = step!("correct");
const CHECK: Step = step!("check");

/// Tiles whose columns are hashed together: they stay in the cache nearest to the core.
const TOGETHER: usize = 8;

/// One word a row, of one end of a pair and one group of columns, checked or typed as semi-honest: M of the
/// maker, K of the holder. Wiped when dropped.
pub struct VoleRows {
    words: Kept<u128>,
    /// The number of the first row among all rows of its trees.
    first: u64,
}

impl VoleRows {
    /// The rows.
    #[must_use]
    pub fn words(&self) -> &[u128] {
        &self.words
    }

    /// The words themselves.
    pub(crate) fn into_words(self) -> Kept<u128> {
        self.words
    }

    /// The number of the first row: none returns, whatever these trees are asked for.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }
}

/// Tiles of one group's columns, 128 of them as they lie and `columns` of them in use, fixed but not checked.
#[must_use = "what is not checked is worth nothing"]
pub struct Columns {
    words: Kept<u128>,
    columns: usize,
    first: u64,
}

/// One for each group of columns that the rows have.
pub(crate) type ByGroup<T> = [Option<T>; 2];

impl Columns {
    fn zeros(tiles: usize, columns: usize, first: u64) -> Columns {
        Columns { words: Kept::zeros(tiles * TILE), columns, first }
    }

    /// Rows of one tile before the check: what is committed, and worth nothing until the check passed.
    pub(crate) fn peek(&self, tile: usize) -> [u128; TILE] {
        let mut rows = [0; TILE];
        if let Some(columns) = self.words.as_chunks().0.get(tile) {
            rows = *columns;
        }
        transpose::square(&mut rows);
        rows
    }

    /// Rows that no check stands behind: right if both ends are honest, for protocols that promise no more.
    pub(crate) fn semi_honest(mut self) -> VoleRows {
        self.tiles().for_each(transpose::square);
        VoleRows { words: self.words, first: self.first }
    }

    /// h of every column, and the rows: h is the sum of z^(m - 1 - t) times the word of tile t, of m. Some
    /// tiles at a time, so that as many products are reduced once.
    fn hash(mut self, session: &Session, z: Gf128) -> (Vec<Gf128>, VoleRows) {
        let mut sums = vec![Gf128(0); self.columns];
        let bare = session.mutated(Check::W2);
        // columns that are not used are zero
        let transposed = if self.columns <= TILE / 2 { transpose::slim } else { transpose::square };
        let mut left = self.words.len() / TILE;
        let mut words = [Gf128(0); 1 + TOGETHER];
        for tiles in self.words.as_chunks_mut::<TILE>().0.chunks_mut(TOGETHER) {
            left -= tiles.len();
            let words = &mut words[..=tiles.len()];
            // z^n, .., z, 1
            let mut powers = vec![Gf128(1); words.len()];
            (0..tiles.len()).rev().for_each(|i| powers[i] = powers[i + 1] * z);
            // the mutant's equations lack their pads
            let counted = tiles.len() - usize::from(bare && left == 0);
            for (c, sum) in sums.iter_mut().enumerate() {
                words[0] = *sum;
                words[1..].iter_mut().zip(&tiles[..counted]).for_each(|(word, tile)| word.0 = tile[c]);
                words[1 + counted..].fill(Gf128(0));
                *sum = Gf128::dot(words, &powers);
            }
            tiles.iter_mut().for_each(transposed);
        }
        words.iter_mut().for_each(|word| word.0.zeroize());
        (sums, VoleRows { words: self.words, first: self.first })
    }

    fn tiles(&mut self) -> impl Iterator<Item = &mut [u128; TILE]> {
        self.words.as_chunks_mut().0.iter_mut()
    }
}

/// Our ends of the rows with each peer, by party index; none where there is no pair or no such direction.
pub(crate) struct Ends {
    pub(crate) layout: Layout,
    pub(crate) makers: Vec<Option<Maker>>,
    pub(crate) holders: Vec<Option<Holder>>,
    #[cfg(feature = "fault")]
    pub(crate) deviation: Box<crate::adversary::Deviation>,
}

/// Rows on their way: our bits and MACs as maker, our keys as holder, by party index and group.
pub(crate) struct Made<T> {
    pub(crate) macs: Vec<ByGroup<T>>,
    pub(crate) keys: Vec<ByGroup<T>>,
}

/// Rows that passed the check, and the sums X that every maker told us, by party index; ours is what we told
/// that party.
pub(crate) struct Checked {
    pub(crate) rows: Made<VoleRows>,
    pub(crate) sums: Vec<u128>,
}

impl Made<Columns> {
    /// Check all rows with the coin that followed their corrections. One round: this tells, and
    /// [`Told::hear`] hears.
    ///
    /// One X for the columns of all groups \[K13\]: MACs and pads of a row belong to one bit.
    pub(crate) fn tell(
        self,
        session: &mut Session,
        coin: [u8; 16],
        x: &[&[u128]],
        ends: &Ends,
    ) -> Result<Told, Abort> {
        let z = Gf128(u128::from_le_bytes(coin));
        let tiles = x.iter().map(|x| x.len()).max().unwrap_or(0);
        session.meter().verification_error(tiles as f64 * 2f64.powi(-128));
        let mut macs = Vec::with_capacity(self.macs.len());
        let mut message = Vec::new();
        for (peer, groups) in PartyId::all(session.parties()).zip(self.macs) {
            let mut rows: ByGroup<VoleRows> = [None, None];
            let mut told = Vec::with_capacity(1 + MOST);
            for (group, columns) in groups.into_iter().enumerate() {
                let Some(columns) = columns else { continue };
                if told.is_empty() {
                    told.push(hash_bits(session, x[peer.index()], z));
                } else if session.mutated(Check::K13) {
                    // the mutant has an X for each group
                    told.push(ends.other_sum(session, x[peer.index()], z));
                }
                let (v, mut made) = columns.hash(session, z);
                told.extend(v.iter().map(|v| v.0));
                drop_last(session, &mut made);
                rows[group] = Some(made);
            }
            if !told.is_empty() {
                write(&told, &mut message);
                session.send(CHECK, peer, &message, 0)?;
            }
            macs.push(rows);
        }
        Ok(Told { z, macs, keys: self.keys, layout: ends.layout })
    }

    /// All rows as they are, for protocols that promise nothing against who deviates.
    pub(crate) fn semi_honest(self) -> Made<VoleRows> {
        let of = |rows: Vec<ByGroup<Columns>>| {
            rows.into_iter().map(|groups| groups.map(|columns| columns.map(Columns::semi_honest))).collect()
        };
        Made { macs: of(self.macs), keys: of(self.keys) }
    }
}

impl Ends {
    /// What a mutant's second X is made of.
    fn other_sum(&self, session: &Session, x: &[u128], z: Gf128) -> u128 {
        #[cfg(feature = "fault")]
        return hash_bits(session, &self.deviation.bits_of_pads(x), z);
        #[cfg(not(feature = "fault"))]
        hash_bits(session, x, z)
    }
}

/// Our part of the check is told.
pub(crate) struct Told {
    z: Gf128,
    layout: Layout,
    macs: Vec<ByGroup<VoleRows>>,
    keys: Vec<ByGroup<Columns>>,
}

impl Told {
    /// Hear the peers' parts.
    ///
    /// It counts as `check`: of a first extension \[W1\], of authenticated bits \[W5\], or of rows over a
    /// field \[K11\], which is the same relation. The sums of peers are theirs to us; whether they told
    /// others the same is for the caller to compare.
    pub(crate) fn hear(self, session: &mut Session, check: Check, deltas: &Deltas) -> Result<Checked, Abort> {
        let z = self.z;
        let mut sums = vec![0; session.parties()];
        let mut rows = Made { macs: self.macs, keys: Vec::new() };
        let mut message = Vec::new();
        let mut hashed = Vec::with_capacity(self.keys.len());
        for groups in self.keys {
            hashed.push(groups.map(|columns| columns.map(|columns| columns.hash(session, z))));
        }
        for (peer, hashed) in PartyId::all(session.parties()).zip(hashed) {
            let each: usize = hashed.iter().flatten().map(|(w, _)| w.len()).sum();
            if each == 0 {
                rows.keys.push([None, None]);
                continue;
            }
            let several = session.mutated(Check::K13) && hashed.iter().all(Option::is_some);
            message.resize(16 * (1 + each + usize::from(several)), 0);
            session.recv(CHECK, peer, &mut message)?;
            let mut told = Vec::with_capacity(1 + each);
            read(&message, &mut told);
            let mut told = told.as_slice();
            let (mut sum, key) = (told[0], deltas.towards(peer));
            sums[peer.index()] = sum;
            let mut wrong = 0;
            for (group, (w, _)) in hashed.iter().enumerate().filter_map(|(g, h)| Some((g, h.as_ref()?))) {
                if group == 0 || each == w.len() || several {
                    (sum, told) = (told[0], &told[1..]);
                }
                let (ours, rest) = told.split_at(w.len());
                told = rest;
                let delta = self.layout.group(&key, group);
                for (bit, (w, v)) in w.iter().zip(ours).enumerate() {
                    wrong |= w.0 ^ v ^ sum & (delta >> bit & 1).wrapping_neg();
                }
            }
            if check != Check::W1 {
                session.observe(Check::W1); // [W1] the extension's own check is the same relation
            }
            if hashed.iter().all(Option::is_some) {
                session.observe(Check::K13); // [K13] one X for MACs and pads
            }
            let right = taint::verdict(CHECK, wrong == 0);
            session.require(check, CHECK, right, Some(peer))?; // [W5] [K11] the MACs of the sums
            rows.keys.push(hashed.map(|hashed| {
                hashed.map(|(_, mut keys)| {
                    drop_last(session, &mut keys);
                    keys
                })
            }));
        }
        Ok(Checked { rows, sums })
    }
}

/// [W6] The sacrificed tile is gone.
fn drop_last(session: &Session, rows: &mut VoleRows) {
    session.observe(Check::W6); // [W6]
    if session.mutated(Check::W6) {
        return; // the mutant hands the sacrificed bits out
    }
    let keep = rows.words.len().saturating_sub(TILE);
    rows.words.cut(keep);
}

/// h(x), the last word padding the others.
pub(crate) fn hash_bits(session: &Session, x: &[u128], z: Gf128) -> u128 {
    session.observe(Check::W2); // [W2]
    let sum = x.iter().fold(Gf128(0), |sum, x| sum * z + Gf128(*x));
    match x.last() {
        // the mutant's equations lack their pads
        Some(pad) if session.mutated(Check::W2) => sum.0 ^ pad,
        _ => sum.0,
    }
}

pub(crate) fn write(words: &[u128], out: &mut Vec<u8>) {
    out.resize(16 * words.len(), 0);
    for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

pub(crate) fn read(bytes: &[u8], out: &mut Vec<u128>) {
    out.extend(bytes.as_chunks().0.iter().map(|word| u128::from_le_bytes(*word)));
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod lies;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows_tile_by_tile() {
        let columns =
            || (0..2 * TILE as u128).map(|i| i * 0x0123_4567_89ab_cdef_0000_0001).collect::<Kept<u128>>();
        for tile in 0..2 {
            let peeked = Columns { words: columns(), columns: TILE, first: 0 }.peek(tile);
            for (r, row) in peeked.iter().enumerate() {
                for c in 0..TILE {
                    assert_eq!(row >> c & 1, columns()[tile * TILE + c] >> r & 1);
                }
            }
        }
    }
}
