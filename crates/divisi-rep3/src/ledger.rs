//! What a layer leaves behind for the verification: the planes of everything it made, and the relations among them.
//!
//! A *record* is one S-box, or one one-hot vector, of up to 512 lanes; where there are few lanes, several side by side. A *relation* says, with public weights, how three sums of
//! its planes are the factors and the product of one multiplication over GF(2^64); it stands for several of the protocol's
//! products, and holds exactly when all of them are right. Each protocol of [`crate::sbox`] and [`crate::ohv`] has its own;
//! [`crate::verify`] knows no other shape.

use crate::ohv::byte::{self, BYTE_PLANES};
use crate::ohv::nibble::{self, NIBBLE_PLANES, NIBBLES_PLANES};
use crate::pool::Pool;
use crate::sbox::gf4_circuit::{self, GF4_PLANES};
use crate::sbox::gf8_circuit::{self, GF8_PLANES};
use crate::sbox::lut16::{self, LUT16_PLANES};
use crate::sbox::verify_sbox::{self, SBOX_PLANES};
use crate::share::Tile;
use crate::verify::planes::GROUP;
use crate::verify::small::Small;
use crate::wire::Shape;
use divisi_core::{Check, Prg};
use divisi_field::gf64::LaneWeights;
use divisi_field::{Gf64, Plane};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A multiplication over GF(2^64) in terms of a record's planes: (sum over x) (sum over y) = sum over z.
pub(crate) struct Relation {
    pub(crate) x: Vec<(usize, Gf64)>,
    pub(crate) y: Vec<(usize, Gf64)>,
    pub(crate) z: Vec<(usize, Gf64)>,
    /// The weights of the product's planes in the small field ([`Small`]), if its factors are elements of one.
    pub(crate) product: Vec<Gf64>,
}

/// A relation with the weights of its sums over all lanes of a record.
pub(crate) struct Weighed {
    pub(crate) relation: Relation,
    /// Those of z.
    pub(crate) z: LaneWeights,
    /// Those of the product.
    pub(crate) product: LaneWeights,
    /// Its number among all relations.
    pub(crate) number: usize,
}

/// The records of one layer, with the lanes in use of each.
pub(crate) struct Records<const K: usize> {
    planes: Vec<Plane>,
    pool: Pool,
    pub(crate) lanes: Vec<usize>,
}

impl<const K: usize> Records<K> {
    /// Empty records for a layer of this shape.
    pub(crate) fn new(pool: &Pool, shape: &Shape) -> Self {
        Records { planes: pool.take(2 * K * shape.0.len()), pool: pool.clone(), lanes: shape.0.clone() }
    }
}

impl<const K: usize> Deref for Records<K> {
    type Target = [Tile<K>];

    fn deref(&self) -> &[Tile<K>] {
        self.planes.as_chunks::<K>().0.as_chunks().0
    }
}

impl<const K: usize> DerefMut for Records<K> {
    fn deref_mut(&mut self) -> &mut [Tile<K>] {
        self.planes.as_chunks_mut::<K>().0.as_chunks_mut().0
    }
}

impl<const K: usize> Drop for Records<K> {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.planes));
    }
}

/// What one layer made, by what made it. One-hot vectors are verified before they are used: their records are the vectors.
pub(crate) enum Made {
    Gf8(Records<GF8_PLANES>),
    Gf4(Records<GF4_PLANES>),
    Lut16(Records<LUT16_PLANES>),
    Sboxes(Records<SBOX_PLANES>),
    Nibble(Arc<Records<NIBBLE_PLANES>>),
    Nibbles(Arc<Records<NIBBLES_PLANES>>),
    Byte(Arc<Records<BYTE_PLANES>>),
}

/// The relations of every kind of record, with what is random in them.
pub(crate) struct Relations {
    gf8: [Option<Weighed>; 2],
    gf4: [Option<Weighed>; 2],
    lut16: [Option<Weighed>; 1],
    sboxes: [Option<Weighed>; 1],
    nibble: [Option<Weighed>; 1],
    nibbles: [Option<Weighed>; 2],
    byte: Option<Weighed>,
    drawn: usize,
}

impl Relations {
    /// How many elements of the expansion went into them.
    pub(crate) fn drawn(&self) -> usize {
        self.drawn
    }

    /// How many there are.
    pub(crate) const NUMBER: usize = 10;

