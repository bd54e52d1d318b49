//! Bits as coefficients of 1, y, y^2, ..: those of a piece of a vector, or of an index or a value of a table.

use super::{Embeds, Shareable, add_uniform};
use divisi_core::Prg;
use divisi_field::MacField;
use std::fmt;
use std::ops::{Add, AddAssign};

/// A piece of 32 bits: the coefficients of 1, y, .., y^31.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Word32(pub u32);

/// Prints no bits, which may be a share.
impl fmt::Debug for Word32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Word(32 bits)")
    }
}

impl Add for Word32 {
    type Output = Self;
    #[allow(clippy::suspicious_arithmetic_impl)]
    fn add(self, other: Self) -> Self {
        Word32(self.0 ^ other.0)
    }
}

impl AddAssign for Word32 {
    #[allow(clippy::suspicious_op_assign_impl)]
    fn add_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl zeroize::DefaultIsZeroes for Word32 {}

/// N bits, at most eight: an index or a value of a table, as the coefficients of 1, y, y^2, ...
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Small<const N: usize>(u8);

/// Prints no bits, which may be a share.
impl<const N: usize> fmt::Debug for Small<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Small({N} bits)")
    }
}

impl<const N: usize> Small<N> {
    const ALL: u8 = ((1_u32 << N) - 1) as u8;

    /// The N low bits of `bits`.
    #[must_use]
    pub fn new(bits: u8) -> Self {
        Small(bits & Self::ALL)
    }

    /// The bits.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }
}

impl<const N: usize> Add for Small<N> {
    type Output = Self;
    #[allow(clippy::suspicious_arithmetic_impl)]
    fn add(self, other: Self) -> Self {
        Small(self.0 ^ other.0)
    }
}

impl<const N: usize> AddAssign for Small<N> {
    #[allow(clippy::suspicious_op_assign_impl)]
    fn add_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl<const N: usize> zeroize::DefaultIsZeroes for Small<N> {}

impl<F: MacField, const N: usize> Embeds<Small<N>> for F {
    #[inline(always)]
    fn embedded(value: Small<N>) -> F {
        F::from_low_bits(value.0.into())
    }
}

/// Eight values take N bytes.
impl<const N: usize> Shareable for Small<N> {
    const BITS: usize = N;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        for values in values.chunks(8) {
            let bits = values.iter().rev().fold(0, |bits, x| bits << N | u64::from(x.0));
            out.extend_from_slice(&bits.to_le_bytes()[..Self::packed(values.len())]);
        }
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let mut padding = 0;
        for (values, bytes) in sum.chunks_mut(8).zip(bytes.chunks(N)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let mut bits = u64::from_le_bytes(word);
            for x in values {
                x.0 ^= bits as u8 & Self::ALL;
                bits = bits.checked_shr(N as u32).unwrap_or(0);
            }
            padding |= bits;
        }
        padding == 0 && bytes.len() == Self::packed(sum.len())
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        add_uniform(prg, sum, |[byte]: [u8; 1]| Small::new(byte));
    }
}

impl<F: MacField> Embeds<Word32> for F {
    #[inline(always)]
    fn embedded(value: Word32) -> F {
        F::from_low_bits(value.0.into())
    }
}

impl Shareable for Word32 {
    const BITS: usize = 32;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().flat_map(|x| x.0.to_le_bytes()));
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let (words, rest) = bytes.as_chunks::<4>();
        sum.iter_mut().zip(words).for_each(|(x, word)| x.0 ^= u32::from_le_bytes(*word));
        rest.is_empty() && words.len() == sum.len()
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        add_uniform(prg, sum, |bytes| Word32(u32::from_le_bytes(bytes)));
    }
}
