//! These fields by VPCLMULQDQ, four elements at a time.

use core::arch::x86_64::*;

use super::{Narrow, mask as low_bits, reduce};

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn dot<F: Narrow>(x: &[F], y: &[F]) -> F {
    let mut sums = [_mm256_setzero_si256(); 4];
    let (x_blocks, x_rest) = x.as_chunks::<8>();
    let (y_blocks, y_rest) = y.as_chunks::<8>();
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        let ([x0, x1], [y0, y1]) = (load2(x), load2(y));
        sums[0] = _mm256_xor_si256(sums[0], _mm256_clmulepi64_epi128(x0, y0, 0x00));
        sums[1] = _mm256_xor_si256(sums[1], _mm256_clmulepi64_epi128(x0, y0, 0x11));
        sums[2] = _mm256_xor_si256(sums[2], _mm256_clmulepi64_epi128(x1, y1, 0x00));
        sums[3] = _mm256_xor_si256(sums[3], _mm256_clmulepi64_epi128(x1, y1, 0x11));
    }
    for (x, y) in x_rest.chunks(4).zip(y_rest.chunks(4)) {
        let (x, y) = (load_rest(x), load_rest(y));
        sums[0] = _mm256_xor_si256(sums[0], _mm256_clmulepi64_epi128(x, y, 0x00));
        sums[1] = _mm256_xor_si256(sums[1], _mm256_clmulepi64_epi128(x, y, 0x11));
    }
    let sum = _mm256_xor_si256(_mm256_xor_si256(sums[0], sums[1]), _mm256_xor_si256(sums[2], sums[3]));
    let low = _mm256_extract_epi64(sum, 0) ^ _mm256_extract_epi64(sum, 2);
    let high = _mm256_extract_epi64(sum, 1) ^ _mm256_extract_epi64(sum, 3);
    reduce(u128::from(high as u64) << 64 | u128::from(low as u64))
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn mul_assign<F: Narrow>(x: &mut [F], y: &[F]) {
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (x, y) in x.iter_mut().zip(y) {
        store(product::<F>(load(x), load(y)), x);
    }
    store_rest(product::<F>(load_rest(x_rest), load_rest(y_rest)), x_rest);
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn scale<F: Narrow>(x: &mut [F], c: F) {
    let factor = _mm256_set1_epi64x(c.word() as i64);
    let (x, rest) = x.as_chunks_mut::<4>();
    for x in x {
        store(product::<F>(load(x), factor), x);
    }
    store_rest(product::<F>(load_rest(rest), factor), rest);
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
pub(super) fn combine<F: Narrow>(out: &mut [F], c: &[F], rows: &[&[F]]) {
    let (wide, rest) = out.as_chunks_mut::<16>();
    let done = 16 * wide.len();
    for (block, out) in wide.iter_mut().enumerate() {
        // four registers are processed together with one coefficient
        let (mut even, mut odd) = ([_mm256_setzero_si256(); 4], [_mm256_setzero_si256(); 4]);
        for (c, row) in c.iter().zip(rows) {
            let factor = _mm256_set1_epi64x(c.word() as i64);
            let (row, _) = row[16 * block..][..16].as_chunks::<4>();
            for (i, x) in row.iter().enumerate() {
                let x = load(x);
                even[i] = _mm256_xor_si256(even[i], _mm256_clmulepi64_epi128(x, factor, 0x00));
                odd[i] = _mm256_xor_si256(odd[i], _mm256_clmulepi64_epi128(x, factor, 0x11));
            }
        }
        let (out, _) = out.as_chunks_mut::<4>();
        for ((out, even), odd) in out.iter_mut().zip(even).zip(odd) {
            store(reduce_all::<F>(even, odd), out);
        }
    }
    for (block, out) in rest.chunks_mut(4).enumerate() {
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for (c, row) in c.iter().zip(rows) {
            let factor = _mm256_set1_epi64x(c.word() as i64);
            let x = load_rest(&row[done + 4 * block..][..out.len()]);
            even = _mm256_xor_si256(even, _mm256_clmulepi64_epi128(x, factor, 0x00));
            odd = _mm256_xor_si256(odd, _mm256_clmulepi64_epi128(x, factor, 0x11));
        }
        store_rest(reduce_all::<F>(even, odd), out);
    }
}

/// Products of four pairs.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn product<F: Narrow>(x: __m256i, y: __m256i) -> __m256i {
    reduce_all::<F>(_mm256_clmulepi64_epi128(x, y, 0x00), _mm256_clmulepi64_epi128(x, y, 0x11))
}

/// [`super::reduce`] for the polynomials of the even and of the odd elements.
#[inline]
#[target_feature(enable = "avx2")]
fn reduce_all<F: Narrow>(even: __m256i, odd: __m256i) -> __m256i {
    let bits = F::BITS as u32;
    let (below, above) = (count(bits), count(64 - bits));
    let border = _mm256_set1_epi64x(low_bits::<F>() as i64);
    let low = _mm256_unpacklo_epi64(even, odd);
    let high = _mm256_or_si256(
        _mm256_sll_epi64(_mm256_unpackhi_epi64(even, odd), above),
        _mm256_srl_epi64(low, below),
    );
    let once = _mm256_xor_si256(_mm256_and_si256(low, border), fold::<F>(high));
    _mm256_xor_si256(_mm256_and_si256(once, border), fold::<F>(_mm256_srl_epi64(once, below)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn fold<F: Narrow>(high: __m256i) -> __m256i {
    let mut sum = _mm256_setzero_si256();
    for tap in F::TAPS {
        sum = _mm256_xor_si256(sum, _mm256_sll_epi64(high, count(*tap)));
    }
    sum
}

#[inline]
#[target_feature(enable = "avx2")]
fn count(bits: u32) -> __m128i {
    _mm_cvtsi32_si128(bits as i32)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<F: Narrow>(x: &[F; 4]) -> __m256i {
    // SAFETY: a `Narrow` is transparent over 64 bits, so that the reference covers 256.
    unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load2<F: Narrow>(x: &[F; 8]) -> [__m256i; 2] {
    // SAFETY: as above, twice.
    unsafe { [_mm256_loadu_si256(x.as_ptr().cast()), _mm256_loadu_si256(x.as_ptr().add(4).cast())] }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<F: Narrow>(x: __m256i, place: &mut [F; 4]) {
    // SAFETY: as in `load`; what is stored is reduced, so that the bits above the field's stay zero.
    unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), x) }
}

/// Fewer than four elements, with zeros after the last.
#[inline]
#[target_feature(enable = "avx2")]
fn load_rest<F: Narrow>(x: &[F]) -> __m256i {
    let mut four = [F::ZERO; 4];
    four.iter_mut().zip(x).for_each(|(to, x)| *to = *x);
    load(&four)
}

/// Overwrites the elements of a slice of fewer than four.
#[inline]
#[target_feature(enable = "avx2")]
fn store_rest<F: Narrow>(x: __m256i, place: &mut [F]) {
    let mut four = [F::ZERO; 4];
    store(x, &mut four);
    place.iter_mut().zip(four).for_each(|(to, x)| *to = x);
}
