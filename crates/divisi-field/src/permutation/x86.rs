//! The permutation by VAES on registers of four blocks, or of two without AVX-512.

use core::arch::x86_64::*;

use crate::counter::x86::{Counter, Width, broadcast, narrow_broadcast, narrow_mask, narrow_rounds};

/// Blocks that are processed together: eight registers of four, enough to hide the latency of a round.
const TURN: usize = 32;

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
        match self.0.width {
            // SAFETY: a value of this width exists only if the processor has VAES and AVX-512.
            Width::Four => unsafe { permute(&self.0.keys, blocks) },
            // SAFETY: a value of this width exists only if the processor has VAES and AVX2.
            Width::Two => unsafe { narrow_permute(&self.0.keys, blocks) },
        }
    }

    /// Replaces each block x by pi(pi(x) + t) + pi(x), where pi is this permutation and t the tweak at the
    /// same place.
    ///
    /// # Panics
    /// Unless there is a tweak for each block.
    pub fn hash(&self, blocks: &mut [u128], tweaks: &[u128]) {
        assert_eq!(blocks.len(), tweaks.len(), "a tweak for each block");
        match self.0.width {
            // SAFETY: a value of this width exists only if the processor has VAES and AVX-512.
            Width::Four => unsafe { hash(&self.0.keys, blocks, tweaks) },
            // SAFETY: a value of this width exists only if the processor has VAES and AVX2.
            Width::Two => unsafe { narrow_hash(&self.0.keys, blocks, tweaks) },
        }
    }
}

impl Clone for Permutation {
    fn clone(&self) -> Self {
        Permutation(Counter { keys: self.0.keys, width: self.0.width })
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
    // a rest of at most half an iteration is processed with half as many registers
    match rest.len() {
        0 => {}
        1..=16 => few::<4>(&keys, rest),
        _ => few::<8>(&keys, rest),
    }
}

/// Processes fewer blocks than an iteration has, in as many registers as they fill.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn few<const REGISTERS: usize>(keys: &[__m512i; 11], blocks: &mut [u128]) {
    let mut x = load::<REGISTERS>(blocks);
    rounds(keys, &mut x);
    store(&x, blocks);
}

/// Load the blocks, at most as many as the registers hold, and fill the rest with zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<const REGISTERS: usize>(blocks: &[u128]) -> [__m512i; REGISTERS] {
    let mut x = [_mm512_setzero_si512(); REGISTERS];
    for (x, some) in x.iter_mut().zip(blocks.chunks(4)) {
        // SAFETY: the mask names only words of the slice; their number is public.
        *x = unsafe { _mm512_maskz_loadu_epi64(words(some.len()), some.as_ptr().cast()) };
    }
    x
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(x: &[__m512i], blocks: &mut [u128]) {
    for (x, some) in x.iter().zip(blocks.chunks_mut(4)) {
        // SAFETY: the mask names only words of the slice.
        unsafe { _mm512_mask_storeu_epi64(some.as_mut_ptr().cast(), words(some.len()), *x) };
    }
}

#[target_feature(enable = "avx512f,vaes")]
fn hash(keys: &[__m128i; 11], blocks: &mut [u128], tweaks: &[u128]) {
    let keys = broadcast(keys);
    let (turns, rest) = blocks.as_chunks_mut::<TURN>();
    let (of_turns, of_rest) = tweaks.as_chunks::<TURN>();
    for (turn, tweaks) in turns.iter_mut().zip(of_turns) {
        hashes::<8>(&keys, turn, tweaks);
    }
    match rest.len() {
        0 => {}
        1..=8 => hashes::<2>(&keys, rest, of_rest),
        9..=16 => hashes::<4>(&keys, rest, of_rest),
        _ => hashes::<8>(&keys, rest, of_rest),
    }
}

/// The hashes of at most as many blocks as these registers hold.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn hashes<const REGISTERS: usize>(keys: &[__m512i; 11], blocks: &mut [u128], tweaks: &[u128]) {
    let mut pi = load::<REGISTERS>(blocks);
    let tweaks = load::<REGISTERS>(tweaks);
    rounds(keys, &mut pi);
    let mut x = pi;
    for (x, tweak) in x.iter_mut().zip(tweaks) {
        *x = _mm512_xor_si512(*x, tweak);
    }
    rounds(keys, &mut x);
    for (x, pi) in x.iter_mut().zip(pi) {
        *x = _mm512_xor_si512(*x, pi);
    }
    store(&x, blocks);
}

