//! gf4-circuit: MAESTRO Protocol 3 with the small inverse as a power, v^-1 = v^14 = v^2 v^4 v^8.
//!
//! Adversary: that of [`crate::multiply`], who can add an error to each product until the batch is verified.
//! Cost an S-box: 5 products in GF(2^4), 20 bits, 4 rounds (test `cost_gf4_circuit`). Decryption costs the
//! same.
//!
//! | step of Protocol 3 | here | round |
//! |---|---|---|
//! | 1 Phi | `Begin` | |
//! | 6, 7, 9 a_h a_l, v | `Begin`, `Norm` | 1 |
//! | 8 v^-1 by two products: v^6 = v^2 v^4, v^14 = v^6 v^8 | `Norm`, `Inverse`, `Outer` | 2, 3 |
//! | 10, 11 a'_h, a'_l | `Outer`, `Finish` | 4 |
//! | 12 Phi^-1 | `Finish` | |
//!
//! Verified by two relations over GF(2^64) instead of the paper's three (Eq. 3, v^6, v^14). With psi the
//! embedding of GF(2^4) and alpha of degree at least 3 over it \[A12\]:
//!
//! 1. Eq. 3, [`eq_3`]: errors d_v, d_1, d_2 of the three products leave d_v + alpha d_1 + alpha^2 (d_1 +
//!    d_2).
//! 2. (v^2 + alpha v^6)(v^4 + alpha v^8) = v^6 + alpha^2 v^14: the cross terms alpha v^10 cancel. Errors d_1
//!    of v^6 and d_2 of v^14 leave d_1 + alpha d_1 v^4 + alpha^2 d_2 (docs/lookups.md, 1).
//!
//! 1, alpha, alpha^2 are independent over GF(2^4), so that each sum is zero exactly when all its errors are
//! \[A14, A15\]: the tests below try every input and every error.

use super::around_inverse::{A_H, A_L, Eq3, Finish, Places, V, begin, eq_3, norm, outer};
use super::{Layer, LayerKind, Owed, Sbox, load, store, trim};
use crate::checks;
use crate::multiply::mult_local;
use crate::record::{Kind, Record, Records};
use crate::relation::{Relation, pair_weights, power, weights};
use crate::small::{FACTOR, PRODUCT, Small, element, factor, pair4};
use crate::tile::Tile;
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};
use divisi_field::gf64::{ALPHA, PSI4};
use divisi_field::kernel::{Task, run};
use divisi_field::{Plane, Word, gf4};
use zeroize::Zeroizing;

/// Planes of a record.
pub(crate) const GF4_PLANES: usize = 28;

// Where each element begins in a record.
const V6: usize = 12;
const V14: usize = 16;
const PLACES: Places = Places { v_inverse: V14, b_h: 20, b_l: 24 };

const HM: Step = step!("a_h a_l");
const SIXTH: Step = step!("v6");
const FOURTEENTH: Step = step!("v14");
const OUTER: Step = step!("outer");

/// Inversion in GF(2^8) by powers in GF(2^4).
pub(crate) struct Gf4Circuit;

impl Sbox for Gf4Circuit {
    fn name(&self) -> &'static str {
        "gf4-circuit"
    }

    fn rounds(&self) -> usize {
        4
    }

    fn bits(&self) -> usize {
        20
    }

    /// With so many blocks a message of a step has 64 KiB and costs less than the arithmetic of the step, and
    /// what is owed to the verification stays below 32 MiB.
    fn blocks_at_once(&self) -> usize {
        8192
    }

    fn layer_kind(&self) -> LayerKind {
        LayerKind::Replicated(|trio, layer, _, _| {
            Ok(Owed::Products(Record::new(&KIND, self::layer(trio, layer)?)))
        })
    }
}

