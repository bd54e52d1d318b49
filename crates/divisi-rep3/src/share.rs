//! Replicated sharings: `x = x1 + x2 + x3`, party i holds components i and i+1.
//!
//! A party's own index names its first component: P1 holds (x1, x2), P2 (x2, x3), P3 (x3, x1). Any one
//! party's view of a sharing is independent of x; any two hold all of it. Public constants are added to
//! component 1, which P1 holds first and P3 second. Nothing here prints, compares or serialises a share; all
//! of it is wiped on drop.

use crate::origin::Origin;
use crate::runs::{self, Run};
use crate::tile::Tile;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Step, step, wipe};
use divisi_field::plane::LANES;
use divisi_field::{Field, Gf8, Gf128, Plane, transpose};
use zeroize::Zeroize;

const BYTE: Step = step!("byte");

/// Which of our two components is the one that carries public constants.
#[must_use]
pub(crate) fn constant_component(me: PartyId) -> Option<usize> {
    match me.index() {
        0 => Some(0),
        2 => Some(1),
        _ => None,
    }
}

/// A secret byte in every lane of a batch: bit planes in tiles of 512 lanes, both components side by side (1
/// KiB a tile). Lanes beyond the batch are zero in both components.
#[derive(Clone)]
pub struct Byte {
    pub(crate) lanes: usize,
    pub(crate) tiles: Vec<Tile<8>>,
    pub(crate) form: Form,
    pub(crate) origin: Origin,
}

/// How a byte is shared.
#[derive(Clone)]
pub(crate) enum Form {
    /// Replicated among the three parties.
    Replicated,
    /// Additively shared, within a chain of layers: this party's share is in the first components.
    Additive(Link),
}

/// How a byte in the middle of a chain depends on one layer of the chain. `None` if nothing is verified, or
/// if the byte depends on several layers, which cannot be verified.
#[derive(Clone, Default)]
pub(crate) struct Link(pub(crate) Option<Box<Combination>>);

/// A public combination of the outputs of one layer of a chain.
#[derive(Clone)]
pub(crate) struct Combination {
    /// The layer's number in its chain.
    pub(crate) layer: u64,
    /// The coefficient of each output of that layer.
    pub(crate) row: Vec<Gf8>,
    /// The replicated value that is added to the combination; `None` if nothing was added.
    pub(crate) offset: Option<Byte>,
}

impl Byte {
    /// The sharing of zero whose components are all zero. Its origin is [`Origin::NONE`], which no engine
    /// accepts.
    #[must_use]
    pub(crate) fn zero(lanes: usize) -> Byte {
        let tiles = vec![[[Plane::ZERO; 8]; 2]; lanes.div_ceil(LANES)];
        Byte { lanes, tiles, form: Form::Replicated, origin: Origin::NONE }
    }

    /// The same planes with this origin.
    pub(crate) fn of(mut self, origin: Origin) -> Byte {
        self.origin = origin;
        self
    }

    /// Whether it is replicated: not in the middle of a chain of additively shared layers.
    pub(crate) fn is_replicated(&self) -> bool {
        matches!(self.form, Form::Replicated)
    }

    /// The first `lanes` lanes of the value; `None` if it has fewer, or belongs to an unfinished chain.
    #[must_use]
    pub fn prefix(&self, lanes: usize) -> Option<Byte> {
        let tiles = self.tiles.get(..lanes.div_ceil(LANES));
        let tiles = tiles.filter(|_| lanes <= self.lanes && self.is_replicated())?;
        let mut out = Byte { lanes, tiles: tiles.to_vec(), form: Form::Replicated, origin: self.origin };
        if let (Some(last), rest @ 1..) = (out.tiles.last_mut(), lanes % LANES) {
            last.iter_mut().flatten().for_each(|plane| plane.keep(rest));
        }
        Some(out)
    }

    /// The lanes of this value, followed by those of another; `None` if one of them belongs to an unfinished
    /// chain, or if they are of different engines.
    #[must_use]
    pub fn with(&self, other: &Byte) -> Option<Byte> {
        Byte::join(&[self, other])
    }

