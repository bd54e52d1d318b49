//! Counter mode by AESE and AESMC; a register holds one block.

use core::arch::aarch64::*;

use crate::kernel::{self, Kernel};

/// The number of blocks encrypted together: enough to hide the latency of a round, and few enough that blocks
/// and round keys fit into the registers.
pub(crate) const BLOCKS: usize = 8;
/// The number of words made in one iteration.
const TURN: usize = 2 * BLOCKS;

/// The round keys of one key; wiped when dropped.
pub struct Counter {
    pub(crate) keys: [uint8x16_t; 11],
}

impl Counter {
    /// The stream of this key, if the processor has the instructions and no other kernel is forced.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Option<Self> {
        // SAFETY: a kernel becomes active only after its features were seen on this processor.
        (kernel::active() == Kernel::Neon).then(|| Counter { keys: unsafe { expand(key) } })
    }

    /// Words of the stream, little-endian, from block `block` on; the last block may be used in part. Block b
    /// is the encryption of b as a little-endian number. The block's number is public.
    pub fn words(&self, block: u64, out: &mut [u64]) {
        // SAFETY: a value of this type exists only if the processor has the instructions.
        unsafe { words(&self.keys, block, out) }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        let words = self.keys.as_mut_ptr().cast::<u64>();
        for w in 0..22 {
            // SAFETY: eleven round keys of two words each, which this value owns; the write is volatile so
            // that it stays.
            unsafe { words.add(w).write_volatile(0) };
        }
    }
}

/// The key schedule of FIPS 197, section 5.2.
#[target_feature(enable = "neon,aes")]
fn expand(key: &[u8; 16]) -> [uint8x16_t; 11] {
    // SAFETY: sixteen bytes are read.
    let mut k = unsafe { vld1q_u8(key.as_ptr()) };
    let mut keys = [k; 11];
    let zero = vdupq_n_u8(0);
    let constants = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];
    for (key, constant) in keys[1..].iter_mut().zip(constants) {
        // all four columns are equal, so ShiftRows changes nothing, and AESE is only SubBytes
        let last = vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(k));
        let substituted = vreinterpretq_u32_u8(vaeseq_u8(vreinterpretq_u8_u32(last), zero));
        let turned = vorrq_u32(vshrq_n_u32::<8>(substituted), vshlq_n_u32::<24>(substituted));
        let first = veorq_u32(turned, vdupq_n_u32(constant));
        k = veorq_u8(k, vextq_u8::<12>(zero, k));
        k = veorq_u8(k, vextq_u8::<8>(zero, k));
        k = veorq_u8(k, vreinterpretq_u8_u32(first));
        *key = k;
    }
    keys
}

#[target_feature(enable = "neon,aes")]
fn words(keys: &[uint8x16_t; 11], block: u64, out: &mut [u64]) {
    let mut block = block;
    let (turns, rest) = out.as_chunks_mut::<TURN>();
    for turn in turns {
        let x = blocks::<BLOCKS>(keys, block);
        for (x, pair) in x.into_iter().zip(turn.as_chunks_mut::<2>().0) {
            // SAFETY: two words are written.
            unsafe { vst1q_u64(pair.as_mut_ptr(), vreinterpretq_u64_u8(x)) };
        }
        block += BLOCKS as u64;
    }
    // the rest, whose length is public, block by block
    let (pairs, last) = rest.as_chunks_mut::<2>();
    for pair in pairs {
        let [x] = blocks::<1>(keys, block);
        // SAFETY: two words are written.
        unsafe { vst1q_u64(pair.as_mut_ptr(), vreinterpretq_u64_u8(x)) };
        block += 1;
    }
    if let [last] = last {
        let [x] = blocks::<1>(keys, block);
        *last = vgetq_lane_u64::<0>(vreinterpretq_u64_u8(x));
    }
}

/// N blocks of the stream, from number `block` on.
#[inline]
#[target_feature(enable = "neon,aes")]
fn blocks<const N: usize>(keys: &[uint8x16_t; 11], block: u64) -> [uint8x16_t; N] {
    let mut x = [vdupq_n_u8(0); N];
    let mut at = vsetq_lane_u64::<0>(block, vdupq_n_u64(0));
    let one = vsetq_lane_u64::<0>(1, vdupq_n_u64(0));
    for x in &mut x {
        *x = vreinterpretq_u8_u64(at);
        at = vaddq_u64(at, one);
    }
    rounds(keys, &mut x);
    x
}

/// All AES rounds on some blocks. AESE adds a round key first, so the last key is added separately.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(crate) fn rounds<const N: usize>(keys: &[uint8x16_t; 11], x: &mut [uint8x16_t; N]) {
    for key in &keys[..9] {
        for x in &mut *x {
            *x = vaesmcq_u8(vaeseq_u8(*x, *key));
        }
    }
    for x in x {
        *x = veorq_u8(vaeseq_u8(*x, keys[9]), keys[10]);
    }
}