/// Computes one layer; returns the records that it owes.
pub(crate) fn layer(trio: &mut Trio, layer: &mut Layer<'_, '_>) -> Result<Records<GF4_PLANES>, Abort> {
    let mut made = layer.records::<GF4_PLANES>(&trio.pool);
    let (around, shape) = (layer.around(), layer.shape.clone());
    let n = shape.0.len();
    let mut z = Zeroizing::new(vec![[Plane::ZERO; 4]; n]);

    // 1-7. Phi, and our share of a_h a_l
    for ((record, tile), z) in made.iter_mut().zip(layer.tiles()).zip(z.iter_mut()) {
        run(Begin { record, tile, around, z });
    }
    trim(made.iter_mut(), &shape);
    let second = trio.reshare(HM, &mut z, &shape)?;
    // 7. v, and our share of v^6
    run(Norm { records: &mut made, z: &mut z, second: &second });
    let second = trio.reshare(SIXTH, &mut z, &shape)?;
    // 8. our share of v^14
    run(Inverse { records: &mut made, z: &mut z, second: &second });
    let second = trio.reshare(FOURTEENTH, &mut z, &shape)?;
    // 10, 11. our shares of a'_h and a'_l
    let mut outer = Zeroizing::new(vec![[Plane::ZERO; 8]; n]);
    run(Outer { records: &mut made, z: &z, second: &second, outer: &mut outer });
    let second = trio.reshare(OUTER, &mut outer, &shape)?;
    // 12. Phi^-1
    for (((record, tile), first), second) in
        made.iter_mut().zip(layer.tiles()).zip(outer.iter()).zip(second.iter())
    {
        run(Finish { record, places: PLACES, tile, around, first, second });
    }
    trim(layer.tiles(), &shape);
    Ok(made)
}

struct Begin<'a> {
    record: &'a mut Tile<GF4_PLANES>,
    tile: &'a Tile<8>,
    around: super::Around,
    z: &'a mut [Plane; 4],
}

impl Task for Begin<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let [h, l] = begin::<W, GF4_PLANES>(self.record, self.tile, self.around);
        W::store_all(
            &mult_local(
                &h,
                &l,
                #[inline(always)]
                |x, y| gf4::mul(x, y),
            ),
            self.z,
        );
    }
}

struct Norm<'a> {
    records: &'a mut [Tile<GF4_PLANES>],
    z: &'a mut [[Plane; 4]],
    second: &'a [[Plane; 4]],
}

impl Task for Norm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for ((record, z), second) in self.records.iter_mut().zip(self.z).zip(self.second) {
            let (h, l) = (load::<W, 4, _>(record, A_H), load::<W, 4, _>(record, A_L));
            let v: [[W; 4]; 2] =
                [norm(&h[0], &l[0], &W::load_all(z)), norm(&h[1], &l[1], &W::load_all(second))];
            store(&mut record[0], V, &v[0]);
            store(&mut record[1], V, &v[1]);
            let v2 = [gf4::square(&v[0]), gf4::square(&v[1])];
            let v4 = [gf4::square(&v2[0]), gf4::square(&v2[1])];
            W::store_all(
                &mult_local(
                    &v2,
                    &v4,
                    #[inline(always)]
                    |x, y| gf4::mul(x, y),
                ),
                z,
            );
        }
    }
}

/// x^8.
#[inline(always)]
fn eighth<W: Word>(x: &[W; 4]) -> [W; 4] {
    gf4::square(&gf4::square(&gf4::square(x)))
}

struct Inverse<'a> {
    records: &'a mut [Tile<GF4_PLANES>],
    z: &'a mut [[Plane; 4]],
    second: &'a [[Plane; 4]],
}

impl Task for Inverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for ((record, z), second) in self.records.iter_mut().zip(self.z).zip(self.second) {
            let v6: [[W; 4]; 2] = [W::load_all(z), W::load_all(second)];
            store(&mut record[0], V6, &v6[0]);
            store(&mut record[1], V6, &v6[1]);
            let v = load::<W, 4, _>(record, V);
            W::store_all(
                &mult_local(
                    &v6,
                    &[eighth(&v[0]), eighth(&v[1])],
                    #[inline(always)]
                    |x, y| gf4::mul(x, y),
                ),
                z,
            );
        }
    }
}

