//! lut256-additive: the S-box by one lookup whose output is additively shared, and stays so from layer to
//! layer (MAESTRO Protocols 6 and 7).
//!
//! Cost an S-box: 16 bits and one round (8 in the first layer of a chain, whose input is replicated), 22 bits
//! ahead for two one-hot vectors of 16; and 8 bits and one round for each byte of the chain's end (test
//! `aes_128_costs_what_the_paper_says`).
//!
//! Adversary: a malicious party can add an error to its share of any layer's input and of the outputs that
//! are reshared at the end, and can show its peers different shares of c. The comparison of views finds the
//! last \[A2\]; this finds the others:
//!
//! | line of Protocol 7 | here |
//! |---|---|
//! | 2, 5: F_LUT | [`layer`]; `[[x]] = [[r]] + c` goes into the record |
//! | 4: L, the round key | the engine's linear operations, on shares |
//! | 6: `[[y]] = L^-1([[x]] - [[k]])` | [`super::chained::bind`]; [`crate::engine::chain`] kept L and k |
//! | 8: Reshare | `Bytes::finish` \[A19\] |
//! | 10: VerifySbox | the record as relation \[A20\] |
//!
//! A wrong input of layer i is replicated in its record, so that the outputs of layer i - 1 are traced back
//! wrong, and their pairs fail. Only one masked value for the whole batch is opened, because the place or the
//! amount of the failure would reveal something about the secret input \[A21\]. For the inverse S-box the
//! pair is (Affine^-1(x), y) \[A23\].

use super::chained::{Chained, Input, Side, pair};
use super::verify_sbox::{SBOX_PLANES, X};
use super::{LayerKind, Sbox, held, store, trim};
use crate::lookup::scratch;
use crate::lookup::table::{self, Additive};
use crate::ohv::nibble::{self, NIBBLES_PLANES};
use crate::record::{Record, Records};
use crate::share::Byte;
use crate::tile::Tile;
use crate::trio::Trio;
use crate::wire::Shape;
use divisi_core::{Abort, Direction, Step, step};
use divisi_field::kernel::{Task, run};
use divisi_field::{Plane, Word};
use zeroize::Zeroizing;

const OPEN: Step = step!("c");

/// The S-box as a table of 256, additively shared from layer to layer.
pub(crate) struct Lut256Additive;

impl Sbox for Lut256Additive {
    fn name(&self) -> &'static str {
        "lut256-additive"
    }

    fn rounds(&self) -> usize {
        1
    }

    fn bits(&self) -> usize {
        16
    }

    fn is_for_key_schedules(&self) -> bool {
        false
    }

    fn vector_planes(&self) -> usize {
        NIBBLES_PLANES
    }

    fn make_vectors(&self, trio: &mut Trio, layers: usize, shape: &Shape) -> Result<Vec<Record>, Abort> {
        let made = nibble::make::<NIBBLES_PLANES>(trio, layers, shape)?;
        Ok(made.map(|made| Record::of_vectors(&nibble::TWO, made)).collect())
    }

    fn layer_kind(&self) -> LayerKind {
        LayerKind::Chained(&Lut256Additive)
    }
}

impl Chained for Lut256Additive {
    fn layer(
        &self,
        trio: &mut Trio,
        bytes: &mut [&mut Byte],
        side: Side,
        input: Input,
        vectors: Option<&Record>,
        kept: bool,
    ) -> Result<(Records<SBOX_PLANES>, Vec<[Plane; 8]>), Abort> {
        layer(trio, bytes, side, input, held(trio, vectors, &nibble::TWO)?, kept)
    }

    fn inputs(
        &self,
        trio: &Trio,
        vectors: Option<&Record>,
        opened: &[[Plane; 8]],
        constant: Option<usize>,
        lanes: &[usize],
    ) -> Result<Vec<Byte>, Abort> {
        Ok(inputs(held(trio, vectors, &nibble::TWO)?, opened, constant, lanes))
    }
}

