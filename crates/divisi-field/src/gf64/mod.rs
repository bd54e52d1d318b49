//! GF(2^64) = F2\[Y\]/(Y^64 + Y^4 + Y^3 + Y + 1), in which MAESTRO (ePrint 2024/1317, section 2.7) verifies
//! products.
//!
//! Sums of products are accumulated unreduced in 128 bits, and reduced once.

use crate::field::operators;
use crate::kernel::{dispatch, vectorize};
use crate::{BigField, Field, Plane};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod combine;
mod element;
mod embedding;
mod lane_weights;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod pclmul;
mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
mod unreduced;
#[cfg(target_arch = "x86_64")]
mod vpclmul;
#[cfg(target_arch = "x86_64")]
mod weigh_avx2;
#[cfg(target_arch = "x86_64")]
mod weigh_gfni;
#[cfg(target_arch = "aarch64")]
mod weigh_neon;
mod weigh_portable;
mod words;

pub use combine::combine;
pub use element::Gf64;
use element::reduce;
pub use embedding::{ALPHA, PSI4, PSI4_POWERS, PSI8, PSI8_POWERS};
pub use lane_weights::LaneWeights;
pub use unreduced::Unreduced;
pub use words::add_words;

impl Gf64 {
    fn product(self, other: Self) -> Self {
        dispatch!(mul(self, other))
    }
}

operators!(Gf64, Gf64::product);

impl Field for Gf64 {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const BITS: usize = 64;
    const BYTES: usize = 8;
    type Bytes = [u8; 8];

    fn from_low_bits(bits: u128) -> Self {
        Self(bits as u64)
    }

    fn to_bits(self) -> u128 {
        self.0.into()
    }

    fn to_le_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }
}

impl BigField for Gf64 {
    fn dot(x: &[Self], y: &[Self]) -> Self {
        assert_eq!(x.len(), y.len(), "factors of different lengths");
        dispatch!(dot(x, y))
    }

    fn mul_assign(x: &mut [Self], y: &[Self]) {
        assert_eq!(x.len(), y.len(), "factors of different lengths");
        dispatch!(mul_assign(x, y))
    }

    fn scale(x: &mut [Self], c: Self) {
        dispatch!(scale(x, c))
    }

    fn add_assign(x: &mut [Self], y: &[Self]) {
        assert_eq!(x.len(), y.len(), "summands of different lengths");
        vectorize(
            #[inline(always)]
            || x.iter_mut().zip(y).for_each(|(x, y)| x.0 ^= y.0),
        );
    }

    fn fold(x: &[Self], r: Self, out: &mut [Self]) {
        assert_eq!(x.len(), 2 * out.len(), "a fold halves the length");
        dispatch!(fold(x, r, out))
    }

    fn line_products(x: &[Self], y: &[Self]) -> (Self, Self) {
        assert_eq!(x.len(), y.len(), "factors of different lengths");
        assert!(x.len().is_multiple_of(2), "lines go through two points");
        dispatch!(line_products(x, y))
    }
}

/// Adds to each lane the weights of the planes in which its bit is one:
/// `out[l] += sum_i planes[i][l] * weights[i]`.
///
/// With [`PSI8_POWERS`] as weights this embeds bytes, given as eight planes; with random weights it makes
/// random combinations of planes. Lanes from `out.len()` on are ignored. The weights must be public, because
/// they determine which table entries are read.
///
/// # Panics
/// If there are more lanes than a plane has, or if the number of weights is not that of planes.
pub fn weigh(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    assert!(out.len() <= Plane::LANES, "a plane has 512 lanes");
    assert_eq!(planes.len(), weights.len(), "a weight for each plane");
    dispatch!(weigh(out, planes, weights))
}
