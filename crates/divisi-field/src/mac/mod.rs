//! Fields for MACs: large enough that MACs cannot be guessed, small enough that authenticated bits stay
//! cheap.
//!
//! | field | modulus | subfields, with a root | use |
//! |---|---|---|---|
//! | [`Gf40`] | y^40 + y^20 + y^15 + y^10 + 1 | GF(2^8), root y^5 + 1 | KOR+17 |
//! | [`Gf42`] | y^42 + y^7 + 1 | GF(2^6), root y^14 + y^7 + 1 | KOR+17's 3DES-Raw, with another modulus |
//! | [`Gf48`] | y^48 + y^5 + y^3 + y^2 + 1 | GF(2^8), GF(2^6) | the default |
//! | [`Gf72`] | y^72 + y^10 + y^9 + y^3 + 1 | GF(2^8), GF(2^6) | 64 bits of statistical security |
//!
//! Keller, Orsini, Rotaru, Scholl, Soria-Vazquez, Vivek, *Faster Secure Multi-Party Computation of AES and
//! DES Using Lookup Tables* (ACNS 2017) has the modulus y^42 + y^21 + 1, which is a product of two
//! polynomials; with it MACs could be forged with probability 2^-6. Every modulus here is tested for
//! irreducibility.
//!
//! Elements of at most 48 bits are 64-bit words, whose products are accumulated unreduced in 128 bits; all of
//! these fields use the same kernels.

use crate::field::operators;
use crate::kernel::{dispatch, vectorize};
use crate::{BigField, Field};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod columns;
mod gf6;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod pclmul;
mod portable;
#[cfg(test)]
mod reference;
mod subfield;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vpclmul;
mod wide;

pub use gf6::Gf6;
pub use subfield::Holds;
pub use wide::Gf72;

const MODULUS_40: u128 = 1 << 40 | 1 << 20 | 1 << 15 | 1 << 10 | 1;
const MODULUS_42: u128 = 1 << 42 | 1 << 7 | 1;
const MODULUS_48: u128 = 1 << 48 | 1 << 5 | 1 << 3 | 1 << 2 | 1;
const MODULUS_72: u128 = 1 << 72 | 1 << 10 | 1 << 9 | 1 << 3 | 1;

/// A field in which values are authenticated.
pub trait MacField: BigField {
    /// `out[i] = sum over k of c[k] * rows[k][i]`.
    ///
    /// # Panics
    /// If the number of rows is not that of coefficients, or if a row is shorter than `out`.
    fn combine(out: &mut [Self], c: &[Self], rows: &[&[Self]]);

    /// The sum of y^k times summand k, for 128 lanes at once, in columns: word c of a summand, and of `out`,
    /// has bit c of every lane.
    ///
    /// # Panics
    /// If a summand or `out` does not have [`Field::BITS`] columns, or if there are more than 72 summands.
    fn weigh_columns(out: &mut [u128], summands: &[&[u128]]);

    /// The elements of these words, [`MacField::WORDS`] words for each; they are uniform if the words are.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn from_words(out: &mut [Self], words: &[u64]);

    /// How many uniform words make an element.
    const WORDS: usize;
}

/// The constants that the kernels need of a field whose elements are words.
///
/// # Safety
/// The type is transparent over `u64`, and its lowest [`Field::BITS`] bits are the element.
unsafe trait Narrow: MacField {
    /// The exponents of the modulus below the highest one. None exceeds half of the field's bits, so that two
    /// folds reduce a product.
    const TAPS: &'static [u32];

    fn word(self) -> u64;

    /// The element of a reduced word.
    fn of(word: u64) -> Self;
}

/// Reduces a polynomial of degree below `2 BITS - 1` by two folds. The first one adds the part above the
/// field's degree to the lower part; the second one does so with the bits that again exceed the degree.
#[inline(always)]
fn reduce<F: Narrow>(wide: u128) -> F {
    let once = (wide as u64 & mask::<F>()) ^ fold::<F>((wide >> F::BITS) as u64);
    F::of((once & mask::<F>()) ^ fold::<F>(once >> F::BITS))
}

#[inline(always)]
fn fold<F: Narrow>(high: u64) -> u64 {
    F::TAPS.iter().fold(0, |sum, tap| sum ^ high << tap)
}

#[inline(always)]
fn mask<F: Narrow>() -> u64 {
    (1 << F::BITS) - 1
}

