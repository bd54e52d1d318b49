//! Weighing planes by VPSHUFB.
//!
//! A byte holds a bit of each of eight planes, or eight bits of one plane. It is mapped to the sum of the
//! weights of its bits. The sixteen values of a nibble have sixteen such sums; byte j of these sums is a
//! table that fits in a register. So two shuffles give byte j of the sums of 32 bytes. The sums stay in eight
//! registers, one for each byte of a word, until all planes have been added; only then are they transposed to
//! words. The tables depend only on the weights, which are public, and a shuffle takes the same time for all
//! bytes.

use core::arch::x86_64::*;

use super::pclmul::{load, store};
use super::{Gf64, LaneWeights};
use crate::Plane;

/// How many arrays of 64 bytes the tables of eight weights take: first those of the lower nibble, in the
/// order of the bytes of the sum.
const TABLES: usize = 4;

/// [`super::weigh`], after its checks of the lengths.
///
/// The result is transposed once for up to 64 planes.
#[target_feature(enable = "avx2")]
pub(super) fn weigh(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    for (planes, weights) in planes.chunks(64).zip(weights.chunks(64)) {
        match planes.len() {
            0..=8 => weigh_groups::<1>(out, planes, weights),
            9..=16 => weigh_groups::<2>(out, planes, weights),
            17..=32 => weigh_groups::<4>(out, planes, weights),
            _ => weigh_groups::<8>(out, planes, weights),
        }
    }
}

/// The same for at most 8 G planes.
#[inline]
#[target_feature(enable = "avx2")]
fn weigh_groups<const G: usize>(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
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
    for (half, out) in out.chunks_mut(256).enumerate() {
        let mut bytes = [[_mm256_setzero_si256(); 8]; G];
        for (bytes, planes) in bytes.iter_mut().zip(&padded).take(used) {
            *bytes = bytes_of_planes(planes, half);
        }
        for (block, out) in out.chunks_mut(32).enumerate() {
            let mut sums = [_mm256_setzero_si256(); 8];
            for (bytes, tables) in bytes.iter().zip(&tables).take(used) {
                add(&mut sums, bytes[block], tables);
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
#[target_feature(enable = "avx2")]
fn add_sums(out: &mut [Gf64; 32], sums: [__m256i; 8]) {
    for (place, sum) in halves(out).zip(words_of_bytes(sums)) {
        for (place, sum) in
            place.into_iter().zip([_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)])
        {
            store(_mm_xor_si128(load(place), sum), place);
        }
    }
}

/// The tables of each plane's eight weights.
#[target_feature(enable = "avx2")]
pub(super) fn matrices(weights: &[[Gf64; 8]]) -> Vec<[u64; 8]> {
    let mut all = Vec::with_capacity(TABLES * weights.len());
    for weights in weights {
        all.extend_from_slice(&tables_of(weights));
    }
    all
}

/// For [`super::combine`]: the sums of each byte position over all planes.
#[target_feature(enable = "avx2")]
pub(super) fn weigh_bytes(words: &mut [Gf64; 64], planes: &[&Plane], weights: &LaneWeights) {
    let (tables, _) = weights.matrices.as_chunks::<TABLES>();
    let (blocks, _) = words.as_chunks_mut::<32>();
    for (half, out) in blocks.iter_mut().enumerate() {
        let mut sums = [_mm256_setzero_si256(); 8];
        for (plane, tables) in planes.iter().zip(tables) {
            add(&mut sums, half_of_plane(plane, half), tables);
        }
        for (place, sum) in halves(out).zip(words_of_bytes(sums)) {
            let [low, high] = place;
            store(_mm256_castsi256_si128(sum), low);
            store(_mm256_extracti128_si256(sum, 1), high);
        }
    }
}

/// The words in the order of the registers of [`words_of_bytes`].
#[inline]
fn halves(words: &mut [Gf64; 32]) -> impl Iterator<Item = [&mut [Gf64; 2]; 2]> {
    let (low, high) = words.split_at_mut(16);
    let (low, _) = low.as_chunks_mut::<2>();
    let (high, _) = high.as_chunks_mut::<2>();
    low.iter_mut().zip(high).map(|(low, high)| [low, high])
}

/// Looks up these bytes in the tables, and adds byte j of the sums to register j.
#[inline]
#[target_feature(enable = "avx2")]
fn add(sums: &mut [__m256i; 8], bytes: __m256i, tables: &[[u64; 8]; TABLES]) {
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_and_si256(bytes, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
    let (tables, _) = tables.as_flattened().as_chunks::<2>();
    let (of_low, of_high) = tables.split_at(8);
    for (sum, (of_low, of_high)) in sums.iter_mut().zip(of_low.iter().zip(of_high)) {
        *sum = _mm256_xor_si256(*sum, _mm256_shuffle_epi8(twice(of_low), low));
        *sum = _mm256_xor_si256(*sum, _mm256_shuffle_epi8(twice(of_high), high));
    }
}

/// A table in both halves of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn twice(table: &[u64; 2]) -> __m256i {
    // SAFETY: the reference covers 16 bytes.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn tables_of(weights: &[Gf64; 8]) -> [[u64; 8]; TABLES] {
    let mut tables = [[0; 8]; TABLES];
    let (nibbles, _) = weights.as_chunks::<4>();
    let (places, _) = tables.as_chunks_mut::<2>();
    for (weights, place) in nibbles.iter().zip(places) {
        let (places, _) = place.as_flattened_mut().as_chunks_mut::<4>();
        for (tables, place) in tables_of_nibble(weights).into_iter().zip(places) {
            // SAFETY: the reference covers 32 bytes.
            unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), tables) };
        }
    }
    tables
}

