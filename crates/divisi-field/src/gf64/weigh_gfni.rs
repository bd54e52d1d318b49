//! Weighing planes by GF2P8AFFINEQB.
//!
//! Eight planes hold a byte of each lane. The sum of the weights of its bits is a linear map from 8 bits to
//! 64, the same for all lanes: eight 8 x 8 bit matrices, one for each byte of the sum. So for 64 lanes at a
//! time: their bytes are put into one register, eight affine instructions are applied, and the eight
//! registers of result bytes are transposed to words.

use core::arch::x86_64::*;

use super::avx512::{load, store};
use super::{Gf64, LaneWeights};
use crate::Plane;
use crate::transpose::gfni::{affine_matrices, order, transpose_bits, words_of_planes};

/// [`super::weigh`], after its checks of the lengths.
///
/// The result is transposed once for up to 32 planes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn weigh(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    for (planes, weights) in planes.chunks(32).zip(weights.chunks(32)) {
        match planes.len() {
            0..=8 => weigh_groups::<1>(out, planes, weights),
            9..=16 => weigh_groups::<2>(out, planes, weights),
            _ => weigh_groups::<4>(out, planes, weights),
        }
    }
}

/// The order of lanes that [`words_of_bytes`] needs: byte 16q + 2r + e is that of lane 8r + 2q + e, for q <
/// 4, r < 8.
const INTERLEAVED: [u8; 64] = {
    let mut order = [0; 64];
    let mut p = 0;
    while p < 64 {
        order[p] = (p / 2 % 8 * 8 + p / 16 * 2 + p % 2) as u8;
        p += 1;
    }
    order
};

/// The same for at most 8 G planes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn weigh_groups<const G: usize>(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    let mut words = [[_mm512_setzero_si512(); 8]; G];
    let mut matrices = [[0_i64; 8]; G];
    let groups = planes.chunks(8).zip(weights.chunks(8));
    for ((words, matrices), (planes, weights)) in words.iter_mut().zip(&mut matrices).zip(groups) {
        let mut padded = [&Plane::ZERO; 8];
        padded[..planes.len()].copy_from_slice(planes);
        *words = words_of_planes(padded);
        let weights = affine_matrices(load(weights));
        // SAFETY: the array covers 64 bytes.
        unsafe { _mm512_storeu_si512(matrices.as_mut_ptr().cast(), weights) };
    }
    let interleaved = order(&INTERLEAVED);
    for (w, out) in out.chunks_mut(64).enumerate() {
        let mut bytes = [_mm512_setzero_si512(); G];
        for (bytes, words) in bytes.iter_mut().zip(&words) {
            *bytes = _mm512_permutexvar_epi8(interleaved, transpose_bits(words[w]));
        }
        let mut sums = [_mm512_setzero_si512(); 8];
        for (j, sum) in sums.iter_mut().enumerate() {
            for (bytes, matrices) in bytes.iter().zip(&matrices) {
                let part = _mm512_gf2p8affine_epi64_epi8(*bytes, _mm512_set1_epi64(matrices[j]), 0);
                *sum = _mm512_xor_si512(*sum, part);
            }
        }
        for (out, sum) in out.chunks_mut(8).zip(words_of_bytes(sums)) {
            store(_mm512_xor_si512(load(out), sum), out);
        }
    }
}

/// The matrices, for each plane, that map a byte of it to the sum of the weights of its bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn matrices(weights: &[[Gf64; 8]]) -> Vec<[u64; 8]> {
    let one = |weights: &[Gf64; 8]| {
        let mut matrices = [0; 8];
        let out = affine_matrices(load(weights));
        // SAFETY: the array covers 64 bytes.
        unsafe { _mm512_storeu_si512(matrices.as_mut_ptr().cast(), out) };
        matrices
    };
    weights.iter().map(one).collect()
}

/// For [`super::combine`]: the sums of each byte position over all planes; a plane's 64 bytes are in one
/// register.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn weigh_bytes(words: &mut [Gf64; 64], planes: &[&Plane], weights: &LaneWeights) {
    let mut sums = [_mm512_setzero_si512(); 8];
    for (plane, matrices) in planes.iter().zip(&weights.matrices) {
        // SAFETY: the plane covers 64 bytes, aligned to 64.
        let bytes = unsafe { _mm512_load_si512(plane.0.as_ptr().cast()) };
        for (sum, matrix) in sums.iter_mut().zip(matrices) {
            let part = _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_set1_epi64(*matrix as i64), 0);
            *sum = _mm512_xor_si512(*sum, part);
        }
    }
    let interleaved = order(&INTERLEAVED);
    for sum in &mut sums {
        *sum = _mm512_permutexvar_epi8(interleaved, *sum);
    }
    let (groups, _) = words.as_chunks_mut::<8>();
    for (out, sum) in groups.iter_mut().zip(words_of_bytes(sums)) {
        store(sum, out);
    }
}

/// Transposes: register j has byte j of 64 words, in interleaved order; the result has the words in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn words_of_bytes(b: [__m512i; 8]) -> [__m512i; 8] {
    // In all three steps, bytes 16q .. 16q + 15 of a register stay in their quarter.
    let [low01, high01] = [_mm512_unpacklo_epi8(b[0], b[1]), _mm512_unpackhi_epi8(b[0], b[1])];
    let [low23, high23] = [_mm512_unpacklo_epi8(b[2], b[3]), _mm512_unpackhi_epi8(b[2], b[3])];
    let [low45, high45] = [_mm512_unpacklo_epi8(b[4], b[5]), _mm512_unpackhi_epi8(b[4], b[5])];
    let [low67, high67] = [_mm512_unpacklo_epi8(b[6], b[7]), _mm512_unpackhi_epi8(b[6], b[7])];
    let low = [
        [_mm512_unpacklo_epi16(low01, low23), _mm512_unpacklo_epi16(low45, low67)],
        [_mm512_unpackhi_epi16(low01, low23), _mm512_unpackhi_epi16(low45, low67)],
        [_mm512_unpacklo_epi16(high01, high23), _mm512_unpacklo_epi16(high45, high67)],
        [_mm512_unpackhi_epi16(high01, high23), _mm512_unpackhi_epi16(high45, high67)],
    ];
    [
        _mm512_unpacklo_epi32(low[0][0], low[0][1]),
        _mm512_unpackhi_epi32(low[0][0], low[0][1]),
        _mm512_unpacklo_epi32(low[1][0], low[1][1]),
        _mm512_unpackhi_epi32(low[1][0], low[1][1]),
        _mm512_unpacklo_epi32(low[2][0], low[2][1]),
        _mm512_unpackhi_epi32(low[2][0], low[2][1]),
        _mm512_unpacklo_epi32(low[3][0], low[3][1]),
        _mm512_unpackhi_epi32(low[3][0], low[3][1]),
    ]
}
