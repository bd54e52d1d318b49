//! A public table as the algebraic normal form of each of its bits, contracted over the third factor.
//!
//! `T(i, j, l)` is the sum over sets S1, S2, S3 of bits of i, j, l of `a(S1, S2, S3) m_S1(i) m_S2(j)
//! m_S3(l)`, m_S the product of the bits in S. For a fixed S1 and a fixed bit of the entries the
//! coefficients are rows of S3, one for each S2; the sum over a row of replicated m_S3 is linear, and the
//! table public: sums of four m_S3 at a time are made once for all rows (the method of four Russians),
//! and chosen by the *table's* bits.

use super::super::table::WITHOUT;
use super::make::{Pair, Pairs};
use divisi_field::kernel::{Task, run};
use divisi_field::{Gf64, Plane, Word};

/// How many m_S3 form a group, all of whose sums are made ahead.
const GROUP: usize = 4;
/// How many sums of them there are.
const SUMS: usize = 1 << GROUP;

/// The table, without the field of its entries.
pub(super) struct Grid {
    /// Bits of i, j and l; l in the lowest bits of an index.
    pub(super) bits: [usize; 3],
    /// How many bits an entry has, all its components together.
    pub(super) width: usize,
    /// By S1, bit of the entry, S2: the coefficients of all S3.
    rows: Vec<u64>,
}

/// Words of a row of `2^k` bits.
fn words(k: usize) -> usize {
    (1_usize << k).div_ceil(64)
}

impl Grid {
    /// The grid of a table. `planes` has one plane for each bit of the entries, with a bit for each index;
    /// each is taken when the one before is done with.
    pub(super) fn new(bits: [usize; 3], width: usize, planes: impl Iterator<Item = Vec<u64>>) -> Grid {
        let (k, row) = (bits.iter().sum(), words(bits[2]));
        let slab = row << bits[1];
        let mask = if bits[2] < 6 { (1 << (1 << bits[2])) - 1 } else { u64::MAX };
        let mut rows = vec![0; (width * slab) << bits[0]];
        for (bit, mut plane) in planes.take(width).enumerate() {
            normal_form(&mut plane, k);
            for outer in 0..1_usize << bits[0] {
                let at = (outer * width + bit) * slab;
                for (middle, row) in rows[at..at + slab].chunks_exact_mut(row).enumerate() {
                    let at = (outer << bits[1] | middle) << bits[2];
                    for (to, word) in row.iter_mut().zip(&plane[at / 64..]) {
                        *to = word >> (at % 64) & mask;
                    }
                }
            }
        }
        Grid { bits, width, rows }
    }

    /// How many bytes its coefficients take: a row begins in a word of its own.
    pub(super) fn bytes(bits: [usize; 3], width: usize) -> usize {
        (8 * width * words(bits[2])) << (bits[0] + bits[1])
    }

    /// The rows of all S2, for this set S1 and this bit of the entries.
    fn slab(&self, outer: usize, bit: usize) -> &[u64] {
        let n = words(self.bits[2]) << self.bits[1];
        let at = (outer * self.width + bit) * n;
        &self.rows[at..at + n]
    }

    /// Append our additive shares, by S1 and bit of the entries, of the sums over S2 and S3 in one tile.
    pub(super) fn contract(&self, middle: &[Pair], inner: &[Pair], out: &mut Vec<[Plane; 1]>) {
        run(Contract { grid: self, middle, inner, out });
    }

    /// For each S2 and S3, the sum of the weights of those S1 and bits of an entry whose coefficient is 1.
    pub(super) fn weighed(&self, weights: &[Gf64]) -> Vec<Gf64> {
        let n = 1_usize << self.bits[2];
        let mut out = vec![Gf64(0); n << self.bits[1]];
        let slabs = (0..1 << self.bits[0]).flat_map(|outer| (0..self.width).map(move |bit| (outer, bit)));
        for ((outer, bit), weight) in slabs.zip(weights) {
            let rows = self.slab(outer, bit).chunks(words(self.bits[2]));
            for (row, out) in rows.zip(out.chunks_mut(n)) {
                for (word, out) in row.iter().zip(out.chunks_mut(64)) {
                    for (b, out) in out.iter_mut().enumerate() {
                        out.0 ^= weight.0 & (word >> b & 1).wrapping_neg();
                    }
                }
            }
        }
        out
    }
}

/// From the values at all points to the coefficients of all products, in place.
fn normal_form(plane: &mut [u64], k: usize) {
    for (i, without) in WITHOUT.iter().enumerate().take(k) {
        plane.iter_mut().for_each(|word| *word ^= (*word & without) << (1 << i));
    }
    for i in 6..k {
        let step = 1 << (i - 6);
        for words in plane.chunks_exact_mut(2 * step) {
            let (without, with) = words.split_at_mut(step);
            with.iter_mut().zip(without).for_each(|(x, y)| *x ^= *y);
        }
    }
}

