//! The products over GF(2) that a Boolean program leaves behind for the verification.
//!
//! A *dot* is a sum of products of bits that took one Reshare, in up to 512 lanes a tile: both factors of each of its terms, and
//! the sum. Dots with as many terms and lanes as each other stand in *groups* of [`GROUP`], which [`crate::verify`] folds at once;
//! a group that is not full is one padded with zero dots \[A11\].

use crate::bit::used;
use crate::pool::Pool;
use divisi_field::Plane;
use divisi_field::plane::LANES;

/// How many variables the first fold of the verification has.
pub(crate) const FOLDS: usize = 6;
/// Dots in a group.
pub(crate) const GROUP: usize = 1 << FOLDS;
/// Planes of a term: both components of one factor, then of the other.
pub(crate) const FACTORS: usize = 4;
/// Planes of a result: both components.
pub(crate) const RESULT: usize = 2;

/// How large a chunk of groups is, unless one group is larger.
const CHUNK_BYTES: usize = 1 << 20;

/// Groups of dots of one shape.
pub(crate) struct Chunk {
    planes: Vec<Plane>,
    pool: Pool,
    lanes: usize,
    terms: usize,
    /// How many dots stand in it.
    used: usize,
}

/// Where a dot stands.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    chunk: usize,
    dot: usize,
}

/// The dots of a group in one tile.
pub(crate) struct Block<'c> {
    /// Term by term the factors of every dot.
    pub(crate) factors: &'c [[Plane; FACTORS]],
    /// The results of every dot.
    pub(crate) results: &'c [[Plane; RESULT]],
    /// How many lanes are in use.
    pub(crate) lanes: usize,
}

impl Chunk {
    fn new(pool: &Pool, lanes: usize, terms: usize) -> Chunk {
        let group = lanes.div_ceil(LANES) * block_planes(terms);
        let groups = (CHUNK_BYTES / Plane::BYTES / group.max(1)).max(1);
        Chunk { planes: pool.take(groups * group), pool: pool.clone(), lanes, terms, used: 0 }
    }

    fn tiles(&self) -> usize {
        self.lanes.div_ceil(LANES)
    }

    fn is_full(&self) -> bool {
        self.used / GROUP * self.tiles() * block_planes(self.terms) >= self.planes.len()
    }

    /// Where the planes of a dot's group in a tile begin.
    #[inline(always)]
    fn block(&self, dot: usize, tile: usize) -> usize {
        (dot / GROUP * self.tiles() + tile) * block_planes(self.terms)
    }

    /// Group by group, tile by tile.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let groups = self.used.div_ceil(GROUP);
        let blocks = self.planes.chunks_exact(block_planes(self.terms)).take(groups * self.tiles());
        blocks.enumerate().map(|(i, planes)| {
            let (factors, results) = planes.split_at(GROUP * FACTORS * self.terms);
            let lanes = used(self.lanes, i % self.tiles());
            Block { factors: factors.as_chunks().0, results: results.as_chunks().0, lanes }
        })
    }

    /// How many terms the inner product has that is left of it after the first fold.
    pub(crate) fn folded_terms(&self) -> usize {
        self.used.div_ceil(GROUP) * self.lanes * self.terms
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.planes));
    }
}

/// Planes of a group in one tile.
const fn block_planes(terms: usize) -> usize {
    GROUP * (FACTORS * terms + RESULT)
}

/// Dots, chunk by chunk.
#[derive(Default)]
pub(crate) struct Ands {
    chunks: Vec<Chunk>,
    /// How many products they are the sums of, each counted once for all lanes.
    products: u64,
}

impl Ands {
    /// A place for a dot.
    pub(crate) fn place(&mut self, pool: &Pool, lanes: usize, terms: usize) -> Place {
        self.products += terms as u64;
        let open = |c: &Chunk| c.lanes == lanes && c.terms == terms && !c.is_full();
        let chunk = self.chunks.iter().rposition(open).unwrap_or_else(|| {
            self.chunks.push(Chunk::new(pool, lanes, terms));
            self.chunks.len() - 1
        });
        let place = Place { chunk, dot: self.chunks[chunk].used };
        self.chunks[chunk].used += 1;
        place
    }

    /// The factors of a dot's term in a tile.
    #[inline(always)]
    pub(crate) fn factors(&mut self, place: Place, tile: usize, term: usize) -> &mut [Plane] {
        let chunk = &mut self.chunks[place.chunk];
        let at = chunk.block(place.dot, tile) + (term * GROUP + place.dot % GROUP) * FACTORS;
        &mut chunk.planes[at..at + FACTORS]
    }

    /// The result of a dot in a tile.
    #[inline(always)]
    pub(crate) fn result(&mut self, place: Place, tile: usize) -> &mut [Plane] {
        let chunk = &mut self.chunks[place.chunk];
        let results = chunk.block(place.dot, tile) + GROUP * FACTORS * chunk.terms;
        let at = results + place.dot % GROUP * RESULT;
        &mut chunk.planes[at..at + RESULT]
    }

    /// How many products there are.
    pub(crate) fn products(&self) -> u64 {
        self.products
    }

    /// How much memory they take.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.planes.len() * Plane::BYTES).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(crate) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// All dots of both.
    pub(crate) fn add(&mut self, other: Ands) {
        self.products += other.products;
        self.chunks.extend(other.chunks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dot_has_a_place_of_its_own() {
        let (pool, mut ands) = (Pool::default(), Ands::default());
        for (lanes, terms, dots) in [(1, 1, 3), (600, 1, 100), (1, 2, 65), (600, 1, 29), (5000, 3, 70)] {
            let places: Vec<Place> = (0..dots).map(|_| ands.place(&pool, lanes, terms)).collect();
            for tile in 0..lanes.div_ceil(LANES) {
                for place in &places {
                    for term in 0..terms {
                        let factors = ands.factors(*place, tile, term);
                        assert!(factors.iter().all(|plane| *plane == Plane::ZERO));
                        factors.fill(Plane::ONES);
                    }
                    let result = ands.result(*place, tile);
                    assert!(result.iter().all(|plane| *plane == Plane::ZERO));
                    result.fill(Plane::ONES);
                }
            }
        }
        assert_eq!(ands.products(), 3 + 129 + 130 + 210);
        let mut full = std::collections::BTreeMap::new();
        for chunk in ands.chunks() {
            for block in chunk.blocks() {
                assert_eq!((block.factors.len(), block.results.len()), (GROUP * chunk.terms, GROUP));
                let set = block.results.iter().filter(|r| r.iter().all(|p| *p == Plane::ONES)).count();
                let factors = block.factors.iter().filter(|f| f.iter().all(|p| *p == Plane::ONES)).count();
                assert_eq!(factors, set * chunk.terms);
                *full.entry((chunk.lanes, chunk.terms, block.lanes)).or_insert(0) += set;
            }
        }
        let found: Vec<_> = full.into_iter().collect();
        let expected = [
            ((1, 1, 1), 3),
            ((1, 2, 1), 65),
            ((600, 1, 88), 129),
            ((600, 1, 512), 129),
            ((5000, 3, 392), 70),
            ((5000, 3, 512), 9 * 70),
        ];
        assert_eq!(found, expected);
    }
}
