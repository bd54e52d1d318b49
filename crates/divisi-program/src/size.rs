//! How large the numbers of a program are, and so the prime p that they are computed modulo.

use crate::interval::NumberLimits;
use divisi_field::zp::{P32, P62};

/// How large the numbers of a program are. A program that says nothing has numbers of 31 bits; the line
/// `numbers 61` below its first line gives it larger ones, whose operations cost more (docs/programs.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberSize {
    /// Numbers modulo p = 2^32 - 2^30 + 1, from -(p-1)/2 to (p-1)/2, which is 3 2^29.
    #[default]
    Bits31,
    /// Numbers modulo p = 2^62 - 2^46 + 1, from -(p-1)/2 to (p-1)/2, which is 2^61 - 2^45.
    Bits61,
}

impl NumberSize {
    /// All sizes, the smallest first.
    pub const ALL: [NumberSize; 2] = [NumberSize::Bits31, NumberSize::Bits61];

    /// The number of bits by which a program names the size.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            NumberSize::Bits31 => 31,
            NumberSize::Bits61 => 61,
        }
    }

    /// The prime p.
    #[must_use]
    pub const fn modulus(self) -> u64 {
        match self {
            NumberSize::Bits31 => P32,
            NumberSize::Bits61 => P62,
        }
    }

    /// The number of bits of p: as many has a number that is converted to bits.
    #[must_use]
    pub const fn width(self) -> usize {
        (u64::BITS - self.modulus().leading_zeros()) as usize
    }

    /// The largest number; the smallest is its negative.
    #[must_use]
    pub const fn largest(self) -> i64 {
        self.modulus() as i64 / 2
    }

    /// The power of two below which numbers and their differences must be in size for comparisons, `shift` to
    /// the right and `div` to be right.
    #[must_use]
    pub const fn bound(self) -> i64 {
        1 << self.limits().places()
    }

    pub(crate) const fn limits(self) -> NumberLimits {
        NumberLimits::modulo(self.modulus())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_their_primes() {
        let of = |size: NumberSize| (size.width(), size.largest(), size.bound());
        assert_eq!(of(NumberSize::Bits31), (32, 1_610_612_736, 1 << 30));
        assert_eq!(of(NumberSize::Bits61), (62, (1 << 61) - (1 << 45), 1 << 60));
        for size in NumberSize::ALL {
            assert_eq!(i128::from(size.largest()), size.limits().all().high());
            assert!(divisi_field::zp::prime::is_prime(size.modulus()));
        }
    }
}
