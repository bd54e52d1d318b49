//! What is common to S-boxes whose outputs stay additively shared from layer to layer (MAESTRO Protocol 7).
//!
//! Each keeps x in its records when it looks x up ([`Chained::layer`]); the engine brings the replicated
//! outputs when they are known ([`crate::engine::chain`]), and [`bind`] completes the records with them:
//! pairs for VerifySbox ([`super::verify_sbox`]).

use super::verify_sbox::{SBOX_PLANES, Y};
use super::{store, trim};
use crate::lookup::table;
use crate::record::{Record, Records};
use crate::share::Byte;
use crate::tile::Tile;
use crate::trio::Trio;
use crate::wire::Shape;
use divisi_core::{Abort, Direction};
use divisi_field::kernel::{Task, run};
use divisi_field::{Gf8, Plane, Word, gf8};

/// S-boxes whose outputs are additive shares.
pub(crate) trait Chained: Sync {
    /// One layer, with its vectors: afterwards the first components of the bytes are additive shares of the
    /// outputs. Returns the records, with x in them if they are `kept`, and the opened values.
    fn layer(
        &self,
        trio: &mut Trio,
        bytes: &mut [&mut Byte],
        side: Side,
        input: Input,
        vectors: Option<&Record>,
        kept: bool,
    ) -> Result<(Records<SBOX_PLANES>, Vec<[Plane; 8]>), Abort>;

    /// The replicated inputs of a layer, of this many lanes each, from its vectors and the opened values.
    fn inputs(
        &self,
        trio: &Trio,
        vectors: Option<&Record>,
        opened: &[[Plane; 8]],
        constant: Option<usize>,
        lanes: &[usize],
    ) -> Result<Vec<Byte>, Abort>;
}

/// How the input of a layer is shared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// The first layer of a chain.
    Replicated,
    /// The layers after it.
    Additive,
}

/// The direction of the S-box, which says what stands around the inversion, and which of our components
/// carries public constants.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) direction: Direction,
    pub(crate) constant: Option<usize>,
}

/// What enters the pair: the value itself, or Affine^-1 of it.
#[inline(always)]
pub(super) fn pair<W: Word>(x: [W; 8], hat: bool, one: W) -> [W; 8] {
    if !hat {
        return x;
    }
    let mut y = gf8::inverse_affine_linear(&x);
    for (i, y) in y.iter_mut().enumerate() {
        if gf8::INVERSE_AFFINE_CONSTANT.0 >> i & 1 == 1 {
            *y ^= one;
        }
    }
    y
}

/// Line 6: the replicated outputs of a layer go into its records, which are then complete.
pub(crate) fn bind(made: &mut Records<SBOX_PLANES>, outputs: &[Byte], side: Side) {
    let tiles = outputs.iter().flat_map(|byte| byte.tiles.iter());
    for (record, tile) in made.iter_mut().zip(tiles) {
        run(Bind { record, tile, side });
    }
    let shape = Shape(made.lanes.clone());
    trim(made.iter_mut(), &shape);
}

struct Bind<'a> {
    record: &'a mut Tile<SBOX_PLANES>,
    tile: &'a Tile<8>,
    side: Side,
}

impl Task for Bind<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for component in 0..2 {
            let one = table::one::<W>(self.side.constant, component);
            let hat = self.side.direction == Direction::Encrypt;
            store(&mut self.record[component], Y, &pair(W::load_all(&self.tile[component]), hat, one));
        }
    }
}

/// Adds component `c` of tile `t` of m x to `out`, for a public square matrix m with a row for each byte.
pub(crate) struct Apply<'a> {
    pub(crate) m: &'a [Gf8],
    pub(crate) x: &'a [Byte],
    pub(crate) t: usize,
    pub(crate) c: usize,
    pub(crate) out: &'a mut [[Plane; 8]],
}

impl Task for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let n = self.x.len();
        for (j, byte) in self.x.iter().enumerate() {
            let mut multiple: [W; 8] = W::load_all(&byte.tiles[self.t][self.c]);
            for bit in 0..8 {
                // the matrix is public
                for (i, out) in self.out.iter_mut().enumerate() {
                    if self.m[i * n + j].0 >> bit & 1 == 1 {
                        W::store_all(&gf8::add(&W::load_all(out), &multiple), out);
                    }
                }
                if (0..n).all(|i| self.m[i * n + j].0 >> bit <= 1) {
                    break;
                }
                multiple = gf8::times_x(&multiple);
            }
        }
    }
}
