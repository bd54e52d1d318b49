//! AVX2 with FMA: integers in doubles, two levels at a time.
//!
//! Sizes are in units of q < 2^50; what is exact stays below 8 ([`crate::zp`]'s `double`). A product by a
//! factor of at most 1/2 in size is below 0.5 + 0.1875 X, of X; a reduction leaves 0.5 and a little. Forth:
//! of four values below 2.5 two are reduced and two multiplied (below 0.97), so that the first level leaves
//! 1.5, and the second 1.5 + 0.79 < 2.5. Back: of values below 1.1 sums and differences are below 2.2; sums
//! are reduced, products are below 0.92; the second level adds to 1.1 and 1.84, of which the latter is
//! reduced, and multiplies what is below 1.84 to 0.85.

use crate::zp::Modulus;
use crate::zp::double::{Lanes, of_words, to_words};
use core::arch::x86_64::*;

/// Four values as they lie in memory between the levels: doubles in place of words.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(x: &[u64; 4]) -> __m256d {
    // SAFETY: the reference covers 32 bytes.
    unsafe { _mm256_loadu_pd(x.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn store(x: __m256d, place: &mut [u64; 4]) {
    // SAFETY: the reference covers 32 bytes.
    unsafe { _mm256_storeu_pd(place.as_mut_ptr().cast(), x) };
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn enter(x: &mut [u64]) {
    for x in x.as_chunks_mut::<4>().0 {
        // SAFETY: the reference covers 32 bytes.
        let words = unsafe { _mm256_loadu_si256(x.as_ptr().cast()) };
        store(of_words(words), x);
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn leave(x: __m256d, place: &mut [u64; 4]) {
    // SAFETY: the reference covers 32 bytes.
    unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), to_words(x)) };
}

/// The four quarters of a block, in vectors of four.
#[inline(always)]
fn quarters(block: &mut [u64]) -> [&mut [[u64; 4]]; 4] {
    let quarter = block.len() / 4;
    let (left, right) = block.split_at_mut(2 * quarter);
    let ((a, b), (c, d)) = (left.split_at_mut(quarter), right.split_at_mut(quarter));
    [a, b, c, d].map(|part| part.as_chunks_mut::<4>().0)
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn forward(m: Modulus, w: &[f64], x: &mut [u64]) {
    let (lanes, n) = (Lanes::new(m), x.len());
    let w = &w[..n];
    enter(x);
    let mut blocks = 1;
    if n.trailing_zeros() % 2 == 1 {
        let factor = _mm256_set1_pd(w[1]);
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.as_chunks_mut::<4>().0.iter_mut().zip(right.as_chunks_mut::<4>().0) {
            let (u, v) = (load(a), lanes.mul(load(b), factor));
            store(_mm256_add_pd(u, v), a);
            store(_mm256_sub_pd(u, v), b);
        }
        blocks = 2;
    }
    while 4 * blocks < n {
        for (i, block) in x.chunks_exact_mut(n / blocks).enumerate() {
            let i = blocks + i;
            let [w1, w2, w3] = [w[i], w[2 * i], w[2 * i + 1]].map(|w| _mm256_set1_pd(w));
            let [a, b, c, d] = quarters(block);
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a0, b0) = (lanes.reduce(load(a)), lanes.reduce(load(b)));
                let (c0, d0) = (lanes.mul(load(c), w1), lanes.mul(load(d), w1));
                let (a1, c1) = (_mm256_add_pd(a0, c0), _mm256_sub_pd(a0, c0));
                let (b1, d1) = (_mm256_add_pd(b0, d0), _mm256_sub_pd(b0, d0));
                let (b2, d2) = (lanes.mul(b1, w2), lanes.mul(d1, w3));
                store(_mm256_add_pd(a1, b2), a);
                store(_mm256_sub_pd(a1, b2), b);
                store(_mm256_add_pd(c1, d2), c);
                store(_mm256_sub_pd(c1, d2), d);
            }
        }
        blocks *= 4;
    }
    // the last two levels, within vectors: blocks of four, two at a time
    let (first, second) = (&w[n / 4..n / 2], &w[n / 2..]);
    let pairs = x.as_chunks_mut::<8>().0.iter_mut();
    for ((x, first), second) in pairs.zip(first.as_chunks::<2>().0).zip(second.as_chunks::<4>().0) {
        let [left, right] = halves(x);
        let (one, two) = (load(left), load(right));
        let u = lanes.reduce(_mm256_permute2f128_pd::<0x20>(one, two));
        let w1 = _mm256_setr_pd(first[0], first[0], first[1], first[1]);
        let v = lanes.mul(_mm256_permute2f128_pd::<0x31>(one, two), w1);
        let (sum, difference) = (_mm256_add_pd(u, v), _mm256_sub_pd(u, v));
        let even = _mm256_unpacklo_pd(sum, difference);
        // SAFETY: the reference covers 32 bytes.
        let w2 = unsafe { _mm256_loadu_pd(second.as_ptr()) };
        let odd = lanes.mul(_mm256_unpackhi_pd(sum, difference), w2);
        let end = |x| lanes.positive(lanes.positive(lanes.reduce(x)));
        let (sum, difference) = (end(_mm256_add_pd(even, odd)), end(_mm256_sub_pd(even, odd)));
        let (low, high) = (_mm256_unpacklo_pd(sum, difference), _mm256_unpackhi_pd(sum, difference));
        leave(_mm256_permute2f128_pd::<0x20>(low, high), left);
        leave(_mm256_permute2f128_pd::<0x31>(low, high), right);
    }
}

#[inline(always)]
fn halves(x: &mut [u64; 8]) -> [&mut [u64; 4]; 2] {
    let [left, right] = x.as_chunks_mut::<4>().0 else { unreachable!("eight are twice four") };
    [left, right]
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn inverse(m: Modulus, w: &[f64], scale: u64, x: &mut [u64]) {
    let (lanes, n) = (Lanes::new(m), x.len());
    let w = &w[..n];
    // the first two levels, within vectors
    let (first, second) = (&w[n / 2..], &w[n / 4..n / 2]);
    let pairs = x.as_chunks_mut::<8>().0.iter_mut();
    for ((x, first), second) in pairs.zip(first.as_chunks::<4>().0).zip(second.as_chunks::<2>().0) {
        let [left, right] = halves(x);
        // SAFETY: each reference covers 32 bytes.
        let (one, two) = unsafe {
            let words = |x: &[u64; 4]| of_words(_mm256_loadu_si256(x.as_ptr().cast()));
            (words(left), words(right))
        };
        let (low, high) =
            (_mm256_permute2f128_pd::<0x20>(one, two), _mm256_permute2f128_pd::<0x31>(one, two));
        let (even, odd) = (_mm256_unpacklo_pd(low, high), _mm256_unpackhi_pd(low, high));
        // SAFETY: the reference covers 32 bytes.
        let w1 = unsafe { _mm256_loadu_pd(first.as_ptr()) };
        let sum = lanes.reduce(_mm256_add_pd(even, odd));
        let difference = lanes.mul(_mm256_sub_pd(even, odd), w1);
        let (u, v) = (_mm256_unpacklo_pd(sum, difference), _mm256_unpackhi_pd(sum, difference));
        let w2 = _mm256_setr_pd(second[0], second[0], second[1], second[1]);
        let sum = lanes.reduce(_mm256_add_pd(u, v));
        let difference = lanes.mul(_mm256_sub_pd(u, v), w2);
        store(_mm256_permute2f128_pd::<0x20>(sum, difference), left);
        store(_mm256_permute2f128_pd::<0x31>(sum, difference), right);
    }
    let mut blocks = n / 4;
    while blocks >= 4 {
        blocks /= 4;
        for (i, block) in x.chunks_exact_mut(n / blocks).enumerate() {
            let i = blocks + i;
            let [w1, w2, w3] = [w[i], w[2 * i], w[2 * i + 1]].map(|w| _mm256_set1_pd(w));
            let [a, b, c, d] = quarters(block);
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a0, b0, c0, d0) = (load(a), load(b), load(c), load(d));
                let (a1, b1) = (lanes.reduce(_mm256_add_pd(a0, b0)), lanes.mul(_mm256_sub_pd(a0, b0), w2));
                let (c1, d1) = (lanes.reduce(_mm256_add_pd(c0, d0)), lanes.mul(_mm256_sub_pd(c0, d0), w3));
                store(_mm256_add_pd(a1, c1), a);
                store(lanes.reduce(_mm256_add_pd(b1, d1)), b);
                store(lanes.mul(_mm256_sub_pd(a1, c1), w1), c);
                store(lanes.mul(_mm256_sub_pd(b1, d1), w1), d);
            }
        }
    }
    if blocks == 2 {
        let factor = _mm256_set1_pd(w[1]);
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.as_chunks_mut::<4>().0.iter_mut().zip(right.as_chunks_mut::<4>().0) {
            let (u, v) = (load(a), load(b));
            store(_mm256_add_pd(u, v), a);
            store(lanes.mul(_mm256_sub_pd(u, v), factor), b);
        }
    }
    let scale = _mm256_set1_pd(m.centred(scale) as f64);
    for x in x.as_chunks_mut::<4>().0 {
        leave(lanes.positive(lanes.mul(load(x), scale)), x);
    }
}
