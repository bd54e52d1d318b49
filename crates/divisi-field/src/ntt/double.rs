//! Transforms with AVX2 and FMA, or with NEON: integers in doubles, two levels at a time.
//!
//! Sizes in this text are multiples of q < 2^50; values below 8 are exact ([`crate::zp`]'s `double`). The
//! product of a value of size X by a factor of size at most 1/2 is below 0.5 + 0.1875 X; a reduction leaves
//! slightly more than 0.5. Forward: of four values below 2.5, two are reduced and two multiplied (below
//! 0.97); so the first level leaves values below 1.5, and the second below 1.5 + 0.79 < 2.5. Inverse: of
//! values below 1.1, sums and differences are below 2.2; sums are reduced, products are below 0.92. The
//! second level's sums are below 1.1 and 1.84, of which the latter is reduced; products of values below 1.84
//! are below 0.85.

use crate::zp::Modulus;
use crate::zp::double::Lanes;
use crate::zp::four::*;

/// Converts words to doubles, in place.
#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
fn enter(x: &mut [u64]) {
    for x in x.as_chunks_mut::<4>().0 {
        store(load_words(x), x);
    }
}

/// The four quarters of a block, in vectors of four.
#[inline(always)]
fn quarters(block: &mut [u64]) -> [&mut [[u64; 4]]; 4] {
    let quarter = block.len() / 4;
    let (left, right) = block.split_at_mut(2 * quarter);
    let ((a, b), (c, d)) = (left.split_at_mut(quarter), right.split_at_mut(quarter));
    [a, b, c, d].map(|part| part.as_chunks_mut::<4>().0)
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
pub(super) fn forward(m: Modulus, w: &[f64], x: &mut [u64]) {
    let (lanes, n) = (Lanes::new(m), x.len());
    let w = &w[..n];
    enter(x);
    let mut blocks = 1;
    if n.trailing_zeros() % 2 == 1 {
        let factor = splat(w[1]);
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.as_chunks_mut::<4>().0.iter_mut().zip(right.as_chunks_mut::<4>().0) {
            let (u, v) = (load(a), lanes.mul(load(b), factor));
            store(add(u, v), a);
            store(sub(u, v), b);
        }
        blocks = 2;
    }
    while 4 * blocks < n {
        for (i, block) in x.chunks_exact_mut(n / blocks).enumerate() {
            let i = blocks + i;
            let [w1, w2, w3] = [w[i], w[2 * i], w[2 * i + 1]].map(|w| splat(w));
            let [a, b, c, d] = quarters(block);
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a0, b0) = (lanes.reduce(load(a)), lanes.reduce(load(b)));
                let (c0, d0) = (lanes.mul(load(c), w1), lanes.mul(load(d), w1));
                let (a1, c1) = (add(a0, c0), sub(a0, c0));
                let (b1, d1) = (add(b0, d0), sub(b0, d0));
                let (b2, d2) = (lanes.mul(b1, w2), lanes.mul(d1, w3));
                store(add(a1, b2), a);
                store(sub(a1, b2), b);
                store(add(c1, d2), c);
                store(sub(c1, d2), d);
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
        let u = lanes.reduce(lows(one, two));
        let w1 = twice(first);
        let v = lanes.mul(highs(one, two), w1);
        let (sum, difference) = (add(u, v), sub(u, v));
        let even = evens(sum, difference);
        let w2 = doubles(second);
        let odd = lanes.mul(odds(sum, difference), w2);
        let end = |x| lanes.positive(lanes.positive(lanes.reduce(x)));
        let (sum, difference) = (end(add(even, odd)), end(sub(even, odd)));
        let (low, high) = (evens(sum, difference), odds(sum, difference));
        store_words(lows(low, high), left);
        store_words(highs(low, high), right);
    }
}

#[inline(always)]
fn halves(x: &mut [u64; 8]) -> [&mut [u64; 4]; 2] {
    let [left, right] = x.as_chunks_mut::<4>().0 else { unreachable!("eight are twice four") };
    [left, right]
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
pub(super) fn inverse(m: Modulus, w: &[f64], scale: u64, x: &mut [u64]) {
    let (lanes, n) = (Lanes::new(m), x.len());
    let w = &w[..n];
    // the first two levels, within vectors
    let (first, second) = (&w[n / 2..], &w[n / 4..n / 2]);
    let pairs = x.as_chunks_mut::<8>().0.iter_mut();
    for ((x, first), second) in pairs.zip(first.as_chunks::<4>().0).zip(second.as_chunks::<2>().0) {
        let [left, right] = halves(x);
        let (one, two) = (load_words(left), load_words(right));
        let (low, high) = (lows(one, two), highs(one, two));
        let (even, odd) = (evens(low, high), odds(low, high));
        let w1 = doubles(first);
        let sum = lanes.reduce(add(even, odd));
        let difference = lanes.mul(sub(even, odd), w1);
        let (u, v) = (evens(sum, difference), odds(sum, difference));
        let w2 = twice(second);
        let sum = lanes.reduce(add(u, v));
        let difference = lanes.mul(sub(u, v), w2);
        store(lows(sum, difference), left);
        store(highs(sum, difference), right);
    }
    let mut blocks = n / 4;
    while blocks >= 4 {
        blocks /= 4;
        for (i, block) in x.chunks_exact_mut(n / blocks).enumerate() {
            let i = blocks + i;
            let [w1, w2, w3] = [w[i], w[2 * i], w[2 * i + 1]].map(|w| splat(w));
            let [a, b, c, d] = quarters(block);
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a0, b0, c0, d0) = (load(a), load(b), load(c), load(d));
                let (a1, b1) = (lanes.reduce(add(a0, b0)), lanes.mul(sub(a0, b0), w2));
                let (c1, d1) = (lanes.reduce(add(c0, d0)), lanes.mul(sub(c0, d0), w3));
                store(add(a1, c1), a);
                store(lanes.reduce(add(b1, d1)), b);
                store(lanes.mul(sub(a1, c1), w1), c);
                store(lanes.mul(sub(b1, d1), w1), d);
            }
        }
    }
    if blocks == 2 {
        let factor = splat(w[1]);
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.as_chunks_mut::<4>().0.iter_mut().zip(right.as_chunks_mut::<4>().0) {
            let (u, v) = (load(a), load(b));
            store(add(u, v), a);
            store(lanes.mul(sub(u, v), factor), b);
        }
    }
    let scale = splat(m.centred(scale) as f64);
    for x in x.as_chunks_mut::<4>().0 {
        store_words(lanes.positive(lanes.mul(load(x), scale)), x);
    }
}
