//! These fields by PMULL, two elements at a time.

use core::arch::aarch64::*;

use super::{Narrow, mask as low_bits, reduce};

#[target_feature(enable = "neon,aes")]
pub(super) fn mul<F: Narrow>(x: F, y: F) -> F {
    reduce(vmull_p64(x.word(), y.word()))
}

#[target_feature(enable = "neon,aes")]
pub(super) fn dot<F: Narrow>(x: &[F], y: &[F]) -> F {
    // two independent sums of each half hide the latency of the multiplier
    let mut sums = [vdupq_n_u64(0); 4];
    let (x_blocks, x_rest) = x.as_chunks::<4>();
    let (y_blocks, y_rest) = y.as_chunks::<4>();
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        let ([x0, x1], [y0, y1]) = (load2(x), load2(y));
        sums[0] = veorq_u64(sums[0], low(x0, y0));
        sums[1] = veorq_u64(sums[1], high(x0, y0));
        sums[2] = veorq_u64(sums[2], low(x1, y1));
        sums[3] = veorq_u64(sums[3], high(x1, y1));
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        sums[0] = veorq_u64(sums[0], wide(vmull_p64(x.word(), y.word())));
    }
    let sum = veorq_u64(veorq_u64(sums[0], sums[1]), veorq_u64(sums[2], sums[3]));
    reduce(vreinterpretq_p128_u64(sum))
}

#[target_feature(enable = "neon,aes")]
pub(super) fn mul_assign<F: Narrow>(x: &mut [F], y: &[F]) {
    let (x, x_rest) = x.as_chunks_mut::<2>();
    let (y, y_rest) = y.as_chunks::<2>();
    for (x, y) in x.iter_mut().zip(y) {
        store(product::<F>(load(x), load(y)), x);
    }
    for (x, y) in x_rest.iter_mut().zip(y_rest) {
        *x = mul(*x, *y);
    }
}

#[target_feature(enable = "neon,aes")]
pub(super) fn scale<F: Narrow>(x: &mut [F], c: F) {
    let factor = vdupq_n_u64(c.word());
    let (x, x_rest) = x.as_chunks_mut::<2>();
    for x in x {
        store(product::<F>(load(x), factor), x);
    }
    for x in x_rest {
        *x = mul(*x, c);
    }
}

#[target_feature(enable = "neon,aes")]
pub(super) fn combine<F: Narrow>(out: &mut [F], c: &[F], rows: &[&[F]]) {
    let (blocks, rest) = out.as_chunks_mut::<8>();
    let done = 8 * blocks.len();
    for (block, out) in blocks.iter_mut().enumerate() {
        // four registers are processed together with one coefficient
        let (mut even, mut odd) = ([vdupq_n_u64(0); 4], [vdupq_n_u64(0); 4]);
        for (c, row) in c.iter().zip(rows) {
            let factor = vdupq_n_u64(c.word());
            let (row, _) = row[8 * block..][..8].as_chunks::<2>();
            for (i, x) in row.iter().enumerate() {
                let x = load(x);
                even[i] = veorq_u64(even[i], low(x, factor));
                odd[i] = veorq_u64(odd[i], high(x, factor));
            }
        }
        let (out, _) = out.as_chunks_mut::<2>();
        for ((out, even), odd) in out.iter_mut().zip(even).zip(odd) {
            store(reduce_both::<F>(even, odd), out);
        }
    }
    for (i, out) in rest.iter_mut().enumerate() {
        let mut sum = vdupq_n_u64(0);
        for (c, row) in c.iter().zip(rows) {
            sum = veorq_u64(sum, wide(vmull_p64(c.word(), row[done + i].word())));
        }
        *out = reduce(vreinterpretq_p128_u64(sum));
    }
}

/// Products of two pairs.
#[inline]
#[target_feature(enable = "neon,aes")]
fn product<F: Narrow>(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    reduce_both::<F>(low(x, y), high(x, y))
}

/// [`super::reduce`] for two polynomials.
#[inline]
#[target_feature(enable = "neon,aes")]
fn reduce_both<F: Narrow>(first: uint64x2_t, second: uint64x2_t) -> uint64x2_t {
    let bits = F::BITS as i64;
    let (down, up) = (vdupq_n_s64(-bits), vdupq_n_s64(64 - bits));
    let border = vdupq_n_u64(low_bits::<F>());
    let below = vzip1q_u64(first, second);
    let above = vorrq_u64(vshlq_u64(vzip2q_u64(first, second), up), vshlq_u64(below, down));
    let once = veorq_u64(vandq_u64(below, border), fold::<F>(above));
    veorq_u64(vandq_u64(once, border), fold::<F>(vshlq_u64(once, down)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn fold<F: Narrow>(high: uint64x2_t) -> uint64x2_t {
    let mut sum = vdupq_n_u64(0);
    for tap in F::TAPS {
        sum = veorq_u64(sum, vshlq_u64(high, vdupq_n_s64(i64::from(*tap))));
    }
    sum
}

/// The product of the low words.
#[inline]
#[target_feature(enable = "neon,aes")]
fn low(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    wide(vmull_p64(vgetq_lane_u64::<0>(x), vgetq_lane_u64::<0>(y)))
}

/// The product of the high words.
#[inline]
#[target_feature(enable = "neon,aes")]
fn high(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    wide(vmull_high_p64(vreinterpretq_p64_u64(x), vreinterpretq_p64_u64(y)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn wide(x: u128) -> uint64x2_t {
    vreinterpretq_u64_p128(x)
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn load<F: Narrow>(x: &[F; 2]) -> uint64x2_t {
    // SAFETY: a `Narrow` is transparent over 64 bits, so that the reference covers two words.
    unsafe { vld1q_u64(x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn load2<F: Narrow>(x: &[F; 4]) -> [uint64x2_t; 2] {
    // SAFETY: as above, twice.
    unsafe { [vld1q_u64(x.as_ptr().cast()), vld1q_u64(x.as_ptr().add(2).cast())] }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn store<F: Narrow>(x: uint64x2_t, place: &mut [F; 2]) {
    // SAFETY: as in `load`; what is stored is reduced, so that the bits above the field's stay zero.
    unsafe { vst1q_u64(place.as_mut_ptr().cast(), x) }
}
