//! Sums of carry-less products that are not reduced.

use super::{Gf64, reduce};
use zeroize::Zeroize;

/// An unreduced sum. It is the sum of four polynomials of degree below 128, each given by its low and its
/// high word.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Unreduced(pub(super) [u64; 8]);

impl Unreduced {
    /// The empty sum.
    pub const ZERO: Self = Self([0; 8]);

    /// The sum as a field element.
    #[must_use]
    pub fn reduce(&self) -> Gf64 {
        let half = |first: usize| self.0.iter().skip(first).step_by(2).fold(0, |sum, word| sum ^ word);
        reduce(u128::from(half(1)) << 64 | u128::from(half(0)))
    }
}

impl Zeroize for Unreduced {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
