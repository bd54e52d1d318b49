//! GF(2^128) = F2\[x\]/(x^128 + x^7 + x^2 + x + 1), the field of GCM (NIST SP 800-38D).
//!
//! Sums of products are accumulated unreduced in 256 bits, and reduced once.

use crate::field::operators;
#[cfg(target_arch = "x86_64")]
use crate::kernel::Kernel;
use crate::kernel::{self, dispatch, vectorize};
use crate::{BigField, Field};
use zeroize::Zeroize;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tiles;

/// The largest number of tiles that [`Gf128::absorb`] takes at once.
pub const TOGETHER: usize = 8;

/// An element, bit i the coefficient of x^i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf128(pub u128);

impl Gf128 {
    /// Reads a block as GHASH does (NIST SP 800-38D, section 6.3): the coefficient of x^0 is the highest bit
    /// of the first byte.
    pub const fn from_ghash(block: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(block).reverse_bits())
    }

    /// The inverse of [`Self::from_ghash`].
    pub const fn to_ghash(self) -> [u8; 16] {
        self.0.reverse_bits().to_be_bytes()
    }

    fn product(self, other: Self) -> Self {
        dispatch!(mul(self, other))
    }

    /// Continues the evaluation of polynomials at one element, a polynomial for each sum: `sums[c]` becomes
    /// `sums[c] * powers[0]` plus the sum over t of word c of tile t times `powers[t + 1]`. A tile has
    /// `columns` words; those after the last sum are ignored.
    ///
    /// # Panics
    /// If there are more than [`TOGETHER`] tiles, more sums than columns, or not one power more than tiles.
    pub fn absorb(sums: &mut [Self], tiles: &[u128], columns: usize, powers: &[Self]) {
        let count = tiles.len().checked_div(columns).unwrap_or(0);
        assert!(count <= TOGETHER && sums.len() <= columns && count < powers.len(), "terms of a polynomial");
        let powers = &powers[..=count];
        let served = match kernel::active() {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 | Kernel::Avx512 if is_x86_feature_detected!("vpclmulqdq") => {
                // SAFETY: a kernel becomes active only after its features were seen on this processor, and
                // the other one was just seen.
                unsafe { tiles::absorb(sums, tiles, columns, powers) }
            }
            _ => 0,
        };
        let mut words = [Self(0); 1 + TOGETHER];
        for (c, sum) in sums.iter_mut().enumerate().skip(served) {
            words[0] = *sum;
            for (word, tile) in words[1..].iter_mut().zip(tiles.chunks_exact(columns)) {
                word.0 = tile[c];
            }
            *sum = Self::dot(&words[..=count], powers);
        }
        words.zeroize();
    }
}

operators!(Gf128, Gf128::product);

impl Field for Gf128 {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const BITS: usize = 128;
    const BYTES: usize = 16;
    type Bytes = [u8; 16];

    fn from_low_bits(bits: u128) -> Self {
        Self(bits)
    }

    fn to_bits(self) -> u128 {
        self.0
    }

    fn to_le_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl BigField for Gf128 {
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
}

/// Reduces a polynomial of degree below 256, given by its low and high halves.
///
/// Because x^128 = x^7 + x^2 + x + 1, the high half times this polynomial is added to the low half. The
/// product has a few bits of degree 128 and more; they are x^128 times a polynomial of degree below 7, and
/// are added in the same way.
#[inline(always)]
fn reduce((low, high): (u128, u128)) -> Gf128 {
    let high = high ^ high >> 121 ^ high >> 126 ^ high >> 127;
    Gf128(low ^ high ^ high << 1 ^ high << 2 ^ high << 7)
}
