//! Transforms on 64-bit integers over primes of 51 to 62 bits: Harvey's butterflies with one conditional
//! subtraction each, because a word has only two spare bits. Values stay below 4q in the forward direction,
//! and below 2q in the inverse one.
//!
//! AVX-512 has low words of 64-bit products, and no high ones. These are made of products of 32 bits, and the
//! compiler makes vector code of the loops at distance 8 and more. Other kernels would gain nothing.

use super::Factors;
use crate::kernel::{self, Kernel, vectorize};
use crate::zp::Modulus;

/// The shortest distance of butterflies for vector code.
const VECTOR: usize = 8;
/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

/// The high word of a product, of four products of 32 bits.
#[inline(always)]
fn high_of_halves(x: u64, y: u64) -> u64 {
    let (x1, x0, y1, y0) = (x >> 32, x & HALF, y >> 32, y & HALF);
    // no sum is above 2^64, as (2^32 - 1)^2 + 2 (2^32 - 1) is below it
    let middle = x1 * y0 + ((x0 * y0) >> 32);
    let other = x0 * y1 + (middle & HALF);
    x1 * y1 + (middle >> 32) + (other >> 32)
}

/// x w modulo q, below 2q, for any x.
#[inline(always)]
fn times<const HALVES: bool>(q: u64, x: u64, w: u64, quotient: u64) -> u64 {
    let over = if HALVES {
        high_of_halves(x, quotient)
    } else {
        ((u128::from(x) * u128::from(quotient)) >> 64) as u64
    };
    x.wrapping_mul(w).wrapping_sub(over.wrapping_mul(q))
}

/// Maps a value below 4q to one below 2q.
#[inline(always)]
fn below_two(q: u64, x: u64) -> u64 {
    x.min(x.wrapping_sub(2 * q))
}

/// Maps pairs (a, b), all below 4q, to (a + w b, a - w b), below 4q.
#[inline(always)]
fn forth<const HALVES: bool>(q: u64, left: &mut [u64], right: &mut [u64], w: u64, quotient: u64) {
    for (a, b) in left.iter_mut().zip(right) {
        let (x, v) = (below_two(q, *a), times::<HALVES>(q, *b, w, quotient));
        (*a, *b) = (x + v, x + 2 * q - v);
    }
}

/// Maps pairs (a, b), all below 2q, to (a + b, (a - b) w), below 2q.
#[inline(always)]
fn back<const HALVES: bool>(q: u64, left: &mut [u64], right: &mut [u64], w: u64, quotient: u64) {
    for (a, b) in left.iter_mut().zip(right) {
        (*a, *b) = (below_two(q, *a + *b), times::<HALVES>(q, *a + 2 * q - *b, w, quotient));
    }
}

#[inline(always)]
fn forward_by<const VECTORS: bool>(m: Modulus, factors: &Factors, x: &mut [u64]) {
    let (q, n) = (m.get(), x.len());
    let mut blocks = 1;
    while blocks < n {
        let half = n / blocks / 2;
        let all = factors.factor.iter().zip(&factors.quotient).skip(blocks);
        for (block, (w, s)) in x.chunks_exact_mut(2 * half).zip(all) {
            let (left, right) = block.split_at_mut(half);
            if VECTORS && half >= VECTOR {
                forth::<true>(q, left, right, *w, *s);
            } else {
                forth::<false>(q, left, right, *w, *s);
            }
        }
        blocks *= 2;
    }
    x.iter_mut().for_each(|x| *x = m.once(below_two(q, *x)));
}

#[inline(always)]
fn inverse_by<const VECTORS: bool>(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
    let (q, n) = (m.get(), x.len());
    let mut blocks = n / 2;
    while blocks >= 1 {
        let half = n / blocks / 2;
        let all = factors.factor.iter().zip(&factors.quotient).skip(blocks);
        for (block, (w, s)) in x.chunks_exact_mut(2 * half).zip(all) {
            let (left, right) = block.split_at_mut(half);
            if VECTORS && half >= VECTOR {
                back::<true>(q, left, right, *w, *s);
            } else {
                back::<false>(q, left, right, *w, *s);
            }
        }
        blocks /= 2;
    }
    let quotient = super::shoup(scale, q, 64);
    x.iter_mut().for_each(|x| *x = m.once(times::<VECTORS>(q, *x, scale, quotient)));
}

pub(super) fn forward(m: Modulus, factors: &Factors, x: &mut [u64]) {
    if kernel::active() == Kernel::Avx512 {
        vectorize(
            #[inline(always)]
            || forward_by::<true>(m, factors, x),
        );
    } else {
        forward_by::<false>(m, factors, x);
    }
}

pub(super) fn inverse(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
    if kernel::active() == Kernel::Avx512 {
        vectorize(
            #[inline(always)]
            || inverse_by::<true>(m, factors, scale, x),
        );
    } else {
        inverse_by::<false>(m, factors, scale, x);
    }
}
