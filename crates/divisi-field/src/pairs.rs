//! AES-128 with VAES and AVX2, two blocks a register: for processors that have no AVX-512.
//!
//! What [`crate::counter`] and [`crate::permutation`] do four blocks at a time.

use core::arch::x86_64::*;

/// Registers that go through the rounds together: enough to hide the latency of a round.
const REGISTERS: usize = 8;
/// The words of so many.
const TURN: usize = 4 * REGISTERS;

/// Words of a stream, little-endian, from this block on; the last block may be cut short.
#[target_feature(enable = "avx2,vaes")]
pub(crate) fn words(keys: &[__m128i; 11], mut block: u64, out: &mut [u64]) {
    let keys = broadcast(keys);
    let (turns, rest) = out.as_chunks_mut::<TURN>();
    for turn in turns {
        let stream = counters(&keys, block);
        for (x, four) in stream.iter().zip(turn.as_chunks_mut::<4>().0) {
            // SAFETY: four words are written.
            unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), *x) };
        }
        block += TURN as u64 / 2;
    }
    if !rest.is_empty() {
        let stream = counters(&keys, block);
        for (x, some) in stream.iter().zip(rest.chunks_mut(4)) {
            let mask = mask(some.len());
            // SAFETY: as many words are written as there are; their number is public.
            unsafe { _mm256_maskstore_epi64(some.as_mut_ptr().cast(), mask, *x) };
        }
    }
}

/// Replace each block, a little-endian number, by its encryption.
#[target_feature(enable = "avx2,vaes")]
pub(crate) fn permute(keys: &[__m128i; 11], blocks: &mut [u128]) {
    let keys = broadcast(keys);
    let (turns, rest) = blocks.as_chunks_mut::<{ 2 * REGISTERS }>();
    for turn in turns {
        let mut x = [_mm256_setzero_si256(); REGISTERS];
        for (x, pair) in x.iter_mut().zip(turn.as_chunks::<2>().0) {
            // SAFETY: two blocks are read.
            *x = unsafe { _mm256_loadu_si256(pair.as_ptr().cast()) };
        }
        rounds(&keys, &mut x);
        for (x, pair) in x.iter().zip(turn.as_chunks_mut::<2>().0) {
            // SAFETY: two blocks are written.
            unsafe { _mm256_storeu_si256(pair.as_mut_ptr().cast(), *x) };
        }
    }
    if !rest.is_empty() {
        let mut x = [_mm256_setzero_si256(); REGISTERS];
        for (x, some) in x.iter_mut().zip(rest.chunks(2)) {
            // SAFETY: as many words are read as there are; their number is public.
            *x = unsafe { _mm256_maskload_epi64(some.as_ptr().cast(), mask(2 * some.len())) };
        }
        rounds(&keys, &mut x);
        for (x, some) in x.iter().zip(rest.chunks_mut(2)) {
            let mask = mask(2 * some.len());
            // SAFETY: as many words are written as there are.
            unsafe { _mm256_maskstore_epi64(some.as_mut_ptr().cast(), mask, *x) };
        }
    }
}

/// The first so many words, at most four.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(words: usize) -> __m256i {
    let places = _mm256_set_epi64x(3, 2, 1, 0);
    _mm256_cmpgt_epi64(_mm256_set1_epi64x(words as i64), places)
}

/// Each round key in both places of a register. A loop, for `map` would be a call without the target's
/// features.
#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(keys: &[__m128i; 11]) -> [__m256i; 11] {
    let mut wide = [_mm256_setzero_si256(); 11];
    for (wide, key) in wide.iter_mut().zip(keys) {
        *wide = _mm256_broadcastsi128_si256(*key);
    }
    wide
}

/// The blocks of a turn of a stream.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn counters(keys: &[__m256i; 11], block: u64) -> [__m256i; REGISTERS] {
    let block = block.cast_signed();
    let mut x = [_mm256_setzero_si256(); REGISTERS];
    let mut at = _mm256_set_epi64x(0, block.wrapping_add(1), 0, block);
    let two = _mm256_set_epi64x(0, 2, 0, 2);
    for x in &mut x {
        *x = at;
        at = _mm256_add_epi64(at, two);
    }
    rounds(keys, &mut x);
    x
}

/// All rounds of the blocks in some registers.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn rounds(keys: &[__m256i; 11], x: &mut [__m256i; REGISTERS]) {
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
