//! lut256: the whole S-box by one lookup in its table, everything replicated (MAESTRO sections 3.5.1 and
//! 3.5.2).
//!
//! Cost an S-box: 8 bits and one round, and 247 bits ahead for its one-hot vector (test
//! `aes_128_costs_what_the_paper_says`). The inverse S-box is another table, at the same cost.
//!
//! Adversary: there is no product that an error could be added to, but a malicious party can show one
//! neighbour a false component of c. Each opening is compared with all before the digest of the next one goes
//! out, and before any output \[A22\]; the vectors were verified when they were made \[A17\]. So T(v) is
//! right when it leaves, without a relation of its own. The paper gives malicious security in one sentence;
//! this comparison is what it takes.

use super::Layer;
use crate::lookup::table::Replicated;
use crate::ohv::byte::BYTE_PLANES;
use crate::record::Records;
use crate::tile::Tile;
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};
use divisi_field::Plane;
use divisi_field::kernel::run;
use zeroize::Zeroizing;

const OPEN: Step = step!("c");

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
