//! Transforms with AVX-512 and IFMA: the butterflies of the portable code on eight values at a time, with
//! products of 52 bits. q < 2^50, so values below 4q fit. The code is generic over [`Wide`], so that tests
//! can run it on any processor.

use super::Factors;
use crate::zp::Modulus;
use crate::zp::ifma::{Lanes, Wide};

/// For the distances 4, 2 and 1: which values of two registers are the left and right inputs of the
/// butterflies, and how the results are put back.
const LEFT: [[u64; 8]; 3] =
    [[0, 1, 2, 3, 8, 9, 10, 11], [0, 1, 4, 5, 8, 9, 12, 13], [0, 2, 4, 6, 8, 10, 12, 14]];
const RIGHT: [[u64; 8]; 3] =
    [[4, 5, 6, 7, 12, 13, 14, 15], [2, 3, 6, 7, 10, 11, 14, 15], [1, 3, 5, 7, 9, 11, 13, 15]];
const ONE: [[u64; 8]; 3] =
    [[0, 1, 2, 3, 8, 9, 10, 11], [0, 1, 8, 9, 2, 3, 10, 11], [0, 8, 1, 9, 2, 10, 3, 11]];
const TWO: [[u64; 8]; 3] =
    [[4, 5, 6, 7, 12, 13, 14, 15], [4, 5, 12, 13, 6, 7, 14, 15], [4, 12, 5, 13, 6, 14, 7, 15]];

/// The two vectors of a list from position `at` on.
#[inline(always)]
fn two(x: &mut [u64; 16]) -> [&mut [u64; 8]; 2] {
    let [one, two] = x.as_chunks_mut::<8>().0 else { unreachable!("sixteen are twice eight") };
    [one, two]
}

/// The two, four or eight factors for sixteen values at distance 4, 2 or 1, each repeated as often as it is
/// used.
#[inline(always)]
fn spread<W: Wide>(list: &[u64], level: usize) -> W {
    let mut factors = [0; 8];
    let repeat = 4 >> level;
    factors.iter_mut().enumerate().for_each(|(i, f)| *f = list[i / repeat]);
    W::load(&factors)
}

#[inline(always)]
fn forth<W: Wide>(lanes: Lanes<W>, a: W, b: W, w: W, s: W) -> (W, W) {
    let (u, v) = (lanes.halve(a), lanes.times(b, w, s));
    (u.add(v), u.add(lanes.twice).sub(v))
}

#[inline(always)]
fn back<W: Wide>(lanes: Lanes<W>, a: W, b: W, w: W, s: W) -> (W, W) {
    (lanes.halve(a.add(b)), lanes.times(a.add(lanes.twice).sub(b), w, s))
}

/// The four quarters of a block, in vectors of eight.
#[inline(always)]
fn quarters(block: &mut [u64]) -> [&mut [[u64; 8]]; 4] {
    let quarter = block.len() / 4;
    let (left, right) = block.split_at_mut(2 * quarter);
    let ((a, b), (c, d)) = (left.split_at_mut(quarter), right.split_at_mut(quarter));
    [a, b, c, d].map(|part| part.as_chunks_mut::<8>().0)
}

