//! Weighing planes by TBL, which looks up sixteen bytes in a table of sixteen. The method is that of
//! [`weigh_avx2`](super), which explains it, with registers of sixteen bytes.
//!
//! The tables depend only on the weights, which are public, and TBL takes the same time for all bytes.

use core::arch::aarch64::*;

use super::neon::{load, store};
use super::{Gf64, LaneWeights};
use crate::Plane;
use crate::transpose::neon::{bytes_of_planes, shuffle, unshuffle};

/// How many arrays of 64 bytes the tables of eight weights take: first those of the lower nibble, in the
/// order of the bytes of the sum.
const TABLES: usize = 4;

type Tables = [[u64; 8]; TABLES];

/// [`super::weigh`], after its checks of the lengths.
///
/// The result is transposed once for up to 64 planes.
#[target_feature(enable = "neon,aes")]
pub(super) fn weigh(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    for (planes, weights) in planes.chunks(64).zip(weights.chunks(64)) {
        match planes.len() {
            0..=4 => weigh_groups::<1, 8>(out, planes, weights),
            5..=8 => weigh_groups::<1, 16>(out, planes, weights),
            9..=16 => weigh_groups::<2, 16>(out, planes, weights),
            17..=32 => weigh_groups::<4, 16>(out, planes, weights),
            _ => weigh_groups::<8, 16>(out, planes, weights),
        }
    }
}

/// The same for at most 8 G planes; only the first T of the sixteen tables of a byte are used.
#[inline]
#[target_feature(enable = "neon,aes")]
fn weigh_groups<const G: usize, const T: usize>(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    let mut padded = [[&Plane::ZERO; 8]; G];
    let mut tables = [[[0; 8]; TABLES]; G];
    let groups = planes.chunks(8).zip(weights.chunks(8));
    let used = groups.len();
    for ((padded, tables), (planes, weights)) in padded.iter_mut().zip(&mut tables).zip(groups) {
        padded[..planes.len()].copy_from_slice(planes);
        let mut all = [Gf64(0); 8];
        all[..weights.len()].copy_from_slice(weights);
        *tables = tables_of(&all);
    }
    for (quarter, out) in out.chunks_mut(128).enumerate() {
        let mut bytes = [[vdupq_n_u8(0); 8]; G];
        for (bytes, planes) in bytes.iter_mut().zip(&padded).take(used) {
            *bytes = bytes_of_planes(planes, quarter);
        }
        for (block, out) in out.chunks_mut(32).enumerate() {
            let mut sums = [[vdupq_n_u8(0); 8]; 2];
            for (bytes, tables) in bytes.iter().zip(&tables).take(used) {
                add::<T>(&mut sums, [bytes[2 * block], bytes[2 * block + 1]], tables);
            }
            match out.as_chunks_mut::<32>() {
                ([out], _) => add_sums(out, sums),
                (_, rest) => {
                    let mut padded = [Gf64(0); 32];
                    padded[..rest.len()].copy_from_slice(rest);
                    add_sums(&mut padded, sums);
                    rest.copy_from_slice(&padded[..rest.len()]);
                }
            }
        }
    }
}

/// Adds sums, whose bytes are in separate registers, to 32 words.
#[inline]
#[target_feature(enable = "neon,aes")]
fn add_sums(out: &mut [Gf64; 32], sums: [[uint8x16_t; 8]; 2]) {
    let (halves, _) = out.as_chunks_mut::<16>();
    for (half, sums) in halves.iter_mut().zip(sums) {
        let (places, _) = half.as_chunks_mut::<2>();
        for (place, words) in places.iter_mut().zip(words_of_bytes(sums)) {
            store(veorq_u64(load(place), vreinterpretq_u64_u8(words)), place);
        }
    }
}

/// The tables of each plane's eight weights.
#[target_feature(enable = "neon,aes")]
pub(super) fn matrices(weights: &[[Gf64; 8]]) -> Vec<[u64; 8]> {
    let mut all = Vec::with_capacity(TABLES * weights.len());
    for weights in weights {
        all.extend_from_slice(&tables_of(weights));
    }
    all
}

