//! A group in a register: each number is shifted to its first bit within a byte, and VPERMB takes the bytes
//! to their places. Neighbouring numbers may share a byte; two numbers at even places never do, nor do two at
//! odd places.

use super::GROUP;
use core::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn pack(bits: usize, numbers: &[u64], out: &mut [u8]) {
    let shifts = shifts(bits);
    // for each byte of a packed group: which byte of the numbers at even places, or at odd places, it takes,
    // and whether it takes one
    let (mut places, mut taken) = ([[0_u8; 64]; 2], [0_u64; 2]);
    for k in 0..GROUP {
        let (first, last) = (k * bits / 8, (k * bits + bits - 1) / 8);
        for (at, place) in places[k % 2][first..=last].iter_mut().enumerate() {
            *place = (8 * k + at) as u8;
            taken[k % 2] |= 1 << (first + at);
        }
    }
    let [even, odd] = [load(&places[0]), load(&places[1])];
    let whole = (1 << bits) - 1;
    for (group, out) in numbers.as_chunks::<GROUP>().0.iter().zip(out.chunks_exact_mut(bits)) {
        // SAFETY: a group has 64 bytes.
        let numbers = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        let numbers = _mm512_sllv_epi64(numbers, shifts);
        let first = _mm512_maskz_permutexvar_epi8(taken[0], even, numbers);
        let second = _mm512_maskz_permutexvar_epi8(taken[1], odd, numbers);
        // SAFETY: the mask has a bit for each of the `bits` bytes of `out`.
        unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), whole, _mm512_or_si512(first, second)) };
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn unpack(bits: usize, bytes: &[u8], out: &mut [u64]) {
    let shifts = shifts(bits);
    let mut places = [0_u8; 64];
    for (at, place) in places.iter_mut().enumerate() {
        // at most byte 56, of 64
        *place = (at / 8 * bits / 8 + at % 8) as u8;
    }
    let (places, mask) = (load(&places), _mm512_set1_epi64((1 << bits) - 1));
    let whole = (1 << bits) - 1;
    for (group, bytes) in out.as_chunks_mut::<GROUP>().0.iter_mut().zip(bytes.chunks_exact(bits)) {
        // SAFETY: the mask has a bit for each of the `bits` bytes.
        let packed = unsafe { _mm512_maskz_loadu_epi8(whole, bytes.as_ptr().cast()) };
        let numbers = _mm512_srlv_epi64(_mm512_permutexvar_epi8(places, packed), shifts);
        // SAFETY: a group has 64 bytes.
        unsafe { _mm512_storeu_si512(group.as_mut_ptr().cast(), _mm512_and_si512(numbers, mask)) };
    }
}

/// The place of the first bit of each number within its byte.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifts(bits: usize) -> __m512i {
    let mut shifts = [0_u64; GROUP];
    for (k, shift) in shifts.iter_mut().enumerate() {
        *shift = (k * bits % 8) as u64;
    }
    // SAFETY: eight words are 64 bytes.
    unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: these are 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}
