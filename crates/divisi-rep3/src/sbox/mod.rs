//! The ways to compute one layer of S-boxes. All of them invert in GF(2^8) and put the affine map around it; they differ in
//! what they multiply, and so in bits and rounds.
//!
//! | protocol | products (rounds) an inversion | bits | relations verified (the paper's) |
//! |---|---|---|---|
//! | [`gf8_circuit`] | 4 in GF(2^8) (3) | 32 | 2 (4) |
//! | [`gf4_circuit`] | 5 in GF(2^4) (4) | 20 | 2 (3) |

pub(crate) mod gf4_circuit;
pub(crate) mod gf8_circuit;

use crate::ledger::Records;
use crate::share::{Byte, Tile, constant_component};
use crate::wire::Shape;
use divisi_core::{Direction, PartyId};
use divisi_field::{Gf8, Gf64, Plane, Word, gf8};
use std::fmt;
use std::str::FromStr;

/// How S-boxes are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// Inversion as a power in GF(2^8), after Chida et al.: 3 rounds, 32 bits.
    Gf8Circuit,
    /// Inversion through GF(2^4) with powers there (MAESTRO Protocol 3 with a circuit for the small inverse): 4 rounds, 20 bits.
    Gf4Circuit,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: &'static [Protocol] = &[Protocol::Gf8Circuit, Protocol::Gf4Circuit];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Gf8Circuit => "gf8-circuit",
            Protocol::Gf4Circuit => "gf4-circuit",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Protocol::ALL.iter().map(|p| p.name()).collect::<Vec<_>>().join(", ");
        Protocol::ALL
            .iter()
            .copied()
            .find(|p| p.name() == name)
            .ok_or_else(|| format!("unknown protocol {name:?}: there are {}", known()))
    }
}

/// The planes of one element of `K` bits that begins at plane `at`, each weighed by `weight` of its basis element's number.
pub(crate) fn weights(at: usize, k: usize, weight: impl Fn(u32) -> Gf64) -> Vec<(usize, Gf64)> {
    (0..k).map(|i| (at + i, weight(i as u32))).collect()
}

/// `base^exponent`, both public.
pub(crate) fn power(base: Gf64, exponent: u32) -> Gf64 {
    (0..exponent).fold(Gf64(1), |p, _| p * base)
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
        let shape = Shape(bytes.iter().flat_map(|b| (0..b.tiles.len()).map(|t| b.lanes_of(t))).collect());
        Layer { bytes, shape, direction, constant: constant_component(me) }
    }

    /// The tiles in the order of the shape.
    pub(crate) fn tiles(&mut self) -> impl Iterator<Item = &mut Tile<8>> {
        self.bytes.iter_mut().flat_map(|b| b.tiles.iter_mut())
    }

    /// Empty records, one a tile.
    pub(crate) fn records<const K: usize>(&self) -> Records<K> {
        Records { records: vec![[[Plane::ZERO; K]; 2]; self.shape.0.len()], lanes: self.shape.0.clone() }
    }

    /// What stands around the inversion: the affine map after it, or the inverse affine map before it; the constant goes to
    /// one component only.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Relation;

    /// By how much a relation is missed, for a record whose planes are the bits of `record`, in the clear.
    pub(crate) fn difference(relation: &Relation, record: u64) -> Gf64 {
        let sum = |weights: &[(usize, Gf64)]| {
            weights.iter().filter(|(i, _)| record >> i & 1 == 1).map(|(_, w)| *w).sum::<Gf64>()
        };
        sum(&relation.x) * sum(&relation.y) + sum(&relation.z)
    }

    /// The rank over GF(2) of these vectors of 64 bits: they are independent if it is their number, and then a linear map that
    /// takes them from a basis is zero at zero alone.
    pub(crate) fn rank(vectors: impl Iterator<Item = Gf64>) -> usize {
        let mut reduced: Vec<u64> = Vec::new();
        for Gf64(mut v) in vectors {
            for r in &reduced {
                v = v.min(v ^ r);
            }
            if v != 0 {
                reduced.push(v);
            }
        }
        reduced.len()
    }

    /// Whether a relation holds for a record whose planes are the bits of `record`, in the clear.
    pub(crate) fn holds(relation: &Relation, record: u64) -> bool {
        difference(relation, record) == Gf64(0)
    }

    #[test]
    fn names_round_trip() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().parse(), Ok(*protocol));
        }
        assert!("gf5".parse::<Protocol>().is_err_and(|e| e.contains("gf4-circuit")));
    }
}
