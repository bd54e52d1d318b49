//! gf4-circuit: MAESTRO Protocol 3 with the small inverse as a power, v^-1 = v^14 = v^2 v^4 v^8.
//!
//! Adversary: as [`crate::multiply`]: an error can be added to each product until the batch is verified.
//! Cost an S-box: 5 products in GF(2^4), 20 bits, 4 rounds (test `cost_gf4_circuit`). Decryption costs the same.
//!
//! | step of Protocol 3 | here | round |
//! |---|---|---|
//! | 1 Phi | `Begin` | |
//! | 6, 7, 9 a_h a_l, v | `Begin`, `Norm` | 1 |
//! | 8 v^-1 by two products: v^6 = v^2 v^4, v^14 = v^6 v^8 | `Norm`, `Inverse`, `Outer` | 2, 3 |
//! | 10, 11 a'_h, a'_l | `Outer`, `Finish` | 4 |
//! | 12 Phi^-1 | `Finish` | |
//!
//! Verified by two relations over GF(2^64) instead of the paper's three (Eq. 3, v^6, v^14). With psi the embedding of GF(2^4)
//! and alpha of degree at least 3 over it \[A12\]:
//!
//! 1. Eq. 3 (ERRATA): (a_h + alpha a_l)(a_l + alpha v^-1) = a_h a_l + alpha (a'_h + a_l^2) + alpha^2 (a'_l + a'_h), where
//!    a_h a_l = v + {E} a_h^2 + a_l^2. Errors d_v, d_1, d_2 of the three products leave d_v + alpha d_1 + alpha^2 (d_1 + d_2).
//! 2. (v^2 + alpha v^6)(v^4 + alpha v^8) = v^6 + alpha^2 v^14: the cross terms alpha v^10 cancel. Errors d_1 of v^6 and d_2 of
//!    v^14 leave d_1 + alpha d_1 v^4 + alpha^2 d_2 (COSTS T2).
//!
//! 1, alpha, alpha^2 are independent over GF(2^4), so that each is zero exactly when all its errors are \[A14, A15\]: the tests
//! below try every input and every error.

use super::{Layer, load, power, store, trim, weights};
use crate::Trio;
use crate::ledger::{Records, Relation};
use crate::multiply::{mult_local, sum};
use crate::share::Tile;
use divisi_core::{Abort, Check, Step, step};
use divisi_field::gf64::{ALPHA, PSI4};
use divisi_field::kernel::{Task, run};
use divisi_field::{Gf4, Gf64, Plane, Word, gf4, gf8::tower};
use zeroize::Zeroizing;

/// Planes of a record.
pub(crate) const GF4_PLANES: usize = 28;

// Where each element begins in a record.
const A_H: usize = 0;
const A_L: usize = 4;
const V: usize = 8;
const V6: usize = 12;
const V14: usize = 16;
const B_H: usize = 20;
const B_L: usize = 24;

/// {E} of Eq. 2.
const E: Gf4 = Gf4::new(0xe);

const HM: Step = step!("a_h a_l");
const SIXTH: Step = step!("v6");
const FOURTEENTH: Step = step!("v14");
const OUTER: Step = step!("outer");