/// The task of [`Grid::contract`].
struct Contract<'a> {
    grid: &'a Grid,
    middle: &'a [Pair],
    inner: &'a [Pair],
    out: &'a mut Vec<[Plane; 1]>,
}

/// The sums of all sets of elements of each group of four: that of set `s` of group `g` is at
/// `[SUMS * g + s]`.
#[inline(always)]
fn sums<W: Word>(inner: &[Pair]) -> Pairs {
    let mut sums = Pairs::zero(inner.len().div_ceil(GROUP) * SUMS);
    for (group, sums) in inner.chunks(GROUP).zip(sums.0.chunks_mut(SUMS)) {
        for (i, pair) in group.iter().enumerate() {
            for s in 0..1_usize << i {
                for side in 0..2 {
                    let sum = W::load(&sums[s][side]) ^ W::load(&pair[side]);
                    sum.store(&mut sums[s | 1 << i][side]);
                }
            }
        }
    }
    sums
}

impl Task for Contract<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let Contract { grid, middle, inner, out } = self;
        let sums = sums::<W>(inner);
        let groups = inner.len().div_ceil(GROUP);
        for outer in 0..1 << grid.bits[0] {
            for bit in 0..grid.width {
                let mut share = W::zero();
                let rows = grid.slab(outer, bit).chunks_exact(words(grid.bits[2]));
                for (row, m) in rows.zip(middle) {
                    // g = sum over S3, in both components
                    let (mut g0, mut g1) = (W::zero(), W::zero());
                    for g in 0..groups {
                        let s = (row[g / 16] >> (GROUP * (g % 16))) as usize % SUMS;
                        let [a, b] = &sums.0[SUMS * g + s];
                        g0 ^= W::load(a);
                        g1 ^= W::load(b);
                    }
                    // MultLocal
                    let (m0, m1) = (W::load(&m[0]), W::load(&m[1]));
                    share ^= (m0 & g0) ^ ((m0 ^ m1) & (g0 ^ g1));
                }
                let mut plane = Plane::ZERO;
                share.store(&mut plane);
                out.push([plane]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::kernel;

    /// The bits of random entries: `width` planes of 2^k bits each.
    fn entries(k: usize, width: usize) -> Vec<Vec<u64>> {
        let mut x = 77 + k as u64;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            x ^ x >> 29
        };
        let mask = if k < 6 { (1 << (1 << k)) - 1 } else { u64::MAX };
        (0..width).map(|_| (0..words(k)).map(|_| next() & mask).collect()).collect()
    }

    /// At the party that holds the whole value as its second component, MultLocal gives the product.
    #[test]
    fn the_form_of_a_table_has_its_values() {
        for bits in [[1, 1, 1], [2, 3, 2], [3, 2, 5], [1, 2, 7]] {
            let (k, width): (usize, usize) = (bits.iter().sum(), 3);
            let planes = entries(k, width);
            let grid = Grid::new(bits, width, planes.iter().cloned());
            for x in 0..1_usize << k {
                let part = |at: usize, k: usize| x >> at & ((1 << k) - 1);
                let outer = part(bits[1] + bits[2], bits[0]);
                let products = |part: usize, k: usize| -> Vec<Pair> {
                    let one = |set: usize| Plane::splat(u64::from(part & set == set));
                    (0..1 << k).map(|set| [Plane::ZERO, one(set)]).collect()
                };
                let middle = products(part(bits[2], bits[1]), bits[1]);
                let inner = products(part(0, bits[2]), bits[2]);
                for kernel in kernel::available() {
                    let mut out = Vec::new();
                    kernel::with(kernel, || grid.contract(&middle, &inner, &mut out)).unwrap();
                    assert_eq!(out.len(), width << bits[0]);
                    for (b, plane) in planes.iter().enumerate() {
                        let sets = (0..1_usize << bits[0]).filter(|set| outer & set == *set);
                        let value = sets.fold(Plane::ZERO, |sum, set| sum ^ out[set * width + b][0]);
                        assert_eq!(value, Plane::splat(plane[x / 64] >> (x % 64) & 1), "{bits:?} {x} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn weights_are_summed_where_coefficients_are_one() {
        let bits = [2, 1, 7];
        let grid = Grid::new(bits, 2, entries(10, 2).into_iter());
        let weights: Vec<Gf64> = (0..8).map(|i| Gf64(1 << i)).collect();
        let out = grid.weighed(&weights);
        assert_eq!(out.len(), 256);
        for (i, weight) in out.iter().enumerate() {
            for s in 0..8 {
                let row = &grid.slab(s / 2, s % 2)[i / 128 * 2..][..2];
                assert_eq!(weight.0 >> s & 1, row[i % 128 / 64] >> (i % 64) & 1);
            }
        }
    }
}
