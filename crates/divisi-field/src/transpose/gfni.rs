//! Transposition by registers of 64 bytes.
//!
//! A register is a matrix of 8 x 8 bytes, and each of its eight 64-bit words is a matrix of 8 x 8 bits.
//! VPERMB transposes the bytes, and GF2P8AFFINEQB the bits within each word: bit i of its output byte p is
//! the parity of (byte 7 - i of the matrix) AND (byte p of the argument). So the argument with byte p = 2^p
//! selects column p.

use core::arch::x86_64::*;

use crate::Plane;

/// 2^p at byte p of each word.
const COLUMNS: i64 = i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]);

/// A permutation that takes byte 8b + a to byte 8a + b.
const TRANSPOSED: [u8; 64] = {
    let mut order = [0; 64];
    let mut p = 0;
    while p < 64 {
        order[p] = (p % 8 * 8 + p / 8) as u8;
        p += 1;
    }
    order
};

/// A permutation that takes byte 8a + 7 - b to byte 8a + b.
const REVERSED: [u8; 64] = {
    let mut order = [0; 64];
    let mut p = 0;
    while p < 64 {
        order[p] = (p ^ 7) as u8;
        p += 1;
    }
    order
};

/// A permutation that takes byte 8b + a to byte 8a + 7 - b: transposed, and reversed for the matrices of
/// GF2P8AFFINEQB.
const TRANSPOSED_REVERSED: [u8; 64] = {
    let mut order = [0; 64];
    let mut p = 0;
    while p < 64 {
        order[p] = ((7 - p % 8) * 8 + p / 8) as u8;
        p += 1;
    }
    order
};

/// A permutation of two registers that hold eight rows of 16 bytes: for this half of the columns, it takes
/// byte c of row 7 - k to byte 8c + k. Bit 6 of an entry chooses the second register.
const fn columns_of_rows(half: u8) -> [u8; 64] {
    let mut order = [0; 64];
    let mut p = 0;
    while p < 64 {
        order[p] = (7 - p as u8 % 8) * 16 + 8 * half + p as u8 / 8;
        p += 1;
    }
    order
}

/// A permutation of two registers whose 16 words each have a byte for each of eight rows: it takes byte k of
/// word w to byte w of row k, for the first four rows or the last four.
const fn rows_of_columns(half: u8) -> [u8; 64] {
    let mut order = [0; 64];
    let mut p = 0;
    while p < 64 {
        order[p] = p as u8 % 16 * 8 + 4 * half + p as u8 / 16;
        p += 1;
    }
    order
}

const COLUMNS_OF_ROWS: [[u8; 64]; 2] = [columns_of_rows(0), columns_of_rows(1)];
const ROWS_OF_COLUMNS: [[u8; 64]; 2] = [rows_of_columns(0), rows_of_columns(1)];

