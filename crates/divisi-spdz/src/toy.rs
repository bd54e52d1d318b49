//! A field of 256 elements, so small that MACs over it can be forged: tests count how often a check is passed
//! (feature `testing`; never part of a build that holds real secrets).

use crate::part::{Embeds, Mac, Shareable};
use divisi_core::Prg;
use divisi_field::{BigField, Field, Gf8, MacField};
use std::ops::{Add, AddAssign, Mul, Sub};
use subtle::{Choice, ConstantTimeEq};

/// An element, represented by one of [`Gf8`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Toy(u8);

impl zeroize::DefaultIsZeroes for Toy {}

impl Add for Toy {
    type Output = Self;
    #[allow(clippy::suspicious_arithmetic_impl)]
    fn add(self, other: Self) -> Self {
        Toy(self.0 ^ other.0)
    }
}

impl Sub for Toy {
    type Output = Self;
    #[allow(clippy::suspicious_arithmetic_impl)]
    fn sub(self, other: Self) -> Self {
        Toy(self.0 ^ other.0)
    }
}

impl AddAssign for Toy {
    #[allow(clippy::suspicious_op_assign_impl)]
    fn add_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl Mul for Toy {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Toy((Gf8(self.0) * Gf8(other.0)).0)
    }
}

impl ConstantTimeEq for Toy {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl Field for Toy {
    const ZERO: Self = Toy(0);
    const ONE: Self = Toy(1);
    const BITS: usize = 8;
    const BYTES: usize = 1;
    type Bytes = [u8; 1];

    fn from_low_bits(bits: u128) -> Self {
        Toy(bits as u8)
    }

    fn to_bits(self) -> u128 {
        self.0.into()
    }

    fn to_le_bytes(self) -> [u8; 1] {
        [self.0]
    }
}

impl BigField for Toy {
    fn dot(x: &[Self], y: &[Self]) -> Self {
        x.iter().zip(y).fold(Toy(0), |sum, (x, y)| sum + *x * *y)
    }

    fn mul_assign(x: &mut [Self], y: &[Self]) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x = *x * *y);
    }

    fn scale(x: &mut [Self], c: Self) {
        x.iter_mut().for_each(|x| *x = *x * c);
    }

    fn add_assign(x: &mut [Self], y: &[Self]) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x += *y);
    }

    fn fold(x: &[Self], r: Self, out: &mut [Self]) {
        for (out, pair) in out.iter_mut().zip(x.chunks_exact(2)) {
            *out = pair[0] + r * (pair[0] + pair[1]);
        }
    }
}

impl MacField for Toy {
    const WORDS: usize = 1;

    fn combine(out: &mut [Self], c: &[Self], rows: &[&[Self]]) {
        out.fill(Toy(0));
        for (c, row) in c.iter().zip(rows) {
            out.iter_mut().zip(*row).for_each(|(out, x)| *out += *c * *x);
        }
    }

    fn weigh_columns(out: &mut [u128], summands: &[&[u128]]) {
        out.fill(0);
        for lane in 0..128 {
            let of = |columns: &[u128]| {
                let bits = columns.iter().enumerate();
                Toy(bits.fold(0, |x, (c, word)| x | ((word >> lane & 1) as u8) << c))
            };
            let sum = summands.iter().rev().fold(Toy(0), |sum, columns| sum * Toy(2) + of(columns));
            let words = out.iter_mut().enumerate();
            words.for_each(|(c, word)| *word |= u128::from(sum.0 >> c & 1) << lane);
        }
    }

    fn from_words(out: &mut [Self], words: &[u64]) {
        out.iter_mut().zip(words).for_each(|(x, word)| x.0 = *word as u8);
    }
}

impl Embeds<Toy> for Toy {
    fn embedded(value: Toy) -> Toy {
        value
    }
}

impl Shareable for Toy {
    const BITS: usize = 8;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().map(|x| x.0));
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        sum.iter_mut().zip(bytes).for_each(|(x, byte)| x.0 ^= byte);
        bytes.len() == sum.len()
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        let mut byte = [0];
        for x in sum {
            prg.fill(&mut byte);
            x.0 ^= byte[0];
        }
    }
}

impl Mac for Toy {
    type Entry = u64;

    fn entry(x: Gf8, m: Self) -> u64 {
        u64::from(x.0) | u64::from(m.0) << 8
    }

    fn parts(entry: u64) -> (Gf8, Self) {
        (Gf8(entry as u8), Toy((entry >> 8) as u8))
    }
}