#[inline(always)]
fn forward_over<W: Wide>(m: Modulus, factors: &Factors, x: &mut [u64]) {
    let (lanes, n) = (Lanes::<W>::new(m), x.len());
    let (w, s) = (&factors.factor[..n], &factors.quotient[..n]);
    let mut blocks = 1;
    // levels of distance 8 and more: two at a time, after a single one if their number is odd
    if n.trailing_zeros() % 2 == 0 {
        let (w, s) = (W::splat(w[1]), W::splat(s[1]));
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.as_chunks_mut::<8>().0.iter_mut().zip(right.as_chunks_mut::<8>().0) {
            let (u, v) = forth(lanes, W::load(a), W::load(b), w, s);
            u.store(a);
            v.store(b);
        }
        blocks = 2;
    }
    while 8 * blocks < n {
        for (i, block) in x.chunks_exact_mut(n / blocks).enumerate() {
            let (i, j) = (blocks + i, 2 * (blocks + i));
            let [w1, s1, w2, s2, w3, s3] = [w[i], s[i], w[j], s[j], w[j + 1], s[j + 1]].map(W::splat);
            let [a, b, c, d] = quarters(block);
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a1, c1) = forth(lanes, W::load(a), W::load(c), w1, s1);
                let (b1, d1) = forth(lanes, W::load(b), W::load(d), w1, s1);
                let ((a2, b2), (c2, d2)) = (forth(lanes, a1, b1, w2, s2), forth(lanes, c1, d1, w3, s3));
                a2.store(a);
                b2.store(b);
                c2.store(c);
                d2.store(d);
            }
        }
        blocks *= 4;
    }
    for (i, x) in x.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let [one, two] = two(x);
        let (mut a, mut b) = (W::load(one), W::load(two));
        for level in 0..3 {
            let from = (n / 8 + 2 * i) << level;
            let (w, s) = (spread(&w[from..], level), spread(&s[from..], level));
            let (u, v) = forth(lanes, a.pick(b, &LEFT[level]), a.pick(b, &RIGHT[level]), w, s);
            (a, b) = (u.pick(v, &ONE[level]), u.pick(v, &TWO[level]));
        }
        lanes.once(lanes.halve(a)).store(one);
        lanes.once(lanes.halve(b)).store(two);
    }
}

#[inline(always)]
fn inverse_over<W: Wide>(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
    let (lanes, n) = (Lanes::<W>::new(m), x.len());
    let (w, s) = (&factors.factor[..n], &factors.quotient[..n]);
    for (i, x) in x.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let [one, two] = two(x);
        let (mut a, mut b) = (W::load(one), W::load(two));
        for level in (0..3).rev() {
            let from = (n / 8 + 2 * i) << level;
            let (w, s) = (spread(&w[from..], level), spread(&s[from..], level));
            let (u, v) = back(lanes, a.pick(b, &LEFT[level]), a.pick(b, &RIGHT[level]), w, s);
            (a, b) = (u.pick(v, &ONE[level]), u.pick(v, &TWO[level]));
        }
        a.store(one);
        b.store(two);
    }
    let mut blocks = n / 8;
    while blocks >= 4 {
        blocks /= 4;
        for (i, block) in x.chunks_exact_mut(n / blocks).enumerate() {
            let (i, j) = (blocks + i, 2 * (blocks + i));
            let [w1, s1, w2, s2, w3, s3] = [w[i], s[i], w[j], s[j], w[j + 1], s[j + 1]].map(W::splat);
            let [a, b, c, d] = quarters(block);
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a1, b1) = back(lanes, W::load(a), W::load(b), w2, s2);
                let (c1, d1) = back(lanes, W::load(c), W::load(d), w3, s3);
                let ((a2, c2), (b2, d2)) = (back(lanes, a1, c1, w1, s1), back(lanes, b1, d1, w1, s1));
                a2.store(a);
                b2.store(b);
                c2.store(c);
                d2.store(d);
            }
        }
    }
    if blocks == 2 {
        let (w, s) = (W::splat(w[1]), W::splat(s[1]));
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.as_chunks_mut::<8>().0.iter_mut().zip(right.as_chunks_mut::<8>().0) {
            let (u, v) = back(lanes, W::load(a), W::load(b), w, s);
            u.store(a);
            v.store(b);
        }
    }
    let (factor, quotient) = (W::splat(scale), W::splat(super::shoup(scale, m.get(), 52)));
    for x in x.as_chunks_mut::<8>().0 {
        lanes.once(lanes.times(W::load(x), factor, quotient)).store(x);
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    //! The code for processors with IFMA.

    use super::{Factors, Modulus};
    use crate::zp::ifma::x86::Zmm;

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn forward(m: Modulus, factors: &Factors, x: &mut [u64]) {
        super::forward_over::<Zmm>(m, factors, x);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn inverse(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
        super::inverse_over::<Zmm>(m, factors, scale, x);
    }
}

#[cfg(test)]
pub(super) mod model {
    use super::{Factors, Modulus};
    use crate::zp::ifma::model::Model;

    pub(crate) fn forward(m: Modulus, factors: &Factors, x: &mut [u64]) {
        super::forward_over::<Model>(m, factors, x);
    }

    pub(crate) fn inverse(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
        super::inverse_over::<Model>(m, factors, scale, x);
    }
}
