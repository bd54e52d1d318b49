//! Registers of x86-64. Values of [`Zmm`] and [`Ymm`] exist only inside [`crate::kernel::run`], which has
//! checked that the processor has the instructions: neither type can be named outside this crate.

use core::arch::x86_64::*;

use super::{Word, register_operators};
use crate::Plane;

/// One 512-bit register.
#[derive(Clone, Copy)]
pub struct Zmm(__m512i);

/// Two 256-bit registers.
#[derive(Clone, Copy)]
pub struct Ymm(__m256i, __m256i);

/// Four 128-bit registers, which every x86-64 processor has.
#[derive(Clone, Copy)]
pub struct Xmm([__m128i; 4]);

impl Word for Zmm {
    #[inline(always)]
    fn load(plane: &Plane) -> Self {
        // SAFETY: the reference covers 64 bytes, aligned to 64, and only `kernel::run`, which has seen
        // AVX-512F, instantiates this type.
        Self(unsafe { _mm512_load_si512(plane.0.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, plane: &mut Plane) {
        // SAFETY: as in `load`.
        unsafe { _mm512_store_si512(plane.0.as_mut_ptr().cast(), self.0) }
    }
}

impl Zmm {
    #[inline(always)]
    fn xor(x: Self, y: Self) -> Self {
        // SAFETY: a value of this type exists only where the processor has AVX-512F.
        Self(unsafe { _mm512_xor_si512(x.0, y.0) })
    }

    #[inline(always)]
    fn and(x: Self, y: Self) -> Self {
        // SAFETY: as in `xor`.
        Self(unsafe { _mm512_and_si512(x.0, y.0) })
    }

    #[inline(always)]
    fn or(x: Self, y: Self) -> Self {
        // SAFETY: as in `xor`.
        Self(unsafe { _mm512_or_si512(x.0, y.0) })
    }
}

register_operators!(Zmm, Zmm::xor, Zmm::and, Zmm::or);

impl Word for Ymm {
    #[inline(always)]
    fn load(plane: &Plane) -> Self {
        let start = plane.0.as_ptr().cast::<__m256i>();
        // SAFETY: the reference covers two 32-byte halves, aligned to 64, and only `kernel::run`, which has
        // seen AVX2, instantiates this type.
        unsafe { Self(_mm256_load_si256(start), _mm256_load_si256(start.add(1))) }
    }

    #[inline(always)]
    fn store(self, plane: &mut Plane) {
        let start = plane.0.as_mut_ptr().cast::<__m256i>();
        // SAFETY: as in `load`.
        unsafe {
            _mm256_store_si256(start, self.0);
            _mm256_store_si256(start.add(1), self.1);
        }
    }
}

impl Ymm {
    #[inline(always)]
    fn xor(x: Self, y: Self) -> Self {
        // SAFETY: a value of this type exists only where the processor has AVX2.
        unsafe { Self(_mm256_xor_si256(x.0, y.0), _mm256_xor_si256(x.1, y.1)) }
    }

    #[inline(always)]
    fn and(x: Self, y: Self) -> Self {
        // SAFETY: as in `xor`.
        unsafe { Self(_mm256_and_si256(x.0, y.0), _mm256_and_si256(x.1, y.1)) }
    }

    #[inline(always)]
    fn or(x: Self, y: Self) -> Self {
        // SAFETY: as in `xor`.
        unsafe { Self(_mm256_or_si256(x.0, y.0), _mm256_or_si256(x.1, y.1)) }
    }
}

register_operators!(Ymm, Ymm::xor, Ymm::and, Ymm::or);

impl Word for Xmm {
    #[inline(always)]
    fn load(plane: &Plane) -> Self {
        let start = plane.0.as_ptr().cast::<__m128i>();
        // SAFETY: the reference covers four 16-byte quarters, aligned to 64.
        Self(unsafe {
            [
                _mm_load_si128(start),
                _mm_load_si128(start.add(1)),
                _mm_load_si128(start.add(2)),
                _mm_load_si128(start.add(3)),
            ]
        })
    }

    #[inline(always)]
    fn store(self, plane: &mut Plane) {
        let start = plane.0.as_mut_ptr().cast::<__m128i>();
        let [a, b, c, d] = self.0;
        // SAFETY: as in `load`.
        unsafe {
            _mm_store_si128(start, a);
            _mm_store_si128(start.add(1), b);
            _mm_store_si128(start.add(2), c);
            _mm_store_si128(start.add(3), d);
        }
    }
}

impl Xmm {
    #[inline(always)]
    fn xor(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> Self {
        // SAFETY: SSE2 belongs to x86-64.
        Self(unsafe { [_mm_xor_si128(a, e), _mm_xor_si128(b, f), _mm_xor_si128(c, g), _mm_xor_si128(d, h)] })
    }

    #[inline(always)]
    fn and(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> Self {
        // SAFETY: SSE2 belongs to x86-64.
        Self(unsafe { [_mm_and_si128(a, e), _mm_and_si128(b, f), _mm_and_si128(c, g), _mm_and_si128(d, h)] })
    }

    #[inline(always)]
    fn or(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> Self {
        // SAFETY: SSE2 belongs to x86-64.
        Self(unsafe { [_mm_or_si128(a, e), _mm_or_si128(b, f), _mm_or_si128(c, g), _mm_or_si128(d, h)] })
    }
}

register_operators!(Xmm, Xmm::xor, Xmm::and, Xmm::or);
