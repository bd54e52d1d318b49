//! Transforms with AVX-512 and IFMA: the butterflies of the portable code on eight values at a time, with
//! products of 52 bits. q < 2^50, so values below 4q fit. The code is generic over [`Wide`], so that tests
//! can run it on any processor.

use super::Factors;
use crate::zp::Modulus;
use crate::zp::ifma::{Lanes, Wide};

/// For the distances 4, 2 and 1: which of sixteen values are the left and right inputs of the butterflies.
const SIDES: [[[u64; 8]; 2]; 3] = [
    [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]],
    [[0, 1, 4, 5, 8, 9, 12, 13], [2, 3, 6, 7, 10, 11, 14, 15]],
    [[0, 2, 4, 6, 8, 10, 12, 14], [1, 3, 5, 7, 9, 11, 13, 15]],
];
/// Sixteen values in their own order.
const OWN: [[u64; 8]; 2] = [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]];
/// The rearrangements from the inputs at one distance to those at the next, forward and back, and at last to
/// the own order.
const FORTH: [[[u64; 8]; 2]; 3] =
    [moved(SIDES[0], SIDES[1]), moved(SIDES[1], SIDES[2]), moved(SIDES[2], OWN)];
const BACK: [[[u64; 8]; 2]; 3] = [moved(SIDES[0], OWN), moved(SIDES[1], SIDES[0]), moved(SIDES[2], SIDES[1])];

/// For two registers that hold the values `these` and are to hold the values `wanted`: the place at which
/// each wanted value lies now.
const fn moved(these: [[u64; 8]; 2], wanted: [[u64; 8]; 2]) -> [[u64; 8]; 2] {
    let mut places = [[0; 8]; 2];
    let mut i = 0;
    while i < 256 {
        let (to, from) = (i / 16, i % 16);
        if wanted[to / 8][to % 8] == these[from / 8][from % 8] {
            places[to / 8][to % 8] = from as u64;
        }
        i += 1;
    }
    places
}

/// Two new registers: each of their values is the one at the given place among the sixteen of `a` and `b`.
#[inline(always)]
fn pick<W: Wide>([a, b]: [W; 2], [one, two]: &[[u64; 8]; 2]) -> [W; 2] {
    [a.pick(b, one), a.pick(b, two)]
}

/// The two vectors of sixteen values.
#[inline(always)]
fn two(x: &mut [u64; 16]) -> [&mut [u64; 8]; 2] {
    let [one, two] = x.as_chunks_mut::<8>().0 else { unreachable!("sixteen are twice eight") };
    [one, two]
}

/// Which of the next eight factors the values of a register take at distance 4, 2 and 1.
const SPREAD: [[u64; 8]; 3] = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 2, 3, 4, 5, 6, 7]];

/// The two, four or eight factors for sixteen values at distance 4, 2 or 1, each repeated as often as it is
/// used. At least eight factors are left in the list, because there are at least sixteen values.
#[inline(always)]
fn spread<W: Wide>(list: &[u64], level: usize) -> W {
    let next = list.as_chunks::<8>().0.first().map_or(W::splat(0), W::load);
    if level == 2 { next } else { next.pick(next, &SPREAD[level]) }
}

/// Maps each pair (a, b) to (a + v, a - v) for v = b w, with its own factor w. All pairs step by step:
/// neighbouring instructions do not depend on each other, so the processor need not look far ahead for work.
/// (In loops, because closures are not always inlined here.)
#[inline(always)]
fn forth<W: Wide, const K: usize>(lanes: Lanes<W>, x: &mut [[W; 2]; K], w: &[[W; 2]; K]) {
    let (mut quotients, mut twice) = ([lanes.twice; K], [lanes.twice; K]);
    for k in 0..K {
        quotients[k] = lanes.quotient(x[k][1], w[k][1]);
    }
    for k in 0..K {
        x[k][0] = lanes.halve(x[k][0]);
        x[k][1] = x[k][0].low(x[k][1], w[k][0]);
        twice[k] = twice[k].add(x[k][0].add(x[k][0]));
    }
    for k in 0..K {
        x[k][0] = lanes.less(x[k][1], quotients[k]);
        x[k][1] = twice[k].sub(x[k][0]);
    }
}

