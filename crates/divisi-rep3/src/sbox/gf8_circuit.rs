//! gf8-circuit: the inversion of Chida et al. as MAESTRO section 1.2 gives it: x^254 = (x^15)^16 x^14, with
//! x^15 = x^12 x^3, x^14 = x^12 x^2, x^12 = (x^3)^4, x^3 = x x^2.
//!
//! Adversary: that of [`crate::multiply`], who can add an error to each product until the batch is verified.
//! Cost an S-box: 4 products in GF(2^8), 32 bits, 3 rounds (test `cost_gf8_circuit`). Decryption costs the
//! same.
//!
//! Verified by two relations over GF(2^64) instead of four. With psi the embedding of GF(2^8) and Y of degree
//! 8 over it \[A12\]:
//!
//! 1. (x + Y x^12)(x^2 + Y^2 x^3) = x^3 + Y^2 x^4 + Y x^14 + Y^3 x^15. Errors d_1, d_2, d_3 of x^3, x^14,
//!    x^15 leave d_1 (1 + Y^2 x) + Y d_2 + Y^3 d_3: zero exactly when all are (docs/lookups.md, 1) \[A14\].
//! 2. (x^15)^16 x^14 = x^254: the last product alone \[A15\].

use super::{Layer, LayerKind, Owed, Sbox, load, store, trim};
use crate::checks;
use crate::multiply::mult_local;
use crate::record::{Kind, Record, Records};
use crate::relation::{Relation, power, weights};
use crate::small::{FACTOR, PRODUCT, Small, element, factor, four8, one8};
use crate::tile::Tile;
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};
use divisi_field::gf64::PSI8;
use divisi_field::kernel::{Task, run};
use divisi_field::{Gf64, Plane, Word, gf8};
use zeroize::Zeroizing;

/// Planes of a record.
pub(crate) const GF8_PLANES: usize = 40;

// Where each power begins in a record.
const X: usize = 0;
const X3: usize = 8;
const X14: usize = 16;
const X15: usize = 24;
const X254: usize = 32;

const THIRD: Step = step!("x3");
const MIDDLE: Step = step!("x14 x15");
const LAST: Step = step!("x254");

/// Inversion as a power in GF(2^8).
pub(crate) struct Gf8Circuit;

impl Sbox for Gf8Circuit {
    fn name(&self) -> &'static str {
        "gf8-circuit"
    }

    fn rounds(&self) -> usize {
        3
    }

    fn bits(&self) -> usize {
        32
    }

    fn layer_kind(&self) -> LayerKind {
        LayerKind::Replicated(|trio, layer, _, _| {
            Ok(Owed::Products(Record::new(&KIND, self::layer(trio, layer)?)))
        })
    }
}

/// Computes one layer; returns the records that it owes.
pub(crate) fn layer(trio: &mut Trio, layer: &mut Layer<'_, '_>) -> Result<Records<GF8_PLANES>, Abort> {
    let mut made = layer.records::<GF8_PLANES>(&trio.pool);
    let (around, shape) = (layer.around(), layer.shape.clone());
    let mut z = Zeroizing::new(vec![[Plane::ZERO; 8]; shape.0.len()]);

    // our share of x^3
    for (record, tile) in made.iter_mut().zip(layer.tiles()) {
        run(Begin { record, tile, around });
    }
    trim(made.iter_mut(), &shape);
    run(Third { records: &made, z: &mut z });
    let second = trio.reshare(THIRD, &mut z, &shape)?;
    // our shares of x^14 and x^15
    let mut middle = Zeroizing::new(vec![[Plane::ZERO; 16]; shape.0.len()]);
    run(Middle { records: &mut made, z: &z, second: &second, middle: &mut middle });
    let second = trio.reshare(MIDDLE, &mut middle, &shape)?;
    // our share of x^254
    run(Last { records: &mut made, first: &middle, second: &second, z: &mut z });
    let second = trio.reshare(LAST, &mut z, &shape)?;
    for (((record, tile), first), second) in
        made.iter_mut().zip(layer.tiles()).zip(z.iter()).zip(second.iter())
    {
        run(Finish { record, tile, around, first, second });
    }
    trim(layer.tiles(), &shape);
    Ok(made)
}

struct Begin<'a> {
    record: &'a mut Tile<GF8_PLANES>,
    tile: &'a Tile<8>,
    around: super::Around,
}

impl Task for Begin<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for c in 0..2 {
            let x: [W; 8] = W::load_all(&self.tile[c]);
            store(&mut self.record[c], X, &self.around.before(c, &x));
        }
    }
}

struct Third<'a> {
    records: &'a [Tile<GF8_PLANES>],
    z: &'a mut [[Plane; 8]],
}

impl Task for Third<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (record, z) in self.records.iter().zip(self.z) {
            let x = load::<W, 8, _>(record, X);
            let x2 = [gf8::square(&x[0]), gf8::square(&x[1])];
            W::store_all(
                &mult_local(
                    &x,
                    &x2,
                    #[inline(always)]
                    |x, y| gf8::mul(x, y),
                ),
                z,
            );
        }
    }
}

struct Middle<'a> {
    records: &'a mut [Tile<GF8_PLANES>],
    z: &'a [[Plane; 8]],
    second: &'a [[Plane; 8]],
    middle: &'a mut [[Plane; 16]],
}

