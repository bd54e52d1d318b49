//! The permutation by AESE and AESMC; a register holds one block.

use core::arch::aarch64::*;

use crate::counter::neon::{BLOCKS, Counter, rounds};

/// The permutation of one key. Its round keys are those of a [`Counter`]; wiped when dropped.
pub struct Permutation(Counter);

impl Permutation {
    /// The permutation of this key, if the processor has the instructions and no other kernel is forced.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Option<Self> {
        Counter::new(key).map(Permutation)
    }

    /// Replaces each block, a little-endian number, by its encryption.
    pub fn permute(&self, blocks: &mut [u128]) {
        // SAFETY: a value of this type exists only if the processor has the instructions.
        unsafe { permute(&self.0.keys, blocks) }
    }

    /// Replaces each block x by pi(pi(x) + t) + pi(x), where pi is this permutation and t the tweak at the
    /// same place.
    ///
    /// # Panics
    /// Unless there is a tweak for each block.
    pub fn hash(&self, blocks: &mut [u128], tweaks: &[u128]) {
        assert_eq!(blocks.len(), tweaks.len(), "a tweak for each block");
        // SAFETY: a value of this type exists only if the processor has the instructions.
        unsafe { hash(&self.0.keys, blocks, tweaks) }
    }
}

impl Clone for Permutation {
    fn clone(&self) -> Self {
        Permutation(Counter { keys: self.0.keys })
    }
}

#[target_feature(enable = "neon,aes")]
fn permute(keys: &[uint8x16_t; 11], blocks: &mut [u128]) {
    let (turns, rest) = blocks.as_chunks_mut::<BLOCKS>();
    for turn in turns {
        together(keys, turn);
    }
    // a rest of at most half an iteration is processed with half as many registers
    let (half, rest) = rest.as_chunks_mut::<{ BLOCKS / 2 }>();
    for turn in half {
        together(keys, turn);
    }
    for block in rest {
        together(keys, core::array::from_mut(block));
    }
}

#[target_feature(enable = "neon,aes")]
fn hash(keys: &[uint8x16_t; 11], blocks: &mut [u128], tweaks: &[u128]) {
    let mut pi = [0; BLOCKS];
    for (blocks, tweaks) in blocks.chunks_mut(BLOCKS).zip(tweaks.chunks(BLOCKS)) {
        permute(keys, blocks);
        let pi = &mut pi[..blocks.len()];
        pi.copy_from_slice(blocks);
        blocks.iter_mut().zip(tweaks).for_each(|(block, tweak)| *block ^= tweak);
        permute(keys, blocks);
        blocks.iter_mut().zip(&*pi).for_each(|(block, pi)| *block ^= pi);
    }
    pi.fill(0);
    zeroize::optimization_barrier(&pi);
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn together<const N: usize>(keys: &[uint8x16_t; 11], blocks: &mut [u128; N]) {
    let mut x = [vdupq_n_u8(0); N];
    for (x, block) in x.iter_mut().zip(&*blocks) {
        // SAFETY: the reference covers sixteen bytes.
        *x = unsafe { vld1q_u8((&raw const *block).cast()) };
    }
    rounds(keys, &mut x);
    for (x, block) in x.into_iter().zip(blocks) {
        // SAFETY: the reference covers sixteen bytes.
        unsafe { vst1q_u8((&raw mut *block).cast(), x) };
    }
}
