//! GF(2^6) = F2\[x\]/(x^6 + x^4 + x^3 + x + 1), the field in which KOR+17's 3DES-Raw interpolates the S-boxes
//! of DES.

use crate::Field;
use crate::field::operators;

/// An element, bit i the coefficient of x^i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf6(u8);

impl Gf6 {
    /// The low six bits.
    pub const fn new(bits: u8) -> Self {
        Self(bits & 0x3f)
    }

    fn product(self, other: Self) -> Self {
        let (mut power, mut sum) = (self.0, 0);
        for i in 0..6 {
            sum ^= power & (other.0 >> i & 1).wrapping_neg();
            power = (power << 1 & 0x3f) ^ (0x1b & (power >> 5).wrapping_neg());
        }
        Self(sum)
    }
}

operators!(Gf6, Gf6::product);

impl Field for Gf6 {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const BITS: usize = 6;
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

#[cfg(test)]
mod tests {
    crate::field_laws!(crate::Gf6);
}
