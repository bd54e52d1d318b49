//! These fields by VPCLMULQDQ, eight elements at a time.

use core::arch::x86_64::*;

use super::{Narrow, mask as low_bits, reduce};

pub(super) use super::pclmul::mul;

#[target_feature(enable = "avx512f,vpclmulqdq,avx2,pclmulqdq")]
pub(super) fn dot<F: Narrow>(x: &[F], y: &[F]) -> F {
    // four independent sums hide the latency of the multiplier
    let mut sums = [_mm512_setzero_si512(); 4];
    let (x_blocks, x_rest) = x.as_chunks::<16>();
    let (y_blocks, y_rest) = y.as_chunks::<16>();
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        let (x0, x1) = (load(&x[..8]), load(&x[8..]));
        let (y0, y1) = (load(&y[..8]), load(&y[8..]));
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
    let mut words = [0_u64; 8];
    // SAFETY: the array covers 64 bytes.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), sum) };
    let low = words[0] ^ words[2] ^ words[4] ^ words[6];
    let high = words[1] ^ words[3] ^ words[5] ^ words[7];
    reduce(u128::from(high) << 64 | u128::from(low))
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn mul_assign<F: Narrow>(x: &mut [F], y: &[F]) {
    for (x, y) in x.chunks_mut(8).zip(y.chunks(8)) {
        store(product::<F>(load(x), load(y)), x);
    }
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn scale<F: Narrow>(x: &mut [F], c: F) {
    let factor = _mm512_set1_epi64(c.word() as i64);
    for x in x.chunks_mut(8) {
        store(product::<F>(load(x), factor), x);
    }
}

#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(super) fn combine<F: Narrow>(out: &mut [F], c: &[F], rows: &[&[F]]) {
    let (wide, rest) = out.as_chunks_mut::<32>();
    let done = 32 * wide.len();
    for (block, out) in wide.iter_mut().enumerate() {
        // four registers are processed together with one coefficient
        let (mut even, mut odd) = ([_mm512_setzero_si512(); 4], [_mm512_setzero_si512(); 4]);
        for (c, row) in c.iter().zip(rows) {
            let factor = _mm512_set1_epi64(c.word() as i64);
            let row = &row[32 * block..][..32];
            for i in 0..4 {
                let x = load(&row[8 * i..][..8]);
                even[i] = _mm512_xor_si512(even[i], _mm512_clmulepi64_epi128(x, factor, 0x00));
                odd[i] = _mm512_xor_si512(odd[i], _mm512_clmulepi64_epi128(x, factor, 0x11));
            }
        }
        for i in 0..4 {
            store(reduce_all::<F>(even[i], odd[i]), &mut out[8 * i..][..8]);
        }
    }
    for (block, out) in rest.chunks_mut(8).enumerate() {
        let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (c, row) in c.iter().zip(rows) {
            let factor = _mm512_set1_epi64(c.word() as i64);
            let x = load(&row[done + 8 * block..][..out.len()]);
            even = _mm512_xor_si512(even, _mm512_clmulepi64_epi128(x, factor, 0x00));
            odd = _mm512_xor_si512(odd, _mm512_clmulepi64_epi128(x, factor, 0x11));
        }
        store(reduce_all::<F>(even, odd), out);
    }
}

/// Products of eight pairs.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn product<F: Narrow>(x: __m512i, y: __m512i) -> __m512i {
    reduce_all::<F>(_mm512_clmulepi64_epi128(x, y, 0x00), _mm512_clmulepi64_epi128(x, y, 0x11))
}

/// [`super::reduce`] for the polynomials of the even and of the odd elements.
#[inline]
#[target_feature(enable = "avx512f")]
fn reduce_all<F: Narrow>(even: __m512i, odd: __m512i) -> __m512i {
    let bits = F::BITS as u32;
    let (below, above) = (count(bits), count(64 - bits));
    let border = _mm512_set1_epi64(low_bits::<F>() as i64);
    let low = _mm512_unpacklo_epi64(even, odd);
    let high = _mm512_or_si512(
        _mm512_sll_epi64(_mm512_unpackhi_epi64(even, odd), above),
        _mm512_srl_epi64(low, below),
    );
    let once = _mm512_xor_si512(_mm512_and_si512(low, border), fold::<F>(high));
    _mm512_xor_si512(_mm512_and_si512(once, border), fold::<F>(_mm512_srl_epi64(once, below)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn fold<F: Narrow>(high: __m512i) -> __m512i {
    let mut sum = _mm512_setzero_si512();
    for tap in F::TAPS {
        sum = _mm512_xor_si512(sum, _mm512_sll_epi64(high, count(*tap)));
    }
    sum
}

#[inline]
#[target_feature(enable = "avx512f")]
fn count(bits: u32) -> __m128i {
    _mm_cvtsi32_si128(bits as i32)
}

/// The first eight elements; zeros if there are fewer.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<F: Narrow>(x: &[F]) -> __m512i {
    // SAFETY: a `Narrow` is transparent over 64 bits, and the mask names only elements of the slice.
    unsafe { _mm512_maskz_loadu_epi64(first(x.len()), x.as_ptr().cast()) }
}

/// Overwrites the first eight elements, or as many as there are; `x` must be reduced.
#[inline]
#[target_feature(enable = "avx512f")]
fn store<F: Narrow>(x: __m512i, place: &mut [F]) {
    // SAFETY: as above; what is stored is reduced, so that the bits above the field's stay zero.
    unsafe { _mm512_mask_storeu_epi64(place.as_mut_ptr().cast(), first(place.len()), x) }
}

#[inline(always)]
fn first(length: usize) -> __mmask8 {
    if length >= 8 { 0xff } else { (1 << length) - 1 }
}
