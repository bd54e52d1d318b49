//! Counter mode by VAES on registers of four blocks, or of two without AVX-512.

mod weigh;

use core::arch::x86_64::*;

use crate::kernel::{self, Kernel};

/// Words that are made in one iteration: eight registers of four blocks, enough to hide the latency of a
/// round.
const TURN: usize = 64;
/// The same with registers of two blocks.
const NARROW_TURN: usize = 32;

/// How many blocks a register has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// With VAES and AVX2.
    Two,
    /// With VAES and AVX-512.
    Four,
}

/// The round keys of one key; wiped when dropped.
pub struct Counter {
    pub(crate) keys: [__m128i; 11],
    /// The width that this processor supports.
    pub(crate) width: Width,
}

impl Counter {
    /// The stream of this key, if the processor has the instructions and no other kernel is forced.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Option<Self> {
        let width = match kernel::active() {
            Kernel::Avx512 => Width::Four,
            Kernel::Avx2 => Width::Two,
            _ => return None,
        };
        let able = is_x86_feature_detected!("vaes") && is_x86_feature_detected!("aes");
        // SAFETY: AES-NI was found.
        able.then(|| Counter { keys: unsafe { expand(key) }, width })
    }

    /// Words of the stream, little-endian, from block `block` on; the last block may be used in part. Block b
    /// is the encryption of b as a little-endian number. The block's number is public.
    pub fn words(&self, block: u64, out: &mut [u64]) {
        match self.width {
            // SAFETY: a value of this width exists only if the processor has VAES and AVX-512.
            Width::Four => unsafe { words(&self.keys, block, out) },
            // SAFETY: a value of this width exists only if the processor has VAES and AVX2.
            Width::Two => unsafe { narrow_words(&self.keys, block, out) },
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
            // SAFETY: the mask names only the words of the slice; their number is public.
            unsafe { _mm512_mask_storeu_epi64(eight.as_mut_ptr().cast(), mask, *x) };
        }
    }
}

#[target_feature(enable = "avx2,vaes")]
fn narrow_words(keys: &[__m128i; 11], block: u64, out: &mut [u64]) {
    let keys = narrow_broadcast(keys);
    let mut block = block;
    let (turns, rest) = out.as_chunks_mut::<NARROW_TURN>();
    for turn in turns {
        let stream = narrow_blocks(&keys, block);
        for (x, four) in stream.iter().zip(turn.as_chunks_mut::<4>().0) {
            // SAFETY: four words are written.
            unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), *x) };
        }
        block += NARROW_TURN as u64 / 2;
    }
    if !rest.is_empty() {
        let stream = narrow_blocks(&keys, block);
        for (x, four) in stream.iter().zip(rest.chunks_mut(4)) {
            // SAFETY: the mask names only the words of the slice; their number is public.
            unsafe { _mm256_maskstore_epi64(four.as_mut_ptr().cast(), narrow_mask(four.len()), *x) };
        }
    }
}

/// A mask of the first `words` words (at most four).
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn narrow_mask(words: usize) -> __m256i {
    _mm256_cmpgt_epi64(_mm256_set1_epi64x(words as i64), _mm256_set_epi64x(3, 2, 1, 0))
}

/// Copies each round key into both halves of a register.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn narrow_broadcast(keys: &[__m128i; 11]) -> [__m256i; 11] {
    let mut wide = [_mm256_setzero_si256(); 11];
    for (wide, key) in wide.iter_mut().zip(keys) {
        *wide = _mm256_broadcastsi128_si256(*key);
    }
    wide
}

/// The encryptions of the sixteen counter blocks from number `block` on.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn narrow_blocks(keys: &[__m256i; 11], block: u64) -> [__m256i; 8] {
    let mut x = narrow_counters(block);
    narrow_rounds(keys, &mut x);
    x
}

/// The sixteen counter blocks from this number on.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_counters(block: u64) -> [__m256i; 8] {
    let block = block.cast_signed();
    let mut x = [_mm256_setzero_si256(); 8];
    let mut at = _mm256_set_epi64x(0, block + 1, 0, block);
    let two = _mm256_set_epi64x(0, 2, 0, 2);
    for x in &mut x {
        *x = at;
        at = _mm256_add_epi64(at, two);
    }
    x
}

/// All AES rounds on registers of two blocks.
#[inline]
#[target_feature(enable = "avx2,vaes")]
pub(crate) fn narrow_rounds<const REGISTERS: usize>(keys: &[__m256i; 11], x: &mut [__m256i; REGISTERS]) {
    for x in &mut *x {
        *x = _mm256_xor_si256(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut *x {
            *x = _mm256_aesenc_epi128(*x, *key);
        }
    }
    for x in x {
        *x = _mm256_aesenclast_epi128(*x, keys[10]);
    }
}

/// Copies each round key into all four quarters of a register. It is a loop because `map` would call a
/// function that lacks the target's features.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(crate) fn broadcast(keys: &[__m128i; 11]) -> [__m512i; 11] {
    let mut wide = [_mm512_setzero_si512(); 11];
    for (wide, key) in wide.iter_mut().zip(keys) {
        *wide = _mm512_broadcast_i32x4(*key);
    }
    wide
}

/// The encryptions of the 32 counter blocks from number `block` on.
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
