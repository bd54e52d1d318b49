//! GF(2^64) by VPCLMULQDQ, eight elements at a time.

use core::arch::x86_64::*;

use super::Gf64;
use super::unreduced::Unreduced;
use crate::Plane;

pub(super) use super::pclmul::mul;
pub(super) use super::weigh_gfni::{matrices, weigh, weigh_bytes};

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn dot(x: &[Gf64], y: &[Gf64]) -> Gf64 {
    // Four independent sums hide the latency of the multiplier.
    let mut sums = [_mm512_setzero_si512(); 4];
    let (x_blocks, x_rest) = x.as_chunks::<16>();
    let (y_blocks, y_rest) = y.as_chunks::<16>();
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        let ((x0, x1), (y0, y1)) = (load2(x), load2(y));
        sums[0] = _mm512_xor_si512(sums[0], _mm512_clmulepi64_epi128(x0, y0, 0x00));
        sums[1] = _mm512_xor_si512(sums[1], _mm512_clmulepi64_epi128(x0, y0, 0x11));
        sums[2] = _mm512_xor_si512(sums[2], _mm512_clmulepi64_epi128(x1, y1, 0x00));
        sums[3] = _mm512_xor_si512(sums[3], _mm512_clmulepi64_epi128(x1, y1, 0x11));
    }
    for (x, y) in x_rest.chunks(8).zip(y_rest.chunks(8)) {
        let (x, y) = (load(x), load(y));
        sums[0] = _mm512_xor_si512(sums[0], _mm512_clmulepi64_epi128(x, y, 0x00));
        sums[1] = _mm512_xor_si512(sums[1], _mm512_clmulepi64_epi128(x, y, 0x11));
    }
    let sum = _mm512_xor_si512(_mm512_xor_si512(sums[0], sums[1]), _mm512_xor_si512(sums[2], sums[3]));
    reduce_all(sum)
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn line_products(x: &[Gf64], y: &[Gf64]) -> (Gf64, Gf64) {
    let mut ones = [_mm512_setzero_si512(); 2];
    let mut leadings = [_mm512_setzero_si512(); 2];
    let neighbours = |v| _mm512_xor_si512(v, _mm512_shuffle_epi32(v, 0b01_00_11_10));
    let mut add = |k: usize, x, y| {
        ones[k] = _mm512_xor_si512(ones[k], _mm512_clmulepi64_epi128(x, y, 0x11));
        let leading = _mm512_clmulepi64_epi128(neighbours(x), neighbours(y), 0x00);
        leadings[k] = _mm512_xor_si512(leadings[k], leading);
    };
    let (x_blocks, x_rest) = x.as_chunks::<16>();
    let (y_blocks, y_rest) = y.as_chunks::<16>();
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        let ((x0, x1), (y0, y1)) = (load2(x), load2(y));
        add(0, x0, y0);
        add(1, x1, y1);
    }
    for (x, y) in x_rest.chunks(8).zip(y_rest.chunks(8)) {
        add(0, load(x), load(y));
    }
    let sum = |v: [__m512i; 2]| reduce_all(_mm512_xor_si512(v[0], v[1]));
    (sum(ones), sum(leadings))
}

/// [`super::add_words`], after its check of the lengths.
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]) {
    let c = load(coefficients);
    for (sum, plane) in sums.iter_mut().zip(planes) {
        // SAFETY: a plane and a sum cover 64 bytes each, aligned to 64.
        unsafe {
            let x = _mm512_load_si512(plane.0.as_ptr().cast());
            let even = _mm512_clmulepi64_epi128(x, c, 0x00);
            let odd = _mm512_clmulepi64_epi128(x, c, 0x11);
            let before = _mm512_load_si512(sum.0.as_ptr().cast());
            let after = _mm512_ternarylogic_epi64(before, even, odd, 0x96);
            _mm512_store_si512(sum.0.as_mut_ptr().cast(), after);
        }
    }
}

