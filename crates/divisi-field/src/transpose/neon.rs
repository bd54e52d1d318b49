//! Transposition with eight registers of 16 bytes.
//!
//! The 128 bytes of eight registers are numbered with seven bits: three for the register, four for the place
//! in it. A [`shuffle`] interleaves the first four registers with the last four. Byte p moves to the place
//! whose number is p with its bits rotated by one; after three shuffles the register's bits are the lowest
//! ones. [`unshuffle`] is the inverse of one shuffle.

use core::arch::aarch64::*;

use crate::Plane;

#[target_feature(enable = "neon,aes")]
pub(super) fn to_planes(bytes: &[u8], out: &mut [Plane; 8]) {
    *out = [Plane::ZERO; 8];
    for (quarter, bytes) in bytes.chunks(128).enumerate() {
        let mut whole = [0; 128];
        let bytes = match bytes.as_chunks::<128>() {
            ([bytes], _) => bytes,
            (_, rest) => {
                whole[..rest.len()].copy_from_slice(rest);
                &whole
            }
        };
        let mut x = [vdupq_n_u8(0); 8];
        for (x, bytes) in x.iter_mut().zip(bytes.as_chunks::<16>().0) {
            // SAFETY: the reference covers 16 bytes.
            *x = unsafe { vld1q_u8(bytes.as_ptr()) };
        }
        let x = exchange_bits(unshuffle(unshuffle(unshuffle(x))));
        for (out, x) in out.iter_mut().zip(x) {
            let (pairs, _) = out.0.as_chunks_mut::<2>();
            // SAFETY: the reference covers 16 bytes.
            unsafe { vst1q_u64(pairs[quarter].as_mut_ptr(), vreinterpretq_u64_u8(x)) };
        }
    }
}

#[target_feature(enable = "neon,aes")]
pub(super) fn from_planes(planes: &[Plane; 8], out: &mut [u8]) {
    let planes = planes.each_ref();
    for (quarter, out) in out.chunks_mut(128).enumerate() {
        let mut whole = [0; 128];
        for (x, place) in bytes_of_planes(&planes, quarter).into_iter().zip(whole.as_chunks_mut::<16>().0) {
            // SAFETY: the reference covers 16 bytes.
            unsafe { vst1q_u8(place.as_mut_ptr(), x) };
        }
        out.copy_from_slice(&whole[..out.len()]);
    }
}

/// The bytes of lanes 128 `quarter` to 128 `quarter` + 127 in order; bit i is from plane i.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(crate) fn bytes_of_planes(planes: &[&Plane; 8], quarter: usize) -> [uint8x16_t; 8] {
    let mut x = [vdupq_n_u8(0); 8];
    for (x, plane) in x.iter_mut().zip(planes) {
        let (pairs, _) = plane.0.as_chunks::<2>();
        // SAFETY: the reference covers 16 bytes.
        *x = vreinterpretq_u8_u64(unsafe { vld1q_u64(pairs[quarter].as_ptr()) });
    }
    shuffle(shuffle(shuffle(exchange_bits(x))))
}

/// Interleaves the first four registers with the last four.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(crate) fn shuffle(x: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    [
        vzip1q_u8(x[0], x[4]),
        vzip2q_u8(x[0], x[4]),
        vzip1q_u8(x[1], x[5]),
        vzip2q_u8(x[1], x[5]),
        vzip1q_u8(x[2], x[6]),
        vzip2q_u8(x[2], x[6]),
        vzip1q_u8(x[3], x[7]),
        vzip2q_u8(x[3], x[7]),
    ]
}

/// The inverse of [`shuffle`].
#[inline]
#[target_feature(enable = "neon,aes")]
pub(crate) fn unshuffle(x: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    [
        vuzp1q_u8(x[0], x[1]),
        vuzp1q_u8(x[2], x[3]),
        vuzp1q_u8(x[4], x[5]),
        vuzp1q_u8(x[6], x[7]),
        vuzp2q_u8(x[0], x[1]),
        vuzp2q_u8(x[2], x[3]),
        vuzp2q_u8(x[4], x[5]),
        vuzp2q_u8(x[6], x[7]),
    ]
}

/// Swaps bit r of register i with bit i of register r, in each byte: first in quarters of 8 x 8 bits, then of
/// 4 x 4 and 2 x 2.
#[inline]
#[target_feature(enable = "neon,aes")]
fn exchange_bits(mut x: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    for i in 0..4 {
        // both nibbles at once: one instruction shifts a register and inserts it into another
        let (a, b) = (x[i], x[i + 4]);
        (x[i], x[i + 4]) = (vsliq_n_u8::<4>(a, b), vsriq_n_u8::<4>(b, a));
    }
    for i in [0, 1, 4, 5] {
        let (a, b, low) = (x[i], x[i + 2], vdupq_n_u8(0x33));
        x[i] = vbslq_u8(low, a, vshlq_n_u8::<2>(b));
        x[i + 2] = vbslq_u8(low, vshrq_n_u8::<2>(a), b);
    }
    for i in [0, 2, 4, 6] {
        let (a, b, low) = (x[i], x[i + 1], vdupq_n_u8(0x55));
        x[i] = vbslq_u8(low, a, vshlq_n_u8::<1>(b));
        x[i + 1] = vbslq_u8(low, vshrq_n_u8::<1>(a), b);
    }
    x
}
