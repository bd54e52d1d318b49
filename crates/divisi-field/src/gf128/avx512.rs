//! GF(2^128) by VPCLMULQDQ, four elements at a time.

use core::arch::x86_64::*;

use super::Gf128;

pub(super) use super::avx2::mul;

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
pub(super) fn dot(x: &[Gf128], y: &[Gf128]) -> Gf128 {
    let (x, x_rest) = x.as_chunks::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    let mut sum = Sum::new();
    for (x, y) in x.iter().zip(y) {
        sum.add_product(load(x), load(y));
    }
    sum.add_product(load(x_rest), load(y_rest));
    let mut lanes = [Gf128::default(); 4];
    store(sum.reduce(), &mut lanes);
    lanes.into_iter().sum()
}

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
pub(super) fn mul_assign(x: &mut [Gf128], y: &[Gf128]) {
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (x, y) in x.iter_mut().zip(y) {
        store(product(load(x), load(y)), x);
    }
    store(product(load(x_rest), load(y_rest)), x_rest);
}

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
pub(super) fn scale(x: &mut [Gf128], c: Gf128) {
    let factor = load(&[c; 4]);
    let (x, x_rest) = x.as_chunks_mut::<4>();
    for x in x {
        store(product(load(x), factor), x);
    }
    store(product(load(x_rest), factor), x_rest);
}

#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
pub(super) fn fold(x: &[Gf128], r: Gf128, out: &mut [Gf128]) {
    let factor = load(&[r; 4]);
    let even = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13);
    let odd = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    let fold = |first, second| {
        let x0 = _mm512_permutex2var_epi64(first, even, second);
        let x1 = _mm512_permutex2var_epi64(first, odd, second);
        _mm512_xor_si512(x0, product(_mm512_xor_si512(x0, x1), factor))
    };
    let (x, x_rest) = x.as_chunks::<8>();
    let (out, out_rest) = out.as_chunks_mut::<4>();
    for (x, out) in x.iter().zip(out) {
        let (first, second) = x.split_at(4);
        store(fold(load(first), load(second)), out);
    }
    let (first, second) = x_rest.split_at(x_rest.len().min(4));
    store(fold(load(first), load(second)), out_rest);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn product(x: __m512i, y: __m512i) -> __m512i {
    let mut sum = Sum::new();
    sum.add_product(x, y);
    sum.reduce()
}

/// Four unreduced sums of products, by Karatsuba's method: `middle` is the product of the halves' sums, from
/// which the low and the high product are subtracted at the end.
struct Sum {
    low: __m512i,
    middle: __m512i,
    high: __m512i,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new() -> Self {
        let zero = _mm512_setzero_si512();
        Self { low: zero, middle: zero, high: zero }
    }

    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn add_product(&mut self, x: __m512i, y: __m512i) {
        let crossed = _mm512_clmulepi64_epi128(
            _mm512_xor_si512(x, swap_halves(x)),
            _mm512_xor_si512(y, swap_halves(y)),
            0x00,
        );
        self.low = _mm512_xor_si512(self.low, _mm512_clmulepi64_epi128(x, y, 0x00));
        self.middle = _mm512_xor_si512(self.middle, crossed);
        self.high = _mm512_xor_si512(self.high, _mm512_clmulepi64_epi128(x, y, 0x11));
    }

    /// Reduces like [`super::reduce`]. Bits that a shift moves out of a word are added to the next one: those
    /// of the low word to the high word of the result; those of the high word to the low word of `high`,
    /// before that is shifted.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn reduce(self) -> __m512i {
        const LOW_WORDS: __mmask8 = 0x55;
        const HIGH_WORDS: __mmask8 = 0xaa;
        let middle = sum3(self.low, self.middle, self.high);
        let low = _mm512_xor_si512(self.low, _mm512_bslli_epi128(middle, 8));
        let high = _mm512_xor_si512(self.high, _mm512_bsrli_epi128(middle, 8));
        let over =
            sum3(_mm512_srli_epi64(high, 63), _mm512_srli_epi64(high, 62), _mm512_srli_epi64(high, 57));
        let over = swap_halves(over);
        let high = _mm512_mask_xor_epi64(high, LOW_WORDS, high, over);
        let sum = sum3(low, high, _mm512_slli_epi64(high, 1));
        let sum = sum3(sum, _mm512_slli_epi64(high, 2), _mm512_slli_epi64(high, 7));
        _mm512_mask_xor_epi64(sum, HIGH_WORDS, sum, over)
    }
}

/// The sum of three, as one ternary function.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum3(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64(x, y, z, 0x96)
}

/// Swaps the two words of each element.
#[inline]
#[target_feature(enable = "avx512f")]
fn swap_halves(x: __m512i) -> __m512i {
    _mm512_shuffle_epi32(x, 0x4e)
}

/// The first four elements; zeros if there are fewer.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(x: &[Gf128]) -> __m512i {
    // SAFETY: the mask names only words of the slice.
    unsafe { _mm512_maskz_loadu_epi64(mask(x.len()), x.as_ptr().cast()) }
}

/// Overwrites the first four elements, or as many as there are.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(x: __m512i, place: &mut [Gf128]) {
    // SAFETY: the mask names only words of the slice.
    unsafe { _mm512_mask_storeu_epi64(place.as_mut_ptr().cast(), mask(place.len()), x) }
}

#[inline(always)]
fn mask(length: usize) -> __mmask8 {
    if length >= 4 { 0xff } else { (1 << (2 * length)) - 1 }
}