/// The sum of four polynomials of degree below 128, reduced.
#[inline]
#[target_feature(enable = "avx512f")]
fn reduce_all(sum: __m512i) -> Gf64 {
    let mut words = [0_u64; 8];
    // SAFETY: the array covers 64 bytes.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), sum) };
    let low = words[0] ^ words[2] ^ words[4] ^ words[6];
    let high = words[1] ^ words[3] ^ words[5] ^ words[7];
    super::reduce(u128::from(high) << 64 | u128::from(low))
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn mul_assign(x: &mut [Gf64], y: &[Gf64]) {
    let (x, x_rest) = x.as_chunks_mut::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    for (x, y) in x.iter_mut().zip(y) {
        store(product(load(x), load(y)), x);
    }
    store(product(load(x_rest), load(y_rest)), x_rest);
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn scale(x: &mut [Gf64], c: Gf64) {
    let factor = _mm512_set1_epi64(c.0 as i64);
    let (x, x_rest) = x.as_chunks_mut::<8>();
    for x in x {
        store(product(load(x), factor), x);
    }
    store(product(load(x_rest), factor), x_rest);
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn fold(x: &[Gf64], r: Gf64, out: &mut [Gf64]) {
    let factor = _mm512_set1_epi64(r.0 as i64);
    let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    let fold = |first, second| {
        let x0 = _mm512_permutex2var_epi64(first, even, second);
        let x1 = _mm512_permutex2var_epi64(first, odd, second);
        _mm512_xor_si512(x0, product(_mm512_xor_si512(x0, x1), factor))
    };
    let (x, x_rest) = x.as_chunks::<16>();
    let (out, out_rest) = out.as_chunks_mut::<8>();
    for (x, out) in x.iter().zip(out) {
        let (first, second) = load2(x);
        store(fold(first, second), out);
    }
    let (first, second) = x_rest.split_at(x_rest.len().min(8));
    store(fold(load(first), load(second)), out_rest);
}

/// Products of eight pairs.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn product(x: __m512i, y: __m512i) -> __m512i {
    let even = _mm512_clmulepi64_epi128(x, y, 0x00);
    let odd = _mm512_clmulepi64_epi128(x, y, 0x11);
    let low = _mm512_unpacklo_epi64(even, odd);
    let high = _mm512_unpackhi_epi64(even, odd);
    // As `super::reduce`; the ternary function 0x96 is the XOR of three.
    let over = _mm512_ternarylogic_epi64(
        _mm512_srli_epi64(high, 60),
        _mm512_srli_epi64(high, 61),
        _mm512_srli_epi64(high, 63),
        0x96,
    );
    let high = _mm512_xor_si512(high, over);
    let sum = _mm512_ternarylogic_epi64(low, high, _mm512_add_epi64(high, high), 0x96);
    _mm512_ternarylogic_epi64(sum, _mm512_slli_epi64(high, 3), _mm512_slli_epi64(high, 4), 0x96)
}

/// The first eight elements; zeros if there are fewer.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(x: &[Gf64]) -> __m512i {
    // SAFETY: the mask names only elements of the slice.
    unsafe { _mm512_maskz_loadu_epi64(mask(x.len()), x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load2(x: &[Gf64; 16]) -> (__m512i, __m512i) {
    // SAFETY: the reference covers two registers of eight elements.
    unsafe { (_mm512_loadu_si512(x.as_ptr().cast()), _mm512_loadu_si512(x.as_ptr().add(8).cast())) }
}

/// Overwrites the first eight elements, or as many as there are.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(x: __m512i, place: &mut [Gf64]) {
    // SAFETY: the mask names only elements of the slice.
    unsafe { _mm512_mask_storeu_epi64(place.as_mut_ptr().cast(), mask(place.len()), x) }
}

#[inline(always)]
fn mask(length: usize) -> __mmask8 {
    if length >= 8 { 0xff } else { (1 << length) - 1 }
}