/// The tables of four weights, two in each register.
#[inline]
#[target_feature(enable = "avx2")]
fn tables_of_nibble(weights: &[Gf64; 4]) -> [__m256i; 4] {
    // SAFETY: the reference covers four elements of 64 bits.
    let all = unsafe { _mm256_loadu_si256(weights.as_ptr().cast()) };
    // the sums of the nibbles 0, 1, 8 and 9, then the same with 2, with 4 and with both; each half of a
    // register has two neighbours
    let with_1 =
        _mm256_and_si256(_mm256_permute4x64_epi64(all, 0b00_00_00_00), _mm256_setr_epi64x(0, -1, 0, -1));
    let with_8 =
        _mm256_and_si256(_mm256_permute4x64_epi64(all, 0b11_11_11_11), _mm256_setr_epi64x(0, 0, -1, -1));
    let w1 = _mm256_permute4x64_epi64(all, 0b01_01_01_01);
    let w2 = _mm256_permute4x64_epi64(all, 0b10_10_10_10);
    let a = _mm256_xor_si256(with_1, with_8);
    let b = _mm256_xor_si256(a, w1);
    let [c, d] = [_mm256_xor_si256(a, w2), _mm256_xor_si256(b, w2)];
    // byte by byte: first groups of two neighbours, then of four, then of eight; at last both halves of a
    // table are joined
    let pair = _mm256_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14,
        7, 15,
    );
    let [a, b] = [_mm256_shuffle_epi8(a, pair), _mm256_shuffle_epi8(b, pair)];
    let [c, d] = [_mm256_shuffle_epi8(c, pair), _mm256_shuffle_epi8(d, pair)];
    let [low, high] = [_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)];
    let [low2, high2] = [_mm256_unpacklo_epi16(c, d), _mm256_unpackhi_epi16(c, d)];
    [
        _mm256_unpacklo_epi32(low, low2),
        _mm256_unpackhi_epi32(low, low2),
        _mm256_unpacklo_epi32(high, high2),
        _mm256_unpackhi_epi32(high, high2),
    ]
    .map(|tables| _mm256_permute4x64_epi64(tables, 0b11_01_10_00))
}

