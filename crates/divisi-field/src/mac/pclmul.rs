//! These fields by PCLMULQDQ, one or two elements at a time.

use core::arch::x86_64::*;

use super::{Narrow, reduce};

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul<F: Narrow>(x: F, y: F) -> F {
    reduce_one(_mm_clmulepi64_si128(single(x), single(y), 0x00))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn dot<F: Narrow>(x: &[F], y: &[F]) -> F {
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
    reduce_one(_mm_xor_si128(sums[0], sums[1]))
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn mul_assign<F: Narrow>(x: &mut [F], y: &[F]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = mul(*x, *y);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn scale<F: Narrow>(x: &mut [F], c: F) {
    for x in x {
        *x = mul(*x, c);
    }
}

#[target_feature(enable = "avx2,pclmulqdq")]
pub(super) fn combine<F: Narrow>(out: &mut [F], c: &[F], rows: &[&[F]]) {
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = _mm_setzero_si128();
        for (c, row) in c.iter().zip(rows) {
            sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(single(*c), single(row[i]), 0x00));
        }
        *out = reduce_one(sum);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn single<F: Narrow>(x: F) -> __m128i {
    _mm_cvtsi64_si128(x.word() as i64)
}

#[inline]
#[target_feature(enable = "avx2")]
fn reduce_one<F: Narrow>(wide: __m128i) -> F {
    let [low, high] = [_mm_cvtsi128_si64(wide), _mm_extract_epi64(wide, 1)];
    reduce(u128::from(high as u64) << 64 | u128::from(low as u64))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<F: Narrow>(x: &[F; 2]) -> __m128i {
    // SAFETY: a `Narrow` is transparent over 64 bits, so that the reference covers 128.
    unsafe { _mm_loadu_si128(x.as_ptr().cast()) }
}
