//! GF(2^128) by PMULL, one element at a time.

use core::arch::aarch64::*;

use super::Gf128;

/// x^7 + x^2 + x + 1, which is x^128.
const TAIL: u64 = 0x87;

#[target_feature(enable = "neon,aes")]
pub(super) fn mul(x: Gf128, y: Gf128) -> Gf128 {
    element(product(register(x.0), register(y.0)))
}

#[target_feature(enable = "neon,aes")]
pub(super) fn dot(x: &[Gf128], y: &[Gf128]) -> Gf128 {
    let mut sum = Sum::new();
    for (x, y) in x.iter().zip(y) {
        sum.add_product(load(x), load(y));
    }
    element(sum.reduce())
}

#[target_feature(enable = "neon,aes")]
pub(super) fn mul_assign(x: &mut [Gf128], y: &[Gf128]) {
    for (x, y) in x.iter_mut().zip(y) {
        store(product(load(x), load(y)), x);
    }
}

#[target_feature(enable = "neon,aes")]
pub(super) fn scale(x: &mut [Gf128], c: Gf128) {
    let factor = register(c.0);
    for x in x {
        store(product(load(x), factor), x);
    }
}

#[target_feature(enable = "neon,aes")]
pub(super) fn fold(x: &[Gf128], r: Gf128, out: &mut [Gf128]) {
    let factor = register(r.0);
    let (pairs, _) = x.as_chunks::<2>();
    for (out, [x0, x1]) in out.iter_mut().zip(pairs) {
        let x0 = load(x0);
        store(veorq_u64(x0, product(veorq_u64(x0, load(x1)), factor)), out);
    }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn product(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    let mut sum = Sum::new();
    sum.add_product(x, y);
    sum.reduce()
}

/// An unreduced sum of products: low + middle x^64 + high x^128.
pub(crate) struct Sum {
    low: uint64x2_t,
    middle: uint64x2_t,
    high: uint64x2_t,
}

impl Sum {
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn new() -> Self {
        let zero = vdupq_n_u64(0);
        Self { low: zero, middle: zero, high: zero }
    }

    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn add_product(&mut self, x: uint64x2_t, y: uint64x2_t) {
        let swapped = vextq_u64::<1>(y, y);
        let crossed = veorq_u64(low(x, swapped), high(x, swapped));
        self.low = veorq_u64(self.low, low(x, y));
        self.middle = veorq_u64(self.middle, crossed);
        self.high = veorq_u64(self.high, high(x, y));
    }

    /// Reduces by two products with x^7 + x^2 + x + 1: first the highest word, shifted down by 64, then the
    /// next one.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    fn reduce(self) -> uint64x2_t {
        let (zero, tail) = (vdupq_n_u64(0), vdupq_n_u64(TAIL));
        let below = veorq_u64(self.low, vextq_u64::<1>(zero, self.middle));
        let above = veorq_u64(self.high, vextq_u64::<1>(self.middle, zero));
        let upper = high(above, tail);
        let above = veorq_u64(above, vextq_u64::<1>(upper, zero));
        let lower = low(above, tail);
        veorq_u64(veorq_u64(below, lower), vextq_u64::<1>(zero, upper))
    }

    /// The low and high 128 bits of the sum, for fields with other moduli.
    #[inline]
    #[target_feature(enable = "neon,aes")]
    pub(crate) fn halves(self) -> (u128, u128) {
        let zero = vdupq_n_u64(0);
        let below = veorq_u64(self.low, vextq_u64::<1>(zero, self.middle));
        let above = veorq_u64(self.high, vextq_u64::<1>(self.middle, zero));
        (element(below).0, element(above).0)
    }
}

/// The product of the low words.
#[inline]
#[target_feature(enable = "neon,aes")]
fn low(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    vreinterpretq_u64_p128(vmull_p64(vgetq_lane_u64::<0>(x), vgetq_lane_u64::<0>(y)))
}

/// The product of the high words.
#[inline]
#[target_feature(enable = "neon,aes")]
fn high(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
    vreinterpretq_u64_p128(vmull_high_p64(vreinterpretq_p64_u64(x), vreinterpretq_p64_u64(y)))
}

/// An element in a vector register.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(crate) fn register(x: u128) -> uint64x2_t {
    vcombine_u64(vcreate_u64(x as u64), vcreate_u64((x >> 64) as u64))
}

/// The inverse of [`register`].
#[inline]
#[target_feature(enable = "neon,aes")]
fn element(x: uint64x2_t) -> Gf128 {
    Gf128(u128::from(vgetq_lane_u64::<1>(x)) << 64 | u128::from(vgetq_lane_u64::<0>(x)))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn load(x: &Gf128) -> uint64x2_t {
    // SAFETY: the reference covers 128 bits, the low word first.
    unsafe { vld1q_u64((&raw const *x).cast()) }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn store(x: uint64x2_t, place: &mut Gf128) {
    // SAFETY: the reference covers 128 bits, the low word first.
    unsafe { vst1q_u64((&raw mut *place).cast(), x) }
}
