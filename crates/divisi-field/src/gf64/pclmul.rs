//! GF(2^64) by PCLMULQDQ, two elements at a time: for the AVX2 kernel on processors without VPCLMULQDQ, and
//! for the last elements of a slice.

use core::arch::x86_64::*;

use super::Gf64;
use super::unreduced::Unreduced;
use crate::Plane;

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul(x: Gf64, y: Gf64) -> Gf64 {
    reduce_one(_mm_clmulepi64_si128(single(x), single(y), 0x00))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn dot(x: &[Gf64], y: &[Gf64]) -> Gf64 {
    let (x, x_rest) = x.as_chunks::<2>();
    let (y, y_rest) = y.as_chunks::<2>();
    let mut sums = [_mm_setzero_si128(); 2];
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (load(x), load(y));
        sums[0] = _mm_xor_si128(sums[0], _mm_clmulepi64_si128(x, y, 0x00));
        sums[1] = _mm_xor_si128(sums[1], _mm_clmulepi64_si128(x, y, 0x11));
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        sums[0] = _mm_xor_si128(sums[0], _mm_clmulepi64_si128(single(*x), single(*y), 0x00));
    }
    let sum = _mm_xor_si128(sums[0], sums[1]);
    reduce_one(sum)
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn line_products(x: &[Gf64], y: &[Gf64]) -> (Gf64, Gf64) {
    let (x, _) = x.as_chunks::<2>();
    let (y, _) = y.as_chunks::<2>();
    let (mut one, mut leading) = (_mm_setzero_si128(), _mm_setzero_si128());
    let neighbours = |v| _mm_xor_si128(v, _mm_shuffle_epi32(v, 0b01_00_11_10));
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (load(x), load(y));
        one = _mm_xor_si128(one, _mm_clmulepi64_si128(x, y, 0x11));
        leading = _mm_xor_si128(leading, _mm_clmulepi64_si128(neighbours(x), neighbours(y), 0x00));
    }
    (reduce_one(one), reduce_one(leading))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul_assign(x: &mut [Gf64], y: &[Gf64]) {
    let (x, x_rest) = x.as_chunks_mut::<2>();
    let (y, y_rest) = y.as_chunks::<2>();
    for (x, y) in x.iter_mut().zip(y) {
        store(product(load(x), load(y)), x);
    }
    for (x, y) in x_rest.iter_mut().zip(y_rest) {
        *x = mul(*x, *y);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn scale(x: &mut [Gf64], c: Gf64) {
    let (x, x_rest) = x.as_chunks_mut::<2>();
    let factor = load(&[c, c]);
    for x in x {
        store(product(load(x), factor), x);
    }
    for x in x_rest {
        *x = mul(*x, c);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn fold(x: &[Gf64], r: Gf64, out: &mut [Gf64]) {
    let (x, x_rest) = x.as_chunks::<4>();
    let (out, out_rest) = out.as_chunks_mut::<2>();
    let factor = load(&[r, r]);
    for ([x0, x1, x2, x3], out) in x.iter().zip(out) {
        let (first, second) = (load(&[*x0, *x1]), load(&[*x2, *x3]));
        let even = _mm_unpacklo_epi64(first, second);
        let difference = _mm_xor_si128(even, _mm_unpackhi_epi64(first, second));
        store(_mm_xor_si128(even, product(difference, factor)), out);
    }
    if let ([x0, x1, ..], [out, ..]) = (x_rest, out_rest) {
        *out = *x0 + mul(r, *x0 + *x1);
    }
}

/// [`super::add_words`], after its check of the lengths.
#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]) {
    let (coefficients, _) = coefficients.as_chunks::<2>();
    for (sum, plane) in sums.iter_mut().zip(planes) {
        for (q, c) in coefficients.iter().enumerate() {
            let c = load(c);
            // SAFETY: `q` is below four, and four pairs of words make a plane, and a sum.
            unsafe {
                let x = _mm_load_si128(plane.0.as_ptr().cast::<__m128i>().add(q));
                let place = sum.0.as_mut_ptr().cast::<__m128i>().add(q);
                let products =
                    _mm_xor_si128(_mm_clmulepi64_si128(x, c, 0x00), _mm_clmulepi64_si128(x, c, 0x11));
                _mm_store_si128(place, _mm_xor_si128(_mm_load_si128(place), products));
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
fn product(x: __m128i, y: __m128i) -> __m128i {
    reduce(_mm_clmulepi64_si128(x, y, 0x00), _mm_clmulepi64_si128(x, y, 0x11))
}

/// Reduces a polynomial of degree below 128.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn reduce_one(sum: __m128i) -> Gf64 {
    Gf64(_mm_cvtsi128_si64(reduce(sum, sum)) as u64)
}

/// Reduces two polynomials of degree below 128; see [`super::reduce`].
#[inline]
#[target_feature(enable = "avx2")]
fn reduce(first: __m128i, second: __m128i) -> __m128i {
    let low = _mm_unpacklo_epi64(first, second);
    let high = _mm_unpackhi_epi64(first, second);
    let over = _mm_xor_si128(
        _mm_xor_si128(_mm_srli_epi64(high, 60), _mm_srli_epi64(high, 61)),
        _mm_srli_epi64(high, 63),
    );
    let high = _mm_xor_si128(high, over);
    let shifted = _mm_xor_si128(_mm_slli_epi64(high, 3), _mm_slli_epi64(high, 4));
    _mm_xor_si128(_mm_xor_si128(low, high), _mm_xor_si128(_mm_add_epi64(high, high), shifted))
}

#[inline]
#[target_feature(enable = "avx2")]
fn single(x: Gf64) -> __m128i {
    _mm_cvtsi64_si128(x.0 as i64)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(x: &[Gf64; 2]) -> __m128i {
    // SAFETY: the reference covers two elements of 64 bits.
    unsafe { _mm_loadu_si128(x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store(x: __m128i, place: &mut [Gf64; 2]) {
    // SAFETY: the reference covers two elements of 64 bits.
    unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), x) }
}
