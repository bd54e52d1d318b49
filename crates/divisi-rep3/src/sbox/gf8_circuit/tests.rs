//! The relations of the S-box fail for every error, as the small field computes them, too.

use super::*;
use crate::relation::tests::{difference, holds, rank};
use crate::small::agree;
use divisi_field::{Field, Gf8};

fn record(x: Gf8, x3: Gf8, x14: Gf8, x15: Gf8, x254: Gf8) -> u64 {
    u64::from_le_bytes([x.0, x3.0, x14.0, x15.0, x254.0, 0, 0, 0])
}

/// The difference is that of the header, linear in the errors for every x; and as its 24 values on a basis of
/// the errors are independent for every x, of the 2^24 errors only zero gives zero.
#[test]
fn the_powers_fail_exactly_when_a_product_is_wrong() {
    let [powers, _] = &relations();
    for x in (0..=255).map(Gf8) {
        let (y, one) = (Gf64::Y, Gf64(1));
        let of = |d1: Gf8, d2: Gf8, d3: Gf8| {
            let [x, d1, d2, d3] = [x, d1, d2, d3].map(Gf64::from);
            d1 * (one + y * y * x) + y * d2 + y * y * y * d3
        };
        let basis = (0..24).map(|i| {
            let bit = |k: usize| if i / 8 == k { Gf8(1 << (i % 8)) } else { Gf8(0) };
            of(bit(0), bit(1), bit(2))
        });
        assert_eq!(rank(basis), 24);
        for d in (0..=255).map(Gf8) {
            for [d1, d2, d3] in [[d, x, x], [x, d, Gf8(7)], [Gf8(d.0.rotate_left(3)), Gf8(1), d]] {
                let x3 = x * x.square() + d1;
                let x12 = x3.square().square();
                let record = record(x, x3, x12 * x.square() + d2, x12 * x3 + d3, Gf8(0));
                assert_eq!(difference(powers, record), of(d1, d2, d3));
            }
        }
    }
}

/// Every x with every single error, and with pairs and triples that would cancel if 1, Y, Y^2, Y^3 were
/// not independent.
#[test]
fn the_powers_fail_on_errors_that_could_cancel() {
    let [powers, _] = &relations();
    for x in (0..=255).map(Gf8) {
        for d in (0..=255).map(Gf8) {
            let other = Gf8(d.0.rotate_left(3) ^ x.0);
            let z = Gf8(0);
            for [d1, d2, d3] in
                [[d, z, z], [z, d, z], [z, z, d], [d, d, z], [z, d, d], [d, z, d], [d, other, d]]
            {
                let x3 = x * x.square() + d1;
                let x12 = x3.square().square();
                let (x14, x15) = (x12 * x.square() + d2, x12 * x3 + d3);
                let right = [d1, d2, d3] == [z; 3];
                assert_eq!(holds(powers, record(x, x3, x14, x15, z)), right);
            }
        }
    }
}

#[test]
fn the_last_product_fails_exactly_when_it_is_wrong() {
    let [_, last] = &relations();
    for x14 in (0..=255).map(Gf8) {
        for x15 in (0..=255).map(Gf8) {
            let right = x15.square().square().square().square() * x14;
            assert!(holds(last, record(Gf8(0), Gf8(0), x14, x15, right)));
            assert!(!holds(last, record(Gf8(0), Gf8(0), x14, x15, right + Gf8(x14.0 | 1))));
        }
    }
}

#[test]
fn the_powers_make_the_inverse() {
    for x in (0..=255).map(Gf8) {
        let x3 = x * x.square();
        let x12 = x3.square().square();
        let x240 = (x12 * x3).square().square().square().square();
        assert_eq!(x240 * (x12 * x.square()), x.inverse());
    }
}

#[test]
fn the_small_field_agrees() {
    let [powers, last] = &relations();
    agree::<GF8_PLANES, Powers>(powers);
    agree::<GF8_PLANES, Last254>(last);
}
