//! Transposes square matrices of 128 by 128 bits in place: columns of correlated bits become rows.

use crate::kernel::vectorize;
#[cfg(target_arch = "x86_64")]
use crate::{kernel, transpose::gfni};

/// Transposes: swaps bit j of word i with bit i of word j.
pub fn square(matrix: &mut [u128; 128]) {
    #[cfg(target_arch = "x86_64")]
    if kernel::active() == kernel::Kernel::Avx512 {
        // SAFETY: a kernel becomes active only after its features were seen on this processor.
        return unsafe { gfni::square(matrix) };
    }
    vectorize(
        #[inline(always)]
        || {
            let mut half = [[0_u64; 128]; 2];
            let [low, high] = &mut half;
            for (word, (l, h)) in matrix.iter().zip(low.iter_mut().zip(high.iter_mut())) {
                (*l, *h) = (*word as u64, (*word >> 64) as u64);
            }
            // the upper right quarter and the lower left one are swapped
            for (h, l) in high[..64].iter_mut().zip(&mut low[64..]) {
                core::mem::swap(h, l);
            }
            half.iter_mut().for_each(
                #[inline(always)]
                |words| all_quarters(words),
            );
            let [low, high] = &half;
            for (word, (l, h)) in matrix.iter_mut().zip(low.iter().zip(high)) {
                *word = u128::from(*l) | u128::from(*h) << 64;
            }
        },
    );
}

/// [`square`] for a matrix whose words from the 64th on are zero; the upper halves of the results are then
/// zero. It takes half the time, except with AVX-512, where it calls [`square`]: a whole matrix fits into the
/// registers of 64 bytes.
pub fn slim(matrix: &mut [u128; 128]) {
    #[cfg(target_arch = "x86_64")]
    if kernel::active() == kernel::Kernel::Avx512 {
        return square(matrix);
    }
    vectorize(
        #[inline(always)]
        || {
            let mut words = [0_u64; 128];
            let (low, high) = words.split_at_mut(64);
            for (word, (l, h)) in matrix.iter().zip(low.iter_mut().zip(high)) {
                (*l, *h) = (*word as u64, (*word >> 64) as u64);
            }
            all_quarters(&mut words);
            matrix.iter_mut().zip(&words).for_each(|(word, half)| *word = u128::from(*half));
        },
    );
}

/// Transposes each square of 64 by 64 bits, 64 words: swaps bit j of its word i with bit i of its word j.
/// Words after the last whole square stay as they are.
pub fn squares(words: &mut [u64]) {
    let whole = words.len() / 64 * 64;
    vectorize(
        #[inline(always)]
        || all_quarters(&mut words[..whole]),
    );
}

/// Transposes each square of 64 words.
#[inline(always)]
pub(crate) fn all_quarters(words: &mut [u64]) {
    quarters::<32>(words, 0x0000_0000_ffff_ffff);
    quarters::<16>(words, 0x0000_ffff_0000_ffff);
    quarters::<8>(words, 0x00ff_00ff_00ff_00ff);
    quarters::<4>(words, 0x0f0f_0f0f_0f0f_0f0f);
    quarters::<2>(words, 0x3333_3333_3333_3333);
    quarters::<1>(words, 0x5555_5555_5555_5555);
}

/// In each square of 2 J by 2 J bits on the diagonal: swaps the upper right quarter with the lower left one.
#[inline(always)]
fn quarters<const J: usize>(words: &mut [u64], mask: u64) {
    for pair in words.chunks_exact_mut(2 * J) {
        let (upper, lower) = pair.split_at_mut(J);
        for (a, b) in upper.iter_mut().zip(lower) {
            let t = (*a >> J ^ *b) & mask;
            *b ^= t;
            *a ^= t << J;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::{available, with};

    #[test]
    fn every_bit_changes_places_with_its_mirror_image() {
        let mut state = 1_u128;
        let matrix: [u128; 128] = core::array::from_fn(|_| {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x5851_f42d);
            state ^ state >> 61
        });
        for kernel in available() {
            let mut out = matrix;
            with(kernel, || square(&mut out)).unwrap();
            for (i, row) in out.iter().enumerate() {
                for (j, column) in matrix.iter().enumerate() {
                    assert_eq!(row >> j & 1, column >> i & 1, "{kernel} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn a_slim_matrix_is_one_with_few_words() {
        let mut state = 1_u128;
        let matrix: [u128; 128] = core::array::from_fn(|i| {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x5851_f42d);
            if i < 64 { state ^ state >> 61 } else { 0 }
        });
        for kernel in available() {
            let (mut whole, mut few) = (matrix, matrix);
            with(kernel, || (square(&mut whole), slim(&mut few))).unwrap();
            assert_eq!(whole, few, "{kernel}");
        }
    }

    #[test]
    fn squares_of_words_change_places_with_their_mirror_images() {
        let words: Vec<u64> = (1..=3 * 64 + 5_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for kernel in available() {
            let mut out = words.clone();
            with(kernel, || squares(&mut out)).unwrap();
            for (at, square) in words.chunks_exact(64).enumerate() {
                for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
                    assert_eq!(out[64 * at + i] >> j & 1, square[j] >> i & 1, "{kernel} {at} {i} {j}");
                }
            }
            assert_eq!(out[3 * 64..], words[3 * 64..]);
        }
    }
}