#[target_feature(enable = "avx2,vaes")]
fn narrow_permute(keys: &[__m128i; 11], blocks: &mut [u128]) {
    let keys = narrow_broadcast(keys);
    for turn in blocks.chunks_mut(TURN / 2) {
        // a rest of at most half an iteration is processed with half as many registers
        if turn.len() <= TURN / 4 {
            narrow::<4>(&keys, turn);
        } else {
            narrow::<8>(&keys, turn);
        }
    }
}

/// Processes at most as many blocks as these registers of two blocks hold.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn narrow<const REGISTERS: usize>(keys: &[__m256i; 11], blocks: &mut [u128]) {
    let mut x = narrow_load::<REGISTERS>(blocks);
    narrow_rounds(keys, &mut x);
    narrow_store(&x, blocks);
}

#[target_feature(enable = "avx2,vaes")]
fn narrow_hash(keys: &[__m128i; 11], blocks: &mut [u128], tweaks: &[u128]) {
    let keys = narrow_broadcast(keys);
    for (turn, tweaks) in blocks.chunks_mut(TURN / 2).zip(tweaks.chunks(TURN / 2)) {
        if turn.len() <= TURN / 4 {
            narrow_hashes::<4>(&keys, turn, tweaks);
        } else {
            narrow_hashes::<8>(&keys, turn, tweaks);
        }
    }
}

/// The hashes of at most as many blocks as these registers of two blocks hold.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn narrow_hashes<const REGISTERS: usize>(keys: &[__m256i; 11], blocks: &mut [u128], tweaks: &[u128]) {
    let mut pi = narrow_load::<REGISTERS>(blocks);
    narrow_rounds(keys, &mut pi);
    let mut x = pi;
    for (x, tweak) in x.iter_mut().zip(narrow_load::<REGISTERS>(tweaks)) {
        *x = _mm256_xor_si256(*x, tweak);
    }
    narrow_rounds(keys, &mut x);
    for (x, pi) in x.iter_mut().zip(pi) {
        *x = _mm256_xor_si256(*x, pi);
    }
    narrow_store(&x, blocks);
}

/// Load the blocks, at most as many as the registers hold, and fill the rest with zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow_load<const REGISTERS: usize>(blocks: &[u128]) -> [__m256i; REGISTERS] {
    let mut x = [_mm256_setzero_si256(); REGISTERS];
    let (pairs, rest) = blocks.as_chunks::<2>();
    for (x, pair) in x.iter_mut().zip(pairs) {
        // SAFETY: two blocks are read.
        *x = unsafe { _mm256_loadu_si256(pair.as_ptr().cast()) };
    }
    if let Some(x) = x.get_mut(pairs.len()) {
        // SAFETY: the words of the last block are read, or none; their number is public.
        *x = unsafe { _mm256_maskload_epi64(rest.as_ptr().cast(), narrow_mask(2 * rest.len())) };
    }
    x
}

#[inline]
#[target_feature(enable = "avx2")]
fn narrow_store(x: &[__m256i], blocks: &mut [u128]) {
    let (pairs, rest) = blocks.as_chunks_mut::<2>();
    for (x, pair) in x.iter().zip(&mut *pairs) {
        // SAFETY: two blocks are written.
        unsafe { _mm256_storeu_si256(pair.as_mut_ptr().cast(), *x) };
    }
    if let Some(x) = x.get(pairs.len()) {
        // SAFETY: the words of the last block are written, or none.
        unsafe { _mm256_maskstore_epi64(rest.as_mut_ptr().cast(), narrow_mask(2 * rest.len()), *x) };
    }
}

/// A mask of the words of this many blocks (at most four).
#[inline]
fn words(blocks: usize) -> __mmask8 {
    0xff >> (8 - 2 * blocks)
}

/// All AES rounds on some registers.
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
