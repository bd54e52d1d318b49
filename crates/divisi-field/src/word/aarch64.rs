//! Registers of 64-bit Arm, which always has NEON.

use core::arch::aarch64::*;

use super::{Word, register_operators};
use crate::Plane;

/// Four 128-bit registers.
#[derive(Clone, Copy)]
pub struct Neon([uint64x2_t; 4]);

impl Word for Neon {
    #[inline(always)]
    fn load(plane: &Plane) -> Self {
        let start = plane.0.as_ptr();
        // SAFETY: the reference covers four pairs of words.
        Self(unsafe {
            [vld1q_u64(start), vld1q_u64(start.add(2)), vld1q_u64(start.add(4)), vld1q_u64(start.add(6))]
        })
    }

    #[inline(always)]
    fn store(self, plane: &mut Plane) {
        let start = plane.0.as_mut_ptr();
        let [a, b, c, d] = self.0;
        // SAFETY: as in `load`.
        unsafe {
            vst1q_u64(start, a);
            vst1q_u64(start.add(2), b);
            vst1q_u64(start.add(4), c);
            vst1q_u64(start.add(6), d);
        }
    }
}

impl Neon {
    #[inline(always)]
    fn xor(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> Self {
        // SAFETY: NEON belongs to this architecture.
        Self(unsafe { [veorq_u64(a, e), veorq_u64(b, f), veorq_u64(c, g), veorq_u64(d, h)] })
    }

    #[inline(always)]
    fn and(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> Self {
        // SAFETY: NEON belongs to this architecture.
        Self(unsafe { [vandq_u64(a, e), vandq_u64(b, f), vandq_u64(c, g), vandq_u64(d, h)] })
    }

    #[inline(always)]
    fn or(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> Self {
        // SAFETY: NEON belongs to this architecture.
        Self(unsafe { [vorrq_u64(a, e), vorrq_u64(b, f), vorrq_u64(c, g), vorrq_u64(d, h)] })
    }
}

register_operators!(Neon, Neon::xor, Neon::and, Neon::or);
