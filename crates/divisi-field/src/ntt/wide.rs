//! Transforms on 64-bit integers over primes of 51 to 62 bits: Harvey's butterflies with one conditional
//! subtraction each, because a word has only two spare bits. Values stay below 4q in the forward direction,
//! and below 2q in the inverse one.

use super::Factors;
use crate::zp::Modulus;

/// x w modulo q, below 2q, for any x.
#[inline(always)]
fn times(q: u64, x: u64, w: u64, quotient: u64) -> u64 {
    let over = ((u128::from(x) * u128::from(quotient)) >> 64) as u64;
    x.wrapping_mul(w).wrapping_sub(over.wrapping_mul(q))
}

/// Maps a value below 4q to one below 2q.
#[inline(always)]
fn below_two(q: u64, x: u64) -> u64 {
    x.min(x.wrapping_sub(2 * q))
}

/// Maps (a, b), both below 4q, to (a + w b, a - w b), both below 4q.
#[inline(always)]
fn forth(q: u64, a: u64, b: u64, w: u64, quotient: u64) -> (u64, u64) {
    let (a, v) = (below_two(q, a), times(q, b, w, quotient));
    (a + v, a + 2 * q - v)
}

/// Maps (a, b), both below 2q, to (a + b, (a - b) w), both below 2q.
#[inline(always)]
fn back(q: u64, a: u64, b: u64, w: u64, quotient: u64) -> (u64, u64) {
    (below_two(q, a + b), times(q, a + 2 * q - b, w, quotient))
}

pub(super) fn forward(m: Modulus, factors: &Factors, x: &mut [u64]) {
    let (q, n) = (m.get(), x.len());
    let mut blocks = 1;
    while blocks < n {
        let half = n / blocks / 2;
        let all = factors.factor.iter().zip(&factors.quotient).skip(blocks);
        for (block, (w, s)) in x.chunks_exact_mut(2 * half).zip(all) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = forth(q, *a, *b, *w, *s);
            }
        }
        blocks *= 2;
    }
    x.iter_mut().for_each(|x| *x = m.once(below_two(q, *x)));
}

pub(super) fn inverse(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
    let (q, n) = (m.get(), x.len());
    let mut blocks = n / 2;
    while blocks >= 1 {
        let half = n / blocks / 2;
        let all = factors.factor.iter().zip(&factors.quotient).skip(blocks);
        for (block, (w, s)) in x.chunks_exact_mut(2 * half).zip(all) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = back(q, *a, *b, *w, *s);
            }
        }
        blocks /= 2;
    }
    let quotient = super::shoup(scale, q, 64);
    x.iter_mut().for_each(|x| *x = m.once(times(q, *x, scale, quotient)));
}
