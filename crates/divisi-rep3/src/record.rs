//! The records of a layer for the verification: the planes of everything that the layer made, and the
//! relations that must hold among them.
//!
//! A *record* is one S-box, or one one-hot vector, of up to 512 lanes; where there are few lanes, several
//! side by side. A *relation* says, with public weights, how three sums of its planes are the factors and the
//! product of one multiplication over GF(2^64); it stands for several of the protocol's products, and holds
//! exactly when all of them are right. Each protocol of [`crate::sbox`] and [`crate::ohv`] has a [`Kind`] of
//! its own, beside its products; the verification knows no other shape, and has no list of kinds.

pub(crate) mod product;

use crate::relation::{Relation, Weighed};
use crate::tile::Tile;
use crate::wire::Shape;
use divisi_core::wipe::{Lent, Pool};
use divisi_core::{Check, Prg};
use divisi_field::gf64::LaneWeights;
use divisi_field::{Gf64, Plane};
use product::{GROUP, OnGrid, Product, Tiles};
use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The records of one layer, with the lanes in use of each.
pub(crate) struct Records<const K: usize> {
    planes: Lent<Plane>,
    pub(crate) lanes: Vec<usize>,
}

impl<const K: usize> Records<K> {
    /// Empty records for a layer of this shape.
    pub(crate) fn new(pool: &Pool<Plane>, shape: &Shape) -> Self {
        Records { planes: pool.zeros(2 * K * shape.0.len()), lanes: shape.0.clone() }
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

/// A kind of record: K planes, and the relations that must hold among them.
pub(crate) struct Kind<const K: usize> {
    /// The checks that its relations make.
    pub(crate) checks: &'static [Check],
    /// The number of random elements in the relations, drawn from the batch's first coin before all
    /// coefficients, and only for a batch that has such records. If there are any, the weights are products
    /// of two of them.
    pub(crate) drawn: usize,
    /// Makes the relations; their random elements are the next ones of the expansion.
    pub(crate) relations: fn(&mut Prg) -> Vec<Relation>,
    /// For each relation its product in a small field; `None` if its factors are in no small field.
    pub(crate) products: &'static [Option<&'static dyn Product<K>>],
}

/// At most [`GROUP`] records of one kind, to be visited under one of its relations; fewer are a group padded
/// with zero records \[A11\].
pub(crate) struct Group<'g> {
    /// For each record the planes of both our components.
    pub(crate) records: &'g [[&'g [Plane]; 2]],
    /// The most lanes in use in any of the records.
    pub(crate) lanes: usize,
    /// Their products in the small field; `None` if the relation is multiplied in the large field, a record
    /// at a time.
    pub(crate) small: Option<&'g dyn OnGrid>,
}

/// What is done with each group of records under each relation.
pub(crate) trait Visit {
    /// The next group.
    fn visit(&mut self, relation: &Weighed, group: &Group<'_>);
}

/// What one layer made. One-hot vectors are verified before they are used: their records are the vectors.
/// Code that knows the kind gets the planes ([`Record::planes`]).
pub(crate) struct Record(Box<dyn Layer>);

impl Record {
    /// These records, of this kind.
    pub(crate) fn new<const K: usize>(kind: &'static Kind<K>, records: impl Into<Arc<Records<K>>>) -> Record {
        Record(Box::new(Of { kind, records: records.into() }))
    }

    /// One-hot vectors: records that are verified by themselves, and then used.
    pub(crate) fn of_vectors<const K: usize>(kind: &'static Kind<K>, made: Arc<Records<K>>) -> Record {
        Record(Box::new(Of { kind, records: made }))
    }

    /// The same records once more: one for whoever uses them, one for the verification.
    pub(crate) fn share(&self) -> Record {
        self.0.share()
    }

    /// The records themselves, if they are of this kind.
    pub(crate) fn planes<const K: usize>(&self, kind: &'static Kind<K>) -> Option<&Records<K>> {
        Of::like(self, kind).map(|of| &*of.records)
    }