/// One layer, with these vectors: afterwards the first components of the bytes are additive shares of the
/// outputs. Returns the records, with x in them, and c.
pub(crate) fn layer(
    trio: &mut Trio,
    bytes: &mut [&mut Byte],
    side: Side,
    input: Input,
    vectors: &Records<NIBBLES_PLANES>,
    view: bool,
) -> Result<(Records<SBOX_PLANES>, Vec<[Plane; 8]>), Abort> {
    let shape = Shape(vectors.lanes.clone());
    let tiles = |bytes: &[&mut Byte]| -> Vec<[Plane; 8]> {
        let tiles = bytes.iter().flat_map(|byte| byte.tiles.iter());
        tiles.zip(vectors.iter()).map(|(tile, vector)| super::lut256::masked(tile, vector, 0)).collect()
    };
    // F_LUT: c
    let c = match input {
        Input::Replicated => {
            let own = tiles(bytes);
            let second = bytes.iter().flat_map(|byte| byte.tiles.iter()).zip(vectors.iter());
            let second: Zeroizing<Vec<_>> =
                Zeroizing::new(second.map(|(tile, vector)| super::lut256::masked(tile, vector, 1)).collect());
            trio.open_layer(OPEN, own, &second, &shape, view)?
        }
        Input::Additive => {
            let mut c = tiles(bytes);
            trio.open_additive(OPEN, &mut c, &shape, view)?;
            c
        }
    };
    // T(v), and [[v]] = [[r]] + c for the record
    let mut made = Records::new(&trio.pool, if view { &shape } else { &NOTHING });
    if view {
        for ((record, vector), c) in made.iter_mut().zip(vectors.iter()).zip(&c) {
            run(Keep { record, vector, c, side });
        }
        trim(made.iter_mut(), &shape);
    }
    let mut out = scratch::<8>(&Shape(vec![512]));
    let tiles = bytes.iter_mut().flat_map(|byte| byte.tiles.iter_mut());
    for (((tile, vectors), c), lanes) in tiles.zip(vectors.iter()).zip(&c).zip(&shape.0) {
        let out = &mut out[0];
        run(Additive { vectors, c, direction: side.direction, constant: side.constant, out });
        out.iter_mut().for_each(|plane| plane.keep(*lanes));
        *tile = [*out, [Plane::ZERO; 8]];
    }
    Ok((made, c))
}

/// `[[x]] = [[r]] + c` for each byte of the layer, of this many lanes each.
fn inputs(
    vectors: &Records<NIBBLES_PLANES>,
    c: &[[Plane; 8]],
    constant: Option<usize>,
    lanes: &[usize],
) -> Vec<Byte> {
    let mut tiles = vectors.iter().zip(c);
    let mut out: Vec<Byte> = lanes.iter().map(|lanes| Byte::zero(*lanes)).collect();
    for tile in out.iter_mut().flat_map(|byte| byte.tiles.iter_mut()) {
        let Some((vector, c)) = tiles.next() else { break };
        for (side, planes) in tile.iter_mut().enumerate() {
            for (i, plane) in planes.iter_mut().enumerate() {
                *plane = vector[side][i];
                if constant == Some(side) {
                    *plane ^= c[i];
                }
            }
        }
    }
    out
}

/// The shape of nothing: semi-honest layers leave no records.
static NOTHING: Shape = Shape(Vec::new());

struct Keep<'a> {
    record: &'a mut Tile<SBOX_PLANES>,
    vector: &'a Tile<NIBBLES_PLANES>,
    c: &'a [Plane; 8],
    side: Side,
}

impl Task for Keep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let c: [W; 8] = W::load_all(self.c);
        for component in 0..2 {
            let one = table::one::<W>(self.side.constant, component);
            let mut x = [W::zero(); 8];
            for i in 0..8 {
                x[i] = W::load(&self.vector[component][i]) ^ (c[i] & one);
            }
            let hat = self.side.direction == Direction::Decrypt;
            store(&mut self.record[component], X, &pair(x, hat, one));
        }
    }
}
