//! VerifySbox: whether a pair is x and x^254 (MAESTRO Protocol 7, lines 13 to 17).
//!
//! The paper checks x^2 y = x and x y^2 = y, which together hold exactly for y = x^254: the first alone
//! leaves y free at x = 0, the second alone admits y = 0. One multiplication does both (docs/lookups.md, 4):
//! (x^2 + Y x)(y + Y y^2) = x + Y^2 y. With u = xy the left is x u + Y (u + u^2) + Y^2 u y; for a right pair
//! u is 0 or 1 and both sides agree. 1, Y, Y^2 are independent over GF(2^8), so that otherwise both sides
//! differ: the test tries all 65,536 pairs \[A20\].
//!
//! Only for chains of lookups whose outputs are bound by what follows ([`super::lut256_additive`]); never in
//! place of the products of a circuit, where a pair does not bind what was multiplied \[A14\].

use crate::checks;
use crate::record::Kind;
use crate::relation::{Relation, pair_weights, power, weights};
use crate::small::{FACTOR, PRODUCT, Small, element, factor, pair8};
use divisi_field::gf64::PSI8;
use divisi_field::{Gf64, Plane, Word, gf8};

/// Planes of a record: x, then y.
pub(crate) const SBOX_PLANES: usize = 16;

/// Where a record has x and y.
pub(crate) const X: usize = 0;
pub(crate) const Y: usize = 8;

/// What must hold of a record.
pub(crate) static KIND: Kind<SBOX_PLANES> =
    Kind { checks: &[checks::A20], drawn: 0, relations: |_| relations().into(), products: &[Some(&Pair)] };

/// The relation of a pair.
pub(crate) fn relations() -> [Relation; 1] {
    let psi = |i: u32| power(PSI8, i);
    let y = Gf64::Y;
    [Relation {
        x: weights(X, 8, |i| psi(2 * i) + y * psi(i)),
        y: weights(Y, 8, |i| psi(i) + y * psi(2 * i)),
        z: [weights(X, 8, psi), weights(Y, 8, |i| y * y * psi(i))].concat(),
        product: pair_weights(8, PSI8, y, y),
    }]
}

/// (x^2 + Y x)(y + Y y^2) in GF(2^8).
pub(crate) struct Pair;

impl Small<SBOX_PLANES> for Pair {
    const X: usize = 16;
    const Y: usize = 16;
    const Z: usize = 24;

    #[inline(always)]
    fn factors<W: Word>(record: &[Plane; SBOX_PLANES]) -> [[W; FACTOR]; 2] {
        let (x, y) = (element::<W, SBOX_PLANES, 8>(record, X), element::<W, SBOX_PLANES, 8>(record, Y));
        [factor([gf8::square(&x), x]), factor([y, gf8::square(&y)])]
    }

    #[inline(always)]
    fn multiply<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
        pair8(x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::tests::holds;
    use crate::small::agree;
    use divisi_field::{Field, Gf8};

    #[test]
    fn it_holds_exactly_for_the_inverse() {
        let [relation] = &relations();
        agree::<SBOX_PLANES, Pair>(relation);
        for x in 0..=255u8 {
            for y in 0..=255u8 {
                let record = u64::from(x) | u64::from(y) << Y;
                assert_eq!(holds(relation, record), Gf8(x).inverse().0 == y, "{x:02x} {y:02x}");
            }
        }
    }
}
