//! Sums over tiles, column by column, two columns in a register. A check hashes rows with them.

use core::arch::x86_64::*;

use super::{Gf128, TOGETHER};

/// [`super::Gf128::absorb`] for columns in groups of four; returns how many columns were processed.
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn absorb(sums: &mut [Gf128], tiles: &[u128], columns: usize, powers: &[Gf128]) -> usize {
    let mut factors = [Factor::of(&Gf128(0)); 1 + TOGETHER];
    for (factor, power) in factors.iter_mut().zip(powers) {
        *factor = Factor::of(power);
    }
    let fours = sums.as_chunks_mut::<4>().0;
    let served = 4 * fours.len();
    for (g, four) in fours.iter_mut().enumerate() {
        let mut all = [Sum::new(), Sum::new()];
        for (sum, pair) in all.iter_mut().zip(four.as_chunks::<2>().0) {
            sum.add_product(load(&pair.map(|x| x.0)), factors[0]);
        }
        for (tile, factor) in tiles.chunks_exact(columns).zip(&factors[1..]) {
            let pairs = tile[4 * g..][..4].as_chunks::<2>().0;
            for (sum, pair) in all.iter_mut().zip(pairs) {
                sum.add_product(load(pair), *factor);
            }
        }
        for (sum, pair) in all.into_iter().zip(four.as_chunks_mut::<2>().0) {
            store(sum.reduce(), pair);
        }
    }
    served
}

/// A factor for both elements of a register, and the sum of its words, for Karatsuba's method.
#[derive(Clone, Copy)]
struct Factor {
    words: __m256i,
    both: __m256i,
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(x: &Gf128) -> Self {
        let words = load(&[x.0; 2]);
        Factor { words, both: _mm256_xor_si256(words, swap_words(words)) }
    }
}

/// Two unreduced sums of products; the low and the high product must still be subtracted from `middle`.
struct Sum {
    low: __m256i,
    middle: __m256i,
    high: __m256i,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Self {
        let zero = _mm256_setzero_si256();
        Self { low: zero, middle: zero, high: zero }
    }

    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn add_product(&mut self, x: __m256i, factor: Factor) {
        let crossed = _mm256_clmulepi64_epi128(_mm256_xor_si256(x, swap_words(x)), factor.both, 0x00);
        self.low = _mm256_xor_si256(self.low, _mm256_clmulepi64_epi128(x, factor.words, 0x00));
        self.middle = _mm256_xor_si256(self.middle, crossed);
        self.high = _mm256_xor_si256(self.high, _mm256_clmulepi64_epi128(x, factor.words, 0x11));
    }

    /// Reduces by two products with x^7 + x^2 + x + 1: first the highest word, shifted down by 64, then the
    /// next one.
    #[inline]
    #[target_feature(enable = "avx2,vpclmulqdq")]
    fn reduce(self) -> __m256i {
        let modulus = _mm256_set_epi64x(0, 0x87, 0, 0x87);
        let middle = _mm256_xor_si256(self.middle, _mm256_xor_si256(self.low, self.high));
        let low = _mm256_xor_si256(self.low, _mm256_bslli_epi128(middle, 8));
        let high = _mm256_xor_si256(self.high, _mm256_bsrli_epi128(middle, 8));
        let upper = _mm256_clmulepi64_epi128(high, modulus, 0x01);
        let high = _mm256_xor_si256(high, _mm256_bsrli_epi128(upper, 8));
        let lower = _mm256_clmulepi64_epi128(high, modulus, 0x00);
        _mm256_xor_si256(_mm256_xor_si256(low, lower), _mm256_bslli_epi128(upper, 8))
    }
}

/// Swaps the two words of each element.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_words(x: __m256i) -> __m256i {
    _mm256_shuffle_epi32(x, 0x4e)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(x: &[u128; 2]) -> __m256i {
    // SAFETY: the reference covers 256 bits.
    unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(x: __m256i, place: &mut [Gf128; 2]) {
    // SAFETY: a `Gf128` is transparent over 128 bits, so that the reference covers 256.
    unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), x) }
}
