//! What a layer leaves behind for the verification: the planes of everything it made, and the relations among them.
//!
//! A *record* is one S-box, or one one-hot vector, of up to 512 lanes. A *relation* says, with public weights, how three sums of
//! its planes are the factors and the product of one multiplication over GF(2^64); it stands for several of the protocol's
//! products, and holds exactly when all of them are right. Each protocol of [`crate::sbox`] and [`crate::ohv`] has its own;
//! [`crate::verify`] knows no other shape.

use crate::ohv::{byte, byte::BYTE_PLANES, nibble, nibble::NIBBLE_PLANES, nibble::NIBBLES_PLANES};
use crate::sbox::gf4_circuit::{self, GF4_PLANES};
use crate::sbox::gf8_circuit::{self, GF8_PLANES};
use crate::sbox::lut16::{self, LUT16_PLANES};
use crate::sbox::verify_sbox::{self, SBOX_PLANES};
use crate::share::Tile;
use crate::wire::Shape;
use divisi_core::{Check, Prg};
use divisi_field::{Gf64, Plane};
use std::sync::Arc;
use zeroize::Zeroize;

/// A multiplication over GF(2^64) in terms of a record's planes: (sum over x) (sum over y) = sum over z.
pub(crate) struct Relation {
    pub(crate) x: Vec<(usize, Gf64)>,
    pub(crate) y: Vec<(usize, Gf64)>,
    pub(crate) z: Vec<(usize, Gf64)>,
}

/// The records of one layer, with the lanes in use of each.
pub(crate) struct Records<const K: usize> {
    pub(crate) records: Vec<Tile<K>>,
    pub(crate) lanes: Vec<usize>,
}

impl<const K: usize> Records<K> {
    /// Empty records for a layer of this shape.
    pub(crate) fn new(shape: &Shape) -> Self {
        Records { records: vec![[[Plane::ZERO; K]; 2]; shape.0.len()], lanes: shape.0.clone() }
    }
}

impl<const K: usize> Drop for Records<K> {
    fn drop(&mut self) {
        self.records.iter_mut().flatten().flatten().for_each(Zeroize::zeroize);
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
    gf8: Vec<Relation>,
    gf4: Vec<Relation>,
    lut16: Vec<Relation>,
    sboxes: Vec<Relation>,
    nibble: Vec<Relation>,
    nibbles: Vec<Relation>,
    byte: Vec<Relation>,
}

impl Relations {
    /// The relations of a batch. `expansion` is that of the batch's first coin: the relation of a vector of 256 has random
    /// weights, drawn before all coefficients, and only if the batch has such vectors.
    pub(crate) fn new(made: &[Made], expansion: &mut Prg, mutated: impl Fn(Check) -> bool + Copy) -> Self {
        let with_bytes = made.iter().any(|made| matches!(made, Made::Byte(_)));
        Relations {
            gf8: gf8_circuit::relations(mutated),
            gf4: gf4_circuit::relations(mutated),
            lut16: lut16::relations(mutated),
            sboxes: verify_sbox::relations(mutated),
            nibble: nibble::relations(1, mutated),
            nibbles: nibble::relations(2, mutated),
            byte: if with_bytes { byte::relations(expansion, mutated) } else { Vec::new() },
        }
    }
}

/// What is done with each group of records under each relation.
pub(crate) trait Visit {
    /// A group of up to `group` records in the order of the batch, of which at most `lanes` lanes are in use.
    fn group<const K: usize>(&mut self, relation: &Relation, group: &[Tile<K>], lanes: usize);
}

impl Made {
    /// Visit every group of `size` records; the last group of a layer may be short, which is a group padded with zero records
    /// \[A11\].
    pub(crate) fn visit(&self, size: usize, relations: &Relations, visit: &mut impl Visit) {
        match self {
            Made::Gf8(made) => groups(made, size, &relations.gf8, visit),
            Made::Gf4(made) => groups(made, size, &relations.gf4, visit),
            Made::Lut16(made) => groups(made, size, &relations.lut16, visit),
            Made::Sboxes(made) => groups(made, size, &relations.sboxes, visit),
            Made::Nibble(made) => groups(made, size, &relations.nibble, visit),
            Made::Nibbles(made) => groups(made, size, &relations.nibbles, visit),
            Made::Byte(made) => groups(made, size, &relations.byte, visit),
        }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Made::Gf8(made) => made.records.is_empty(),
            Made::Gf4(made) => made.records.is_empty(),
            Made::Lut16(made) => made.records.is_empty(),
            Made::Sboxes(made) => made.records.is_empty(),
            Made::Nibble(made) => made.records.is_empty(),
            Made::Nibbles(made) => made.records.is_empty(),
            Made::Byte(made) => made.records.is_empty(),
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

fn groups<const K: usize>(made: &Records<K>, size: usize, relations: &[Relation], visit: &mut impl Visit) {
    for (group, lanes) in made.records.chunks(size).zip(made.lanes.chunks(size)) {
        let n = lanes.iter().copied().max().unwrap_or(0);
        for relation in relations {
            visit.group(relation, group, n);
        }
    }
}
