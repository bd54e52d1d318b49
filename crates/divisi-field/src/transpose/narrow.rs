//! Tiles of at most 64 columns become rows of one word, two tiles of 128 rows at a time, so that each step
//! uses whole registers.
//!
//! Word c of a tile is column c, whose bit r belongs to row r. The two halves of two tiles are four squares
//! of 64 by 64 bits; register c holds word c of all four. They are transposed as in
//! [`square`](super::square()), by six steps that exchange bits between registers. Three steps are done while
//! the same eight registers are loaded.

use super::square;
use crate::kernel::vectorize;
use core::ops::Range;
use zeroize::Zeroize;

/// How many rows a tile has.
const TILE: usize = 128;

/// Word c of each of the four squares.
type Four = [u64; 4];

/// Appends some of the 256 rows of two tiles of at most 128 columns to `out`. `of` makes the entry from a
/// row's bits, in which bit c is column c.
///
/// # Panics
/// If a tile has more than 128 columns, or there are not this many rows.
pub fn rows<T>(tiles: [&[u128]; 2], range: Range<usize>, of: impl Fn(u128) -> T, out: &mut Vec<T>) {
    if tiles.iter().all(|columns| columns.len() <= 64) {
        let mut scratch = [[0; TILE]; 2];
        narrow(tiles, &mut scratch);
        out.extend(scratch.as_flattened()[range].iter().map(|row| of(u128::from(*row))));
        scratch.zeroize();
    } else {
        let mut scratch = [[0; TILE]; 2];
        for (columns, scratch) in tiles.iter().zip(&mut scratch) {
            scratch[..columns.len()].copy_from_slice(columns);
            square(scratch);
        }
        out.extend(scratch.as_flattened()[range].iter().map(|row| of(*row)));
        scratch.zeroize();
    }
}

/// Bit r of word c of a tile becomes bit c of its row r; the bits after the last column become zero. A
/// missing tile is a tile without columns.
///
/// # Panics
/// If a tile has more than 64 columns.
pub fn narrow(tiles: [&[u128]; 2], rows: &mut [[u64; 128]; 2]) {
    assert!(tiles.iter().all(|columns| columns.len() <= 64), "a row of one word has 64 columns");
    vectorize(
        #[inline(always)]
        || {
            let mut squares: [Four; 64] = [[0; 4]; 64];
            for (t, columns) in tiles.iter().enumerate() {
                for (square, word) in squares.iter_mut().zip(*columns) {
                    square[2 * t] = *word as u64;
                    square[2 * t + 1] = (*word >> 64) as u64;
                }
            }
            for first in 0..8 {
                steps::<8>(
                    &mut squares,
                    first,
                    [(32, 0x0000_0000_ffff_ffff), (16, 0x0000_ffff_0000_ffff), (8, 0x00ff_00ff_00ff_00ff)],
                );
            }
            for first in 0..8 {
                steps::<1>(
                    &mut squares,
                    8 * first,
                    [(4, 0x0f0f_0f0f_0f0f_0f0f), (2, 0x3333_3333_3333_3333), (1, 0x5555_5555_5555_5555)],
                );
            }
            let [zero, one] = rows;
            for (half, at) in [(0, 0..64), (1, 64..128)] {
                let rows = zero[at.clone()].iter_mut().zip(&mut one[at]);
                for (square, (zero, one)) in squares.iter().zip(rows) {
                    (*zero, *one) = (square[half], square[2 + half]);
                }
            }
        },
    );
}

/// Three steps on the eight registers `first`, `first + EACH` and so on: those that are four, two and one
/// apart in this list exchange quarters, as in [`super::square()`].
#[inline(always)]
fn steps<const EACH: usize>(squares: &mut [Four; 64], first: usize, steps: [(u32, u64); 3]) {
    let mut eight: [Four; 8] = [[0; 4]; 8];
    for (i, square) in eight.iter_mut().enumerate() {
        *square = squares[first + EACH * i];
    }
    exchange::<4>(&mut eight, steps[0]);
    exchange::<2>(&mut eight, steps[1]);
    exchange::<1>(&mut eight, steps[2]);
    for (i, square) in eight.iter().enumerate() {
        squares[first + EACH * i] = *square;
    }
}

#[inline(always)]
fn exchange<const APART: usize>(eight: &mut [Four; 8], (shift, mask): (u32, u64)) {
    for i in 0..8 {
        if i & APART != 0 {
            continue;
        }
        let (mut a, mut b) = (eight[i], eight[i + APART]);
        for (a, b) in a.iter_mut().zip(&mut b) {
            let t = (*a >> shift ^ *b) & mask;
            *b ^= t;
            *a ^= t << shift;
        }
        (eight[i], eight[i + APART]) = (a, b);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::{available, with};

    #[test]
    fn columns_become_rows() {
        let mut state = 1_u128;
        let mut columns = |count: usize| -> Vec<u128> {
            (0..count)
                .map(|_| {
                    state =
                        state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x5851);
                    state ^ state >> 61
                })
                .collect()
        };
        for kernel in available() {
            for (few, more) in [(48, 48), (64, 64), (40, 0), (0, 1), (42, 17), (64, 3)] {
                let tiles = [columns(few), columns(more)];
                let mut rows = [[7; 128]; 2];
                with(kernel, || narrow([&tiles[0], &tiles[1]], &mut rows)).unwrap();
                for (columns, rows) in tiles.iter().zip(&rows) {
                    for (r, row) in rows.iter().enumerate() {
                        let expected = columns
                            .iter()
                            .enumerate()
                            .fold(0, |sum, (c, word)| sum | ((word >> r & 1) as u64) << c);
                        assert_eq!(*row, expected, "{kernel} {few} {more} {r}");
                    }
                }
            }
        }
    }

    /// Some rows of tiles with few columns, with many, and of one tile of each kind.
    #[test]
    fn rows_are_those_of_the_columns() {
        let columns = |count: usize| -> Vec<u128> {
            (1..=count as u128).map(|i| i.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)).collect()
        };
        for (one, other) in [(48, 48), (72, 72), (40, 0), (0, 128), (64, 65)] {
            let tiles = [columns(one), columns(other)];
            for range in [0..256, 3..250, 0..128, 128..256, 127..129, 40..40] {
                let mut out = vec![77];
                rows([&tiles[0], &tiles[1]], range.clone(), |row: u128| row.wrapping_add(1), &mut out);
                assert_eq!((out.len(), out[0]), (1 + range.len(), 77));
                for (r, row) in range.zip(&out[1..]) {
                    let words = tiles[r / TILE].iter().enumerate();
                    let expected = words.fold(0, |sum, (c, word)| sum | (word >> (r % TILE) & 1) << c);
                    assert_eq!(row.wrapping_sub(1), expected, "{one} {other} {r}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "64 columns")]
    fn more_columns_than_a_word_has_bits_are_refused() {
        narrow([&[0; 65], &[]], &mut [[0; 128]; 2]);
    }
}
