//! lut16: MAESTRO Protocol 3 as printed, the small inverse by a lookup in a table of 16 (Protocol 4).
//!
//! Adversary: that of [`crate::multiply`] and [`crate::lookup`]: an error can be added to v through the
//! opening, and to each of the two products, until the batch is verified. Cost an S-box: 8 + 8 bits, 2
//! rounds, and 11 bits ahead for its one-hot vector (test `aes_128_costs_what_the_paper_says`). Decryption
//! costs the same.
//!
//! | step of Protocol 3 | here | round |
//! |---|---|---|
//! | 1-7 Phi, `<<v>>` | `Begin` | |
//! | 8 F_LUT: Protocol 4, steps 2, 3 | [`Trio::open_additive`] | 1 |
//! | 8 Protocol 4, steps 4, 5: `[[v^-1]]`, `[[v]] = [[r]] + c` | `Lookup` | |
//! | 9 a_h a_l | linear in v: the relation | |
//! | 10, 11 a'_h, a'_l | `Lookup`, [`Finish`] | 2 |
//! | 12 Phi^-1 | [`Finish`] | |
//!
//! Verified by Eq. 3 ([`eq_3`]), one relation for the paper's three triples \[A14\]: it binds v to a_h a_l;
//! the vector, which was verified before, binds v^-1 to v.

use super::around_inverse::{Eq3, Finish, Places, V, begin, eq_3, norm, outer};
use super::{Layer, LayerKind, Owed, Sbox, held, store, trim};
use crate::checks;
use crate::lookup::{scratch, table};
use crate::multiply::{mult_local, sum};
use crate::ohv::nibble::{self, NIBBLE_PLANES, PLANES_OF_ONE};
use crate::record::{Kind, Record, Records};
use crate::relation::Relation;
use crate::tile::Tile;
use crate::trio::Trio;
use crate::wire::Shape;
use divisi_core::{Abort, Step, step};
use divisi_field::gf64::ALPHA;
use divisi_field::kernel::{Task, run};
use divisi_field::{Plane, Word, gf4};

/// Planes of a record.
pub(crate) const LUT16_PLANES: usize = 24;

const V_INVERSE: usize = 12;
const PLACES: Places = Places { v_inverse: V_INVERSE, b_h: 16, b_l: 20 };

const OPEN: Step = step!("c");
const OUTER: Step = step!("outer");

/// Inversion in GF(2^8) by a lookup in GF(2^4).
pub(crate) struct Lut16;

impl Sbox for Lut16 {
    fn name(&self) -> &'static str {
        "lut16"
    }

    fn rounds(&self) -> usize {
        2
    }

    fn bits(&self) -> usize {
        16
    }

    fn vector_planes(&self) -> usize {
        NIBBLE_PLANES
    }

    fn make_vectors(&self, trio: &mut Trio, layers: usize, shape: &Shape) -> Result<Vec<Record>, Abort> {
        let made = nibble::make::<NIBBLE_PLANES>(trio, layers, shape)?;
        Ok(made.map(|made| Record::of_vectors(&nibble::ONE, made)).collect())
    }

    fn layer_kind(&self) -> LayerKind {
        LayerKind::Replicated(|trio, layer, vectors, records| {
            let vectors = held(trio, vectors, &nibble::ONE)?;
            Ok(Owed::Products(Record::new(&KIND, self::layer(trio, layer, vectors, records)?)))
        })
    }
}

