//! AES-128 under one key as a permutation of many blocks with VAES, four blocks a register, or two where
//! there is no AVX-512: what correlation-robust hashes and trees of seeds are made of.
//!
//! A processor without VAES gets none: callers have another way to the same permutation.

use core::arch::x86_64::*;

use crate::counter::{Counter, Wide, broadcast};
use crate::pairs;

/// Blocks that go through the rounds together: eight registers of four, enough to hide the latency of a
/// round.
const TURN: usize = 32;

/// The permutation of one key, whose round keys are those of a [`Counter`]; wiped when dropped.
pub struct Permutation(Counter);

impl Permutation {
    /// The permutation of this key, if the processor has the instructions and no other kernel is forced.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Option<Self> {
        Counter::new(key).map(Permutation)
    }

    /// Replace each block, a little-endian number, by its encryption.
    pub fn permute(&self, blocks: &mut [u128]) {
        match self.0.wide {
            // SAFETY: a counter that is so wide is made only where VAES and AVX-512 were found.
            Wide::Four => unsafe { permute(&self.0.keys, blocks) },
            // SAFETY: likewise VAES and AVX2.
            Wide::Two => unsafe { pairs::permute(&self.0.keys, blocks) },
        }
    }
}

impl Clone for Permutation {
    fn clone(&self) -> Self {
        Permutation(Counter { keys: self.0.keys, wide: self.0.wide })
    }
}

#[target_feature(enable = "avx512f,vaes")]
fn permute(keys: &[__m128i; 11], blocks: &mut [u128]) {
    let keys = broadcast(keys);
    let (turns, rest) = blocks.as_chunks_mut::<TURN>();
    for turn in turns {
        let mut x = [_mm512_setzero_si512(); 8];
        for (x, four) in x.iter_mut().zip(turn.as_chunks::<4>().0) {
            // SAFETY: four blocks are read.
            *x = unsafe { _mm512_loadu_si512(four.as_ptr().cast()) };
        }
        rounds(&keys, &mut x);
        for (x, four) in x.iter().zip(turn.as_chunks_mut::<4>().0) {
            // SAFETY: four blocks are written.
            unsafe { _mm512_storeu_si512(four.as_mut_ptr().cast(), *x) };
        }
    }
    // a rest that fits into half a turn does not wait for the other half
    match rest.len() {
        0 => {}
        1..=16 => few::<4>(&keys, rest),
        _ => few::<8>(&keys, rest),
    }
}

/// Fewer blocks than a turn has, in so many registers, which hold them.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn few<const REGISTERS: usize>(keys: &[__m512i; 11], blocks: &mut [u128]) {
    let mut x = [_mm512_setzero_si512(); REGISTERS];
    for (x, some) in x.iter_mut().zip(blocks.chunks(4)) {
        // SAFETY: as many words are read as there are; their number is public.
        *x = unsafe { _mm512_maskz_loadu_epi64(words(some.len()), some.as_ptr().cast()) };
    }
    rounds(keys, &mut x);
    for (x, some) in x.iter().zip(blocks.chunks_mut(4)) {
        // SAFETY: as many words are written as there are.
        unsafe { _mm512_mask_storeu_epi64(some.as_mut_ptr().cast(), words(some.len()), *x) };
    }
}

/// The mask of the words of this many blocks, at most four.
#[inline]
fn words(blocks: usize) -> __mmask8 {
    0xff >> (8 - 2 * blocks)
}

/// All rounds of the blocks in some registers.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn rounds<const REGISTERS: usize>(keys: &[__m512i; 11], x: &mut [__m512i; REGISTERS]) {
    for x in &mut *x {
        *x = _mm512_xor_si512(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut *x {
            *x = _mm512_aesenc_epi128(*x, *key);
        }
    }
    for x in x {
        *x = _mm512_aesenclast_epi128(*x, keys[10]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::Aes128;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    #[test]
    fn the_permutation_is_that_of_the_aes_crate() {
        for kernel in crate::kernel::available() {
            assert!(crate::kernel::with(kernel, permutations).is_ok());
        }
    }

    fn permutations() {
        let key = core::array::from_fn(|i| (i * 41 + 3) as u8);
        let Some(permutation) = Permutation::new(&key) else { return };
        let permutation = permutation.clone();
        let cipher = Aes128::new(&key.into());
        let x: Vec<u128> =
            (1..=200_u128).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).collect();
        for n in (0..=70).chain([127, 128, 129, 200]) {
            let mut out = x.clone();
            permutation.permute(&mut out[..n]);
            for (i, (x, out)) in x.iter().zip(&out).enumerate() {
                let mut block = x.to_le_bytes().into();
                cipher.encrypt_block(&mut block);
                let want = if i < n { u128::from_le_bytes(block.into()) } else { *x };
                assert_eq!(*out, want, "{n} {i}");
            }
        }
    }
}
