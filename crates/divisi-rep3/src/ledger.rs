//! What an S-box layer leaves behind for the verification: the planes of everything it made, and the relations among them.
//!
//! A *record* is one S-box of up to 512 lanes. A *relation* says, with public weights, how three sums of its planes are the
//! factors and the product of one multiplication over GF(2^64); it stands for several of the protocol's products, and holds
//! exactly when all of them are right. Each protocol of [`crate::sbox`] has its own; [`crate::verify`] knows no other shape.

use crate::share::Tile;
use divisi_field::Gf64;
use zeroize::Zeroize;

/// A multiplication over GF(2^64) in terms of a record's planes: (sum over x) (sum over y) = sum over z.
pub(crate) struct Relation {
    pub(crate) x: Vec<(usize, Gf64)>,
    pub(crate) y: Vec<(usize, Gf64)>,
    pub(crate) z: Vec<(usize, Gf64)>,
}

/// The records of one layer of S-boxes, with the lanes in use of each.
pub(crate) struct Records<const K: usize> {
    pub(crate) records: Vec<Tile<K>>,
    pub(crate) lanes: Vec<usize>,
}

impl<const K: usize> Drop for Records<K> {
    fn drop(&mut self) {
        self.records.iter_mut().flatten().flatten().for_each(Zeroize::zeroize);
    }
}

/// The records of one S-box protocol, layer by layer.
pub(crate) struct Batch<const K: usize>(pub(crate) Vec<Records<K>>);

impl<const K: usize> Default for Batch<K> {
    fn default() -> Self {
        Batch(Vec::new())
    }
}

impl<const K: usize> Batch<K> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|layer| layer.records.is_empty())
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}
