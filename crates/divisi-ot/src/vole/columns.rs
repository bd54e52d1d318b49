//! Tiles of columns, and the rows or columns that they become once they passed the check.

use crate::checks;
use crate::softspoken::TILE;
use divisi_core::Session;
use divisi_core::wipe::WipedVec;
use divisi_field::gf128::TOGETHER;
use divisi_field::{Field, Gf128, transpose};

/// Tiles of one group's columns, which are fixed but not yet checked. A tile has `each` words, of which the
/// first `columns` are used.
#[must_use = "correlations that are not checked must not be used"]
pub struct Columns {
    pub(super) words: WipedVec<u128>,
    columns: usize,
    each: usize,
    first: u64,
}

/// The form of columns that passed the check.
pub(crate) trait Outcome: Sized {
    /// How many words a tile with this number of columns takes.
    fn each(columns: usize) -> usize;

    /// Converts some tiles with this number of columns, right after they were hashed and while they are in
    /// the cache.
    fn turn(tiles: &mut [u128], columns: usize);

    /// Wraps the converted tiles.
    fn of(columns: Columns) -> Self;

    /// Removes the last tile.
    fn drop_tile(&mut self);
}

/// Rows of one direction of a pair and one group of columns, a word for each row: M at the maker, K at the
/// holder. They are checked, or their type says that they are semi-honest. Wiped when dropped.
pub struct VoleRows {
    words: WipedVec<u128>,
    /// The number of the first row among all rows of its trees.
    first: u64,
}

impl VoleRows {
    /// The rows, a word each.
    #[must_use]
    pub fn words(&self) -> &[u128] {
        &self.words
    }

    /// The words themselves.
    pub(crate) fn into_words(self) -> WipedVec<u128> {
        self.words
    }

    /// The number of the first row. These trees never use a number twice.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }
}

impl Outcome for VoleRows {
    /// A tile takes as many words as it has rows.
    fn each(_: usize) -> usize {
        TILE
    }

    fn turn(tiles: &mut [u128], columns: usize) {
        // unused columns are zero
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

/// Columns that passed the check and stay columns: for callers that add up the columns of all pairs and make
/// rows of the sum. Wiped when dropped.
pub(crate) struct Proven {
    words: WipedVec<u128>,
    columns: usize,
}

impl Proven {
    /// The words: tile by tile, the columns of each.
    pub(crate) fn into_words(self) -> WipedVec<u128> {
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

/// Rows of pads, or columns of MACs that stay columns: wide rows for callers that add up the columns of MACs
/// like those of [`Proven`]. The number of columns says which it is: pads have as many as a tile has rows,
/// and MACs fewer. Wiped when dropped.
pub(crate) struct Either {
    words: WipedVec<u128>,
    each: usize,
    first: u64,
}

impl Either {
    /// The rows of pads.
    pub(crate) fn into_rows(self) -> VoleRows {
        VoleRows { words: self.words, first: self.first }
    }

    /// The columns of MACs.
    pub(crate) fn into_columns(self) -> Proven {
        Proven { words: self.words, columns: self.each }
    }
}

impl Outcome for Either {
    fn each(columns: usize) -> usize {
        columns
    }

    fn turn(tiles: &mut [u128], columns: usize) {
        if columns == TILE {
            VoleRows::turn(tiles, columns);
        }
    }

    fn of(columns: Columns) -> Either {
        Either { words: columns.words, each: columns.each, first: columns.first }
    }

    fn drop_tile(&mut self) {
        let keep = self.words.len().saturating_sub(self.each);
        self.words.cut(keep);
    }
}

impl Columns {
    /// Space for `tiles` tiles with this number of columns, `each` words for a tile; `first` is the number of
    /// their first row.
    pub(super) fn zeros(tiles: usize, columns: usize, each: usize, first: u64) -> Columns {
        Columns { words: WipedVec::zeros(tiles * each), columns, each, first }
    }

    /// The columns of one tile of these rows.
    #[cfg(all(test, feature = "testing"))]
    pub(crate) fn of_rows(mut rows: [u128; TILE]) -> Columns {
        transpose::square(&mut rows);
        Columns { words: rows[..].into(), columns: TILE, each: TILE, first: 0 }
    }

    /// How many words a tile has.
    pub(super) fn each(&self) -> usize {
        self.each
    }

    /// How many bits all columns have.
    pub(super) fn bits(&self) -> usize {
        128 * self.words.len()
    }

    /// The rows of one tile, before the check. A party commits to them, and must not use them before the
    /// check passed.
    pub(crate) fn peek(&self, tile: usize) -> [u128; TILE] {
        let mut rows = [0; TILE];
        if let Some(columns) = self.words.chunks_exact(self.each).nth(tile) {
            rows[..self.each].copy_from_slice(columns);
        }
        transpose::square(&mut rows);
        rows
    }

    /// The rows without a check: they are right if both parties are honest, which semi-honest protocols
    /// assume.
    pub(crate) fn semi_honest(mut self) -> VoleRows {
        VoleRows::turn(&mut self.words, TILE);
        VoleRows::of(self)
    }

    /// h of every column, and the converted columns. h is the sum of z^(m - 1 - t) times the word of tile t,
    /// for m tiles. Several tiles are processed together: they stay in the first-level cache, and the sum of
    /// their products is reduced once.
    pub(super) fn hash<R: Outcome>(mut self, z: Gf128) -> (Vec<Gf128>, R) {
        let mut sums = vec![Gf128(0); self.columns];
        let each = self.each;
        for tiles in self.words.chunks_mut(TOGETHER * each) {
            let count = tiles.len() / each;
            // z^n, .., z, 1
            let mut powers = [Gf128::ONE; 1 + TOGETHER];
            (0..count).rev().for_each(|i| powers[i] = powers[i + 1] * z);
            Gf128::absorb(&mut sums, &tiles[..count * each], each, &powers[..=count]);
            R::turn(tiles, self.columns);
        }
        (sums, R::of(self))
    }
}

/// [W6] Drops the sacrificed tile.
pub(super) fn drop_last<R: Outcome>(session: &Session, rows: &mut R) {
    session.observe(checks::W6); // [W6]
    rows.drop_tile();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of rows, of columns, and of either, the last tile is dropped, and the others stay as they are.
    #[test]
    fn the_last_tile_is_dropped() {
        fn dropped<R: Outcome>(columns: usize, words: fn(R) -> WipedVec<u128>) {
            let of = |tiles: usize| Columns {
                words: (1..=(tiles * R::each(columns)) as u128).collect(),
                columns,
                each: R::each(columns),
                first: 0,
            };
            for tiles in 1..4 {
                let mut made = R::of(of(tiles));
                made.drop_tile();
                assert_eq!(words(made)[..], of(tiles - 1).words[..]);
            }
        }
        for columns in [48, TILE] {
            dropped(columns, VoleRows::into_words);
            dropped(columns, Proven::into_words);
            dropped(columns, |rows: Either| rows.into_columns().words);
        }
    }

    #[test]
    fn columns_become_rows_tile_by_tile() {
        for each in [TILE, 48] {
            let columns = || {
                (0..2 * each as u128).map(|i| i * 0x0123_4567_89ab_cdef_0000_0001).collect::<WipedVec<u128>>()
            };
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