    /// The lanes of all parts, one part after the other; `None` as for [`Byte::with`], and if there are no
    /// parts.
    #[must_use]
    pub fn join(parts: &[&Byte]) -> Option<Byte> {
        let origin = parts.first()?.origin;
        let origin = parts.iter().try_fold(origin, |origin, part| origin.and(part.origin))?;
        if !parts.iter().all(|part| part.is_replicated()) {
            return None;
        }
        let mut out = Byte::zero(parts.iter().map(|part| part.lanes).sum()).of(origin);
        let mut at = 0;
        for part in parts {
            runs::put(&mut out.tiles, at, &part.tiles, Run::of(0, part.lanes));
            at += part.lanes;
        }
        Some(out)
    }

    /// This value, repeated in this many lanes if it has one lane; otherwise unchanged.
    pub(crate) fn spread(&self, lanes: usize) -> Byte {
        if self.lanes != 1 || lanes == 1 {
            return self.clone();
        }
        let mut out = Byte::zero(lanes).of(self.origin);
        for (t, tile) in out.tiles.iter_mut().enumerate() {
            let used = (lanes - t * LANES).min(LANES);
            for (to, from) in tile.iter_mut().flatten().zip(self.tiles.iter().flatten().flatten()) {
                *to = Plane::splat(from.lane(0));
                to.keep(used);
            }
        }
        out
    }

    /// A value of our two components, one byte for each lane. Its origin is not set yet.
    pub(crate) fn from_components(components: [&[u8]; 2]) -> Result<Byte, Abort> {
        let lanes = components[0].len();
        if lanes != components[1].len() {
            return Err(Abort::Misuse { step: BYTE, what: Misuse::CountsDiffer });
        }
        let mut byte = Byte::zero(lanes);
        for (c, bytes) in components.into_iter().enumerate() {
            for (tile, bytes) in byte.tiles.iter_mut().zip(bytes.chunks(LANES)) {
                transpose::to_planes(bytes, &mut tile[c]);
            }
        }
        Ok(byte)
    }

    /// One of our components as bytes, a byte a lane, appended to `out`. A byte of an unfinished chain is
    /// refused: its share is not a component of the value, and would reveal more than the value to its
    /// receiver \[A19\].
    pub(crate) fn component(&self, c: usize, out: &mut Vec<u8>) -> Result<(), Abort> {
        if !self.is_replicated() {
            return Err(Abort::Misuse { step: BYTE, what: Misuse::ChainUnfinished });
        }
        let start = out.len();
        out.resize(start + self.lanes, 0);
        for (tile, bytes) in self.tiles.iter().zip(out[start..].chunks_mut(LANES)) {
            transpose::from_planes(&tile[c], bytes);
        }
        Ok(())
    }

    /// How many lanes of tile `t` are in use.
    pub(crate) fn lanes_of(&self, t: usize) -> usize {
        (self.lanes - t * LANES).min(LANES)
    }
}

impl Lanes for Byte {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn gather(&self, index: &[usize]) -> Option<Byte> {
        if !self.is_replicated() || index.iter().any(|l| *l >= self.lanes) {
            return None;
        }
        let mut out = Byte::zero(index.len()).of(self.origin);
        let mut at = 0;
        for run in runs::runs(index) {
            runs::put(&mut out.tiles, at, &self.tiles, run);
            at += run.lanes;
        }
        Some(out)
    }

    fn first(&self, lanes: usize) -> Option<Byte> {
        self.prefix(lanes)
    }
}

impl Drop for Byte {
    fn drop(&mut self) {
        self.tiles.iter_mut().flatten().flatten().for_each(Zeroize::zeroize);
    }
}

/// A replicated vector of elements of a large field: our first components, and our second.
#[derive(Clone)]
pub(crate) struct Rep<F: Field> {
    pub(crate) a: Vec<F>,
    pub(crate) b: Vec<F>,
}

impl<F: Field> Rep<F> {
    pub(crate) fn zero(len: usize) -> Self {
        Rep { a: vec![F::ZERO; len], b: vec![F::ZERO; len] }
    }

