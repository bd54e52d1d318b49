//! Two carry-less products at a time: in the vector registers that every x86-64 processor has, or otherwise
//! one after the other.

/// A sum of products that is not reduced.
pub(crate) struct Sum(Parts);

impl Sum {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(Parts::zero())
    }

    /// Adds `x[0] y[0] + x[1] y[1]`.
    #[inline(always)]
    pub(crate) fn add(&mut self, x: [u64; 2], y: [u64; 2]) {
        self.0 = self.0.plus(Parts::products(x, y));
    }

    /// The sum: a polynomial of degree below 127.
    #[inline(always)]
    pub(crate) fn total(&self) -> u128 {
        let [first, second] = self.0.whole();
        first ^ second
    }
}

/// `x[0] y[0]` and `x[1] y[1]`.
#[inline(always)]
pub(crate) fn products(x: [u64; 2], y: [u64; 2]) -> [u128; 2] {
    Parts::products(x, y).whole()
}

#[cfg(target_arch = "x86_64")]
use x86::Parts;

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Karatsuba's method down to products of 32 bits; PMULUDQ makes two of them at a time.
    //!
    //! As in [`super::super::product`], an operand is divided into four parts, in which three zeros separate
    //! the bits. A part of 32 bits has eight bits, so no group of a product overflows.

    use core::arch::x86_64::*;

    /// A mask that selects every fourth bit.
    const HOLES: u64 = u64::MAX / 15;

    /// Karatsuba's three products, for both pairs: low x low, (low + high) x (low + high), high x high.
    #[derive(Clone, Copy)]
    pub(super) struct Parts {
        low: __m128i,
        sums: __m128i,
        high: __m128i,
    }

    impl Parts {
        #[inline(always)]
        pub(super) fn zero() -> Self {
            // SAFETY: SSE2 belongs to x86-64.
            let zero = unsafe { _mm_setzero_si128() };
            Self { low: zero, sums: zero, high: zero }
        }

        #[inline(always)]
        pub(super) fn products(x: [u64; 2], y: [u64; 2]) -> Self {
            // SAFETY: SSE2 belongs to x86-64.
            unsafe {
                // built in registers: a load would have to wait for the preceding stores of the same words
                let [x, y] = [x, y].map(|v| _mm_set_epi64x(v[1] as i64, v[0] as i64));
                let (x_high, y_high) = (_mm_srli_epi64(x, 32), _mm_srli_epi64(y, 32));
                Self {
                    low: products_of_32(x, y),
                    sums: products_of_32(_mm_xor_si128(x, x_high), _mm_xor_si128(y, y_high)),
                    high: products_of_32(x_high, y_high),
                }
            }
        }

        #[inline(always)]
        pub(super) fn plus(self, other: Self) -> Self {
            // SAFETY: SSE2 belongs to x86-64.
            unsafe {
                Self {
                    low: _mm_xor_si128(self.low, other.low),
                    sums: _mm_xor_si128(self.sums, other.sums),
                    high: _mm_xor_si128(self.high, other.high),
                }
            }
        }

        /// Both products.
        #[inline(always)]
        pub(super) fn whole(self) -> [u128; 2] {
            // SAFETY: SSE2 belongs to x86-64.
            unsafe {
                let middle = _mm_xor_si128(self.sums, _mm_xor_si128(self.low, self.high));
                let low = words(_mm_xor_si128(self.low, _mm_slli_epi64(middle, 32)));
                let high = words(_mm_xor_si128(self.high, _mm_srli_epi64(middle, 32)));
                [0, 1].map(|i| u128::from(high[i]) << 64 | u128::from(low[i]))
            }
        }
    }

    #[inline(always)]
    fn words(x: __m128i) -> [u64; 2] {
        // SAFETY: SSE2 belongs to x86-64.
        unsafe { [x, _mm_unpackhi_epi64(x, x)].map(|x| _mm_cvtsi128_si64(x) as u64) }
    }

    /// The products of the low halves of both words.
    #[inline(always)]
    fn products_of_32(x: __m128i, y: __m128i) -> __m128i {
        // SAFETY: SSE2 belongs to x86-64. In all of this function.
        unsafe {
            let hole = |k: u32| _mm_set1_epi64x((HOLES << k) as i64);
            let x = [0, 1, 2, 3].map(|k| _mm_and_si128(x, hole(k)));
            let y = [0, 1, 2, 3].map(|k| _mm_and_si128(y, hole(k)));
            // written out: the compiler would compute a loop's masks in every iteration
            let column = |k: u32, [a, b, c, d]: [__m128i; 4]| {
                let first = _mm_xor_si128(_mm_mul_epu32(x[0], a), _mm_mul_epu32(x[1], b));
                let second = _mm_xor_si128(_mm_mul_epu32(x[2], c), _mm_mul_epu32(x[3], d));
                _mm_and_si128(_mm_xor_si128(first, second), hole(k))
            };
            let low = _mm_xor_si128(column(0, [y[0], y[3], y[2], y[1]]), column(1, [y[1], y[0], y[3], y[2]]));
            let high =
                _mm_xor_si128(column(2, [y[2], y[1], y[0], y[3]]), column(3, [y[3], y[2], y[1], y[0]]));
            _mm_xor_si128(low, high)
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use words::Parts;

#[cfg(not(target_arch = "x86_64"))]
mod words {
    use super::super::product;

    /// Two products.
    #[derive(Clone, Copy)]
    pub(super) struct Parts([u128; 2]);

    impl Parts {
        #[inline(always)]
        pub(super) fn zero() -> Self {
            Self([0; 2])
        }

        #[inline(always)]
        pub(super) fn products(x: [u64; 2], y: [u64; 2]) -> Self {
            Self([product(x[0], y[0]), product(x[1], y[1])])
        }

        #[inline(always)]
        pub(super) fn plus(self, other: Self) -> Self {
            Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
        }

        #[inline(always)]
        pub(super) fn whole(self) -> [u128; 2] {
            self.0
        }
    }
}