    /// The lanes in use of each record.
    pub(crate) fn lanes(&self) -> &[usize] {
        self.0.lanes()
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The checks that its relations make.
    pub(crate) fn checks(&self) -> &'static [Check] {
        self.0.checks()
    }
}

/// The records of a layer, whatever their number of planes.
trait Layer: Send + Sync {
    fn any(&self) -> &dyn Any;
    fn share(&self) -> Record;
    fn lanes(&self) -> &[usize];
    fn is_like(&self, other: &Record) -> bool;
    fn is_empty(&self) -> bool;
    fn checks(&self) -> &'static [Check];
    fn drawn(&self) -> usize;
    fn relations(&self, expansion: &mut Prg) -> Vec<Relation>;
    /// Visit all groups of the records of this kind, whatever layer they are of, each group under these
    /// relations in turn.
    fn visit_all(&self, made: &[Record], relations: &[Weighed], visit: &mut dyn Visit);
}

struct Of<const K: usize> {
    kind: &'static Kind<K>,
    records: Arc<Records<K>>,
}

impl<const K: usize> Of<K> {
    /// This layer, if it is of that kind.
    fn like<'m>(made: &'m Record, kind: &'static Kind<K>) -> Option<&'m Of<K>> {
        made.0.any().downcast_ref::<Of<K>>().filter(|of| std::ptr::eq(of.kind, kind))
    }
}

impl<const K: usize> Layer for Of<K> {
    fn any(&self) -> &dyn Any {
        self
    }

    fn share(&self) -> Record {
        Record(Box::new(Of { kind: self.kind, records: Arc::clone(&self.records) }))
    }

    fn lanes(&self) -> &[usize] {
        &self.records.lanes
    }

    fn is_like(&self, other: &Record) -> bool {
        Of::like(other, self.kind).is_some()
    }

    fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn checks(&self) -> &'static [Check] {
        self.kind.checks
    }

    fn drawn(&self) -> usize {
        self.kind.drawn
    }

    fn relations(&self, expansion: &mut Prg) -> Vec<Relation> {
        (self.kind.relations)(expansion)
    }

    fn visit_all(&self, made: &[Record], relations: &[Weighed], visit: &mut dyn Visit) {
        let records = made.iter().filter_map(|made| Of::like(made, self.kind));
        let records = records.flat_map(|of| of.records.iter().zip(&of.records.lanes));
        let records: Vec<(&Tile<K>, usize)> = records.map(|(record, lanes)| (record, *lanes)).collect();
        for group in records.chunks(GROUP) {
            let tiles: Vec<&Tile<K>> = group.iter().map(|(record, _)| *record).collect();
            let planes: Vec<[&[Plane]; 2]> =
                tiles.iter().map(|[first, second]| [&first[..], &second[..]]).collect();
            // a relation that has no entry is multiplied in the large field, so that none is left out
            let products = self.kind.products.iter().chain(std::iter::repeat(&None));
            for (relation, product) in relations.iter().zip(products) {
                match product {
                    Some(product) => {
                        let lanes = group.iter().map(|(_, lanes)| *lanes).max().unwrap_or(0);
                        let small = Tiles { group: &tiles, product: *product };
                        visit.visit(relation, &Group { records: &planes, lanes, small: Some(&small) });
                    }
                    None => {
                        for (record, (_, lanes)) in planes.iter().zip(group) {
                            let records = std::slice::from_ref(record);
                            visit.visit(relation, &Group { records, lanes: *lanes, small: None });
                        }
                    }
                }
            }
        }
    }
}

/// The relations of a batch, with their random elements.
pub(crate) struct Relations {
    /// For each kind the position of its first layer in the batch, and its relations.
    kinds: Vec<(usize, Vec<Weighed>)>,
    drawn: usize,
}

impl Relations {
    /// The relations of a batch. `factors` are those of the eight lanes of a byte. `expansion` is that of the
    /// batch's first coin.
    pub(crate) fn new(made: &[Record], factors: &[Gf64; 8], expansion: &mut Prg) -> Self {
        let (mut kinds, mut drawn, mut number): (Vec<(usize, _)>, _, _) = (Vec::new(), 0, 0);
        for (at, layer) in made.iter().enumerate() {
            if kinds.iter().any(|(first, _)| made[*first].0.is_like(layer)) {
                continue;
            }
            drawn += layer.0.drawn();
            let weighed = layer.0.relations(expansion).into_iter().map(|relation| {
                number += 1;
                let z: Vec<Gf64> = relation.z.iter().map(|(_, weight)| *weight).collect();
                let product = LaneWeights::new(&relation.product, factors);
                Weighed { z: LaneWeights::new(&z, factors), product, relation, number: number - 1 }
            });
            kinds.push((at, weighed.collect()));
        }
        Relations { kinds, drawn }
    }

    /// How many elements of the expansion went into them.
    pub(crate) fn drawn(&self) -> usize {
        self.drawn
    }

    /// Visit every group of records of a batch under every relation \[A11\], kind by kind in the order of
    /// their first layers.
    pub(crate) fn visit(&self, made: &[Record], visit: &mut dyn Visit) {
        for (first, relations) in &self.kinds {
            made[*first].0.visit_all(made, relations, visit);
        }
    }
}
