//! VerifySbox: whether a pair is x and x^254 (MAESTRO Protocol 7, lines 13 to 17).
//!
//! The paper checks x^2 y = x and x y^2 = y, which together hold exactly for y = x^254: the first alone leaves y free at x = 0, the
//! second alone admits y = 0. One multiplication does both (COSTS T4): (x^2 + Y x)(y + Y y^2) = x + Y^2 y. With u = xy the left is
//! x u + Y (u + u^2) + Y^2 u y; for a right pair u is 0 or 1 and both sides agree. 1, Y, Y^2 are independent over GF(2^8), so that
//! otherwise they differ: the test tries all 65,536 pairs \[A20\].
//!
//! Only for chains of lookups whose outputs are bound by what follows ([`super::lut256_additive`]); never in place of the products
//! of a circuit, where a pair does not bind what was multiplied \[A14\].

use super::{power, weights};
use crate::ledger::Relation;
use divisi_core::Check;
use divisi_field::Gf64;
use divisi_field::gf64::PSI8;

/// Planes of a record: x, then y.
pub(crate) const SBOX_PLANES: usize = 16;

/// Where a record has x and y.
pub(crate) const X: usize = 0;
pub(crate) const Y: usize = 8;

/// The relation of a pair. The mutant of A20 keeps the first equation alone, that of A12 takes Y = 1.
pub(crate) fn relations(mutated: impl Fn(Check) -> bool) -> Vec<Relation> {
    let psi = |i: u32| power(PSI8, i);
    let y = if mutated(Check::A12) { Gf64(1) } else { Gf64::Y };
    if mutated(Check::A20) {
        let first =
            Relation { x: weights(X, 8, |i| psi(2 * i)), y: weights(Y, 8, psi), z: weights(X, 8, psi) };
        return vec![first];
    }
    vec![Relation {
        x: weights(X, 8, |i| psi(2 * i) + y * psi(i)),
        y: weights(Y, 8, |i| psi(i) + y * psi(2 * i)),
        z: [weights(X, 8, psi), weights(Y, 8, |i| y * y * psi(i))].concat(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbox::tests::holds;
    use divisi_field::{Field, Gf8};

    #[test]
    fn it_holds_exactly_for_the_inverse() {
        let relation = &relations(|_| false)[0];
        for x in 0..=255u8 {
            for y in 0..=255u8 {
                let record = u64::from(x) | u64::from(y) << Y;
                assert_eq!(holds(relation, record), Gf8(x).inverse().0 == y, "{x:02x} {y:02x}");
            }
        }
    }
}
