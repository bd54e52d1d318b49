//! Party numbers, counted from 1 as in the papers.

use std::fmt;

/// The number of a party, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(u8);

impl PartyId {
    /// Party 1.
    pub const P1: PartyId = PartyId(1);
    /// Party 2.
    pub const P2: PartyId = PartyId(2);
    /// Party 3.
    pub const P3: PartyId = PartyId(3);

    /// The party with this number; `None` for 0, since parties are counted from 1.
    pub const fn new(number: u8) -> Option<Self> {
        if number == 0 { None } else { Some(Self(number)) }
    }

    /// The party at a position counted from 0; `None` beyond 255 parties.
    pub fn from_index(index: usize) -> Option<Self> {
        u8::try_from(index.checked_add(1)?).ok().map(Self)
    }

    /// All parties of a mesh of `n`, in order.
    pub fn all(n: usize) -> impl Iterator<Item = Self> {
        (0..n).filter_map(Self::from_index)
    }

    /// The number, from 1.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The position, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize - 1
    }

    /// The party after this one in a ring of `n`.
    pub const fn next(self, n: usize) -> Self {
        if self.0 as usize >= n { Self(1) } else { Self(self.0 + 1) }
    }

    /// The party before this one in a ring of `n`.
    pub const fn prev(self, n: usize) -> Self {
        if self.0 > 1 {
            Self(self.0 - 1)
        } else if n == 0 {
            Self(1)
        } else if n > u8::MAX as usize {
            Self(u8::MAX)
        } else {
            Self(n as u8)
        }
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "party {}", self.0)
    }
}

impl fmt::Debug for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_closes() {
        for n in [1, 2, 3, 5, 255] {
            for p in PartyId::all(n) {
                assert_eq!(p.next(n).prev(n), p);
                assert_eq!(p.prev(n).next(n), p);
                assert!(p.next(n).index() < n);
            }
        }
        assert_eq!(PartyId::new(0), None);
        assert_eq!(PartyId::all(3).map(PartyId::number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(PartyId::from_index(255), None);
    }
}
