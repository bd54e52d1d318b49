//! The trait of register types, so that generic code on planes is compiled for AVX-512, AVX2, NEON and
//! portable words.

use core::ops::{BitAnd, BitAndAssign, BitOr, BitXor, BitXorAssign, Not};

use crate::Plane;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

/// The register type of the portable kernel: vector registers that every processor of the architecture has,
/// or otherwise machine words.
#[cfg(target_arch = "x86_64")]
pub(crate) type Baseline = x86::Xmm;
#[cfg(target_arch = "aarch64")]
pub(crate) type Baseline = aarch64::Neon;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) type Baseline = Plane;

/// One bit of each of 512 lanes, loaded: a [`Plane`] or, inside a [`Task`](crate::kernel::Task), vector
/// registers.
pub trait Word:
    Copy
    + BitXor<Output = Self>
    + BitXorAssign
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + Not<Output = Self>
    + sealed::OfThisCrate
{
    /// Loads a plane.
    fn load(plane: &Plane) -> Self;

    /// Stores a plane.
    fn store(self, plane: &mut Plane);

    /// Zero in all lanes.
    #[inline(always)]
    fn zero() -> Self {
        Self::load(&Plane::ZERO)
    }

    /// The low bit of `bit` in all lanes.
    #[inline(always)]
    fn splat(bit: u64) -> Self {
        Self::load(&Plane::splat(bit))
    }

    /// Loads the planes of an element.
    #[inline(always)]
    fn load_all<const N: usize>(planes: &[Plane; N]) -> [Self; N] {
        let mut words = [Self::zero(); N];
        for (word, plane) in words.iter_mut().zip(planes) {
            *word = Self::load(plane);
        }
        words
    }

    /// Stores the planes of an element.
    #[inline(always)]
    fn store_all<const N: usize>(words: &[Self; N], planes: &mut [Plane; N]) {
        for (word, plane) in words.iter().zip(planes) {
            word.store(plane);
        }
    }
}

mod sealed {
    pub trait OfThisCrate {}
}

impl sealed::OfThisCrate for Plane {}

impl Word for Plane {
    #[inline(always)]
    fn load(plane: &Plane) -> Self {
        *plane
    }

    #[inline(always)]
    fn store(self, plane: &mut Plane) {
        *plane = self;
    }
}

/// Defines the operators of a register type by a function for each.
macro_rules! register_operators {
    ($register:ident, $xor:path, $and:path, $or:path) => {
        impl core::ops::BitXor for $register {
            type Output = Self;
            #[inline(always)]
            fn bitxor(self, other: Self) -> Self {
                $xor(self, other)
            }
        }
        impl core::ops::BitAnd for $register {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                $and(self, other)
            }
        }
        impl core::ops::BitOr for $register {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, other: Self) -> Self {
                $or(self, other)
            }
        }
        impl core::ops::BitXorAssign for $register {
            #[inline(always)]
            fn bitxor_assign(&mut self, other: Self) {
                *self = *self ^ other;
            }
        }
        impl core::ops::BitAndAssign for $register {
            #[inline(always)]
            fn bitand_assign(&mut self, other: Self) {
                *self = *self & other;
            }
        }
        impl core::ops::Not for $register {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                self ^ <Self as $crate::Word>::load(&$crate::Plane::ONES)
            }
        }
        impl $crate::word::sealed::OfThisCrate for $register {}
    };
}
pub(crate) use register_operators;
