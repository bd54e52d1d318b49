//! AES-128 in counter mode with VAES, four blocks a register, or two where there is no AVX-512: the stream
//! behind every correlated random value.
//!
//! A processor without VAES gets none: callers have another way to the same stream.

use core::arch::x86_64::*;

use crate::kernel::{self, Kernel};
use crate::pairs;

/// Words made in one turn: eight registers of four blocks, enough to hide the latency of a round.
const TURN: usize = 64;

/// How many blocks a register holds.
#[derive(Clone, Copy)]
pub(crate) enum Wide {
    /// With AVX-512.
    Four,
    /// With AVX2.
    Two,
}

/// The round keys of one key; wiped when dropped.
pub struct Counter {
    pub(crate) keys: [__m128i; 11],
    pub(crate) wide: Wide,
}

impl Counter {
    /// The stream of this key, if the processor has the instructions and no other kernel is forced.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Option<Self> {
        let wide = match kernel::active() {
            Kernel::Avx512 => Wide::Four,
            Kernel::Avx2 => Wide::Two,
            Kernel::Portable => return None,
        };
        let able = is_x86_feature_detected!("vaes") && is_x86_feature_detected!("aes");
        // SAFETY: AES-NI was found.
        able.then(|| Counter { keys: unsafe { expand(key) }, wide })
    }

    /// Words of the stream, little-endian, from this block on; the last block may be cut short. Block b is
    /// the encryption of b as a little-endian number. The position is public.
    pub fn words(&self, block: u64, out: &mut [u64]) {
        match self.wide {
            // SAFETY: a value of this type that is so wide is made only where VAES and AVX-512 were found.
            Wide::Four => unsafe { words(&self.keys, block, out) },
            // SAFETY: likewise VAES and AVX2.
            Wide::Two => unsafe { pairs::words(&self.keys, block, out) },
        }
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

#[target_feature(enable = "aes")]
fn expand(key: &[u8; 16]) -> [__m128i; 11] {
    // SAFETY: sixteen bytes are read.
    let mut k = unsafe { _mm_loadu_si128(key.as_ptr().cast()) };
    let mut keys = [k; 11];
    macro_rules! rounds {
        ($($i:literal: $constant:literal),*) => {
            $(
                let assist = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(k, $constant), 0xff);
                k = _mm_xor_si128(k, _mm_slli_si128(k, 4));
                k = _mm_xor_si128(k, _mm_slli_si128(k, 8));
                k = _mm_xor_si128(k, assist);
                keys[$i] = k;
            )*
        };
    }
    rounds!(1: 0x01, 2: 0x02, 3: 0x04, 4: 0x08, 5: 0x10, 6: 0x20, 7: 0x40, 8: 0x80, 9: 0x1b, 10: 0x36);
    keys
}

#[target_feature(enable = "avx512f,vaes")]
fn words(keys: &[__m128i; 11], block: u64, out: &mut [u64]) {
    let keys = broadcast(keys);
    let mut block = block;
    let (turns, rest) = out.as_chunks_mut::<TURN>();
    for turn in turns {
        let stream = blocks(&keys, block);
        for (x, eight) in stream.iter().zip(turn.as_chunks_mut::<8>().0) {
            // SAFETY: eight words are written.
            unsafe { _mm512_storeu_si512(eight.as_mut_ptr().cast(), *x) };
        }
        block += TURN as u64 / 2;
    }
    if !rest.is_empty() {
        let stream = blocks(&keys, block);
        for (x, eight) in stream.iter().zip(rest.chunks_mut(8)) {
            let mask = if eight.len() == 8 { 0xff } else { (1 << eight.len()) - 1 };
            // SAFETY: as many words are written as there are; their number is public.
            unsafe { _mm512_mask_storeu_epi64(eight.as_mut_ptr().cast(), mask, *x) };
        }
    }
}

/// Each round key in all four places of a register. A loop, for `map` would be a call without the target's
/// features.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(crate) fn broadcast(keys: &[__m128i; 11]) -> [__m512i; 11] {
    let mut wide = [_mm512_setzero_si512(); 11];
    for (wide, key) in wide.iter_mut().zip(keys) {
        *wide = _mm512_broadcast_i32x4(*key);
    }
    wide
}

/// Thirty-two blocks.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn blocks(keys: &[__m512i; 11], block: u64) -> [__m512i; 8] {
    let block = block.cast_signed();
    let mut x = [_mm512_setzero_si512(); 8];
    let mut at = _mm512_set_epi64(0, block + 3, 0, block + 2, 0, block + 1, 0, block);
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    for x in &mut x {
        *x = _mm512_xor_si512(at, keys[0]);
        at = _mm512_add_epi64(at, four);
    }
    for key in &keys[1..10] {
        for x in &mut x {
            *x = _mm512_aesenc_epi128(*x, *key);
        }
    }
    for x in &mut x {
        *x = _mm512_aesenclast_epi128(*x, keys[10]);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::Aes128;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    #[test]
    fn the_stream_is_that_of_the_aes_crate() {
        for kernel in kernel::available() {
            assert!(kernel::with(kernel, streams).is_ok());
        }
    }

    fn streams() {
        let key = core::array::from_fn(|i| (i * 37 + 5) as u8);
        let Some(counter) = Counter::new(&key) else { return };
        let cipher = Aes128::new(&key.into());
        for (start, n) in
            [(0, 1), (0, 2), (7, 63), (1 << 40, 64), (3, 65), (0xffff_fffe, 129), (9, 1000), (5, 0)]
        {
            let mut out = vec![0; n];
            counter.words(start, &mut out);
            for (w, word) in out.iter().enumerate() {
                let mut block = u128::from(start + w as u64 / 2).to_le_bytes().into();
                cipher.encrypt_block(&mut block);
                let halves = block.as_chunks::<8>().0;
                assert_eq!(*word, u64::from_le_bytes(halves[w % 2]), "{start} {n} {w}");
            }
        }
    }
}
