//! A plane: one bit of each of 512 lanes.

use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// One bit of each of 512 lanes: lane l is bit l mod 64 of word l / 64. It fills an AVX-512 register and a
/// cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Plane(pub [u64; 8]);

/// The number of lanes of a [`Plane`].
pub const LANES: usize = 512;

impl Plane {
    /// The number of lanes.
    pub const LANES: usize = LANES;
    /// The number of bytes.
    pub const BYTES: usize = LANES / 8;
    /// Zero in every lane.
    pub const ZERO: Self = Self([0; 8]);
    /// One in every lane.
    pub const ONES: Self = Self([u64::MAX; 8]);

    /// The low bit of `bit` in every lane, without a branch.
    #[inline(always)]
    pub const fn splat(bit: u64) -> Self {
        Self([(bit & 1).wrapping_neg(); 8])
    }

    /// The bit of one lane; the lane's number is public.
    ///
    /// # Panics
    /// If there is no such lane.
    #[inline]
    pub fn lane(&self, lane: usize) -> u64 {
        self.0[lane / 64] >> (lane % 64) & 1
    }

    /// Sets one lane to the low bit of `bit`; the lane's number is public.
    ///
    /// # Panics
    /// If there is no such lane.
    #[inline]
    pub fn set_lane(&mut self, lane: usize, bit: u64) {
        let word = &mut self.0[lane / 64];
        *word = (*word & !(1 << (lane % 64))) | (bit & 1) << (lane % 64);
    }

    /// Zeroes the lanes from `lanes` on; their number is public.
    #[inline]
    pub fn keep(&mut self, lanes: usize) {
        for (w, word) in self.0.iter_mut().enumerate() {
            let kept = lanes.saturating_sub(64 * w).min(64);
            *word &= if kept == 64 { u64::MAX } else { (1 << kept) - 1 };
        }
    }

    /// The lanes in order, eight in each byte, the first one lowest.
    #[inline]
    pub fn to_le_bytes(self) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The plane with these lanes in order, eight in each byte, the first one lowest.
    #[inline]
    pub fn from_le_bytes(bytes: &[u8; 64]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        Self(core::array::from_fn(|w| u64::from_le_bytes(words[w])))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut out = self;
        let mut w = 0;
        while w < 8 {
            out.0[w] = f(self.0[w], other.0[w]);
            w += 1;
        }
        out
    }
}

macro_rules! operation {
    ($operator:ident, $method:ident, $assign:ident, $assign_method:ident, $f:expr) => {
        impl $operator for Plane {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, $f)
            }
        }
        impl $assign for Plane {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = self.zip(other, $f);
            }
        }
    };
}
operation!(
    BitXor,
    bitxor,
    BitXorAssign,
    bitxor_assign,
    #[inline(always)]
    |x, y| x ^ y
);
operation!(
    BitAnd,
    bitand,
    BitAndAssign,
    bitand_assign,
    #[inline(always)]
    |x, y| x & y
);
operation!(
    BitOr,
    bitor,
    BitOrAssign,
    bitor_assign,
    #[inline(always)]
    |x, y| x | y
);

impl Not for Plane {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self ^ Self::ONES
    }
}

impl zeroize::DefaultIsZeroes for Plane {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::STEP;

    #[test]
    fn lanes_are_set_and_read_alone() {
        for lane in (0..LANES).step_by(STEP) {
            let mut plane = Plane::ZERO;
            plane.set_lane(lane, 1);
            for other in 0..LANES {
                assert_eq!(plane.lane(other), u64::from(other == lane));
            }
            plane.set_lane(lane, 2);
            assert_eq!(plane, Plane::ZERO);
        }
    }

    #[test]
    fn keep_zeroes_the_lanes_above() {
        for lanes in (0..=LANES + 1).step_by(STEP) {
            let mut plane = Plane::ONES;
            plane.keep(lanes);
            assert!((0..LANES).all(|lane| plane.lane(lane) == u64::from(lane < lanes)));
        }
    }

    #[test]
    fn splat_and_bytes() {
        assert_eq!(Plane::splat(0), Plane::ZERO);
        assert_eq!(Plane::splat(1), Plane::ONES);
        let mut plane = Plane::ZERO;
        plane.set_lane(77, 1);
        let bytes = plane.to_le_bytes();
        assert_eq!(bytes[9], 1 << 5);
        assert_eq!(Plane::from_le_bytes(&bytes), plane);
        assert_eq!(Plane::ZERO | plane, plane);
    }
}