/// Lanes 256 `half` to 256 `half` + 255.
#[inline]
#[target_feature(enable = "avx2")]
fn half_of_plane(plane: &Plane, half: usize) -> __m256i {
    let (halves, _) = plane.0.as_chunks::<4>();
    // SAFETY: the reference covers 32 bytes.
    unsafe { _mm256_loadu_si256(halves[half].as_ptr().cast()) }
}

/// The bytes of these 256 lanes, where bit i is from plane i; a register has 32 lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of_planes(planes: &[&Plane; 8], half: usize) -> [__m256i; 8] {
    // words_of_bytes puts words that are 16 apart into one register; so bytes 0, 1, 4, 5, 8, 9 and so on are
    // moved to the lower half.
    let apart = _mm256_setr_epi8(
        0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11,
        14, 15,
    );
    let mut x = [_mm256_setzero_si256(); 8];
    for (x, plane) in x.iter_mut().zip(planes) {
        *x = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(half_of_plane(plane, half), apart), 0b11_01_10_00);
    }
    // swaps bit r of register i with bit i of register r, in each byte: first in quarters of 8 x 8 bits, then
    // of 4 x 4 and 2 x 2
    for i in 0..4 {
        [x[i], x[i + 4]] = exchange::<4>([x[i], x[i + 4]], 0x0f);
    }
    for i in [0, 1, 4, 5] {
        [x[i], x[i + 2]] = exchange::<2>([x[i], x[i + 2]], 0x33);
    }
    for i in [0, 2, 4, 6] {
        [x[i], x[i + 1]] = exchange::<1>([x[i], x[i + 1]], 0x55);
    }
    words_of_bytes(x)
}

/// Swaps the bits of `a` that are J positions above the mask with the bits of `b` under the mask.
#[inline]
#[target_feature(enable = "avx2")]
fn exchange<const J: i32>([a, b]: [__m256i; 2], mask: i8) -> [__m256i; 2] {
    let difference = _mm256_xor_si256(_mm256_srli_epi64(a, J), b);
    let difference = _mm256_and_si256(difference, _mm256_set1_epi8(mask));
    [_mm256_xor_si256(a, _mm256_slli_epi64(difference, J)), _mm256_xor_si256(b, difference)]
}

/// Words whose byte j is in register j: words 2m, 2m + 1, 2m + 16 and 2m + 17 in register m.
#[inline]
#[target_feature(enable = "avx2")]
fn words_of_bytes(b: [__m256i; 8]) -> [__m256i; 8] {
    let [low01, high01] = [_mm256_unpacklo_epi8(b[0], b[1]), _mm256_unpackhi_epi8(b[0], b[1])];
    let [low23, high23] = [_mm256_unpacklo_epi8(b[2], b[3]), _mm256_unpackhi_epi8(b[2], b[3])];
    let [low45, high45] = [_mm256_unpacklo_epi8(b[4], b[5]), _mm256_unpackhi_epi8(b[4], b[5])];
    let [low67, high67] = [_mm256_unpacklo_epi8(b[6], b[7]), _mm256_unpackhi_epi8(b[6], b[7])];
    let halves = [
        [_mm256_unpacklo_epi16(low01, low23), _mm256_unpacklo_epi16(low45, low67)],
        [_mm256_unpackhi_epi16(low01, low23), _mm256_unpackhi_epi16(low45, low67)],
        [_mm256_unpacklo_epi16(high01, high23), _mm256_unpacklo_epi16(high45, high67)],
        [_mm256_unpackhi_epi16(high01, high23), _mm256_unpackhi_epi16(high45, high67)],
    ];
    let mut words = [_mm256_setzero_si256(); 8];
    for (words, [low, high]) in words.as_chunks_mut::<2>().0.iter_mut().zip(halves) {
        *words = [_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high)];
    }
    words
}
