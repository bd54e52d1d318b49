//! The products over GF(2) that a Boolean program leaves behind for the verification.
//!
//! A *dot* is a sum of products of bits that took one Reshare, in tiles of up to 512 lanes: its record holds
//! both factors of each term, and the sum. Dots with equal numbers of terms and lanes form *groups* of
//! [`GROUP`], which [`crate::verify`] folds at once; zero dots fill a group that is not full \[A11\]. Dots of
//! few lanes share the lanes of a tile, which are verified lane by lane whichever dot they belong to.

use crate::bit::used;
use divisi_core::wipe::{Lent, Pool};
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

/// The most bytes of a chunk of groups, unless one group takes more.
const CHUNK_BYTES: usize = 1 << 20;

/// Groups of dots of one shape.
pub(crate) struct Chunk {
    planes: Lent<Plane>,
    lanes: usize,
    terms: usize,
    /// How many groups there is room for.
    groups: usize,
    /// The number of dots in it.
    used: usize,
    /// The position of the next sum of products: the group, the index in it, and the first lane.
    next: (usize, usize, usize),
}

/// The position of a sum of products.
#[derive(Clone, Copy)]
pub(crate) struct DotPosition {
    chunk: usize,
    /// Its group, its number in the group, and the first of its lanes.
    group: usize,
    dot: usize,
    lane: usize,
}

/// Dots that stand one after the other in the same lanes of a group.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    first: DotPosition,
    /// How many there are.
    pub(crate) dots: usize,
}

impl Run {
    /// The first lane.
    #[inline(always)]
    pub(crate) fn lane(self) -> usize {
        self.first.lane
    }
}

/// The position of each dot of these runs, in order; then `None` without end, for dots that are not recorded.
#[inline(always)]
pub(crate) fn places(runs: &[Run]) -> impl Iterator<Item = Option<DotPosition>> {
    let run = |run: &Run| {
        let first = run.first;
        (0..run.dots).map(move |j| Some(DotPosition { dot: first.dot + j, ..first }))
    };
    runs.iter().flat_map(run).chain(std::iter::repeat(None))
}

/// The dots of a group in one tile.
pub(crate) struct Block<'c> {
    /// The factors: for each term those of all dots of the group.
    pub(crate) factors: &'c [[Plane; FACTORS]],
    /// The result of each dot.
    pub(crate) results: &'c [[Plane; RESULT]],
    /// How many lanes are in use.
    pub(crate) lanes: usize,
}

/// Sums of products with at most this many lanes share a tile, one after the other.
pub(crate) const NARROW: usize = 64;

impl Chunk {
    fn new(pool: &Pool<Plane>, lanes: usize, terms: usize, groups: usize) -> Chunk {
        let group = lanes.div_ceil(LANES) * block_planes(terms);
        let most = (CHUNK_BYTES / Plane::BYTES / group.max(1)).max(1);
        let groups = groups.min(most);
        let planes = pool.zeros(groups * group);
        Chunk { planes, lanes, terms, groups, used: 0, next: (0, 0, 0) }
    }

    fn tiles(&self) -> usize {
        self.lanes.div_ceil(LANES)
    }

    /// How many dots a group has.
    fn dots(&self) -> usize {
        if self.lanes > NARROW { GROUP } else { GROUP * (LANES / self.lanes.max(1)) }
    }

    /// Take the next positions, at most `most`, all in one group: returns the first one (group, index in the
    /// group, first lane) and their number. Dots that share a tile first fill all indices of the group in the
    /// same lanes, and then again in the next lanes.
    fn place(&mut self, most: usize) -> ((usize, usize, usize), usize) {
        let (group, dot, lane) = self.next;
        let dots = most.min(GROUP - dot);
        let shared = self.lanes <= NARROW && lane + 2 * self.lanes <= LANES;
        self.next = match (dot + dots < GROUP, shared) {
            (true, _) => (group, dot + dots, lane),
            (false, true) => (group, 0, lane + self.lanes),
            (false, false) => (group + 1, 0, 0),
        };
        self.used += dots;
        ((group, dot, lane), dots)
    }

    /// Where the planes of a group in a tile begin.
    #[inline(always)]
    fn block(&self, group: usize, tile: usize) -> usize {
        (group * self.tiles() + tile) * block_planes(self.terms)
    }

    /// How many lanes are in use in a block.
    fn lanes_in(&self, group: usize, tile: usize) -> usize {
        if self.lanes > NARROW {
            return used(self.lanes, tile);
        }
        let dots = (self.used - group * self.dots()).min(self.dots());
        dots.div_ceil(GROUP) * self.lanes
    }

