//! Lookups in a public table by whichever way is cheapest: one, two or three factors.

use super::cube::{Cube, OneHotsCube};
use super::dimensions::Dimensions;
use super::table::LookupTable;
use super::{OneHotsAdd, OneHotsRss};
use crate::blackbox::{BlackBox, Element, Shared};
use crate::share::Rep;
use divisi_core::{Abort, Lanes, Misuse, Step, step};
use divisi_field::Gf64;

const LOOKUPS: Step = step!("lookups");

/// A public table, in the form that its way of looking up needs.
pub struct HeldTable<G: Element> {
    way: Dimensions,
    held: Held<G>,
}

enum Held<G: Element> {
    Table(LookupTable<G>),
    Cube(Cube<G>),
}

/// One-hot vectors for the lookups of a table, for a single use: they cannot be copied.
#[expect(clippy::exhaustive_enums, reason = "vectors of one, two and three factors have calls of their own")]
pub enum FactoredOneHots {
    /// Vectors of one factor.
    One(OneHotsRss),
    /// Vectors of two factors.
    Two(OneHotsAdd),
    /// Vectors of three factors.
    Three(OneHotsCube),
}

impl FactoredOneHots {
    /// The number of vectors.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            FactoredOneHots::One(vectors) => vectors.count(),
            FactoredOneHots::Two(vectors) => vectors.count(),
            FactoredOneHots::Three(vectors) => vectors.count(),
        }
    }

    /// The first `n`, and the rest; `None` if there are fewer, or, with three factors, if n is no multiple of
    /// 512.
    #[must_use]
    pub fn split(self, n: usize) -> Option<[FactoredOneHots; 2]> {
        match self {
            FactoredOneHots::One(vectors) => vectors.split(n).map(|parts| parts.map(FactoredOneHots::One)),
            FactoredOneHots::Two(vectors) => vectors.split(n).map(|parts| parts.map(FactoredOneHots::Two)),
            FactoredOneHots::Three(vectors) => {
                vectors.split(n).map(|parts| parts.map(FactoredOneHots::Three))
            }
        }
    }
}

impl<G: Element> HeldTable<G> {
    /// A table of these entries, in order, for lookups by the way that [`Dimensions::of`] finds cheapest.
    ///
    /// `None` unless there are 2^k entries, k from 1 to 24; for more than 2^16 entries also `None` if the
    /// table would take more than 64 MiB, so that 2^24 entries have at most 32 bits. A list of more than 128
    /// MiB is refused, too ([`Cube::from_fn`] needs none).
    #[must_use]
    pub fn new(entries: &[G]) -> Option<HeldTable<G>> {
        let k = entries.len().trailing_zeros() as usize;
        let all = entries.iter().fold(0, |all, entry| all | entry.to_bits());
        let width = (128 - all.leading_zeros() as usize).max(1);
        HeldTable::by(Dimensions::of(k, width)?, entries)
    }

    /// The same with this number of factors; `None` also if that is impossible for this number of entries.
    #[must_use]
    pub fn by(way: Dimensions, entries: &[G]) -> Option<HeldTable<G>> {
        let held = match way {
            Dimensions::One | Dimensions::Two => Held::Table(LookupTable::new(entries)?),
            Dimensions::Three(parts) => Held::Cube(Cube::new(parts, 1, entries)?),
        };
        Some(HeldTable { way, held })
    }

    /// How many factors a lookup has.
    #[must_use]
    pub fn dimensions(&self) -> Dimensions {
        self.way
    }

    /// The width of an index, in bits.
    #[must_use]
    pub fn index_bits(&self) -> usize {
        match &self.held {
            Held::Table(table) => table.index_bits(),
            Held::Cube(cube) => cube.index_bits(),
        }
    }
}

impl BlackBox {
    /// Vectors for this many lookups in a table. A party sends [`Dimensions::bits_ahead`] bits for each;
    /// their products are owed to verify_mul.
    ///
    /// # Errors
    /// Those of [`BlackBox::rohv_rss`], [`BlackBox::rohv_add`] and [`BlackBox::rohv_cube`].
    pub fn one_hots<G: Element>(
        &mut self,
        table: &HeldTable<G>,
        count: usize,
    ) -> Result<FactoredOneHots, Abort> {
        let k = table.index_bits();
        Ok(match table.way {
            Dimensions::One => FactoredOneHots::One(self.rohv_rss(k, count)?),
            Dimensions::Two => FactoredOneHots::Two(self.rohv_add(k, count)?),
            Dimensions::Three(parts) => FactoredOneHots::Three(self.rohv_cube(parts, count)?),
        })
    }

    /// `[T(x)]` by the way of the table. The index x is given by several inputs: `bits` low bits of each, the
    /// first input as the lowest bits. A party sends [`Dimensions::bits_online`] bits for each lookup.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless there is a vector of the table's way for each lane, and the inputs have as
    /// many bits as its index; for too many products in one call: split the vectors; the abort that ends the
    /// session.
    pub fn look_up<F: Element, G: Element>(
        &mut self,
        table: &HeldTable<G>,
        index: &[(&Shared<F>, usize)],
        vectors: FactoredOneHots,
    ) -> Result<Shared<G>, Abort> {
        match (&table.held, vectors) {
            (Held::Cube(cube), FactoredOneHots::Three(vectors)) => {
                let entry = self.lookup_cube(cube, index, vectors)?.into_iter().next();
                entry.ok_or_else(|| self.session().misuse(LOOKUPS, Misuse::Empty))
            }
            (Held::Table(held), FactoredOneHots::Two(vectors)) if table.way == Dimensions::Two => {
                let x = self.joined(index, held.index_bits())?;
                self.lookup_sqrt(held, &x, vectors)
            }
            (Held::Table(held), FactoredOneHots::One(vectors)) if table.way == Dimensions::One => {
                let x = self.joined(index, held.index_bits())?;
                self.lookup(held, &x, vectors)
            }
            _ => Err(self.session().misuse(LOOKUPS, Misuse::CountsDiffer)),
        }
    }

    /// All inputs of an index of k bits in one element. Local.
    fn joined<F: Element>(&mut self, index: &[(&Shared<F>, usize)], k: usize) -> Result<Shared<Gf64>, Abort> {
        let bits = index.iter().fold(0_usize, |sum, (_, bits)| sum.saturating_add(*bits));
        let lanes = index.first().map_or(0, |(x, _)| x.lanes());
        let fit = index.iter().all(|(x, bits)| *bits <= F::BITS && x.lanes() == lanes);
        if !fit || bits != k || index.iter().any(|(x, _)| x.origin != self.origin) {
            return Err(self.session().misuse(LOOKUPS, Misuse::CountsDiffer));
        }
        let side = |side: usize| {
            let (mut sum, mut at) = (vec![Gf64(0); lanes], 0);
            for (x, bits) in index {
                let x = if side == 0 { &x.rep.a } else { &x.rep.b };
                let mask = (1 << bits) - 1;
                sum.iter_mut().zip(x).for_each(|(sum, x)| sum.0 ^= (x.to_bits() as u64 & mask) << at);
                at += bits;
            }
            sum
        };
        let rests_on = index.iter().map(|(x, _)| x.rests_on).max().unwrap_or(0);
        Ok(self.shared(Rep { a: side(0), b: side(1) }, rests_on))
    }
}
