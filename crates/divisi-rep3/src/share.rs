//! Replicated sharings: `x = x1 + x2 + x3`, party i holds components i and i+1.
//!
//! A party's own index names its first component: P1 holds (x1, x2), P2 (x2, x3), P3 (x3, x1). Any one party's view of a
//! sharing is independent of x; any two hold all of it. Public constants are added to component 1, which P1 holds first and
//! P3 second. Nothing here prints, compares or serialises a share; all of it is wiped on drop.

use crate::engine::Link;
use crate::origin::Origin;
use divisi_core::{Abort, Lanes, PartyId, Step, step};
use divisi_field::plane::LANES;
use divisi_field::{Field, Gf128, Plane, transpose};
use zeroize::Zeroize;

const BYTE: Step = step!("byte");

/// An element of K bits in 512 lanes: its planes, of our first component and of our second.
pub(crate) type Tile<const K: usize> = [[Plane; K]; 2];

/// Which of our two components is the one that carries public constants.
#[must_use]
pub(crate) fn constant_component(me: PartyId) -> Option<usize> {
    match me.index() {
        0 => Some(0),
        2 => Some(1),
        _ => None,
    }
}

/// A secret byte in every lane of a batch: bit planes in tiles of 512 lanes, both components side by side (1 KiB a tile). Lanes
/// beyond the batch are zero in both components.
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
    /// Replicated.
    Replicated,
    /// Additively, in the middle of a chain of layers: our share is in the first components.
    Additive(Link),
}

impl Byte {
    /// The sharing of zero whose components are all zero: planes that no engine takes, before they have an origin.
    #[must_use]
    pub(crate) fn zero(lanes: usize) -> Byte {
        let tiles = vec![[[Plane::ZERO; 8]; 2]; lanes.div_ceil(LANES)];
        Byte { lanes, tiles, form: Form::Replicated, origin: Origin::NONE }
    }

    /// These planes as a value that was made there.
    pub(crate) fn of(mut self, origin: Origin) -> Byte {
        self.origin = origin;
        self
    }

    /// Whether it is replicated: not in the middle of a chain of additively shared layers.
    pub(crate) fn is_replicated(&self) -> bool {
        matches!(self.form, Form::Replicated)
    }

    /// The first lanes of the value; `None` if it has fewer, or belongs to a chain that is not finished.
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

    /// This value's lanes, and those of another after them; `None` if one belongs to a chain that is not finished, or they are of
    /// different engines.
    #[must_use]
    pub fn with(&self, other: &Byte) -> Option<Byte> {
        if !self.is_replicated() || !other.is_replicated() {
            return None;
        }
        let mut out = Byte::zero(self.lanes + other.lanes).of(self.origin.and(other.origin)?);
        for (source, offset) in [(self, 0), (other, self.lanes)] {
            for from in 0..source.lanes {
                let to = from + offset;
                let (source, target) = (&source.tiles[from / LANES], &mut out.tiles[to / LANES]);
                for (source, target) in source.iter().flatten().zip(target.iter_mut().flatten()) {
                    target.set_lane(to % LANES, source.lane(from % LANES));
                }
            }
        }
        Some(out)
    }

    /// This value of one lane in so many; a value of more lanes as it is.
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

    /// Our two components, a byte a lane; of no origin yet.
    pub(crate) fn from_components(components: [&[u8]; 2]) -> Result<Byte, Abort> {
        let lanes = components[0].len();
        if lanes != components[1].len() {
            return Err(Abort::Misuse { step: BYTE, what: "two components of different length" });
        }
        let mut byte = Byte::zero(lanes);
        for (c, bytes) in components.into_iter().enumerate() {
            for (tile, bytes) in byte.tiles.iter_mut().zip(bytes.chunks(LANES)) {
                transpose::to_planes(bytes, &mut tile[c]);
            }
        }
        Ok(byte)
    }

    /// One of our components as bytes, a byte a lane, appended to `out`. A share of a chain that is not finished is no component
    /// of anything: it would tell its receiver more than the value \[A19\].
    pub(crate) fn component(&self, c: usize, out: &mut Vec<u8>) -> Result<(), Abort> {
        if !self.is_replicated() {
            return Err(Abort::Misuse {
                step: BYTE,
                what: "a byte of a chain of layers that was not finished",
            });
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
        for (to, from) in index.iter().enumerate() {
            let (source, target) = (&self.tiles[from / LANES], &mut out.tiles[to / LANES]);
            for (source, target) in source.iter().flatten().zip(target.iter_mut().flatten()) {
                target.set_lane(to % LANES, source.lane(from % LANES));
            }
        }
        Some(out)
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

    /// Element by element, `f` of our two components each: a linear map is the same on every component.
    pub(crate) fn map(&self, f: impl Fn(F) -> F) -> Self {
        Rep { a: self.a.iter().map(|x| f(*x)).collect(), b: self.b.iter().map(|x| f(*x)).collect() }
    }

    /// Append; what has to move leaves nothing behind.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (side, more) in [(&mut self.a, &other.a), (&mut self.b, &other.b)] {
            make_room(side, more.len());
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

/// Room for so many more elements: in a new place, if it takes one, and the old place is wiped.
pub(crate) fn make_room<F: Field>(elements: &mut Vec<F>, more: usize) {
    let len = elements.len();
    if elements.capacity() - len < more {
        let mut larger = Vec::with_capacity((len + more).max(2 * len));
        larger.extend_from_slice(elements);
        elements.zeroize();
        *elements = larger;
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