    /// The blocks in use: group by group, and tile by tile in each.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let blocks =
            (0..self.used.div_ceil(self.dots())).flat_map(|g| (0..self.tiles()).map(move |t| (g, t)));
        blocks.map(|(group, tile)| {
            let start = self.block(group, tile);
            let planes = &self.planes[start..start + block_planes(self.terms)];
            let (factors, results) = planes.split_at(GROUP * FACTORS * self.terms);
            let lanes = self.lanes_in(group, tile);
            Block { factors: factors.as_chunks().0, results: results.as_chunks().0, lanes }
        })
    }
}

/// Planes of a group in one tile.
const fn block_planes(terms: usize) -> usize {
    GROUP * (FACTORS * terms + RESULT)
}

/// The number of terms of the inner product that the first fold leaves of these dots.
pub(crate) fn folded_terms(chunks: &[Chunk]) -> usize {
    let blocks = chunks.iter().flat_map(Chunk::blocks);
    blocks.map(|block| block.lanes * block.factors.len() / GROUP).sum()
}

/// Dots, chunk by chunk.
#[derive(Default)]
pub(crate) struct Ands {
    chunks: Vec<Chunk>,
    /// The chunk that holds the latest dot.
    latest: usize,
    /// The number of products in all sums; a product counts once for all lanes.
    products: u64,
}

impl Ands {
    /// Positions for at least one and at most `most` sums of products.
    pub(crate) fn place(&mut self, pool: &Pool<Plane>, lanes: usize, terms: usize, most: usize) -> Run {
        let alike = |chunk: &Chunk| chunk.lanes == lanes && chunk.terms == terms;
        let last = match self.chunks.get(self.latest) {
            Some(chunk) if alike(chunk) => Some(self.latest),
            _ => self.chunks.iter().rposition(alike),
        };
        let open = last.filter(|i| self.chunks[*i].next.0 < self.chunks[*i].groups);
        let chunk = open.unwrap_or_else(|| {
            let before = last.map_or(1, |i| self.chunks[i].groups);
            self.chunks.push(Chunk::new(pool, lanes, terms, 2 * before));
            self.chunks.len() - 1
        });
        self.latest = chunk;
        let ((group, dot, lane), dots) = self.chunks[chunk].place(most);
        self.products += (terms * dots) as u64;
        Run { first: DotPosition { chunk, group, dot, lane }, dots }
    }

    /// The factors of a term of a dot that does not share its tiles.
    #[inline(always)]
    pub(crate) fn factors(&mut self, place: DotPosition, tile: usize, term: usize) -> &mut [Plane] {
        let chunk = &mut self.chunks[place.chunk];
        let at = chunk.block(place.group, tile) + (term * GROUP + place.dot) * FACTORS;
        &mut chunk.planes[at..at + FACTORS]
    }

    /// The result of a dot that does not share its tiles.
    #[inline(always)]
    pub(crate) fn result(&mut self, place: DotPosition, tile: usize) -> &mut [Plane] {
        let chunk = &mut self.chunks[place.chunk];
        let at = chunk.block(place.group, tile) + GROUP * FACTORS * chunk.terms + place.dot * RESULT;
        &mut chunk.planes[at..at + RESULT]
    }

    /// The factors of dots that share their tile: `[k GROUP + j]` are those of term `k` of the `j`-th dot of
    /// the run.
    #[inline(always)]
    pub(crate) fn shared_factors(&mut self, run: Run) -> &mut [[Plane; FACTORS]] {
        let chunk = &mut self.chunks[run.first.chunk];
        let at = chunk.block(run.first.group, 0);
        let end = at + GROUP * FACTORS * chunk.terms;
        chunk.planes[at + run.first.dot * FACTORS..end].as_chunks_mut().0
    }

