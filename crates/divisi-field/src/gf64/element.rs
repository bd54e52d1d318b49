//! An element of GF(2^64), and how a product becomes one.

/// An element, bit i the coefficient of Y^i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf64(pub u64);

impl Gf64 {
    /// Y.
    pub const Y: Self = Self(2);
}

/// Reduces a polynomial of degree below 128.
///
/// Because Y^64 = Y^4 + Y^3 + Y + 1, the high half times this polynomial is added to the low half. The
/// product has a few bits of degree 64 and more; they are Y^64 times a polynomial of degree below 4, and are
/// added in the same way.
#[inline(always)]
pub(super) const fn reduce(wide: u128) -> Gf64 {
    let (low, high) = (wide as u64, (wide >> 64) as u64);
    let high = high ^ high >> 60 ^ high >> 61 ^ high >> 63;
    Gf64(low ^ high ^ high << 1 ^ high << 3 ^ high << 4)
}