impl Task for Middle<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (((record, z), second), middle) in
            self.records.iter_mut().zip(self.z).zip(self.second).zip(self.middle)
        {
            let x3: [[W; 8]; 2] = [W::load_all(z), W::load_all(second)];
            store(&mut record[0], X3, &x3[0]);
            store(&mut record[1], X3, &x3[1]);
            let x12 = [fourth(&x3[0]), fourth(&x3[1])];
            let x = load::<W, 8, _>(record, X);
            let x2 = [gf8::square(&x[0]), gf8::square(&x[1])];
            store(
                middle,
                0,
                &mult_local(
                    &x12,
                    &x2,
                    #[inline(always)]
                    |x, y| gf8::mul(x, y),
                ),
            );
            store(
                middle,
                8,
                &mult_local(
                    &x12,
                    &x3,
                    #[inline(always)]
                    |x, y| gf8::mul(x, y),
                ),
            );
        }
    }
}

struct Last<'a> {
    records: &'a mut [Tile<GF8_PLANES>],
    first: &'a [[Plane; 16]],
    second: &'a [[Plane; 16]],
    z: &'a mut [[Plane; 8]],
}

impl Task for Last<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for (((record, first), second), z) in
            self.records.iter_mut().zip(self.first).zip(self.second).zip(self.z)
        {
            for (planes, middle) in record.iter_mut().zip([first, second]) {
                planes[X14..X254].copy_from_slice(middle);
            }
            let (x14, x15) = (load::<W, 8, _>(record, X14), load::<W, 8, _>(record, X15));
            let x240 = [sixteenth(&x15[0]), sixteenth(&x15[1])];
            W::store_all(
                &mult_local(
                    &x240,
                    &x14,
                    #[inline(always)]
                    |x, y| gf8::mul(x, y),
                ),
                z,
            );
        }
    }
}

/// x^4.
#[inline(always)]
fn fourth<W: Word>(x: &[W; 8]) -> [W; 8] {
    gf8::square(&gf8::square(x))
}

/// x^16.
#[inline(always)]
fn sixteenth<W: Word>(x: &[W; 8]) -> [W; 8] {
    fourth(&fourth(x))
}

struct Finish<'a> {
    record: &'a mut Tile<GF8_PLANES>,
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
            let x254: [W; 8] = W::load_all(planes);
            store(&mut self.record[c], X254, &x254);
            W::store_all(&self.around.after(c, &x254), &mut self.tile[c]);
        }
    }
}

/// What must hold of a record.
pub(crate) static KIND: Kind<GF8_PLANES> = Kind {
    checks: &[checks::A14, checks::A15],
    drawn: 0,
    relations: |_| relations().into(),
    products: &[Some(&Powers), Some(&Last254)],
};

/// The relations of a record.
pub(crate) fn relations() -> [Relation; 2] {
    let psi = |i: u32| power(PSI8, i);
    let y = Gf64::Y;
    let (y2, y3) = (y * y, y * y * y);
    let powers = Relation {
        x: [weights(X, 8, psi), weights(X3, 8, |i| y * psi(4 * i))].concat(),
        y: [weights(X, 8, |i| psi(2 * i)), weights(X3, 8, |i| y2 * psi(i))].concat(),
        z: [
            weights(X3, 8, psi),
            weights(X, 8, |i| y2 * psi(4 * i)),
            weights(X14, 8, |i| y * psi(i)),
            weights(X15, 8, |i| y3 * psi(i)),
        ]
        .concat(),
        product: [Gf64(1), y2, y, y3].iter().flat_map(|w| (0..8).map(move |i| *w * psi(i))).collect(),
    };
    let last = Relation {
        x: weights(X15, 8, |i| psi(16 * i)),
        y: weights(X14, 8, psi),
        z: weights(X254, 8, psi),
        product: (0..8).map(psi).collect(),
    };
    [powers, last]
}

/// (x + Y x^12)(x^2 + Y^2 x^3) in GF(2^8).
pub(crate) struct Powers;

impl Small<GF8_PLANES> for Powers {
    const X: usize = 16;
    const Y: usize = 16;
    const Z: usize = 32;

    #[inline(always)]
    fn factors<W: Word>(record: &[Plane; GF8_PLANES]) -> [[W; FACTOR]; 2] {
        let (x, x3) = (element::<W, GF8_PLANES, 8>(record, X), element::<W, GF8_PLANES, 8>(record, X3));
        let x12 = gf8::square(&gf8::square(&x3));
        [factor([x, x12]), factor([gf8::square(&x), x3])]
    }

    #[inline(always)]
    fn multiply<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
        four8(x, y)
    }
}

/// (x^15)^16 x^14 in GF(2^8).
pub(crate) struct Last254;

impl Small<GF8_PLANES> for Last254 {
    const X: usize = 8;
    const Y: usize = 8;
    const Z: usize = 8;

    #[inline(always)]
    fn factors<W: Word>(record: &[Plane; GF8_PLANES]) -> [[W; FACTOR]; 2] {
        let mut x = element::<W, GF8_PLANES, 8>(record, X15);
        for _ in 0..4 {
            x = gf8::square(&x);
        }
        [factor([x]), factor([element::<W, GF8_PLANES, 8>(record, X14)])]
    }

    #[inline(always)]
    fn multiply<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
        one8(x, y)
    }
}

#[cfg(test)]
mod tests;
