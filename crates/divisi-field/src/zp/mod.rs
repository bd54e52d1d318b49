//! Integers modulo a prime: below 2^50 for lattice ciphertexts, below 2^62 for their plaintexts.
//!
//! Elements are `u64` below the prime, with operations on slices. They do not implement [`crate::Field`],
//! which is for characteristic two. Everything takes constant time in the elements; the prime is public.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::kernel::Kernel;
use crate::kernel::{self, vectorize};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod double;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod four;
// compiled on every processor: the code is generic, and tests run it with a model of its registers
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) mod ifma;
mod portable;
pub mod prime;
#[cfg(test)]
mod tests;

/// The prime for numbers: 2^32 - 2^30 + 1, which is 1 modulo 2^17.
pub const P32: u64 = (1 << 32) - (1 << 30) + 1;
/// The prime for garbling: 2^16 + 1.
pub const P16: u64 = (1 << 16) + 1;
/// The prime for wide numbers: 2^62 - 2^46 + 1, which is 1 modulo 2^46.
pub const P62: u64 = (1 << 62) - (1 << 46) + 1;
/// Every prime of ciphertexts is below 2 to this power.
pub const MODULUS_BITS: u32 = 50;
/// Every modulus is below 2 to this power. Those of more than [`MODULUS_BITS`] bits are for plaintexts.
pub const PLAIN_BITS: u32 = 62;

/// The implementation that a call uses. It is chosen separately from the kernel, because a kernel need not
/// have fused or integer multiply-add instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZpArithmetic {
    /// 64-bit integers.
    Portable,
    /// 64-bit integers, for moduli that leave two spare bits of a word.
    Wide,
    /// AVX2 with FMA, or NEON: exact arithmetic of integers in doubles.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Double,
    /// AVX-512 with IFMA: products of 52 bits.
    #[cfg(target_arch = "x86_64")]
    Ifma,
}

impl ZpArithmetic {
    /// The implementation for this modulus and the active kernel on this processor.
    pub(crate) fn of(modulus: Modulus) -> ZpArithmetic {
        if modulus.bits > MODULUS_BITS {
            return ZpArithmetic::Wide;
        }
        match kernel::active() {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 if is_x86_feature_detected!("avx512ifma") => ZpArithmetic::Ifma,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 | Kernel::Avx2 if is_x86_feature_detected!("fma") => ZpArithmetic::Double,
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => ZpArithmetic::Double,
            _ => ZpArithmetic::Portable,
        }
    }
}

/// A prime below 2^62, with constants for reduction. Whether it is prime is not checked here;
/// [`prime::is_prime`] does so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modulus {
    q: u64,
    /// The number of bits of q.
    bits: u32,
    /// floor(2^(2 bits) / q).
    mu: u64,
    /// floor(2^64 / q).
    whole: u64,
    /// 2^64 mod q.
    wrap: u64,
}

impl Modulus {
    /// The modulus q, with constants for reduction; `None` unless q is odd and from 3 to 2^62.
    #[must_use]
    pub const fn new(q: u64) -> Option<Modulus> {
        if q < 3 || q.is_multiple_of(2) || q >> PLAIN_BITS != 0 {
            return None;
        }
        let bits = 64 - q.leading_zeros();
        let mu = ((1_u128 << (2 * bits)) / q as u128) as u64;
        let whole = ((1_u128 << 64) / q as u128) as u64;
        let wrap = ((1_u128 << 64) % q as u128) as u64;
        Some(Modulus { q, bits, mu, whole, wrap })
    }