fn check_rows<F>(out: &[F], c: &[F], rows: &[&[F]]) {
    assert_eq!(c.len(), rows.len(), "a coefficient for each row");
    assert!(rows.iter().all(|row| row.len() >= out.len()), "a row is too short");
}

/// Defines a field whose elements are words.
macro_rules! narrow {
    ($(#[$doc:meta])* $name:ident, $bits:literal, $bytes:literal, $taps:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(u64);

        impl $name {
            /// The element with these coefficients; `None` if there are bits above the field's degree.
            pub const fn new(bits: u64) -> Option<Self> {
                if bits >> $bits == 0 { Some(Self(bits)) } else { None }
            }

            fn product(self, other: Self) -> Self {
                dispatch!(mul(self, other))
            }
        }

        operators!($name, $name::product);

        // SAFETY: the type is transparent over `u64`, and every constructor clears the bits above the
        // field's.
        unsafe impl Narrow for $name {
            const TAPS: &'static [u32] = &$taps;

            #[inline(always)]
            fn word(self) -> u64 {
                self.0
            }

            #[inline(always)]
            fn of(word: u64) -> Self {
                Self(word)
            }
        }

        impl Field for $name {
            const ZERO: Self = Self(0);
            const ONE: Self = Self(1);
            const BITS: usize = $bits;
            const BYTES: usize = $bytes;
            type Bytes = [u8; $bytes];

            #[inline(always)]
            fn from_low_bits(bits: u128) -> Self {
                Self(bits as u64 & mask::<Self>())
            }

            #[inline(always)]
            fn to_bits(self) -> u128 {
                self.0.into()
            }

            #[inline(always)]
            fn to_le_bytes(self) -> [u8; $bytes] {
                let all = self.0.to_le_bytes();
                let mut bytes = [0; $bytes];
                bytes.copy_from_slice(&all[..$bytes]);
                bytes
            }
        }

        impl BigField for $name {
            fn dot(x: &[Self], y: &[Self]) -> Self {
                assert_eq!(x.len(), y.len(), "factors of different lengths");
                dispatch!(dot(x, y))
            }

            fn mul_assign(x: &mut [Self], y: &[Self]) {
                assert_eq!(x.len(), y.len(), "factors of different lengths");
                dispatch!(mul_assign(x, y))
            }

            fn scale(x: &mut [Self], c: Self) {
                dispatch!(scale(x, c))
            }

            fn add_assign(x: &mut [Self], y: &[Self]) {
                assert_eq!(x.len(), y.len(), "summands of different lengths");
                vectorize(
                    #[inline(always)]
                    || x.iter_mut().zip(y).for_each(|(x, y)| x.0 ^= y.0),
                );
            }

            fn fold(x: &[Self], r: Self, out: &mut [Self]) {
                assert_eq!(x.len(), 2 * out.len(), "a fold halves the length");
                let (pairs, _) = x.as_chunks::<2>();
                for (out, [x0, x1]) in out.iter_mut().zip(pairs) {
                    *out = *x0 + r * (*x0 + *x1);
                }
            }
        }

        impl MacField for $name {
            const WORDS: usize = 1;

            fn combine(out: &mut [Self], c: &[Self], rows: &[&[Self]]) {
                check_rows(out, c, rows);
                dispatch!(combine(out, c, rows))
            }

            fn weigh_columns(out: &mut [u128], summands: &[&[u128]]) {
                assert_eq!(out.len(), $bits, "as many columns as bits");
                columns::weigh(Self::TAPS, out, summands);
            }

            fn from_words(out: &mut [Self], words: &[u64]) {
                assert_eq!(out.len(), words.len(), "a word for each element");
                vectorize(
                    #[inline(always)]
                    || out.iter_mut().zip(words).for_each(|(x, w)| x.0 = w & mask::<Self>()),
                );
            }
        }
    };
}

narrow! {
    /// An element of GF(2^40), bit i the coefficient of y^i.
    Gf40, 40, 5, [0, 10, 15, 20]
}

narrow! {
    /// An element of GF(2^42), bit i the coefficient of y^i.
    Gf42, 42, 6, [0, 7]
}

narrow! {
    /// An element of GF(2^48), bit i the coefficient of y^i.
    Gf48, 48, 6, [0, 2, 3, 5]
}
