//! The traits of fields: what all fields of this crate have, and what protocols need that verify in a large
//! field.

use core::fmt::Debug;
use core::ops::{Add, Mul, Sub};

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// A finite field of characteristic two. Elements are polynomials over GF(2); bit i is the coefficient of the
/// i-th power. Addition and subtraction are the same, and every operation takes constant time.
pub trait Field:
    Copy
    + Default
    + Eq
    + Debug
    + Send
    + Sync
    + Zeroize
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + 'static
{
    /// The neutral element of addition.
    const ZERO: Self;
    /// The neutral element of multiplication.
    const ONE: Self;
    /// The degree over GF(2): an element carries this many bits.
    const BITS: usize;
    /// The length of an element's encoding in bytes.
    const BYTES: usize;
    /// The encoding: little-endian, the bits above [`Self::BITS`] zero.
    type Bytes: AsRef<[u8]> + AsMut<[u8]> + Copy + Default;

    /// The element whose coefficients are the low [`Self::BITS`] bits; the others are ignored.
    fn from_low_bits(bits: u128) -> Self;

    /// The coefficients as an integer.
    fn to_bits(self) -> u128;

    /// The little-endian encoding.
    fn to_le_bytes(self) -> Self::Bytes;

    /// Reads an encoding; `None` unless it has exactly [`Self::BYTES`] bytes and all padding bits are zero.
    fn from_le_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::BYTES {
            return None;
        }
        let mut wide = [0; 16];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let bits = u128::from_le_bytes(wide);
        let element = Self::from_low_bits(bits);
        (element.to_bits() == bits).then_some(element)
    }

    /// `x[i] = x[i] * y[i]`, up to the length of the shorter one.
    fn multiply_each(x: &mut [Self], y: &[Self]) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x = *x * *y);
    }

    /// The square.
    fn square(self) -> Self {
        self * self
    }

    /// The inverse; zero for zero. It is the power 2^BITS - 2.
    fn inverse(self) -> Self {
        let mut power = self;
        let mut product = Self::ONE;
        for _ in 1..Self::BITS {
            power = power.square();
            product = product * power;
        }
        product
    }
}

/// A field large enough for verification, with operations on slices.
///
/// # Panics
/// Every operation on two slices panics if their lengths do not fit each other.
pub trait BigField: Field + ConstantTimeEq {
    /// The sum of `x[i] * y[i]`.
    fn dot(x: &[Self], y: &[Self]) -> Self;

    /// `x[i] = x[i] * y[i]`.
    fn mul_assign(x: &mut [Self], y: &[Self]);

    /// `x[i] = x[i] * c`.
    fn scale(x: &mut [Self], c: Self);

    /// `x[i] = x[i] + y[i]`.
    fn add_assign(x: &mut [Self], y: &[Self]);

    /// `out[i] = x[2i] + r * (x[2i] + x[2i+1])`: the line with value `x[2i]` at 0 and `x[2i+1]` at 1,
    /// evaluated at `r`, for each pair of neighbours. `x` is twice as long as `out`.
    fn fold(x: &[Self], r: Self, out: &mut [Self]);

    /// Two sums over the lines through neighbours of `x` and of `y` (see [`BigField::fold`]): the sum of
    /// `x[2i+1] * y[2i+1]` (products of the values at 1), and that of `(x[2i] + x[2i+1]) * (y[2i] + y[2i+1])`
    /// (products of the leading coefficients). The lengths are equal and even.
    fn line_products(x: &[Self], y: &[Self]) -> (Self, Self) {
        assert_eq!(x.len(), y.len(), "factors of different lengths");
        let (x, _) = x.as_chunks::<2>();
        let (y, _) = y.as_chunks::<2>();
        x.iter().zip(y).fold((Self::ZERO, Self::ZERO), |(one, leading), ([x0, x1], [y0, y1])| {
            (one + *x1 * *y1, leading + (*x0 + *x1) * (*y0 + *y1))
        })
    }

    /// The element of 16 bytes; it is uniform if they are.
    fn from_uniform(bytes: [u8; 16]) -> Self {
        Self::from_low_bits(u128::from_le_bytes(bytes))
    }
}

/// Defines the operators of a field: sums are XORs, the product is the function given.
macro_rules! operators {
    ($field:ident, $mul:path) => {
        impl core::ops::Add for $field {
            type Output = Self;
            #[inline(always)]
            #[allow(clippy::suspicious_arithmetic_impl)]
            fn add(self, other: Self) -> Self {
                Self(self.0 ^ other.0)
            }
        }
        impl core::ops::Sub for $field {
            type Output = Self;
            #[inline(always)]
            #[allow(clippy::suspicious_arithmetic_impl)]
            fn sub(self, other: Self) -> Self {
                Self(self.0 ^ other.0)
            }
        }
        impl core::ops::AddAssign for $field {
            #[inline(always)]
            #[allow(clippy::suspicious_op_assign_impl)]
            fn add_assign(&mut self, other: Self) {
                self.0 ^= other.0;
            }
        }
        impl core::ops::Mul for $field {
            type Output = Self;
            #[inline]
            fn mul(self, other: Self) -> Self {
                $mul(self, other)
            }
        }
        impl core::ops::MulAssign for $field {
            #[inline]
            fn mul_assign(&mut self, other: Self) {
                *self = $mul(*self, other);
            }
        }
        impl core::iter::Sum for $field {
            fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
                terms.fold(Self::default(), |sum, term| sum + term)
            }
        }
        impl zeroize::DefaultIsZeroes for $field {}
        impl subtle::ConstantTimeEq for $field {
            fn ct_eq(&self, other: &Self) -> subtle::Choice {
                self.0.ct_eq(&other.0)
            }
        }
        impl subtle::ConditionallySelectable for $field {
            fn conditional_select(a: &Self, b: &Self, choice: subtle::Choice) -> Self {
                Self(subtle::ConditionallySelectable::conditional_select(&a.0, &b.0, choice))
            }
        }
    };
}
pub(crate) use operators;