    /// The modulus itself.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.q
    }

    /// How many bits an element takes.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// floor(2^(bits + 51) / q), which has 52 bits if q has at most 50.
    pub(crate) fn mu52(self) -> u64 {
        ((1_u128 << (self.bits + 51)) / u128::from(self.q)) as u64
    }

    /// Reduces x below 2q: x if it is below q, else x - q.
    #[inline(always)]
    #[must_use]
    pub fn once(self, x: u64) -> u64 {
        x.min(x.wrapping_sub(self.q))
    }

    /// The sum of two elements.
    #[inline(always)]
    #[must_use]
    pub fn add(self, x: u64, y: u64) -> u64 {
        self.once(x + y)
    }

    /// The difference of two elements.
    #[inline(always)]
    #[must_use]
    pub fn sub(self, x: u64, y: u64) -> u64 {
        self.once(x + self.q - y)
    }

    /// The negative of an element.
    #[inline(always)]
    #[must_use]
    pub fn neg(self, x: u64) -> u64 {
        self.once(self.q - x)
    }

    /// The product of two elements, by Barrett's method; the quotient is too small by at most 2.
    #[inline(always)]
    #[must_use]
    pub fn mul(self, x: u64, y: u64) -> u64 {
        let z = u128::from(x) * u128::from(y);
        let high = (z >> (self.bits - 1)) as u64;
        let quotient = (u128::from(high) * u128::from(self.mu)) >> (self.bits + 1);
        let rest = (z as u64).wrapping_sub((quotient as u64).wrapping_mul(self.q));
        self.once(self.once(rest))
    }

    /// Reduces any word.
    #[inline(always)]
    #[must_use]
    pub fn reduce(self, x: u64) -> u64 {
        let quotient = (u128::from(x) * u128::from(self.whole)) >> 64;
        self.once(self.once(x.wrapping_sub((quotient as u64).wrapping_mul(self.q))))
    }

    /// Reduces any number of 128 bits. If it is uniform, the result is within 2^-78 of uniform for q below
    /// 2^50, and within 2^-66 for others.
    #[inline(always)]
    #[must_use]
    pub fn reduce_wide(self, x: u128) -> u64 {
        let high = self.mul(self.reduce((x >> 64) as u64), self.wrap);
        self.add(high, self.reduce(x as u64))
    }

    /// Reduces a number of 192 bits, given by its words, the highest first. If it is uniform, the result is
    /// within 2^-130 of uniform.
    #[inline(always)]
    #[must_use]
    pub fn reduce_words(self, [high, middle, low]: [u64; 3]) -> u64 {
        let rest = self.reduce_wide(u128::from(high) << 64 | u128::from(middle));
        self.reduce_wide(u128::from(rest) << 64 | u128::from(low))
    }

    /// A small signed number as an element, in constant time.
    #[inline(always)]
    #[must_use]
    pub fn of_signed(self, x: i64) -> u64 {
        let sign = (x >> 63) as u64;
        let size = self.reduce(x.unsigned_abs());
        self.once(size ^ sign & (size ^ (self.q - size)))
    }

    /// A signed number of 128 bits as an element, in constant time.
    #[inline(always)]
    #[must_use]
    pub fn of_wide(self, x: i128) -> u64 {
        let sign = (x >> 127) as u64;
        let size = self.reduce_wide(x.unsigned_abs());
        self.once(size ^ sign & (size ^ (self.q - size)))
    }

    /// The representative between -q/2 and q/2, in constant time.
    #[inline(always)]
    #[must_use]
    pub fn centred(self, x: u64) -> i64 {
        let over = ((self.q / 2).wrapping_sub(x) as i64) >> 63;
        x as i64 - (self.q as i64 & over)
    }

    /// x to a public power.
    #[must_use]
    pub fn pow(self, x: u64, mut exponent: u64) -> u64 {
        let (mut power, mut square) = (1, x);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = self.mul(power, square);
            }
            square = self.mul(square, square);
            exponent >>= 1;
        }
        power
    }

    /// The inverse modulo a prime; zero for zero.
    #[must_use]
    pub fn invert(self, x: u64) -> u64 {
        self.pow(x, self.q - 2)
    }

    /// x + y, element by element.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_assign(self, x: &mut [u64], y: &[u64]) {
        assert_eq!(x.len(), y.len(), "summands of different lengths");
        vectorize(
            #[inline(always)]
            || x.iter_mut().zip(y).for_each(|(x, y)| *x = self.add(*x, *y)),
        );
    }

    /// x - y, element by element.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn sub_assign(self, x: &mut [u64], y: &[u64]) {
        assert_eq!(x.len(), y.len(), "terms of different lengths");
        vectorize(
            #[inline(always)]
            || x.iter_mut().zip(y).for_each(|(x, y)| *x = self.sub(*x, *y)),
        );
    }

    /// -x, element by element.
    pub fn neg_assign(self, x: &mut [u64]) {
        vectorize(
            #[inline(always)]
            || x.iter_mut().for_each(|x| *x = self.neg(*x)),
        );
    }

    /// x y, element by element.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn mul_assign(self, x: &mut [u64], y: &[u64]) {
        assert_eq!(x.len(), y.len(), "factors of different lengths");
        match ZpArithmetic::of(self) {
            ZpArithmetic::Portable | ZpArithmetic::Wide => portable::mul_assign(self, x, y),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: `ZpArithmetic::of` has seen the instructions on this processor.
            ZpArithmetic::Double => unsafe { double::mul_assign(self, x, y) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `ZpArithmetic::of` has seen AVX-512 with IFMA on this processor.
            ZpArithmetic::Ifma => unsafe { ifma::x86::mul_assign(self, x, y) },
        }
    }

    /// sum + x y, element by element.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_product(self, sum: &mut [u64], x: &[u64], y: &[u64]) {
        assert!(sum.len() == x.len() && x.len() == y.len(), "vectors of different lengths");
        match ZpArithmetic::of(self) {
            ZpArithmetic::Portable | ZpArithmetic::Wide => portable::add_product(self, sum, x, y),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Double => unsafe { double::add_product(self, sum, x, y) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Ifma => unsafe { ifma::x86::add_product(self, sum, x, y) },
        }
    }

    /// x y + z w, element by element, in the place of x.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn sum_of_products(self, x: &mut [u64], y: &[u64], z: &[u64], w: &[u64]) {
        assert!([y, z, w].iter().all(|list| list.len() == x.len()), "vectors of different lengths");
        match ZpArithmetic::of(self) {
            ZpArithmetic::Portable | ZpArithmetic::Wide => portable::sum_of_products(self, x, y, z, w),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Double => unsafe { double::sum_of_products(self, x, y, z, w) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Ifma => unsafe { ifma::x86::sum_of_products(self, x, y, z, w) },
        }
    }

    /// c x + d y for public c and d, element by element, in the place of x.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn scaled_sum(self, x: &mut [u64], c: u64, y: &[u64], d: u64) {
        assert_eq!(x.len(), y.len(), "terms of different lengths");
        let (c, d) = (self.reduce(c), self.reduce(d));
        match ZpArithmetic::of(self) {
            ZpArithmetic::Portable | ZpArithmetic::Wide => portable::scaled_sum(self, x, c, y, d),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Double => unsafe { double::scaled_sum(self, x, c, y, d) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Ifma => unsafe { ifma::x86::scaled_sum(self, x, c, y, d) },
        }
    }

    /// x c, element by element.
    pub fn scale(self, x: &mut [u64], c: u64) {
        let c = self.reduce(c);
        match ZpArithmetic::of(self) {
            ZpArithmetic::Portable | ZpArithmetic::Wide => portable::scale(self, x, c),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Double => unsafe { double::scale(self, x, c) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `mul_assign`.
            ZpArithmetic::Ifma => unsafe { ifma::x86::scale(self, x, c) },
        }
    }
}
