//! A subfield in place of GF(2^128), for tests that measure the error of a check.
//!
//! GF(2^128) has a subfield of 2^b elements for each b that divides 128. If a thread, which is one party of a
//! test, has chosen one of them, the coefficients, points and factors that a check draws are elements of it,
//! and all else is unchanged: the same code runs, and a lie that passes with probability m / 2^128 in the
//! whole field passes with m / 2^b.

use divisi_field::{Field, Gf128};
use std::cell::Cell;

thread_local! {
    /// The powers 1, g, g^2, .. of an element g that generates the subfield of this thread, and b, the number
    /// of these powers that are used.
    static POWERS: Cell<Option<Powers>> = const { Cell::new(None) };
}

type Powers = ([Gf128; 8], usize);

/// x to a power.
fn pow(x: Gf128, power: u128) -> Gf128 {
    (0..128).rev().fold(Gf128::ONE, |y, bit| {
        let square = y * y;
        if power >> bit & 1 == 1 { square * x } else { square }
    })
}

/// The powers 1, g, g^2, .. of an element g that generates the subfield of 2^bits elements, and `bits`.
fn powers(bits: u32) -> Powers {
    let exponent = u128::MAX / ((1 << bits) - 1);
    // an element of the next smaller subfield does not generate this one
    let generates = |g: &Gf128| pow(*g, 1 << (bits / 2)) != *g;
    let generator = (2..).map(|x| pow(Gf128(x), exponent)).find(generates).unwrap_or(Gf128::ONE);
    let mut powers = [Gf128::ONE; 8];
    for i in 1..powers.len() {
        powers[i] = powers[i - 1] * generator;
    }
    (powers, bits as usize)
}

/// From now on this thread draws from the subfield of 2^bits elements; 4 or 8 bits.
///
/// # Panics
/// If `bits` is neither 4 nor 8.
pub fn begin(bits: u32) {
    assert!([4, 8].contains(&bits), "a subfield of 2^4 or of 2^8 elements");
    POWERS.set(Some(powers(bits)));
}

/// All elements of the subfield of 2^bits elements.
#[must_use]
pub fn elements(bits: u32) -> Vec<Gf128> {
    let powers = powers(bits);
    (0..1 << bits).map(|x| image(&powers, x)).collect()
}

fn image((powers, bits): &Powers, x: u128) -> Gf128 {
    (0..*bits).fold(Gf128::ZERO, |sum, i| sum + Gf128(powers[i].0 * (x >> i & 1)))
}

/// The element that a check uses for a uniform element `x`: `x` itself, or in a thread that draws from a
/// subfield the element of it that the low bits of `x` choose.
#[must_use]
pub fn drawn(x: Gf128) -> Gf128 {
    POWERS.get().map_or(x, |powers| image(&powers, x.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn elements_are_a_field() {
        for bits in [4, 8] {
            let all: HashSet<Gf128> = elements(bits).into_iter().collect();
            assert_eq!(all.len(), 1 << bits);
            assert!(
                all.iter().all(|x| all.iter().all(|y| all.contains(&(*x + *y)) && all.contains(&(*x * *y))))
            );
        }
        assert_eq!(drawn(Gf128(77)), Gf128(77));
        begin(4);
        assert!((0..16).all(|x| elements(4)[x] == drawn(Gf128(x as u128 | 0xff00))));
    }
}