    pub(crate) fn len(&self) -> usize {
        self.a.len()
    }

    /// Apply `f` to both our components of each element: a linear map is the same on every component.
    pub(crate) fn map(&self, f: impl Fn(F) -> F) -> Self {
        Rep { a: self.a.iter().map(|x| f(*x)).collect(), b: self.b.iter().map(|x| f(*x)).collect() }
    }

    /// Append `other`. If the elements have to move, their old memory is wiped.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (side, more) in [(&mut self.a, &other.a), (&mut self.b, &other.b)] {
            wipe::reserve(side, more.len());
            side.extend_from_slice(more);
        }
    }
}

/// A secret block of GHASH's field in every lane.
#[derive(Clone)]
pub struct Block {
    pub(crate) rep: Rep<Gf128>,
    pub(crate) origin: Origin,
}

impl Lanes for Block {
    fn lanes(&self) -> usize {
        self.rep.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        Some(Block { rep: self.rep.gather(index)?, origin: self.origin })
    }
}

impl<F: Field> Lanes for Rep<F> {
    fn lanes(&self) -> usize {
        self.a.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Self> {
        let pick = |x: &[F]| index.iter().map(|l| x.get(*l).copied()).collect::<Option<Vec<F>>>();
        Some(Rep { a: pick(&self.a)?, b: pick(&self.b)? })
    }
}

impl<F: Field> Drop for Rep<F> {
    fn drop(&mut self) {
        self.a.zeroize();
        self.b.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(lanes: usize, seed: usize) -> Byte {
        let values = |c: usize| (0..lanes).map(|l| (l * 31 + seed * 7 + c * 101) as u8).collect::<Vec<u8>>();
        Byte::from_components([&values(0), &values(1)])
            .unwrap()
            .of(Origin { closed: seed as u64, ..Origin::NONE })
    }

    fn components(byte: &Byte) -> [Vec<u8>; 2] {
        [0, 1].map(|c| {
            let mut out = Vec::new();
            byte.component(c, &mut out).unwrap();
            out
        })
    }

    /// Lanes are picked and joined right across the borders of words and tiles, and unused lanes stay zero.
    #[test]
    fn lanes_are_picked_and_joined() {
        let lanes = 1100;
        let whole = byte(lanes, 3);
        let lists: [Vec<usize>; 5] = [
            vec![],
            (0..lanes).collect(),
            (37..900).collect(),
            (0..700).map(|l| l / 90).collect(),
            (0..1300).map(|l| l * l % lanes).collect(),
        ];
        for index in lists {
            let picked = whole.gather(&index).unwrap();
            assert_eq!(picked.lanes(), index.len());
            let expected = components(&whole).map(|all| index.iter().map(|l| all[*l]).collect::<Vec<u8>>());
            assert!(components(&picked) == expected);
            assert!(picked.tiles == Byte::from_components([&expected[0], &expected[1]]).unwrap().tiles);
        }
        assert!(whole.gather(&[0, lanes]).is_none() && whole.gather(&[usize::MAX]).is_none());
        let parts = [byte(1, 1), byte(0, 2), byte(511, 3), byte(70, 4), byte(513, 5)];
        let joined = Byte::join(&parts.each_ref()).unwrap();
        assert_eq!((joined.lanes(), joined.origin.closed), (1095, 5));
        let expected =
            [0, 1].map(|c| parts.iter().flat_map(|part| components(part)[c].clone()).collect::<Vec<u8>>());
        assert!(components(&joined) == expected && Byte::join(&[]).is_none());
    }

    /// Values of two engines do not become one.
    #[test]
    fn what_belongs_to_others_is_not_joined() {
        let [one, other] = [1, 2].map(|seed| {
            let origin = Origin { engine_id: crate::origin::EngineId::new(), closed: 0 };
            byte(3, seed).of(origin)
        });
        assert!(Byte::join(&[&one, &other]).is_none() && one.with(&other).is_none());
        assert!(Byte::join(&[&one, &one]).is_some());
    }
}
