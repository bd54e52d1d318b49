//! GF(2^64) by PMULL, two elements at a time; planes are weighed by table look-ups in registers.

use core::arch::aarch64::*;

use super::Gf64;
use super::unreduced::Unreduced;
use crate::Plane;

pub(super) use super::weigh_neon::{matrices, weigh, weigh_bytes};

/// Y^4 + Y^3 + Y + 1, which is Y^64.
const TAIL: u64 = 0x1b;

#[target_feature(enable = "neon,aes")]
pub(super) fn mul(x: Gf64, y: Gf64) -> Gf64 {
    reduce_one(wide(vmull_p64(x.0, y.0)))
}

#[target_feature(enable = "neon,aes")]
pub(super) fn dot(x: &[Gf64], y: &[Gf64]) -> Gf64 {
    // four independent sums hide the latency of the multiplier
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
        sums[0] = veorq_u64(sums[0], wide(vmull_p64(x.0, y.0)));
    }
    reduce_one(veorq_u64(veorq_u64(sums[0], sums[1]), veorq_u64(sums[2], sums[3])))
}

#[target_feature(enable = "neon,aes")]
pub(super) fn line_products(x: &[Gf64], y: &[Gf64]) -> (Gf64, Gf64) {
    let (x, _) = x.as_chunks::<2>();
    let (y, _) = y.as_chunks::<2>();
    let (mut one, mut leading) = (vdupq_n_u64(0), vdupq_n_u64(0));
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (load(x), load(y));
        one = veorq_u64(one, high(x, y));
        leading = veorq_u64(leading, low(neighbours(x), neighbours(y)));
    }
    (reduce_one(one), reduce_one(leading))
}

#[target_feature(enable = "neon,aes")]
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

#[target_feature(enable = "neon,aes")]
pub(super) fn scale(x: &mut [Gf64], c: Gf64) {
    let factor = vdupq_n_u64(c.0);
    let (x, x_rest) = x.as_chunks_mut::<2>();
    for x in x {
        store(product(load(x), factor), x);
    }
    for x in x_rest {
        *x = mul(*x, c);
    }
}

#[target_feature(enable = "neon,aes")]
pub(super) fn fold(x: &[Gf64], r: Gf64, out: &mut [Gf64]) {
    let factor = vdupq_n_u64(r.0);
    let (x, x_rest) = x.as_chunks::<4>();
    let (out, out_rest) = out.as_chunks_mut::<2>();
    for (x, out) in x.iter().zip(out) {
        let [first, second] = load2(x);
        let even = vuzp1q_u64(first, second);
        let difference = veorq_u64(even, vuzp2q_u64(first, second));
        store(veorq_u64(even, product(difference, factor)), out);
    }
    if let ([x0, x1, ..], [out, ..]) = (x_rest, out_rest) {
        *out = *x0 + mul(r, *x0 + *x1);
    }
}

/// [`super::add_words`], after its check of the lengths.
#[target_feature(enable = "neon,aes")]
pub(super) fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]) {
    let (coefficients, _) = coefficients.as_chunks::<2>();
    let mut c = [vdupq_n_u64(0); 4];
    for (c, pair) in c.iter_mut().zip(coefficients) {
        *c = load(pair);
    }
    for (sum, plane) in sums.iter_mut().zip(planes) {
        let (places, _) = sum.0.as_chunks_mut::<2>();
        let (words, _) = plane.0.as_chunks::<2>();
        for ((place, words), c) in places.iter_mut().zip(words).zip(c) {
            let x = load_words(words);
            let products = veorq_u64(low(x, c), high(x, c));
            let after = veorq_u64(load_words(place), products);
            // SAFETY: the reference covers two words.
            unsafe { vst1q_u64(place.as_mut_ptr(), after) };
        }
    }
}

/// The sum of both words, in the low word.
#[inline]
#[target_feature(enable = "neon,aes")]
fn neighbours(x: uint64x2_t) -> uint64x2_t {
    veorq_u64(x, vextq_u64::<1>(x, x))
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

/// The products of two pairs.
#[inline]
#[target_feature(enable = "neon,aes")]
fn product(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    reduce(low(x, y), high(x, y))
}

/// Reduces two polynomials of degree below 128. The high word is multiplied by [`TAIL`] and added. At most
/// four bits of this product exceed the degree again; a product of bytes reduces them.
#[inline]
#[target_feature(enable = "neon,aes")]
fn reduce(first: uint64x2_t, second: uint64x2_t) -> uint64x2_t {
    let tail = vdupq_n_u64(TAIL);
    let below = vzip1q_u64(first, second);
    let above = vzip2q_u64(first, second);
    let (first, second) = (low(above, tail), high(above, tail));
    let (once, over) = (vzip1q_u64(first, second), vzip2q_u64(first, second));
    veorq_u64(veorq_u64(below, once), bytes_by_tail(over))
}

/// Reduces one polynomial of degree below 128.
#[inline]
#[target_feature(enable = "neon,aes")]
fn reduce_one(x: uint64x2_t) -> Gf64 {
    let once = high(x, vdupq_n_u64(TAIL));
    let over = bytes_by_tail(vdupq_laneq_u64::<1>(once));
    Gf64(vgetq_lane_u64::<0>(veorq_u64(veorq_u64(x, once), over)))
}

/// Products of words below 16 with [`TAIL`]; the results have less than eight bits.
#[inline]
#[target_feature(enable = "neon,aes")]
fn bytes_by_tail(x: uint64x2_t) -> uint64x2_t {
    vreinterpretq_u64_p8(vmulq_p8(vreinterpretq_p8_u64(x), vdupq_n_p8(TAIL as u8)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn load(x: &[Gf64; 2]) -> uint64x2_t {
    // SAFETY: an element is transparent over 64 bits, so that the reference covers two words.
    unsafe { vld1q_u64(x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn load2(x: &[Gf64; 4]) -> [uint64x2_t; 2] {
    // SAFETY: as above, twice.
    unsafe { [vld1q_u64(x.as_ptr().cast()), vld1q_u64(x.as_ptr().add(2).cast())] }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn load_words(x: &[u64; 2]) -> uint64x2_t {
    // SAFETY: the reference covers two words.
    unsafe { vld1q_u64(x.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) fn store(x: uint64x2_t, place: &mut [Gf64; 2]) {
    // SAFETY: as in `load`.
    unsafe { vst1q_u64(place.as_mut_ptr().cast(), x) }
}
