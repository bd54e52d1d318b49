//! The protocols for one layer of S-boxes. The circuits and lut16 invert in GF(2^8) and apply the affine map;
//! the lookups of 256 take the whole S-box as a table. They differ in what they multiply and open, and so in
//! bits and rounds.
//!
//! | protocol | online (rounds) an S-box | ahead | relations verified (the paper's) |
//! |---|---|---|---|
//! | [`gf8_circuit`] | 32 bits (3) | | 2 (4) |
//! | [`gf4_circuit`] | 20 bits (4) | | 2 (3) |
//! | [`lut16`] | 16 bits (2) | 11 bits | 1 + 1 (3) |
//! | [`lut256_additive`] | 16 bits (1) | 22 bits | 1 + 2 (6) |
//! | [`lut256`] | 8 bits (1) | 247 bits | 1 (7) |
//!
//! **Another protocol** is a file here that implements [`Sbox`], and a line of the registry in `protocol.rs`;
//! `toy.rs`, for tests, is the smallest.

pub(crate) mod around_inverse;
pub(crate) mod chained;
pub(crate) mod gf4_circuit;
pub(crate) mod gf8_circuit;
pub(crate) mod lut16;
pub(crate) mod lut256;
pub(crate) mod lut256_additive;
mod protocol;
#[cfg(test)]
mod toy;
pub(crate) mod verify_sbox;

pub use protocol::Protocol;

use crate::record::{Kind, Record, Records};
use crate::share::{Byte, constant_component};
use crate::tile::Tile;
use crate::trio::Trio;
use crate::wire::Shape;
use chained::Chained;
use divisi_core::wipe::Pool;
use divisi_core::{Abort, Direction, Misuse, PartyId, Step, step};
use divisi_field::{Gf8, Plane, Word, gf8};

const VECTORS: Step = step!("vectors");

/// A way to compute S-boxes. The engine asks it once a layer, never in a loop over lanes.
pub(crate) trait Sbox: Sync {
    /// Its name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// How many rounds a layer takes, in a chain of layers.
    fn rounds(&self) -> usize;

    /// How many bits each party sends for an S-box online, on average over a chain of layers that begins and
    /// ends with replicated shares.
    fn bits(&self) -> usize;

    /// How many blocks go through the cipher at once. More of them pay a round's waiting and a verification's
    /// rounds less often; fewer stay in a processor's cache.
    fn blocks_at_once(&self) -> usize {
        4096
    }

    /// Whether the key schedule of a cipher uses it, too. A schedule is short and computed once, and its
    /// chain of dependent layers gains nothing from large tables: it takes gf4-circuit instead of them.
    fn is_for_key_schedules(&self) -> bool {
        true
    }

    /// Whether its layers owe products ([`Owed::Products`]), and not openings alone, which are compared
    /// ([`Owed::Openings`]).
    fn owes_products(&self) -> bool {
        true
    }

    /// How many planes its one-hot vectors have for one S-box; 0 if it takes no vectors.
    fn vector_planes(&self) -> usize {
        0
    }

    /// Vectors for this many layers of this shape, one record a layer: they are verified before a layer gets
    /// them \[A17\].
    fn make_vectors(&self, trio: &mut Trio, _layers: usize, _shape: &Shape) -> Result<Vec<Record>, Abort> {
        Err(trio.session.misuse(VECTORS, Misuse::NotMade))
    }

    /// How a layer is computed, and how its outputs are shared.
    fn layer_kind(&self) -> LayerKind;
}

/// How a layer of S-boxes is computed.
pub(crate) enum LayerKind {
    /// Replicated shares go in, and replicated shares come out.
    Replicated(Replace),
    /// The outputs are additive shares until the chain ends.
    Chained(&'static dyn Chained),
}

/// Replace the bytes of a layer by their S-boxes, with the layer's vectors if it takes any. The last argument
/// says whether openings are compared, and products verified.
pub(crate) type Replace = fn(&mut Trio, &mut Layer<'_, '_>, Option<&Record>, bool) -> Result<Owed, Abort>;

/// What a layer owes.
pub(crate) enum Owed {
    /// Its products, as records with their relations.
    Products(Record),
    /// Openings that are compared, and nothing else \[A22\].
    Openings,
}

/// The vectors of a layer, which must be of this kind.
pub(crate) fn held<'v, const K: usize>(
    trio: &Trio,
    vectors: Option<&'v Record>,
    kind: &'static Kind<K>,
) -> Result<&'v Records<K>, Abort> {
    let planes = vectors.and_then(|made| made.planes(kind));
    planes.ok_or_else(|| trio.session.misuse(VECTORS, Misuse::NotMade))
}

