//! Arithmetic in doubles, with AVX2 and FMA, or with NEON: integers below 2^53 are exact, and a product is
//! the exact sum of two doubles.
//!
//! The high part of x y is h = fl(x y), the low part is l = x y - h, exactly. The quotient c = round(h / q)
//! has an error of at most |x y| / q * 3 * 2^-53 beside the rounding. So h - c q is an integer below 2^53,
//! exact in one fused operation, and r = (h - c q) + l is congruent to x y. With |x| <= X q, |y| <= q / 2 and
//! q < 2^50, |r| is at most (0.5 + 0.1875 X) q. No number is subnormal, infinite or NaN, so the time does not
//! depend on the values.

use super::Modulus;
use super::four::*;

/// A modulus, in all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    q: Four,
    inverse: Four,
}

impl Lanes {
    #[inline]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    #[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
    pub(crate) fn new(m: Modulus) -> Self {
        Lanes { q: splat(m.get() as f64), inverse: splat(1.0 / m.get() as f64) }
    }

    /// x y, centred as described above.
    #[inline]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    #[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
    pub(crate) fn mul(self, x: Four, y: Four) -> Four {
        let high = mul(x, y);
        let low = mul_sub(x, y, high);
        let quotient = round(mul(high, self.inverse));
        add(sub_mul(high, quotient, self.q), low)
    }

    /// Reduces an integer below 2^53 in absolute value to between -q/2 - 1 and q/2 + 1.
    #[inline]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    #[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
    pub(crate) fn reduce(self, x: Four) -> Four {
        sub_mul(x, round(mul(x, self.inverse)), self.q)
    }

    /// Maps a value between -q and q to 0 to q - 1.
    #[inline]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    #[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
    pub(crate) fn positive(self, x: Four) -> Four {
        add(x, if_negative(x, self.q))
    }
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
pub(super) fn mul_assign(m: Modulus, x: &mut [u64], y: &[u64]) {
    let lanes = Lanes::new(m);
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (x, y) in x.iter_mut().zip(y) {
        store_words(lanes.positive(lanes.mul(load_words(x), load_words(y))), x);
    }
    super::portable::mul_assign(m, x_rest, y_rest);
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
pub(super) fn add_product(m: Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
    let lanes = Lanes::new(m);
    let (sum, sum_rest) = sum.as_chunks_mut::<4>();
    let (x, x_rest) = x.as_chunks::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (sum, (x, y)) in sum.iter_mut().zip(x.iter().zip(y)) {
        // first between -q and 2q, then between -q/2 - 1 and q/2 + 1
        let all = lanes.reduce(add(load_words(sum), lanes.mul(load_words(x), load_words(y))));
        store_words(lanes.positive(all), sum);
    }
    super::portable::add_product(m, sum_rest, x_rest, y_rest);
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
pub(super) fn sum_of_products(m: Modulus, x: &mut [u64], y: &[u64], z: &[u64], w: &[u64]) {
    let lanes = Lanes::new(m);
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    let (z, z_rest) = z.as_chunks::<4>();
    let (w, w_rest) = w.as_chunks::<4>();
    for ((x, y), (z, w)) in x.iter_mut().zip(y).zip(z.iter().zip(w)) {
        let first = lanes.mul(load_words(x), load_words(y));
        // between -2q and 2q, then between -q/2 - 1 and q/2 + 1
        let all = lanes.reduce(add(first, lanes.mul(load_words(z), load_words(w))));
        store_words(lanes.positive(all), x);
    }
    super::portable::sum_of_products(m, x_rest, y_rest, z_rest, w_rest);
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
pub(super) fn scaled_sum(m: Modulus, x: &mut [u64], c: u64, y: &[u64], d: u64) {
    let lanes = Lanes::new(m);
    let [of_x, of_y] = [splat(c as f64), splat(d as f64)];
    let (x, x_rest) = x.as_chunks_mut::<4>();
    let (y, y_rest) = y.as_chunks::<4>();
    for (x, y) in x.iter_mut().zip(y) {
        let all = add(lanes.mul(load_words(x), of_x), lanes.mul(load_words(y), of_y));
        store_words(lanes.positive(lanes.reduce(all)), x);
    }
    super::portable::scaled_sum(m, x_rest, c, y_rest, d);
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
pub(super) fn scale(m: Modulus, x: &mut [u64], c: u64) {
    let lanes = Lanes::new(m);
    let factor = splat(c as f64);
    let (x, x_rest) = x.as_chunks_mut::<4>();
    for x in x {
        store_words(lanes.positive(lanes.mul(load_words(x), factor)), x);
    }
    super::portable::scale(m, x_rest, c);
}
