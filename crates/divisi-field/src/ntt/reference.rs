//! The slow reference: every value by Horner's rule, and the product of polynomials by its definition.

use crate::zp::Modulus;

pub(super) fn forward(q: Modulus, root: u64, x: &[u64]) -> Vec<u64> {
    let (n, mul, add) = (x.len(), slow_mul(q), |a, b| (a + b) % q.get());
    let shift = usize::BITS - n.trailing_zeros();
    let value = |i: usize| {
        let at = (0..2 * (i.reverse_bits() >> shift) + 1).fold(1, |power, _| mul(power, root));
        x.iter().rev().fold(0, |sum, c| add(mul(sum, at), *c))
    };
    (0..n).map(value).collect()
}

/// x y mod X^N + 1.
pub(super) fn product(q: Modulus, x: &[u64], y: &[u64]) -> Vec<u64> {
    let (n, mul) = (x.len(), slow_mul(q));
    let mut out = vec![0; n];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            let term = mul(*x, *y);
            let term = if i + j < n { term } else { (q.get() - term) % q.get() };
            out[(i + j) % n] = (out[(i + j) % n] + term) % q.get();
        }
    }
    out
}

fn slow_mul(q: Modulus) -> impl Fn(u64, u64) -> u64 {
    move |a, b| (u128::from(a) * u128::from(b) % u128::from(q.get())) as u64
}
