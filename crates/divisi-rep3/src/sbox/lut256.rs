//! lut256: the whole S-box by one lookup in its table, everything replicated (MAESTRO sections 3.5.1 and
//! 3.5.2).
//!
//! Cost an S-box: 8 bits and one round, and 247 bits ahead for its one-hot vector (test
//! `aes_128_costs_what_the_paper_says`). The inverse S-box is another table, at the same cost.
//!
//! Adversary: there is no product that an error could be added to, but a malicious party can show one
//! neighbour a false component of c. All parties compare each opening before a digest of the next one is
//! sent, and before any output \[A22\]; the vectors were verified when they were made \[A17\]. So T(v) is
//! right when it leaves, without a relation of its own. The paper gives malicious security in one sentence;
//! this comparison is what it takes.

use super::{Layer, LayerKind, Owed, Sbox, held};
use crate::lookup::table::Replicated;
use crate::ohv::byte::{self, BYTE_PLANES};
use crate::record::{Record, Records};
use crate::tile::Tile;
use crate::trio::Trio;
use crate::wire::Shape;
use divisi_core::{Abort, Step, step};
use divisi_field::Plane;
use divisi_field::kernel::run;
use zeroize::Zeroizing;

const OPEN: Step = step!("c");

/// The S-box as a table of 256.
pub(crate) struct Lut256;

impl Sbox for Lut256 {
    fn name(&self) -> &'static str {
        "lut256"
    }

    fn rounds(&self) -> usize {
        1
    }

    fn bits(&self) -> usize {
        8
    }

    /// Memory for the vectors sets the limit: 10 MB of them, at each of three parties that may share a
    /// processor.
    fn blocks_at_once(&self) -> usize {
        1024
    }

    fn is_for_key_schedules(&self) -> bool {
        false
    }

    fn owes_products(&self) -> bool {
        false
    }

    fn vector_planes(&self) -> usize {
        BYTE_PLANES
    }

    fn make_vectors(&self, trio: &mut Trio, layers: usize, shape: &Shape) -> Result<Vec<Record>, Abort> {
        Ok(byte::make(trio, layers, shape)?.map(|made| Record::of_vectors(&byte::KIND, made)).collect())
    }

    fn layer_kind(&self) -> LayerKind {
        LayerKind::Replicated(|trio, layer, vectors, records| {
            let vectors = held(trio, vectors, &byte::KIND)?;
            self::layer(trio, layer, vectors, records)?;
            Ok(Owed::Openings)
        })
    }
}

/// One layer, with these vectors.
pub(crate) fn layer(
    trio: &mut Trio,
    layer: &mut Layer<'_, '_>,
    vectors: &Records<BYTE_PLANES>,
    view: bool,
) -> Result<(), Abort> {
    let (direction, shape, constant) = (layer.direction(), layer.shape.clone(), layer.constant());
    // c = x + r, whose bits are the first planes of the vector
    let masked = |side: usize, layer: &mut Layer<'_, '_>| -> Vec<[Plane; 8]> {
        layer.tiles().zip(vectors.iter()).map(|(tile, vector)| masked(tile, vector, side)).collect()
    };
    let own = masked(0, layer);
    let second = Zeroizing::new(masked(1, layer));
    let c = trio.open_layer(OPEN, own, &second, &shape, view)?;
    for ((tile, vector), c) in layer.tiles().zip(vectors.iter()).zip(&c) {
        for (side, out) in tile.iter_mut().enumerate() {
            run(Replicated { vector: &vector[side], c, direction, one: constant == Some(side), out });
        }
    }
    super::trim(layer.tiles(), &shape);
    Ok(())
}

/// One component of x + r.
pub(crate) fn masked<const K: usize>(tile: &Tile<8>, vector: &Tile<K>, side: usize) -> [Plane; 8] {
    std::array::from_fn(|i| tile[side][i] ^ vector[side][i])
}

#[cfg(test)]
mod tests {
    use crate::ohv::byte;

    #[test]
    fn the_place_is_in_the_first_planes() {
        assert!((0..8).all(|i| byte::plane(1 << i) == i));
    }
}
