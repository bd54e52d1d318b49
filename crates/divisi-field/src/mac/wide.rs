//! GF(2^72) = F2\[y\]/(y^72 + y^10 + y^9 + y^3 + 1), two words for an element.
//!
//! Products are made as in GF(2^128), unreduced, and then reduced by this modulus.

use super::{MacField, check_rows, columns};
use crate::field::operators;
use crate::kernel::{dispatch, vectorize};
use crate::{BigField, Field};

const LOW: u128 = (1 << 72) - 1;

/// An element of GF(2^72), bit i the coefficient of y^i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf72(u128);

impl Gf72 {
    /// The element with these coefficients; `None` if there are bits above the field's degree.
    pub const fn new(bits: u128) -> Option<Self> {
        if bits >> 72 == 0 { Some(Self(bits)) } else { None }
    }

    fn product(self, other: Self) -> Self {
        dispatch!(mul(self, other))
    }
}

operators!(Gf72, Gf72::product);

impl Field for Gf72 {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const BITS: usize = 72;
    const BYTES: usize = 9;
    type Bytes = [u8; 9];

    #[inline(always)]
    fn from_low_bits(bits: u128) -> Self {
        Self(bits & LOW)
    }

    #[inline(always)]
    fn to_bits(self) -> u128 {
        self.0
    }

    #[inline(always)]
    fn to_le_bytes(self) -> [u8; 9] {
        let all = self.0.to_le_bytes();
        let mut bytes = [0; 9];
        bytes.copy_from_slice(&all[..9]);
        bytes
    }
}

impl BigField for Gf72 {
    fn dot(x: &[Self], y: &[Self]) -> Self {
        assert_eq!(x.len(), y.len(), "factors of different lengths");
        dispatch!(dot(x, y))
    }

    fn mul_assign(x: &mut [Self], y: &[Self]) {
        assert_eq!(x.len(), y.len(), "factors of different lengths");
        x.iter_mut().zip(y).for_each(|(x, y)| *x *= *y);
    }

    fn scale(x: &mut [Self], c: Self) {
        x.iter_mut().for_each(|x| *x *= c);
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

impl MacField for Gf72 {
    const WORDS: usize = 2;

    fn combine(out: &mut [Self], c: &[Self], rows: &[&[Self]]) {
        check_rows(out, c, rows);
        dispatch!(combine(out, c, rows))
    }

    fn weigh_columns(out: &mut [u128], summands: &[&[u128]]) {
        assert_eq!(out.len(), 72, "as many columns as bits");
        columns::weigh(&[0, 3, 9, 10], out, summands);
    }

    fn from_words(out: &mut [Self], words: &[u64]) {
        assert_eq!(2 * out.len(), words.len(), "two words for each element");
        let (pairs, _) = words.as_chunks::<2>();
        for (x, [low, high]) in out.iter_mut().zip(pairs) {
            *x = Self::from_low_bits(u128::from(*high) << 64 | u128::from(*low));
        }
    }
}

/// Reduces a polynomial of degree below 143, given by its low and high halves.
#[inline(always)]
fn reduce((low, high): (u128, u128)) -> Gf72 {
    let fold = |x: u128| x ^ x << 3 ^ x << 9 ^ x << 10;
    let once = (low & LOW) ^ fold(low >> 72 | high << 56);
    Gf72((once & LOW) ^ fold(once >> 72))
}

mod portable {
    //! Portable code.

    use super::{Gf72, reduce};
    use crate::carryless::wide_product;

    pub(super) fn mul(x: Gf72, y: Gf72) -> Gf72 {
        reduce(wide_product(x.0, y.0))
    }

    pub(super) fn dot(x: &[Gf72], y: &[Gf72]) -> Gf72 {
        reduce(x.iter().zip(y).map(|(x, y)| wide_product(x.0, y.0)).fold((0, 0), add))
    }

    pub(super) fn combine(out: &mut [Gf72], c: &[Gf72], rows: &[&[Gf72]]) {
        for (i, out) in out.iter_mut().enumerate() {
            let terms = c.iter().zip(rows).map(|(c, row)| wide_product(c.0, row[i].0));
            *out = reduce(terms.fold((0, 0), add));
        }
    }

    fn add(x: (u128, u128), y: (u128, u128)) -> (u128, u128) {
        (x.0 ^ y.0, x.1 ^ y.1)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! PCLMULQDQ on one element at a time, as in GF(2^128).

    use super::{Gf72, reduce};
    use crate::gf128::avx2::{Sum, register};

    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(super) fn mul(x: Gf72, y: Gf72) -> Gf72 {
        let mut sum = Sum::new();
        sum.add_product(register(x.0), register(y.0));
        reduce(sum.halves())
    }

    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(super) fn dot(x: &[Gf72], y: &[Gf72]) -> Gf72 {
        let mut sum = Sum::new();
        for (x, y) in x.iter().zip(y) {
            sum.add_product(register(x.0), register(y.0));
        }
        reduce(sum.halves())
    }

    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(super) fn combine(out: &mut [Gf72], c: &[Gf72], rows: &[&[Gf72]]) {
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = Sum::new();
            for (c, row) in c.iter().zip(rows) {
                sum.add_product(register(c.0), register(row[i].0));
            }
            *out = reduce(sum.halves());
        }
    }
}

/// Longer registers have no advantage here, because an element has two words.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    pub(super) use super::avx2::{combine, dot, mul};
}

#[cfg(target_arch = "aarch64")]
mod neon {
    //! PMULL on one element at a time, as in GF(2^128).

    use super::{Gf72, reduce};
    use crate::gf128::neon::{Sum, register};

    #[target_feature(enable = "neon,aes")]
    pub(super) fn mul(x: Gf72, y: Gf72) -> Gf72 {
        let mut sum = Sum::new();
        sum.add_product(register(x.0), register(y.0));
        reduce(sum.halves())
    }

    #[target_feature(enable = "neon,aes")]
    pub(super) fn dot(x: &[Gf72], y: &[Gf72]) -> Gf72 {
        let mut sum = Sum::new();
        for (x, y) in x.iter().zip(y) {
            sum.add_product(register(x.0), register(y.0));
        }
        reduce(sum.halves())
    }

    #[target_feature(enable = "neon,aes")]
    pub(super) fn combine(out: &mut [Gf72], c: &[Gf72], rows: &[&[Gf72]]) {
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = Sum::new();
            for (c, row) in c.iter().zip(rows) {
                sum.add_product(register(c.0), register(row[i].0));
            }
            *out = reduce(sum.halves());
        }
    }
}
