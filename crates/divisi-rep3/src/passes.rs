//! The number of passes of a verification.

/// How many times products are verified over GF(2^64), each time with fresh coins: a lie must pass every
/// time, so that two passes square the error. Products over GF(2^128) are verified once, with an error below
/// 2^-100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Passes {
    /// One pass: at least 57 bits for any batch that this library makes.
    #[default]
    Once,
    /// Two passes: at least 114 bits.
    Twice,
}

impl Passes {
    /// The fewest passes with an error of at most 2^-bits; `None` if two are not enough.
    #[must_use]
    pub fn for_bits(bits: u32) -> Option<Passes> {
        match bits {
            0..=57 => Some(Passes::Once),
            58..=114 => Some(Passes::Twice),
            _ => None,
        }
    }

    pub(crate) fn number(self) -> usize {
        match self {
            Passes::Once => 1,
            Passes::Twice => 2,
        }
    }
}
