//! The slow reference for all fields of this module: shift and add.

use crate::Field;

pub(super) fn mul<F: Field, const MODULUS: u128>(x: F, y: F) -> F {
    F::from_low_bits(product(x.to_bits(), y.to_bits(), MODULUS))
}

/// The product of two polynomials modulo a third, one bit at a time.
pub(super) fn product(mut x: u128, mut y: u128, modulus: u128) -> u128 {
    let degree = modulus.ilog2();
    let mut sum = 0;
    while y > 0 {
        if y & 1 == 1 {
            sum ^= x;
        }
        (x, y) = (x << 1, y >> 1);
        if x >> degree & 1 == 1 {
            x ^= modulus;
        }
    }
    sum
}

/// Rabin's test: y^(2^d) = y, and for every prime q that divides d, y^(2^(d/q)) - y has no common factor with
/// the modulus.
pub(super) fn is_irreducible(modulus: u128) -> bool {
    let degree = modulus.ilog2();
    let frobenius = |times: u32| (0..times).fold(2, |x, _| product(x, x, modulus));
    let primes = (2..=degree).filter(|q| degree.is_multiple_of(*q) && (2..*q).all(|d| q % d != 0));
    frobenius(degree) == 2 && primes.into_iter().all(|q| gcd(modulus, frobenius(degree / q) ^ 2) == 1)
}

fn gcd(mut x: u128, mut y: u128) -> u128 {
    while y != 0 {
        while x != 0 && x.ilog2() >= y.ilog2() {
            x ^= y << (x.ilog2() - y.ilog2());
        }
        (x, y) = (y, x);
    }
    x
}
