//! GF(2^4) = F2\[X\]/(X^4 + X + 1), the small field of MAESTRO (ePrint 2024/1317, section 2.1).
//!
//! 512 elements are four planes, with the coefficients of X^i in plane i. The functions here take planes or,
//! inside a [`Task`](crate::kernel::Task), registers.

use crate::field::operators;
use crate::{Field, Word};

/// An element, its coefficients the low four bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf4(u8);

impl Gf4 {
    /// The element with the low four bits of `bits` as coefficients.
    pub const fn new(bits: u8) -> Self {
        Self(bits & 15)
    }

    /// The coefficients.
    pub const fn bits(self) -> u8 {
        self.0
    }

    fn product(self, other: Self) -> Self {
        let wide = (0..4).fold(0, |sum, i| sum ^ (self.0 << i & (other.0 >> i & 1).wrapping_neg()));
        let high = wide >> 4;
        Self((wide & 15) ^ high ^ high << 1)
    }
}

operators!(Gf4, Gf4::product);

impl Field for Gf4 {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const BITS: usize = 4;
    const BYTES: usize = 1;
    type Bytes = [u8; 1];

    fn from_low_bits(bits: u128) -> Self {
        Self::new(bits as u8)
    }

    fn to_bits(self) -> u128 {
        self.0.into()
    }

    fn to_le_bytes(self) -> [u8; 1] {
        [self.0]
    }
}

/// The sum.
#[inline(always)]
pub fn add<W: Word>(x: &[W; 4], y: &[W; 4]) -> [W; 4] {
    [x[0] ^ y[0], x[1] ^ y[1], x[2] ^ y[2], x[3] ^ y[3]]
}

/// The product, with nine ANDs.
#[inline(always)]
pub fn mul<W: Word>(x: &[W; 4], y: &[W; 4]) -> [W; 4] {
    let c = polynomial_product(x, y);
    [c[0] ^ c[4], c[1] ^ c[4] ^ c[5], c[2] ^ c[5] ^ c[6], c[3] ^ c[6]]
}

/// The product of two polynomials of degree below 4, unreduced, by two levels of Karatsuba's method.
#[inline(always)]
pub(crate) fn polynomial_product<W: Word>(x: &[W; 4], y: &[W; 4]) -> [W; 7] {
    #[inline(always)]
    fn halves<W: Word>(x: [W; 2], y: [W; 2]) -> [W; 3] {
        let (low, high) = (x[0] & y[0], x[1] & y[1]);
        [low, ((x[0] ^ x[1]) & (y[0] ^ y[1])) ^ low ^ high, high]
    }
    let low = halves([x[0], x[1]], [y[0], y[1]]);
    let high = halves([x[2], x[3]], [y[2], y[3]]);
    let middle = halves([x[0] ^ x[2], x[1] ^ x[3]], [y[0] ^ y[2], y[1] ^ y[3]]);
    let overlap = low[2] ^ high[0];
    [
        low[0],
        low[1],
        overlap ^ middle[0] ^ low[0],
        middle[1] ^ low[1] ^ high[1],
        overlap ^ middle[2] ^ high[2],
        high[1],
        high[2],
    ]
}

/// The square; linear.
#[inline(always)]
pub fn square<W: Word>(x: &[W; 4]) -> [W; 4] {
    [x[0] ^ x[2], x[2], x[1] ^ x[3], x[3]]
}

/// The product with X.
#[inline(always)]
pub fn times_x<W: Word>(x: &[W; 4]) -> [W; 4] {
    [x[3], x[0] ^ x[3], x[1], x[2]]
}

/// The product with a public constant.
#[inline(always)]
pub fn scale<W: Word>(x: &[W; 4], c: Gf4) -> [W; 4] {
    let mut sum = [W::zero(); 4];
    let mut power = *x;
    for i in 0..4 {
        if c.0 >> i & 1 == 1 {
            sum = add(&sum, &power);
        }
        power = times_x(&power);
    }
    sum
}

#[cfg(test)]
mod tests;