/// Maps each pair (a, b) to (a + b, (a - b) w), as [`forth`] does.
#[inline(always)]
fn back<W: Wide, const K: usize>(lanes: Lanes<W>, x: &mut [[W; 2]; K], w: &[[W; 2]; K]) {
    let mut quotients = [lanes.twice; K];
    for k in 0..K {
        let difference = x[k][0].add(lanes.twice).sub(x[k][1]);
        x[k][0] = x[k][0].add(x[k][1]);
        quotients[k] = lanes.quotient(difference, w[k][1]);
        x[k][1] = lanes.low(difference, w[k][0]);
    }
    for k in 0..K {
        x[k][0] = lanes.halve(x[k][0]);
        x[k][1] = lanes.less(x[k][1], quotients[k]);
    }
}

/// The four quarters of a block, in vectors of eight.
#[inline(always)]
fn quarters(block: &mut [u64]) -> [&mut [[u64; 8]]; 4] {
    let quarter = block.len() / 4;
    let (left, right) = block.split_at_mut(2 * quarter);
    let ((a, b), (c, d)) = (left.split_at_mut(quarter), right.split_at_mut(quarter));
    [a, b, c, d].map(|part| part.as_chunks_mut::<8>().0)
}

/// How many values stay in the nearest cache: a block of at most this size takes all its levels before the
/// next block.
const NEAR: usize = 2048;

/// Two levels forward of neighbouring blocks of `len` values, of which the first takes the factor `first`.
#[inline(always)]
fn two_forth<W: Wide>(lanes: Lanes<W>, [w, s]: [&[u64]; 2], first: usize, len: usize, x: &mut [u64]) {
    for (i, block) in (first..).zip(x.chunks_exact_mut(len)) {
        let j = 2 * i;
        let [w1, s1, w2, s2, w3, s3] = [w[i], s[i], w[j], s[j], w[j + 1], s[j + 1]].map(W::splat);
        let [a, b, c, d] = quarters(block);
        for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
            let mut first = [[W::load(a), W::load(c)], [W::load(b), W::load(d)]];
            forth(lanes, &mut first, &[[w1, s1]; 2]);
            let [[a1, c1], [b1, d1]] = first;
            let mut second = [[a1, b1], [c1, d1]];
            forth(lanes, &mut second, &[[w2, s2], [w3, s3]]);
            let [[a2, b2], [c2, d2]] = second;
            a2.store(a);
            b2.store(b);
            c2.store(c);
            d2.store(d);
        }
    }
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
            let mut pair = [[W::load(a), W::load(b)]];
            forth(lanes, &mut pair, &[[w, s]]);
            pair[0][0].store(a);
            pair[0][1].store(b);
        }
        blocks = 2;
    }
    while n / blocks > NEAR {
        two_forth(lanes, [w, s], blocks, n / blocks, x);
        blocks *= 4;
    }
    let parts = blocks.min(n / 16);
    for (part, x) in x.chunks_exact_mut(n / parts).enumerate() {
        let mut blocks = blocks;
        while 8 * blocks < n {
            two_forth(lanes, [w, s], blocks + part * (blocks / parts), n / blocks, x);
            blocks *= 4;
        }
        let begin = part * (x.len() / 16);
        let (fours, rest) = x.as_chunks_mut::<16>().0.as_chunks_mut::<4>();
        let behind = begin + 4 * fours.len();
        fours.iter_mut().enumerate().for_each(|(i, x)| last(lanes, factors, n, begin + 4 * i, x));
        let ones = rest.iter_mut().enumerate();
        ones.for_each(|(i, x)| last(lanes, factors, n, behind + i, core::array::from_mut(x)));
    }
}

/// The last three levels of K times sixteen of the n values, from number 16 i on; values end below q.
#[inline(always)]
fn last<W: Wide, const K: usize>(
    lanes: Lanes<W>,
    factors: &Factors,
    n: usize,
    i: usize,
    x: &mut [[u64; 16]; K],
) {
    let (w, s) = (&factors.factor[..n], &factors.quotient[..n]);
    let (mut sides, mut factors) = ([[lanes.twice; 2]; K], [[lanes.twice; 2]; K]);
    for (x, sides) in x.iter_mut().zip(&mut sides) {
        let [one, two] = two(x);
        *sides = pick([W::load(one), W::load(two)], &SIDES[0]);
    }
    for (level, own) in FORTH.iter().enumerate() {
        for (k, factors) in factors.iter_mut().enumerate() {
            let from = (n / 8 + 2 * (i + k)) << level;
            *factors = [spread(&w[from..], level), spread(&s[from..], level)];
        }
        forth(lanes, &mut sides, &factors);
        for sides in &mut sides {
            *sides = pick(*sides, own);
        }
    }
    for (x, [a, b]) in x.iter_mut().zip(sides) {
        let [one, two] = two(x);
        lanes.once(lanes.halve(a)).store(one);
        lanes.once(lanes.halve(b)).store(two);
    }
}

