//! Transforms on 64-bit integers: Harvey's butterflies without their reductions. With q < 2^50 a word has 14
//! spare bits. In the forward direction every level increases the bound on values by 2q, and 2^17
//! coefficients have 17 levels: values stay below 35q. In the inverse direction every level doubles the
//! bound, so values are reduced after eight levels.

use super::Factors;
use crate::zp::Modulus;

/// x w modulo q, below 2q, for any x.
#[inline(always)]
fn times(q: u64, x: u64, w: u64, quotient: u64) -> u64 {
    let over = ((u128::from(x) * u128::from(quotient)) >> 64) as u64;
    x.wrapping_mul(w).wrapping_sub(over.wrapping_mul(q))
}

/// Maps (a, b) to (a + w b, a - w b); results are at most 2q larger than a.
#[inline(always)]
fn forth(q: u64, a: u64, b: u64, w: u64, quotient: u64) -> (u64, u64) {
    let v = times(q, b, w, quotient);
    (a + v, a + 2 * q - v)
}

/// Maps (a, b) to (a + b, (a - b) w); b is at most `bound`, a multiple of q.
#[inline(always)]
fn back(q: u64, bound: u64, a: u64, b: u64, w: u64, quotient: u64) -> (u64, u64) {
    (a + b, times(q, a + bound - b, w, quotient))
}

pub(super) fn forward(m: Modulus, factors: &Factors, x: &mut [u64]) {
    let (q, n) = (m.get(), x.len());
    let (w, s) = (&factors.factor[..n], &factors.quotient[..n]);
    let mut blocks = 1;
    // a single level first if their number is odd, then two at a time, so that each word is loaded half as
    // often
    if n.trailing_zeros() % 2 == 1 {
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.iter_mut().zip(right) {
            (*a, *b) = forth(q, *a, *b, w[1], s[1]);
        }
        blocks = 2;
    }
    while blocks < n {
        let quarter = n / blocks / 4;
        for (i, block) in x.chunks_exact_mut(4 * quarter).enumerate() {
            let (i, j) = (blocks + i, 2 * (blocks + i));
            let (w1, s1, w2, s2, w3, s3) = (w[i], s[i], w[j], s[j], w[j + 1], s[j + 1]);
            let (left, right) = block.split_at_mut(2 * quarter);
            let ((a, b), (c, d)) = (left.split_at_mut(quarter), right.split_at_mut(quarter));
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a1, c1) = forth(q, *a, *c, w1, s1);
                let (b1, d1) = forth(q, *b, *d, w1, s1);
                (*a, *b) = forth(q, a1, b1, w2, s2);
                (*c, *d) = forth(q, c1, d1, w3, s3);
            }
        }
        blocks *= 4;
    }
    x.iter_mut().for_each(|x| *x = m.reduce(*x));
}

pub(super) fn inverse(m: Modulus, factors: &Factors, scale: u64, x: &mut [u64]) {
    let (q, n) = (m.get(), x.len());
    let (w, s) = (&factors.factor[..n], &factors.quotient[..n]);
    let (mut blocks, mut bound) = (n, 2 * q);
    while blocks >= 4 {
        if bound > q << 8 {
            x.iter_mut().for_each(|x| *x = m.reduce(*x));
            bound = 2 * q;
        }
        blocks /= 4;
        let quarter = n / blocks / 4;
        for (i, block) in x.chunks_exact_mut(4 * quarter).enumerate() {
            let (i, j) = (blocks + i, 2 * (blocks + i));
            let (w1, s1, w2, s2, w3, s3) = (w[i], s[i], w[j], s[j], w[j + 1], s[j + 1]);
            let (left, right) = block.split_at_mut(2 * quarter);
            let ((a, b), (c, d)) = (left.split_at_mut(quarter), right.split_at_mut(quarter));
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                let (a1, b1) = back(q, bound, *a, *b, w2, s2);
                let (c1, d1) = back(q, bound, *c, *d, w3, s3);
                (*a, *c) = back(q, 2 * bound, a1, c1, w1, s1);
                (*b, *d) = back(q, 2 * bound, b1, d1, w1, s1);
            }
        }
        bound *= 4;
    }
    if blocks == 2 {
        let (left, right) = x.split_at_mut(n / 2);
        for (a, b) in left.iter_mut().zip(right) {
            (*a, *b) = back(q, bound, *a, *b, w[1], s[1]);
        }
    }
    let quotient = super::shoup(scale, q, 64);
    x.iter_mut().for_each(|x| *x = m.once(times(q, *x, scale, quotient)));
}