    /// The results of dots that share their tile.
    #[inline(always)]
    pub(crate) fn shared_results(&mut self, run: Run) -> &mut [[Plane; RESULT]] {
        let chunk = &mut self.chunks[run.first.chunk];
        let at = chunk.block(run.first.group, 0) + GROUP * FACTORS * chunk.terms + run.first.dot * RESULT;
        chunk.planes[at..at + run.dots * RESULT].as_chunks_mut().0
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

    /// Add all dots of another list.
    pub(crate) fn add(&mut self, other: Ands) {
        self.products += other.products;
        self.chunks.extend(other.chunks);
    }
}

/// Put the lowest `lanes` bits of `value`, at most 64, at `lane`: the words are zero from there on, and
/// `value` has no other bits.
#[inline(always)]
pub(crate) fn put(words: &mut [u64], lane: usize, value: u64, lanes: usize) {
    let (w, shift) = (lane / 64, lane % 64);
    words[w] |= value << shift;
    if shift + lanes > 64 {
        words[w + 1] |= value >> (64 - shift);
    }
}

/// The `lanes` lanes from `lane` on, at most 64.
#[inline(always)]
pub(crate) fn get(words: &[u64], lane: usize, lanes: usize) -> u64 {
    let (w, shift) = (lane / 64, lane % 64);
    let mut value = words[w] >> shift;
    if shift + lanes > 64 {
        value |= words[w + 1] << (64 - shift);
    }
    value & (u64::MAX >> (64 - lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dot_has_a_place_of_its_own() {
        for (lanes, terms, dots) in [
            (1, 1, 1),
            (1, 1, 4097),
            (8, 2, 65),
            (9, 1, 300),
            (27, 1, 3000),
            (64, 1, 600),
            (65, 1, 700),
            (256, 1, 129),
            (600, 1, 100),
            (5000, 3, 70),
        ] {
            let (pool, mut ands) = (Pool::default(), Ands::default());
            let mut one = Plane::ONES;
            one.keep(lanes);
            let mut left = dots;
            let mut runs = Vec::new();
            while left > 0 {
                runs.push(ands.place(&pool, lanes, terms, left.min(100)));
                left -= runs[runs.len() - 1].dots;
            }
            if lanes <= NARROW {
                for run in &runs {
                    for (term, j) in (0..terms).flat_map(|term| (0..run.dots).map(move |j| (term, j))) {
                        for plane in &mut ands.shared_factors(*run)[term * GROUP + j] {
                            assert_eq!(get(&plane.0, run.lane(), lanes), 0);
                            put(&mut plane.0, run.lane(), one.0[0], lanes);
                        }
                    }
                    assert_eq!(ands.shared_results(*run).len(), run.dots);
                    for plane in ands.shared_results(*run).as_flattened_mut() {
                        assert_eq!(get(&plane.0, run.lane(), lanes), 0);
                        put(&mut plane.0, run.lane(), one.0[0], lanes);
                    }
                }
                runs.clear();
            }
            assert_eq!(
                places(&runs).take_while(Option::is_some).count(),
                runs.iter().map(|run| run.dots).sum::<usize>()
            );
            for place in places(&runs).map_while(|place| place) {
                for tile in 0..lanes.div_ceil(LANES) {
                    let mut one = Plane::ONES;
                    one.keep(used(lanes, tile));
                    for term in 0..terms {
                        let factors = ands.factors(place, tile, term);
                        assert!(factors.iter().all(|plane| *plane == Plane::ZERO));
                        factors.fill(one);
                    }
                    let result = ands.result(place, tile);
                    assert!(result.iter().all(|plane| *plane == Plane::ZERO));
                    result.fill(one);
                }
            }
            assert_eq!(ands.products(), (dots * terms) as u64);
            let ones = |planes: &[Plane]| {
                planes.iter().flat_map(|plane| plane.0).map(|w| w.count_ones() as usize).sum::<usize>()
            };
            let (mut factors, mut results) = (0, 0);
            for block in ands.chunks().iter().flat_map(Chunk::blocks) {
                assert_eq!((block.factors.len(), block.results.len()), (GROUP * terms, GROUP));
                factors += ones(block.factors.as_flattened());
                results += ones(block.results.as_flattened());
                for plane in block.factors.as_flattened().iter().chain(block.results.as_flattened()) {
                    assert!((block.lanes..LANES).all(|lane| plane.lane(lane) == 0));
                }
            }
            assert_eq!(
                (factors, results),
                (FACTORS * dots * lanes * terms, RESULT * dots * lanes),
                "{lanes}"
            );
        }
    }

    #[test]
    fn dots_of_a_group_stand_side_by_side() {
        for (lanes, runs) in [(1, vec![60, 4, 64, 2]), (60, vec![60, 4, 64, 2]), (700, vec![60, 4, 64, 2])] {
            let (pool, mut ands) = (Pool::default(), Ands::default());
            let mut seen = vec![ands.place(&pool, lanes, 1, 60).dots];
            let mut left = 70;
            while left > 0 {
                seen.push(ands.place(&pool, lanes, 1, left).dots);
                left -= seen[seen.len() - 1];
            }
            assert_eq!(seen, runs, "{lanes}");
        }
    }

    #[test]
    fn what_is_put_is_got_again() {
        for lanes in 1..=64 {
            let mut words = [0; 8];
            let value = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - lanes);
            (0..512 / lanes).for_each(|i| put(&mut words, i * lanes, value(i), lanes));
            assert!((0..512 / lanes).all(|i| get(&words, i * lanes, lanes) == value(i)), "{lanes}");
        }
    }

    #[test]
    fn one_product_of_one_lane_leaves_one_term() {
        let (pool, mut ands) = (Pool::default(), Ands::default());
        for dots in 1..=GROUP {
            ands.place(&pool, 1, 1, 1);
            assert_eq!((folded_terms(&ands.chunks), dots), (1, dots));
        }
        ands.place(&pool, 1, 1, 1);
        assert_eq!(folded_terms(&ands.chunks), 2);
    }
}
