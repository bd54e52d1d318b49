//! The memory of a batch: bit planes of 512 lanes, of both components of this party.

use divisi_field::Plane;

/// An element of K bits in 512 lanes: its planes, of our first component and of our second.
pub(crate) type Tile<const K: usize> = [[Plane; K]; 2];