/// Transposes 128 by 128 bits in three steps: the 8 x 8 bits in each word, the words, and the bytes in them.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn square(matrix: &mut [u128; 128]) {
    // word c of register r of a half: the 8 x 8 bits of the rows from 8r on and of the columns from 8c on in
    // this half, transposed
    let mut halves = [[[_mm512_setzero_si512(); 8]; 2]; 2];
    for (r, rows) in matrix.as_chunks::<8>().0.iter().enumerate() {
        // SAFETY: eight rows are 128 bytes.
        let (first, second) = unsafe {
            (_mm512_loadu_si512(rows.as_ptr().cast()), _mm512_loadu_si512(rows.as_ptr().add(4).cast()))
        };
        for (half, places) in halves.iter_mut().zip(&COLUMNS_OF_ROWS) {
            let matrices = _mm512_permutex2var_epi8(first, order(places), second);
            half[r / 8][r % 8] = _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(COLUMNS), matrices, 0);
        }
    }
    let (places_of_half, _) = matrix.as_chunks_mut::<64>();
    for (half, places) in halves.into_iter().zip(places_of_half) {
        let [low, high] = half;
        let words = transpose_words(low).into_iter().zip(transpose_words(high));
        for ((low, high), rows) in words.zip(places.as_chunks_mut::<8>().0) {
            let first = _mm512_permutex2var_epi8(low, order(&ROWS_OF_COLUMNS[0]), high);
            let second = _mm512_permutex2var_epi8(low, order(&ROWS_OF_COLUMNS[1]), high);
            // SAFETY: as above.
            unsafe {
                _mm512_storeu_si512(rows.as_mut_ptr().cast(), first);
                _mm512_storeu_si512(rows.as_mut_ptr().add(4).cast(), second);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn to_planes(bytes: &[u8], out: &mut [Plane; 8]) {
    let mut rows = [_mm512_setzero_si512(); 8];
    for (row, bytes) in rows.iter_mut().zip(bytes.chunks(64)) {
        let matrices = _mm512_permutexvar_epi8(order(&REVERSED), load(bytes));
        let columns = _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(COLUMNS), matrices, 0);
        *row = _mm512_permutexvar_epi8(order(&TRANSPOSED), columns);
    }
    for (out, plane) in out.iter_mut().zip(transpose_words(rows)) {
        // SAFETY: the plane covers 64 bytes, aligned to 64.
        unsafe { _mm512_store_si512(out.0.as_mut_ptr().cast(), plane) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(super) fn from_planes(planes: &[Plane; 8], out: &mut [u8]) {
    let words = words_of_planes(planes.each_ref());
    for (out, words) in out.chunks_mut(64).zip(words) {
        store(transpose_bits(words), out);
    }
}

/// The bytes of 64 lanes, from the words of their eight planes; word i is that of plane i.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi,gfni")]
pub(crate) fn transpose_bits(words: __m512i) -> __m512i {
    let matrices = _mm512_permutexvar_epi8(order(&TRANSPOSED_REVERSED), words);
    _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(COLUMNS), matrices, 0)
}

/// The eight matrices for GF2P8AFFINEQB that together map a byte to the sum of the 64-bit weights of its
/// bits; matrix j gives byte j of the sum.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi,gfni")]
pub(crate) fn affine_matrices(weights: __m512i) -> __m512i {
    let matrices = _mm512_permutexvar_epi8(order(&TRANSPOSED_REVERSED), weights);
    _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(COLUMNS.swap_bytes()), matrices, 0)
}

/// Collects words: register w gets word w of each plane, that of plane i as word i.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn words_of_planes(planes: [&Plane; 8]) -> [__m512i; 8] {
    let mut rows = [_mm512_setzero_si512(); 8];
    for (row, plane) in rows.iter_mut().zip(planes) {
        // SAFETY: the plane covers 64 bytes, aligned to 64.
        *row = unsafe { _mm512_load_si512(plane.0.as_ptr().cast()) };
    }
    transpose_words(rows)
}

/// Transposes an 8 x 8 matrix of words; each register is a row.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_words(r: [__m512i; 8]) -> [__m512i; 8] {
    // First pairs of words 2k of two rows, then pairs of words 2k + 1.
    let even = [
        _mm512_unpacklo_epi64(r[0], r[1]),
        _mm512_unpacklo_epi64(r[2], r[3]),
        _mm512_unpacklo_epi64(r[4], r[5]),
        _mm512_unpacklo_epi64(r[6], r[7]),
    ];
    let odd = [
        _mm512_unpackhi_epi64(r[0], r[1]),
        _mm512_unpackhi_epi64(r[2], r[3]),
        _mm512_unpackhi_epi64(r[4], r[5]),
        _mm512_unpackhi_epi64(r[6], r[7]),
    ];
    let [w0, w2, w4, w6] = transpose_pairs(even);
    let [w1, w3, w5, w7] = transpose_pairs(odd);
    [w0, w1, w2, w3, w4, w5, w6, w7]
}

/// Transposes a 4 x 4 matrix of pairs of words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_pairs(r: [__m512i; 4]) -> [__m512i; 4] {
    let low01 = _mm512_shuffle_i64x2(r[0], r[1], 0x44);
    let high01 = _mm512_shuffle_i64x2(r[0], r[1], 0xee);
    let low23 = _mm512_shuffle_i64x2(r[2], r[3], 0x44);
    let high23 = _mm512_shuffle_i64x2(r[2], r[3], 0xee);
    [
        _mm512_shuffle_i64x2(low01, low23, 0x88),
        _mm512_shuffle_i64x2(low01, low23, 0xdd),
        _mm512_shuffle_i64x2(high01, high23, 0x88),
        _mm512_shuffle_i64x2(high01, high23, 0xdd),
    ]
}

/// A register with a permutation of bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn order(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference covers 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The first 64 bytes; zeros if there are fewer.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8]) -> __m512i {
    // SAFETY: the mask names only bytes of the slice.
    unsafe { _mm512_maskz_loadu_epi8(mask(bytes.len()), bytes.as_ptr().cast()) }
}

/// Overwrites the first 64 bytes, or as many as there are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store(x: __m512i, place: &mut [u8]) {
    // SAFETY: the mask names only bytes of the slice.
    unsafe { _mm512_mask_storeu_epi8(place.as_mut_ptr().cast(), mask(place.len()), x) }
}

#[inline(always)]
fn mask(length: usize) -> __mmask64 {
    if length >= 64 { u64::MAX } else { (1 << length) - 1 }
}
