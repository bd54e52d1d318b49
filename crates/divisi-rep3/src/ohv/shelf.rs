//! Where one-hot vectors wait for their layers.

use super::OneHots;
use crate::Protocol;
use crate::wire::Shape;
use divisi_core::{Stock, Verified};

/// How many bytes of vectors an engine keeps of one kind and shape: ten layers of 4096 blocks for the largest kind.
const BUDGET: usize = 96 << 20;

/// The stocks of one engine, one for each protocol and shape of layer. What is put in and taken out follows from public
/// calls, so that the parties agree on it; the number of each vector enters their views when it is used \[A18\].
#[derive(Default)]
pub(crate) struct Shelves(Vec<Shelf>);

struct Shelf {
    protocol: Protocol,
    shape: Shape,
    stock: Stock<OneHots>,
}

impl Shelves {
    /// How many layers are missing for `wanted` of them, as far as there is room.
    pub(crate) fn missing(&self, protocol: Protocol, shape: &Shape, wanted: usize) -> usize {
        let there = self.find(protocol, shape).map_or(0, |at| self.0[at].stock.len());
        wanted.min(bound(protocol, shape)).saturating_sub(there)
    }

    /// Keep vectors; those for which there is no room are wiped.
    pub(crate) fn put(&mut self, protocol: Protocol, shape: &Shape, vectors: Vec<Verified<OneHots>>) {
        let at = self.find(protocol, shape).unwrap_or_else(|| {
            let stock = Stock::bounded(bound(protocol, shape));
            self.0.push(Shelf { protocol, shape: shape.clone(), stock });
            self.0.len() - 1
        });
        for vector in vectors {
            // a full stock gives it back, and it is dropped here
            let _ = self.0[at].stock.put(vector);
        }
    }

    /// The oldest vectors for a layer of this shape, and their position.
    pub(crate) fn take(&mut self, protocol: Protocol, shape: &Shape) -> Option<(u64, OneHots)> {
        let at = self.find(protocol, shape)?;
        self.0[at].stock.take()
    }

    fn find(&self, protocol: Protocol, shape: &Shape) -> Option<usize> {
        self.0.iter().position(|shelf| shelf.protocol == protocol && shelf.shape == *shape)
    }
}

/// How many layers of this shape are kept.
fn bound(protocol: Protocol, shape: &Shape) -> usize {
    let layer = shape.0.len() * protocol.vector_bytes();
    (BUDGET / layer.max(1)).max(1)
}