/// One layer; what it owes.
pub(crate) fn layer(trio: &mut Trio, layer: &mut Layer<'_, '_>) -> Result<Records<GF4_PLANES>, Abort> {
    let mut made = layer.records::<GF4_PLANES>();
    let (around, shape) = (layer.around(), layer.shape.clone());
    let n = shape.0.len();
    let mut z = Zeroizing::new(vec![[Plane::ZERO; 4]; n]);

    // 1-7. Phi, and our share of a_h a_l
    for ((record, tile), z) in made.records.iter_mut().zip(layer.tiles()).zip(z.iter_mut()) {
        run(Begin { record, tile, around, z });
    }
    trim(made.records.iter_mut(), &shape);
    let second = trio.reshare(HM, &mut z, &shape)?;
    // 7. v, and our share of v^6
    run(Norm { records: &mut made.records, z: &mut z, second: &second });
    let second = trio.reshare(SIXTH, &mut z, &shape)?;
    // 8. our share of v^14
    run(Inverse { records: &mut made.records, z: &mut z, second: &second });
    let second = trio.reshare(FOURTEENTH, &mut z, &shape)?;
    // 10, 11. our shares of a'_h and a'_l
    let mut outer = Zeroizing::new(vec![[Plane::ZERO; 8]; n]);
    run(Outer { records: &mut made.records, z: &z, second: &second, outer: &mut outer });
    let second = trio.reshare(OUTER, &mut outer, &shape)?;
    // 12. Phi^-1
    for (((record, tile), first), second) in
        made.records.iter_mut().zip(layer.tiles()).zip(outer.iter()).zip(second.iter())
    {
        run(Finish { record, tile, around, first, second });
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
        let first = tower::phi(&self.around.before::<W>(0, &W::load_all(&self.tile[0])));
        let second = tower::phi(&self.around.before::<W>(1, &W::load_all(&self.tile[1])));
        for (planes, (h, l)) in self.record.iter_mut().zip([&first, &second]) {
            store(planes, A_H, h);
            store(planes, A_L, l);
        }
        W::store_all(
            &mult_local(
                &[first.0, second.0],
                &[first.1, second.1],
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
            let v = [norm(&h[0], &l[0], z), norm(&h[1], &l[1], second)];
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

/// v = {E} a_h^2 + a_h a_l + a_l^2, of one component.
#[inline(always)]
fn norm<W: Word>(h: &[W; 4], l: &[W; 4], hm: &[Plane; 4]) -> [W; 4] {
    let squares = sum(&gf4::scale(&gf4::square(h), E), &gf4::square(l));
    sum(&squares, &W::load_all(hm))
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
        for (((record, z), second), outer) in
            self.records.iter_mut().zip(self.z).zip(self.second).zip(self.outer)
        {
            let v14: [[W; 4]; 2] = [W::load_all(z), W::load_all(second)];
            store(&mut record[0], V14, &v14[0]);
            store(&mut record[1], V14, &v14[1]);
            let (h, l) = (load::<W, 4, _>(record, A_H), load::<W, 4, _>(record, A_L));
            let hl = [sum(&h[0], &l[0]), sum(&h[1], &l[1])];
            store(
                outer,
                0,
                &mult_local(
                    &h,
                    &v14,
                    #[inline(always)]
                    |x, y| gf4::mul(x, y),
                ),
            );
            store(
                outer,
                4,
                &mult_local(
                    &hl,
                    &v14,
                    #[inline(always)]
                    |x, y| gf4::mul(x, y),
                ),
            );
        }
    }
}

struct Finish<'a> {
    record: &'a mut Tile<GF4_PLANES>,
    tile: &'a mut Tile<8>,
    around: super::Around,
    first: &'a [Plane; 8],
    second: &'a [Plane; 8],
}

impl Task for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (c, planes) in [self.first, self.second].into_iter().enumerate() {
            let outer: [W; 8] = W::load_all(planes);
            let (h, l) = ([outer[0], outer[1], outer[2], outer[3]], [outer[4], outer[5], outer[6], outer[7]]);
            store(&mut self.record[c], B_H, &h);
            store(&mut self.record[c], B_L, &l);
            W::store_all(&self.around.after(c, &tower::phi_inverse(&h, &l)), &mut self.tile[c]);
        }
    }
}