/// The lanes in use of each tile of a layer.
pub(crate) fn shape_of(bytes: &[&mut Byte]) -> Shape {
    Shape(bytes.iter().flat_map(|b| (0..b.tiles.len()).map(|t| b.lanes_of(t))).collect())
}

/// A layer at work: the bytes it replaces, tile by tile.
pub(crate) struct Layer<'l, 'b> {
    pub(crate) bytes: &'l mut [&'b mut Byte],
    pub(crate) shape: Shape,
    direction: Direction,
    constant: Option<usize>,
}

impl<'l, 'b> Layer<'l, 'b> {
    pub(crate) fn new(bytes: &'l mut [&'b mut Byte], direction: Direction, me: PartyId) -> Self {
        let shape = shape_of(bytes);
        Layer { bytes, shape, direction, constant: constant_component(me) }
    }

    /// The tiles in the order of the shape.
    pub(crate) fn tiles(&mut self) -> impl Iterator<Item = &mut Tile<8>> {
        self.bytes.iter_mut().flat_map(|b| b.tiles.iter_mut())
    }

    /// Empty records, one a tile.
    pub(crate) fn records<const K: usize>(&self, pool: &Pool<Plane>) -> Records<K> {
        Records::new(pool, &self.shape)
    }

    /// Whether the S-box or its inverse is computed.
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Which of our components carries public constants.
    pub(crate) fn constant(&self) -> Option<usize> {
        self.constant
    }

    /// What stands around the inversion: the affine map after it, or the inverse affine map before it; the
    /// constant goes to one component only.
    pub(crate) fn around(&self) -> Around {
        Around { direction: self.direction, constant: self.constant }
    }
}

/// The affine parts of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Around {
    direction: Direction,
    constant: Option<usize>,
}

impl Around {
    /// Before the inversion: in the decrypting direction the inverse affine map.
    #[inline(always)]
    pub(crate) fn before<W: Word>(self, side: usize, x: &[W; 8]) -> [W; 8] {
        match self.direction {
            Direction::Encrypt => *x,
            Direction::Decrypt => self.add(side, gf8::inverse_affine_linear(x), gf8::INVERSE_AFFINE_CONSTANT),
        }
    }

    /// After the inversion: in the encrypting direction the affine map.
    #[inline(always)]
    pub(crate) fn after<W: Word>(self, side: usize, x: &[W; 8]) -> [W; 8] {
        match self.direction {
            Direction::Encrypt => self.add(side, gf8::affine_linear(x), gf8::AFFINE_CONSTANT),
            Direction::Decrypt => *x,
        }
    }

    #[inline(always)]
    fn add<W: Word>(self, side: usize, x: [W; 8], c: Gf8) -> [W; 8] {
        if self.constant == Some(side) { gf8::add_constant(&x, c) } else { x }
    }
}

/// The planes from `at` on of both components of a record, loaded.
#[inline(always)]
pub(crate) fn load<W: Word, const K: usize, const N: usize>(record: &Tile<N>, at: usize) -> [[W; K]; 2] {
    [load_planes(&record[0], at), load_planes(&record[1], at)]
}

#[inline(always)]
fn load_planes<W: Word, const K: usize, const N: usize>(planes: &[Plane; N], at: usize) -> [W; K] {
    let mut out = [W::zero(); K];
    let mut k = 0;
    while k < K {
        out[k] = W::load(&planes[at + k]);
        k += 1;
    }
    out
}

/// Store `x` into the planes from `at` on of one component.
#[inline(always)]
pub(crate) fn store<W: Word, const K: usize, const N: usize>(planes: &mut [Plane; N], at: usize, x: &[W; K]) {
    let mut k = 0;
    while k < K {
        x[k].store(&mut planes[at + k]);
        k += 1;
    }
}

/// Zero the lanes that are not in use, which a public constant may have set.
pub(crate) fn trim<'t, const K: usize>(tiles: impl Iterator<Item = &'t mut Tile<K>>, shape: &Shape) {
    for (tile, lanes) in tiles.zip(&shape.0).filter(|(_, lanes)| **lanes < Plane::LANES) {
        tile.iter_mut().flatten().for_each(|plane| plane.keep(*lanes));
    }
}
