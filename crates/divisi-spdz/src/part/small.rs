//! Bits, indices of DES and bytes: their packed encodings for openings.

use super::{Embeds, Shareable, Small, add_uniform};
use divisi_core::Prg;
use divisi_field::{Field, Gf2, Gf6, Gf8, MacField};
use zeroize::Zeroize;

impl<F: MacField> Embeds<Gf2> for F {
    #[inline(always)]
    fn embedded(value: Gf2) -> F {
        F::from_low_bits(value.to_bits())
    }
}

impl Shareable for Gf2 {
    const BITS: usize = 1;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        let byte = |bits: &[Gf2]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit.to_bits() as u8);
        out.extend(values.chunks(8).map(byte));
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let mut padding = 0;
        for (bits, byte) in sum.chunks_mut(8).zip(bytes) {
            bits.iter_mut().enumerate().for_each(|(i, bit)| *bit += Gf2::new(byte >> i));
            padding |= byte.checked_shr(bits.len() as u32).unwrap_or(0);
        }
        padding == 0 && bytes.len() == Self::packed(sum.len())
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        let mut byte = [0];
        for bits in sum.chunks_mut(8) {
            prg.fill(&mut byte);
            bits.iter_mut().enumerate().for_each(|(i, bit)| *bit += Gf2::new(byte[0] >> i));
        }
        byte.zeroize();
    }
}

impl Shareable for Gf6 {
    const BITS: usize = 6;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        for values in values.chunks(8) {
            let bits = values.iter().rev().fold(0, |bits, x| bits << 6 | x.to_bits() as u64);
            out.extend_from_slice(&bits.to_le_bytes()[..Self::packed(values.len())]);
        }
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        let mut told = vec![Small::<6>::default(); sum.len()];
        let fine = Small::<6>::add_packed(bytes, &mut told);
        sum.iter_mut().zip(&told).for_each(|(x, bits)| *x += Gf6::new(bits.bits()));
        told.zeroize();
        fine
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        add_uniform(prg, sum, |[byte]: [u8; 1]| Gf6::new(byte));
    }
}

impl Shareable for Gf8 {
    const BITS: usize = 8;

    fn pack(values: &[Self], out: &mut Vec<u8>) {
        out.extend(values.iter().map(|x| x.0));
    }

    fn add_packed(bytes: &[u8], sum: &mut [Self]) -> bool {
        sum.iter_mut().zip(bytes).for_each(|(x, byte)| x.0 ^= byte);
        bytes.len() == sum.len()
    }

    fn add_random(prg: &mut Prg, sum: &mut [Self]) {
        let mut bytes = [0; 256];
        for sum in sum.chunks_mut(256) {
            let bytes = &mut bytes[..sum.len()];
            prg.fill(bytes);
            sum.iter_mut().zip(bytes).for_each(|(x, byte)| x.0 ^= *byte);
        }
        bytes.zeroize();
    }
}