/// The relations of a record. Mutants: A12 takes an alpha inside the small field, A14 forgets Eq. 3, A15 the powers of v.
pub(crate) fn relations(mutated: impl Fn(Check) -> bool) -> Vec<Relation> {
    let psi = |i: u32| power(PSI4, i);
    let alpha = if mutated(Check::A12) { PSI4 } else { ALPHA };
    let e = (0..4).filter(|i| E.bits() >> i & 1 == 1).map(psi).sum::<Gf64>();
    let one = Gf64(1);
    let eq3 = Relation {
        x: [weights(A_H, 4, psi), weights(A_L, 4, |i| alpha * psi(i))].concat(),
        y: [weights(A_L, 4, psi), weights(V14, 4, |i| alpha * psi(i))].concat(),
        z: [
            weights(V, 4, psi),
            weights(A_H, 4, |i| e * psi(2 * i)),
            weights(A_L, 4, |i| (one + alpha) * psi(2 * i)),
            weights(B_H, 4, |i| (alpha + alpha * alpha) * psi(i)),
            weights(B_L, 4, |i| alpha * alpha * psi(i)),
        ]
        .concat(),
    };
    let powers = Relation {
        x: [weights(V, 4, |i| psi(2 * i)), weights(V6, 4, |i| alpha * psi(i))].concat(),
        y: weights(V, 4, |i| psi(4 * i) + alpha * psi(8 * i)),
        z: [weights(V6, 4, psi), weights(V14, 4, |i| alpha * alpha * psi(i))].concat(),
    };
    let mut all = Vec::new();
    if !mutated(Check::A14) {
        all.push(eq3);
    }
    if !mutated(Check::A15) {
        all.push(powers);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbox::tests::{difference, holds, rank};
    use divisi_field::Field;

    fn record(parts: &[(usize, Gf4)]) -> u64 {
        parts.iter().fold(0, |r, (at, x)| r | u64::from(x.bits()) << at)
    }

    fn elements() -> impl Iterator<Item = Gf4> + Clone {
        (0..16).map(Gf4::new)
    }

    /// COSTS T2: all 4,096 cases.
    #[test]
    fn the_powers_fail_exactly_when_a_product_is_wrong() {
        let powers = &relations(|_| false)[1];
        for v in elements() {
            for d1 in elements() {
                for d2 in elements() {
                    let (v2, v4) = (v.square(), v.square().square());
                    let v6 = v2 * v4 + d1;
                    let v14 = v6 * v4.square() + d2;
                    let right = d1 == Gf4::ZERO && d2 == Gf4::ZERO;
                    assert_eq!(holds(powers, record(&[(V, v), (V6, v6), (V14, v14)])), right);
                }
            }
        }
    }

    /// Lemma 3.2. For every a_h, a_l and every v^-1 that a lie may have led to, the difference is that of the header; and its
    /// 12 values on a basis of the errors are independent, so that it is zero for no other error of the 2^12 than none.
    #[test]
    fn eq_3_fails_exactly_when_a_product_is_wrong() {
        let eq3 = &relations(|_| false)[0];
        let of = |d: [Gf4; 3]| {
            let [dv, d1, d2] = d.map(Gf64::from);
            dv + ALPHA * d1 + ALPHA * ALPHA * (d1 + d2)
        };
        let basis = (0..12).map(|i| {
            let mut d = [Gf4::ZERO; 3];
            d[i / 4] = Gf4::new(1 << (i % 4));
            of(d)
        });
        assert_eq!(rank(basis), 12);
        for (a_h, a_l) in elements().flat_map(|h| elements().map(move |l| (h, l))) {
            for v14 in elements() {
                for d in elements().flat_map(|d| [[d, a_h, v14], [a_l, d, d], [Gf4::ZERO, Gf4::ZERO, d]]) {
                    let v = E * a_h.square() + a_h * a_l + d[0] + a_l.square();
                    let (b_h, b_l) = (a_h * v14 + d[1], (a_h + a_l) * v14 + d[2]);
                    let r = record(&[(A_H, a_h), (A_L, a_l), (V, v), (V14, v14), (B_H, b_h), (B_L, b_l)]);
                    assert_eq!(difference(eq3, r), of(d));
                    assert_eq!(holds(eq3, r), d == [Gf4::ZERO; 3]);
                }
            }
        }
    }
}
