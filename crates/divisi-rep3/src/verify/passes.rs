//! How often products are verified.

/// How often products are verified over GF(2^64), each time with coins of its own: a lie must pass every
/// time, so that the error of one pass is raised to the number of passes. Products over GF(2^128) are
/// verified once, with an error below 2^-100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Passes {
    /// Once: at least 57 bits for any batch this library makes.
    #[default]
    Once,
    /// Twice: at least 114 bits.
    Twice,
}

impl Passes {
    /// As many as it takes for an error of at most 2^-bits; `None` if it takes more than there are.
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