/// Two levels back of neighbouring blocks, as [`two_forth`] has them.
#[inline(always)]
fn two_back<W: Wide>(lanes: Lanes<W>, [w, s]: [&[u64]; 2], first: usize, len: usize, x: &mut [u64]) {
    for (i, block) in (first..).zip(x.chunks_exact_mut(len)) {
        let j = 2 * i;
        let [w1, s1, w2, s2, w3, s3] = [w[i], s[i], w[j], s[j], w[j + 1], s[j + 1]].map(W::splat);
        let [a, b, c, d] = quarters(block);
        for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
            let mut first = [[W::load(a), W::load(b)], [W::load(c), W::load(d)]];
            back(lanes, &mut first, &[[w2, s2], [w3, s3]]);
            let [[a1, b1], [c1, d1]] = first;
            let mut second = [[a1, c1], [b1, d1]];
            back(lanes, &mut second, &[[w1, s1]; 2]);
            let [[a2, c2], [b2, d2]] = second;
            a2.store(a);
            b2.store(b);
            c2.store(c);
            d2.store(d);
        }
    }
}

#[inline(always)]
fn inverse_over<W: Wide>(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
    let (lanes, n) = (Lanes::<W>::new(m), x.len());
    let (w, s) = (&factors.factor[..n], &factors.quotient[..n]);
    // the last levels are for all values together, as the first ones are forward
    let mut far = if n.trailing_zeros() % 2 == 0 { 2 } else { 1 };
    while n / far > NEAR {
        far *= 4;
    }
    let parts = far.min(n / 16);
    for (part, x) in x.chunks_exact_mut(n / parts).enumerate() {
        let begin = part * (x.len() / 16);
        let (fours, rest) = x.as_chunks_mut::<16>().0.as_chunks_mut::<4>();
        let behind = begin + 4 * fours.len();
        fours.iter_mut().enumerate().for_each(|(i, x)| first_back(lanes, factors, n, begin + 4 * i, x));
        let ones = rest.iter_mut().enumerate();
        ones.for_each(|(i, x)| first_back(lanes, factors, n, behind + i, core::array::from_mut(x)));
        let mut blocks = n / 8;
        while blocks > far {
            blocks /= 4;
            two_back(lanes, [w, s], blocks + part * (blocks / parts), n / blocks, x);
        }
    }
    let mut blocks = far;
    while blocks >= 4 {
        blocks /= 4;
        two_back(lanes, [w, s], blocks, n / blocks, x);
    }
    if blocks == 2 {
        let (w, s) = (W::splat(w[1]), W::splat(s[1]));
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.as_chunks_mut::<8>().0.iter_mut().zip(right.as_chunks_mut::<8>().0) {
            let mut pair = [[W::load(a), W::load(b)]];
            back(lanes, &mut pair, &[[w, s]]);
            pair[0][0].store(a);
            pair[0][1].store(b);
        }
    }
    let (factor, quotient) = (W::splat(scale), W::splat(super::shoup(scale, m.get(), 52)));
    for x in x.as_chunks_mut::<8>().0 {
        lanes.once(lanes.times(W::load(x), factor, quotient)).store(x);
    }
}

/// The first three levels back, of as many values as [`last`] takes; values end below 2q.
#[inline(always)]
fn first_back<W: Wide, const K: usize>(
    lanes: Lanes<W>,
    factors: &Factors,
    n: usize,
    i: usize,
    x: &mut [[u64; 16]; K],
) {
    let (w, s) = (&factors.factor[..n], &factors.quotient[..n]);
    let (mut sides, mut factors) = ([[lanes.twice; 2]; K], [[lanes.twice; 2]; K]);
    for (x, sides) in x.iter_mut().zip(&mut sides) {
        let [one, two] = two(x);
        *sides = pick([W::load(one), W::load(two)], &SIDES[2]);
    }
    for (level, own) in BACK.iter().enumerate().rev() {
        for (k, factors) in factors.iter_mut().enumerate() {
            let from = (n / 8 + 2 * (i + k)) << level;
            *factors = [spread(&w[from..], level), spread(&s[from..], level)];
        }
        back(lanes, &mut sides, &factors);
        for sides in &mut sides {
            *sides = pick(*sides, own);
        }
    }
    for (x, [a, b]) in x.iter_mut().zip(sides) {
        let [one, two] = two(x);
        a.store(one);
        b.store(two);
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
