//! Tiles of columns, and what becomes of them once they passed the check.

use crate::Kept;
use crate::softspoken::TILE;
use divisi_core::{Check, Session};
use divisi_field::gf128::TOGETHER;
use divisi_field::{Field, Gf128, transpose};

/// Tiles of one group's columns, fixed but not checked: `each` words a tile, of which the first `columns` are
/// in use.
#[must_use = "correlations that are not checked must not be used"]
pub struct Columns {
    pub(super) words: Kept<u128>,
    columns: usize,
    each: usize,
    first: u64,
}

/// What columns are once they passed the check.
pub(crate) trait Outcome: Sized {
    /// How many words a tile of so many columns has.
    fn each(columns: usize) -> usize;

    /// What becomes of some tiles whose columns are hashed, of so many columns, while they are at hand.
    fn turn(tiles: &mut [u128], columns: usize);

    /// All of them.
    fn of(columns: Columns) -> Self;

    /// Forget the last tile.
    fn drop_tile(&mut self);
}

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

impl Outcome for VoleRows {
    /// A tile becomes as many rows as it has room for.
    fn each(_: usize) -> usize {
        TILE
    }

    fn turn(tiles: &mut [u128], columns: usize) {
        // columns that are not used are zero
        let turned = if columns <= TILE / 2 { transpose::slim } else { transpose::square };
        tiles.as_chunks_mut().0.iter_mut().for_each(turned);
    }

    fn of(columns: Columns) -> VoleRows {
        VoleRows { words: columns.words, first: columns.first }
    }

    fn drop_tile(&mut self) {
        let keep = self.words.len().saturating_sub(TILE);
        self.words.cut(keep);
    }
}

/// Columns that passed the check, as they lie: for who adds up the columns of all pairs, and makes rows of
/// the sums alone. Wiped when dropped.
pub(crate) struct Proven {
    words: Kept<u128>,
    columns: usize,
}

impl Proven {
    /// Tile by tile, the columns of each.
    pub(crate) fn into_words(self) -> Kept<u128> {
        self.words
    }
}

impl Outcome for Proven {
    fn each(columns: usize) -> usize {
        columns
    }

    fn turn(_: &mut [u128], _: usize) {}

    fn of(columns: Columns) -> Proven {
        Proven { words: columns.words, columns: columns.each }
    }

    fn drop_tile(&mut self) {
        let keep = self.words.len().saturating_sub(self.columns);
        self.words.cut(keep);
    }
}

impl Columns {
    /// Room for tiles of so many columns, `each` words a tile, from the number of their first row on.
    pub(super) fn zeros(tiles: usize, columns: usize, each: usize, first: u64) -> Columns {
        Columns { words: Kept::zeros(tiles * each), columns, each, first }
    }

    /// How many words a tile has.
    pub(super) fn each(&self) -> usize {
        self.each
    }

    /// Rows of one tile before the check: what is committed, and worth nothing until the check passed.
    pub(crate) fn peek(&self, tile: usize) -> [u128; TILE] {
        let mut rows = [0; TILE];
        if let Some(columns) = self.words.chunks_exact(self.each).nth(tile) {
            rows[..self.each].copy_from_slice(columns);
        }
        transpose::square(&mut rows);
        rows
    }

    /// Rows that no check stands behind: right if both ends are honest, for protocols that promise no more.
    pub(crate) fn semi_honest(mut self) -> VoleRows {
        VoleRows::turn(&mut self.words, TILE);
        VoleRows::of(self)
    }

    /// h of every column, and what they become: h is the sum of z^(m - 1 - t) times the word of tile t, of m.
    /// Some tiles at a time, which stay in the cache nearest to the core, so that as many products are
    /// reduced once.
    pub(super) fn hash<R: Outcome>(mut self, session: &Session, z: Gf128) -> (Vec<Gf128>, R) {
        let mut sums = vec![Gf128(0); self.columns];
        let bare = session.mutated(Check::W2);
        let each = self.each;
        let mut left = self.words.len() / each;
        for tiles in self.words.chunks_mut(TOGETHER * each) {
            let count = tiles.len() / each;
            left -= count;
            // z^n, .., z, 1
            let mut powers = [Gf128::ONE; 1 + TOGETHER];
            (0..count).rev().for_each(|i| powers[i] = powers[i + 1] * z);
            // the mutant's equations lack their pads
            let counted = count - usize::from(bare && left == 0);
            Gf128::absorb(&mut sums, &tiles[..counted * each], each, &powers[..=count]);
            R::turn(tiles, self.columns);
        }
        (sums, R::of(self))
    }
}

/// [W6] The sacrificed tile is gone.
pub(super) fn drop_last<R: Outcome>(session: &Session, rows: &mut R) {
    session.observe(Check::W6); // [W6]
    if session.mutated(Check::W6) {
        return; // the mutant hands the sacrificed bits out
    }
    rows.drop_tile();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows_tile_by_tile() {
        for each in [TILE, 48] {
            let columns =
                || (0..2 * each as u128).map(|i| i * 0x0123_4567_89ab_cdef_0000_0001).collect::<Kept<u128>>();
            for tile in 0..2 {
                let peeked = Columns { words: columns(), columns: each, each, first: 0 }.peek(tile);
                for (r, row) in peeked.iter().enumerate() {
                    for c in 0..each {
                        assert_eq!(row >> c & 1, columns()[tile * each + c] >> r & 1);
                    }
                }
            }
        }
    }
}