    /// The relations of a batch. `factors` are those of the eight lanes of a byte. `expansion` is that of the batch's first coin: the
    /// relation of a vector of 256 has random weights, drawn before all coefficients, and only if the batch has such vectors.
    pub(crate) fn new(
        made: &[Made],
        factors: &[Gf64; 8],
        expansion: &mut Prg,
        mutated: impl Fn(Check) -> bool + Copy,
    ) -> Self {
        let mut number = 0;
        let mut weighed = |relation: Option<Relation>| {
            number += 1;
            relation.map(|relation| {
                let z: Vec<Gf64> = relation.z.iter().map(|(_, weight)| *weight).collect();
                let product = LaneWeights::new(&relation.product, factors);
                Weighed { z: LaneWeights::new(&z, factors), product, relation, number: number - 1 }
            })
        };
        let with_bytes = made.iter().any(|made| matches!(made, Made::Byte(_)));
        Relations {
            gf8: gf8_circuit::relations(mutated).map(&mut weighed),
            gf4: gf4_circuit::relations(mutated).map(&mut weighed),
            lut16: lut16::relations(mutated).map(&mut weighed),
            sboxes: verify_sbox::relations(mutated).map(&mut weighed),
            nibble: nibble::relations(mutated).map(&mut weighed),
            nibbles: nibble::relations(mutated).map(&mut weighed),
            byte: weighed(if with_bytes { byte::relation(expansion, mutated) } else { None }),
            drawn: if with_bytes { byte::DRAWN } else { 0 },
        }
    }
}

/// What is done with each group of records under each relation.
pub(crate) trait Visit {
    /// A group of records in the order of the batch, of which at most `lanes` lanes are in use, under a relation that is
    /// multiplied in a small field.
    fn small<const K: usize, S: Small<K>>(&mut self, relation: &Weighed, group: &[&Tile<K>], lanes: usize);

    /// A record under a relation that is multiplied in the large field.
    fn large<const K: usize>(&mut self, relation: &Weighed, record: &Tile<K>, lanes: usize);
}

/// Visit all groups of the records of one kind, whatever layer they are of, each group under these relations in turn.
macro_rules! groups {
    ($made:expr, $kind:ident, $visit:expr, $($relation:expr => $small:ty),*) => {
        let records = $made.iter().filter_map(|made| match made {
            Made::$kind(made) => Some(made.iter().zip(&made.lanes)),
            _ => None,
        });
        let mut records = records.flatten().peekable();
        while records.peek().is_some() {
            let mut group = Vec::with_capacity(GROUP);
            let mut n = 0;
            for (record, lanes) in records.by_ref().take(GROUP) {
                group.push(record);
                n = n.max(*lanes);
            }
            $(if let Some(relation) = &$relation {
                $visit.small::<_, $small>(relation, &group, n);
            })*
        }
    };
}

/// Visit every group of records of a batch under every relation; the last group of a kind may be short, which is a group padded
/// with zero records \[A11\].
pub(crate) fn visit(made: &[Made], r: &Relations, visit: &mut impl Visit) {
    groups!(made, Gf8, visit, r.gf8[0] => gf8_circuit::Powers, r.gf8[1] => gf8_circuit::Last254);
    groups!(made, Gf4, visit, r.gf4[0] => gf4_circuit::Outer3, r.gf4[1] => gf4_circuit::Powers);
    groups!(made, Lut16, visit, r.lut16[0] => lut16::Outer3);
    groups!(made, Sboxes, visit, r.sboxes[0] => verify_sbox::Pair);
    groups!(made, Nibble, visit, r.nibble[0] => nibble::Halves<1, 0>);
    groups!(made, Nibbles, visit, r.nibbles[0] => nibble::Halves<2, 0>, r.nibbles[1] => nibble::Halves<2, 1>);
    let bytes = made.iter().filter_map(|made| match made {
        Made::Byte(made) => Some(made.iter().zip(&made.lanes)),
        _ => None,
    });
    for (record, lanes) in bytes.flatten() {
        if let Some(relation) = &r.byte {
            visit.large(relation, record, *lanes);
        }
    }
}

impl Made {
    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Made::Gf8(made) => made.is_empty(),
            Made::Gf4(made) => made.is_empty(),
            Made::Lut16(made) => made.is_empty(),
            Made::Sboxes(made) => made.is_empty(),
            Made::Nibble(made) => made.is_empty(),
            Made::Nibbles(made) => made.is_empty(),
            Made::Byte(made) => made.is_empty(),
        }
    }

    /// The checks that its relations are.
    pub(crate) fn checks(&self) -> &'static [Check] {
        match self {
            Made::Gf8(_) | Made::Gf4(_) => &[Check::A14, Check::A15],
            Made::Lut16(_) => &[Check::A14],
            Made::Sboxes(_) => &[Check::A20],
            Made::Nibble(_) | Made::Byte(_) => &[Check::A17],
            Made::Nibbles(_) => &[Check::A17, Check::A18],
        }
    }
}
