//! Replicated secret bits, in planes of 512 lanes.

use crate::origin::Origin;
use divisi_core::Lanes;
use divisi_field::Plane;
use divisi_field::plane::LANES;
use zeroize::Zeroize;

/// Our two components of a bit in 512 lanes, as the words of planes: bits are made and dropped by the
/// thousand, and allocating memory that is aligned to a plane costs several times as much as other memory.
pub(crate) type BitTile = [[u64; 8]; 2];

/// The planes of a tile.
pub(crate) fn planes(tile: &BitTile) -> [Plane; 2] {
    tile.map(Plane)
}

/// A secret bit in every lane of a batch: planes in tiles of 512 lanes, both components side by side. Lanes
/// beyond the batch are zero in both components.
#[derive(Clone)]
pub struct Bit {
    pub(crate) lanes: usize,
    pub(crate) tiles: Vec<BitTile>,
    pub(crate) origin: Origin,
}

impl Bit {
    /// The sharing of zero whose components are all zero.
    #[must_use]
    pub(crate) fn zero(lanes: usize, origin: Origin) -> Bit {
        Bit { lanes, tiles: vec![[[0; 8]; 2]; lanes.div_ceil(LANES)], origin }
    }

    /// The value of the first lane, repeated in this many lanes.
    fn splat(&self, lanes: usize) -> Bit {
        let mut out = Bit::zero(lanes, self.origin);
        let Some(first) = self.tiles.first() else { return out };
        for (t, tile) in out.tiles.iter_mut().enumerate() {
            *tile = first.map(|words| {
                let mut all = Plane::splat(words[0]);
                all.keep(used(lanes, t));
                all.0
            });
        }
        out
    }

    /// Put the lanes of another value from lane `at` on, which are zero so far.
    pub(crate) fn put(&mut self, at: usize, other: &Bit) {
        for (t, tile) in other.tiles.iter().enumerate() {
            let words = used(other.lanes, t).div_ceil(64);
            for w in 0..words {
                let lane = at + LANES * t + 64 * w;
                for (side, plane) in tile.iter().enumerate() {
                    let word = plane[w];
                    self.add_word(side, lane / 64, word << (lane % 64));
                    if !lane.is_multiple_of(64) {
                        self.add_word(side, lane / 64 + 1, word >> (64 - lane % 64));
                    }
                }
            }
        }
    }

    fn add_word(&mut self, side: usize, word: usize, value: u64) {
        // beyond the last tile there are no lanes, so that nothing is lost
        if let Some(tile) = self.tiles.get_mut(word / 8) {
            tile[side][word % 8] |= value;
        }
    }
}

/// How many lanes of tile `t` are in use if there are `lanes` in all.
pub(crate) fn used(lanes: usize, t: usize) -> usize {
    (lanes - LANES * t).min(LANES)
}

impl Lanes for Bit {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn gather(&self, index: &[usize]) -> Option<Bit> {
        if index.iter().any(|l| *l >= self.lanes) {
            return None;
        }
        if index.iter().enumerate().all(|(to, from)| to == *from) {
            return self.first(index.len());
        }
        if self.lanes == 1 {
            return Some(self.splat(index.len()));
        }
        let mut out = Bit::zero(index.len(), self.origin);
        for (tile, index) in out.tiles.iter_mut().zip(index.chunks(LANES)) {
            for (w, index) in index.chunks(64).enumerate() {
                for (side, plane) in tile.iter_mut().enumerate() {
                    let lane = |l: &usize| self.tiles[l / LANES][side][l % LANES / 64] >> (l % 64) & 1;
                    plane[w] = index.iter().rev().fold(0, |word, l| word << 1 | lane(l));
                }
            }
        }
        Some(out)
    }

    fn first(&self, lanes: usize) -> Option<Bit> {
        let tiles = self.tiles.get(..lanes.div_ceil(LANES)).filter(|_| lanes <= self.lanes)?;
        let mut out = Bit { lanes, tiles: tiles.to_vec(), origin: self.origin };
        if let (Some(last), rest @ 1..) = (out.tiles.last_mut(), lanes % LANES) {
            *last = planes(last).map(|mut plane| {
                plane.keep(rest);
                plane.0
            });
        }
        Some(out)
    }
}

impl Drop for Bit {
    fn drop(&mut self) {
        self.tiles.iter_mut().flatten().for_each(Zeroize::zeroize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(lanes: usize, seed: u64) -> Bit {
        let mut bit = Bit::zero(lanes, Origin::NONE);
        let mut x = seed;
        for l in 0..lanes {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bit.tiles[l / LANES][0][l % LANES / 64] |= (x >> 40 & 1) << (l % 64);
            bit.tiles[l / LANES][1][l % LANES / 64] |= (x >> 50 & 1) << (l % 64);
        }
        bit
    }

    fn lane(bit: &Bit, l: usize) -> [u64; 2] {
        planes(&bit.tiles[l / LANES]).map(|plane| plane.lane(l % LANES))
    }

    fn clean(bit: &Bit) -> bool {
        assert_eq!(bit.tiles.len(), bit.lanes.div_ceil(LANES));
        (bit.lanes..LANES * bit.tiles.len()).all(|l| lane(bit, l) == [0, 0])
    }

    #[test]
    fn lanes_are_gathered_and_put_side_by_side() {
        for lanes in [1, 3, 64, 65, 511, 512, 513, 1100] {
            let bit = sample(lanes, lanes as u64);
            let mixed: Vec<usize> = (0..lanes + 70).map(|i| (7 * i + 5) % lanes).collect();
            // places that differ from their own by a multiple of 256, and one that does at the end
            let repeated: Vec<usize> = (0..lanes + 70).map(|i| i % 256 % lanes).collect();
            let mut last: Vec<usize> = (0..lanes).collect();
            last[lanes - 1] = (lanes - 1) / 2;
            for index in [mixed, repeated, last] {
                let gathered = bit.gather(&index).unwrap();
                assert!(clean(&gathered) && gathered.lanes() == index.len());
                assert!(index.iter().enumerate().all(|(to, from)| lane(&gathered, to) == lane(&bit, *from)));
            }
            assert!(bit.gather(&[lanes]).is_none());
            let first = bit.gather(&(0..lanes / 2).collect::<Vec<_>>()).unwrap();
            assert!(clean(&first) && (0..lanes / 2).all(|l| lane(&first, l) == lane(&bit, l)));
            let mut both = Bit::zero(lanes + 67, Origin::NONE);
            both.put(0, &sample(67, 9));
            both.put(67, &bit);
            assert!(clean(&both) && (0..lanes).all(|l| lane(&both, 67 + l) == lane(&bit, l)));
            assert!((0..67).all(|l| lane(&both, l) == lane(&sample(67, 9), l)));
        }
    }
}
