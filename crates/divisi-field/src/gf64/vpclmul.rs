//! GF(2^64) by VPCLMULQDQ, four elements at a time, for the AVX2 kernel on processors that have the
//! instruction.

use core::arch::x86_64::*;

use super::unreduced::Unreduced;
use super::{Gf64, pclmul};
use crate::Plane;

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn dot(x: &[Gf64], y: &[Gf64]) -> Gf64 {
    let (x, x_rest) = x.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    // independent sums hide the latency of the multiplier
    let mut sums = [_mm256_setzero_si256(); 4];
    for (x, y) in x.iter().zip(y) {
        let ([x0, x1], [y0, y1]) = (load2(x), load2(y));
        sums[0] = _mm256_xor_si256(sums[0], _mm256_clmulepi64_epi128(x0, y0, 0x00));
        sums[1] = _mm256_xor_si256(sums[1], _mm256_clmulepi64_epi128(x0, y0, 0x11));
        sums[2] = _mm256_xor_si256(sums[2], _mm256_clmulepi64_epi128(x1, y1, 0x00));
        sums[3] = _mm256_xor_si256(sums[3], _mm256_clmulepi64_epi128(x1, y1, 0x11));
    }
    let sum = _mm256_xor_si256(_mm256_xor_si256(sums[0], sums[1]), _mm256_xor_si256(sums[2], sums[3]));
    reduce_all(sum) + pclmul::dot(x_rest, y_rest)
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn line_products(x: &[Gf64], y: &[Gf64]) -> (Gf64, Gf64) {
    let (x, x_rest) = x.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    let mut ones = [_mm256_setzero_si256(); 2];
    let mut leadings = [_mm256_setzero_si256(); 2];
    for (x, y) in x.iter().zip(y) {
        let all = load2(x).into_iter().zip(load2(y)).zip(ones.iter_mut().zip(&mut leadings));
        for ((x, y), (one, leading)) in all {
            *one = _mm256_xor_si256(*one, _mm256_clmulepi64_epi128(x, y, 0x11));
            let product = _mm256_clmulepi64_epi128(neighbours(x), neighbours(y), 0x00);
            *leading = _mm256_xor_si256(*leading, product);
        }
    }
    let (one, leading) = pclmul::line_products(x_rest, y_rest);
    let sum = |[a, b]: [__m256i; 2]| reduce_all(_mm256_xor_si256(a, b));
    (one + sum(ones), leading + sum(leadings))
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn mul_assign(x: &mut [Gf64], y: &[Gf64]) {
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (x, y) in x.iter_mut().zip(y) {
        store(product(load(x), load(y)), x);
    }
    pclmul::mul_assign(x_rest, y_rest);
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn scale(x: &mut [Gf64], c: Gf64) {
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let factor = _mm256_set1_epi64x(c.0 as i64);
    for x in x {
        store(product(load(x), factor), x);
    }
    pclmul::scale(x_rest, c);
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn fold(x: &[Gf64], r: Gf64, out: &mut [Gf64]) {
    let (x, x_rest) = x.as_chunks::<8>();
    let (out, out_rest) = out.as_chunks_mut::<4>();
    let factor = _mm256_set1_epi64x(r.0 as i64);
    for (x, out) in x.iter().zip(out) {
        let [first, second] = load2(x);
        // elements 0, 4, 2 and 6
        let even = _mm256_unpacklo_epi64(first, second);
        let difference = _mm256_xor_si256(even, _mm256_unpackhi_epi64(first, second));
        let folded = _mm256_xor_si256(even, product(difference, factor));
        store(_mm256_permute4x64_epi64(folded, 0b11_01_10_00), out);
    }
    pclmul::fold(x_rest, r, out_rest);
}

/// [`super::add_words`], after its check of the lengths.
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]) {
    let c = load2(coefficients);
    for (sum, plane) in sums.iter_mut().zip(planes) {
        let (sums, _) = sum.0.as_chunks_mut::<4>();
        let (words, _) = plane.0.as_chunks::<4>();
        for ((sum, x), c) in sums.iter_mut().zip(words).zip(c) {
            // SAFETY: the references cover 32 bytes each.
            unsafe {
                let x = _mm256_loadu_si256(x.as_ptr().cast());
                let place = sum.as_mut_ptr().cast::<__m256i>();
                let products = _mm256_xor_si256(
                    _mm256_clmulepi64_epi128(x, c, 0x00),
                    _mm256_clmulepi64_epi128(x, c, 0x11),
                );
                _mm256_storeu_si256(place, _mm256_xor_si256(_mm256_loadu_si256(place), products));
            }
        }
    }
}

/// The sum of each element and its neighbour.
#[inline]
#[target_feature(enable = "avx2")]
fn neighbours(v: __m256i) -> __m256i {
    _mm256_xor_si256(v, _mm256_shuffle_epi32(v, 0b01_00_11_10))
}

/// The sum of two polynomials of degree below 128, reduced.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn reduce_all(sum: __m256i) -> Gf64 {
    pclmul::reduce_one(_mm_xor_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)))
}

/// Products of four pairs; see [`super::reduce`].
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn product(x: __m256i, y: __m256i) -> __m256i {
    let even = _mm256_clmulepi64_epi128(x, y, 0x00);
    let odd = _mm256_clmulepi64_epi128(x, y, 0x11);
    let low = _mm256_unpacklo_epi64(even, odd);
    let high = _mm256_unpackhi_epi64(even, odd);
    let over = _mm256_xor_si256(
        _mm256_xor_si256(_mm256_srli_epi64(high, 60), _mm256_srli_epi64(high, 61)),
        _mm256_srli_epi64(high, 63),
    );
    let high = _mm256_xor_si256(high, over);
    let shifted = _mm256_xor_si256(_mm256_slli_epi64(high, 3), _mm256_slli_epi64(high, 4));
    _mm256_xor_si256(_mm256_xor_si256(low, high), _mm256_xor_si256(_mm256_add_epi64(high, high), shifted))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(x: &[Gf64; 4]) -> __m256i {
    // SAFETY: the reference covers four elements of 64 bits.
    unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load2(x: &[Gf64; 8]) -> [__m256i; 2] {
    // SAFETY: the reference covers two registers of four elements.
    unsafe { [_mm256_loadu_si256(x.as_ptr().cast()), _mm256_loadu_si256(x.as_ptr().add(4).cast())] }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(x: __m256i, place: &mut [Gf64; 4]) {
    // SAFETY: the reference covers four elements of 64 bits.
    unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), x) }
}