struct Outer<'a> {
    records: &'a mut [Tile<GF4_PLANES>],
    z: &'a [[Plane; 4]],
    second: &'a [[Plane; 4]],
    outer: &'a mut [[Plane; 8]],
}

impl Task for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (((record, z), second), outer_z) in
            self.records.iter_mut().zip(self.z).zip(self.second).zip(self.outer)
        {
            let v14: [[W; 4]; 2] = [W::load_all(z), W::load_all(second)];
            store(&mut record[0], V14, &v14[0]);
            store(&mut record[1], V14, &v14[1]);
            store(outer_z, 0, &outer(record, &v14));
        }
    }
}

/// What must hold of a record.
pub(crate) static KIND: Kind<GF4_PLANES> = Kind {
    checks: &[checks::A14, checks::A15],
    drawn: 0,
    relations: |_| relations().into(),
    products: &[Some(&Eq3::<V14>), Some(&Powers)],
};

/// The relations of a record: Eq. 3, and the powers of v.
pub(crate) fn relations() -> [Relation; 2] {
    let psi = |i: u32| power(PSI4, i);
    let alpha = ALPHA;
    let powers = Relation {
        x: [weights(V, 4, |i| psi(2 * i)), weights(V6, 4, |i| alpha * psi(i))].concat(),
        y: weights(V, 4, |i| psi(4 * i) + alpha * psi(8 * i)),
        z: [weights(V6, 4, psi), weights(V14, 4, |i| alpha * alpha * psi(i))].concat(),
        product: pair_weights(4, PSI4, alpha, alpha),
    };
    [eq_3(PLACES, alpha), powers]
}

/// (v^2 + alpha v^6)(v^4 + alpha v^8) in the small field.
pub(crate) struct Powers;

impl Small<GF4_PLANES> for Powers {
    const X: usize = 8;
    const Y: usize = 8;
    const Z: usize = 12;

    #[inline(always)]
    fn factors<W: Word>(record: &[Plane; GF4_PLANES]) -> [[W; FACTOR]; 2] {
        let v2 = gf4::square(&element::<W, GF4_PLANES, 4>(record, V));
        let v4 = gf4::square(&v2);
        [factor([v2, element(record, V6)]), factor([v4, gf4::square(&v4)])]
    }

    #[inline(always)]
    fn multiply<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
        pair4(x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::tests::holds;
    use crate::sbox::around_inverse::tests::{self, elements, record};
    use crate::small::agree;
    use divisi_field::{Field, Gf4};

    /// All 4,096 cases.
    #[test]
    fn the_powers_fail_exactly_when_a_product_is_wrong() {
        let [_, powers] = relations();
        for v in elements() {
            for d1 in elements() {
                for d2 in elements() {
                    let (v2, v4) = (v.square(), v.square().square());
                    let v6 = v2 * v4 + d1;
                    let v14 = v6 * v4.square() + d2;
                    let right = d1 == Gf4::ZERO && d2 == Gf4::ZERO;
                    assert_eq!(holds(&powers, record(&[(V, v), (V6, v6), (V14, v14)])), right);
                }
            }
        }
    }

    #[test]
    fn eq_3_fails_exactly_when_a_product_is_wrong() {
        let [eq_3, _] = relations();
        tests::eq_3_fails_exactly_when_a_product_is_wrong(&eq_3, PLACES);
    }

    #[test]
    fn the_small_field_agrees() {
        let [eq_3, powers] = relations();
        agree::<GF4_PLANES, Eq3<V14>>(&eq_3);
        agree::<GF4_PLANES, Powers>(&powers);
    }
}