/// Computes one layer with these vectors; returns the records that it owes.
pub(crate) fn layer(
    trio: &mut Trio,
    layer: &mut Layer<'_, '_>,
    vectors: &Records<NIBBLE_PLANES>,
    view: bool,
) -> Result<Records<LUT16_PLANES>, Abort> {
    let mut made = layer.records::<LUT16_PLANES>(&trio.pool);
    let (around, shape, constant) = (layer.around(), layer.shape.clone(), layer.constant());

    // 1-7. Phi, and our share of v + r
    let mut c = scratch::<4>(&shape);
    let records = made.iter_mut().zip(layer.tiles()).zip(vectors.iter());
    for (((record, tile), vector), c) in records.zip(c.iter_mut()) {
        run(Begin { record, tile, around, vector, c });
    }
    trim(made.iter_mut(), &shape);
    trim_shares(&mut c, &shape);
    // 8. c
    trio.open_additive(OPEN, &mut c, &shape, view)?;
    // 8-11. v^-1, v, and our shares of a'_h and a'_l
    let mut outer = scratch::<8>(&shape);
    let records = made.iter_mut().zip(vectors.iter()).zip(c.iter()).zip(outer.iter_mut());
    for (((record, vector), c), outer) in records {
        run(Lookup { record, vector, c, constant, outer });
    }
    trim(made.iter_mut(), &shape);
    let second = trio.reshare(OUTER, &mut outer, &shape)?;
    // 12. Phi^-1
    let records = made.iter_mut().zip(layer.tiles()).zip(outer.iter()).zip(second.iter());
    for (((record, tile), first), second) in records {
        run(Finish { record, places: PLACES, tile, around, first, second });
    }
    trim(layer.tiles(), &shape);
    Ok(made)
}

/// Zero the lanes that are not in use.
fn trim_shares<const K: usize>(tiles: &mut [[Plane; K]], shape: &Shape) {
    for (tile, lanes) in tiles.iter_mut().zip(&shape.0).filter(|(_, lanes)| **lanes < Plane::LANES) {
        tile.iter_mut().for_each(|plane| plane.keep(*lanes));
    }
}

struct Begin<'a> {
    record: &'a mut Tile<LUT16_PLANES>,
    tile: &'a Tile<8>,
    around: super::Around,
    vector: &'a Tile<NIBBLE_PLANES>,
    c: &'a mut [Plane; 4],
}

impl Task for Begin<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let [h, l] = begin::<W, LUT16_PLANES>(self.record, self.tile, self.around);
        let hm = mult_local(
            &h,
            &l,
            #[inline(always)]
            |x, y| gf4::mul(x, y),
        );
        // 7. ToAdditive is our first component
        let v = norm(&h[0], &l[0], &hm);
        let mut r = [W::zero(); 4];
        for (i, r) in r.iter_mut().enumerate() {
            *r = W::load(&self.vector[0][PLANES_OF_ONE[1 << i]]);
        }
        W::store_all(&sum(&v, &r), self.c);
    }
}

struct Lookup<'a> {
    record: &'a mut Tile<LUT16_PLANES>,
    vector: &'a Tile<NIBBLE_PLANES>,
    c: &'a [Plane; 4],
    constant: Option<usize>,
    outer: &'a mut [Plane; 8],
}

impl Task for Lookup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let c: [W; 4] = W::load_all(self.c);
        let mut v_inverse = [[W::zero(); 4]; 2];
        for (side, v_inverse) in v_inverse.iter_mut().enumerate() {
            let one = table::one::<W>(self.constant, side);
            let n = table::turned(&self.vector[side], &PLANES_OF_ONE, &c, one);
            *v_inverse = table::small_inverse(&n);
            store(&mut self.record[side], V_INVERSE, v_inverse);
            // the monomials of one bit are the bits of v = c + r
            store(&mut self.record[side], V, &[n[1], n[2], n[4], n[8]]);
        }
        W::store_all(&outer(self.record, &v_inverse), self.outer);
    }
}

/// What must hold of a record.
pub(crate) static KIND: Kind<LUT16_PLANES> = Kind {
    checks: &[checks::A14],
    drawn: 0,
    relations: |_| relations().into(),
    products: &[Some(&Eq3::<V_INVERSE>)],
};

/// The relation of a record.
pub(crate) fn relations() -> [Relation; 1] {
    [eq_3(PLACES, ALPHA)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbox::around_inverse::{A_H, A_L, tests};

    #[test]
    fn eq_3_fails_exactly_when_a_product_is_wrong() {
        let [eq_3] = relations();
        tests::eq_3_fails_exactly_when_a_product_is_wrong(&eq_3, PLACES);
        crate::small::agree::<LUT16_PLANES, Eq3<V_INVERSE>>(&eq_3);
    }

    #[test]
    fn a_record_has_room_for_its_elements() {
        assert_eq!([A_H, A_L, V, V_INVERSE, PLACES.b_h, PLACES.b_l], [0, 4, 8, 12, 16, 20]);
        assert_eq!(PLACES.b_l + 4, LUT16_PLANES);
    }
}
