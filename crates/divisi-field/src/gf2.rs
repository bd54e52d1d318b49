//! GF(2). Many elements are the bits of a [`Plane`](crate::Plane), with `^` as sum and `&` as product.

use crate::Field;
use crate::field::operators;

/// One bit, 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf2(u8);

impl Gf2 {
    /// The low bit of `bit`.
    #[inline]
    pub const fn new(bit: u8) -> Self {
        Self(bit & 1)
    }

    fn product(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

operators!(Gf2, Gf2::product);

impl Field for Gf2 {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const BITS: usize = 1;
    const BYTES: usize = 1;
    type Bytes = [u8; 1];

    #[inline(always)]
    fn from_low_bits(bits: u128) -> Self {
        Self::new(bits as u8)
    }

    #[inline(always)]
    fn to_bits(self) -> u128 {
        self.0.into()
    }

    fn to_le_bytes(self) -> [u8; 1] {
        [self.0]
    }
}

#[cfg(test)]
mod tests {
    crate::field_laws!(crate::Gf2);
}