/// For [`super::combine`]: the sums of each byte position over all planes.
#[target_feature(enable = "neon,aes")]
pub(super) fn weigh_bytes(words: &mut [Gf64; 64], planes: &[&Plane], weights: &LaneWeights) {
    let (tables, _) = weights.matrices.as_chunks::<TABLES>();
    let (blocks, _) = words.as_chunks_mut::<32>();
    for (half, out) in blocks.iter_mut().enumerate() {
        let mut sums = [[vdupq_n_u8(0); 8]; 2];
        for (plane, tables) in planes.iter().zip(tables) {
            let (pairs, _) = plane.0.as_chunks::<2>();
            add::<16>(&mut sums, [bytes_of(&pairs[2 * half]), bytes_of(&pairs[2 * half + 1])], tables);
        }
        let (halves, _) = out.as_chunks_mut::<16>();
        for (half, sums) in halves.iter_mut().zip(sums) {
            let (places, _) = half.as_chunks_mut::<2>();
            for (place, words) in places.iter_mut().zip(words_of_bytes(sums)) {
                store(vreinterpretq_u64_u8(words), place);
            }
        }
    }
}

/// Looks up these bytes in the first T tables, and adds byte j of the sums to register j.
#[inline]
#[target_feature(enable = "neon,aes")]
fn add<const T: usize>(sums: &mut [[uint8x16_t; 8]; 2], bytes: [uint8x16_t; 2], tables: &Tables) {
    let nibble = vdupq_n_u8(0x0f);
    let [x, y] = bytes;
    let nibbles = [[vandq_u8(x, nibble), vandq_u8(y, nibble)], [vshrq_n_u8::<4>(x), vshrq_n_u8::<4>(y)]];
    let (tables, _) = tables.as_flattened().as_chunks::<2>();
    let [first, second] = sums;
    for (tables, [x, y]) in tables[..T].chunks(8).zip(nibbles) {
        for ((table, first), second) in tables.iter().zip(first.iter_mut()).zip(second.iter_mut()) {
            let table = bytes_of(table);
            *first = veorq_u8(*first, vqtbl1q_u8(table, x));
            *second = veorq_u8(*second, vqtbl1q_u8(table, y));
        }
    }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn bytes_of(words: &[u64; 2]) -> uint8x16_t {
    // SAFETY: the reference covers 16 bytes.
    vreinterpretq_u8_u64(unsafe { vld1q_u64(words.as_ptr()) })
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn tables_of(weights: &[Gf64; 8]) -> Tables {
    let mut tables = [[0; 8]; TABLES];
    let (nibbles, _) = weights.as_chunks::<4>();
    let (places, _) = tables.as_chunks_mut::<2>();
    for (weights, place) in nibbles.iter().zip(places) {
        let (places, _) = place.as_flattened_mut().as_chunks_mut::<2>();
        for (table, place) in tables_of_nibble(weights).into_iter().zip(places) {
            // SAFETY: the reference covers 16 bytes.
            unsafe { vst1q_u64(place.as_mut_ptr(), vreinterpretq_u64_u8(table)) };
        }
    }
    tables
}

/// Table j has byte j of the sixteen sums.
#[inline]
#[target_feature(enable = "neon,aes")]
fn tables_of_nibble([w0, w1, w2, w3]: &[Gf64; 4]) -> [uint8x16_t; 8] {
    // the sums of nibbles 2 m and 2 m + 1 in register m
    let mut sums = [vsetq_lane_u64::<1>(w0.0, vdupq_n_u64(0)); 8];
    for (bit, weight) in [w1, w2, w3].into_iter().enumerate() {
        let weight = vdupq_n_u64(weight.0);
        for (m, sum) in sums.iter_mut().enumerate() {
            if m >> bit & 1 == 1 {
                *sum = veorq_u64(*sum, weight);
            }
        }
    }
    let mut bytes = [vdupq_n_u8(0); 8];
    for (bytes, sum) in bytes.iter_mut().zip(sums) {
        *bytes = vreinterpretq_u8_u64(sum);
    }
    unshuffle(unshuffle(unshuffle(bytes)))
}

/// Transposes: register j has byte j of sixteen words; the result has two words in each register, in order.
#[inline]
#[target_feature(enable = "neon,aes")]
fn words_of_bytes(bytes: [uint8x16_t; 8]) -> [uint8x16_t; 8] {
    shuffle(shuffle(shuffle(bytes)))
}
