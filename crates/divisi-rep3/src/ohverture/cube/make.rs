//! The products of three numbers' bits, in planes of 512 lanes.
//!
//! As in [`super::super::make`] a number is halved until it is a bit, and each product of at least two
//! bits is made once, from the products of the sets of both halves: `2^k - k - 1` of them in `ceil(log2
//! k)` rounds. All three numbers of all lanes go through the same rounds, a message a round.

use crate::bit::used;
use crate::share::constant_component;
use crate::trio::Trio;
use crate::wire::Shape;
use divisi_core::{Abort, Step, step};
use divisi_field::Plane;
use divisi_field::kernel::vectorize;
use divisi_field::plane::LANES;
use zeroize::{Zeroize, Zeroizing};

const PRODUCTS: Step = step!("products");

/// Both our components of a bit in 512 lanes.
pub(super) type Pair = [Plane; 2];

/// Pairs of planes, wiped when they are dropped.
#[derive(Default)]
pub(super) struct Pairs(pub(super) Vec<Pair>);

impl Pairs {
    pub(super) fn zero(n: usize) -> Pairs {
        Pairs(vec![[Plane::ZERO; 2]; n])
    }
}

impl Drop for Pairs {
    fn drop(&mut self) {
        self.0.iter_mut().flatten().for_each(|plane| plane.0.zeroize());
    }
}

/// Where the products of the sets of each part begin, and where they end: set S of part p stands at
/// `starts(bits)[p] + S`.
pub(super) fn starts(bits: [usize; 3]) -> [usize; 4] {
    let [a, b, c] = bits.map(|k| 1 << k);
    [0, a, a + b, a + b + c]
}

/// The products of all sets of the bits of three numbers, in many lanes. Those of the empty sets are zero.
#[derive(Default)]
pub(super) struct Products {
    /// How many bits each number has.
    pub(super) bits: [usize; 3],
    pub(super) lanes: usize,
    /// One tile after the other; in each, the products are where [`starts`] says.
    pub(super) tiles: Vec<Pairs>,
}

/// A product to be made: where it stands, and its factors.
pub(super) type Product = [usize; 3];

/// Add to `rounds` the products of the sets of `size` bits from `first` on, whose part begins at `start`,
/// each in the round in which it is made.
fn grow(start: usize, first: usize, size: usize, rounds: &mut Vec<Vec<Product>>) {
    if size < 2 {
        return;
    }
    let low = size.div_ceil(2);
    grow(start, first, low, rounds);
    grow(start, first + low, size - low, rounds);
    let round = size.next_power_of_two().trailing_zeros() as usize;
    if rounds.len() < round {
        rounds.resize(round, Vec::new());
    }
    for high in 1..1 << (size - low) {
        for set in 1..1 << low {
            let (x, y) = (set << first, high << (first + low));
            rounds[round - 1].push([start + (x | y), start + x, start + y]);
        }
    }
}

/// All products of three numbers, by rounds.
pub(super) fn rounds(bits: [usize; 3]) -> Vec<Vec<Product>> {
    let mut rounds = Vec::new();
    let starts = starts(bits);
    for (start, k) in starts.into_iter().zip(bits) {
        grow(start, 0, k, &mut rounds);
    }
    rounds
}

/// MultLocal: our additive share of the product.
#[inline(always)]
pub(super) fn mult_local([x0, x1]: &Pair, [y0, y1]: &Pair) -> Plane {
    (*x0 & *y0) ^ ((*x0 ^ *x1) & (*y0 ^ *y1))
}

/// The lanes in use of every tile, for this many planes of each.
pub(super) fn shape(lanes: usize, planes: usize) -> Shape {
    let tile = |t| std::iter::repeat_n(used(lanes, t), planes);
    Shape((0..lanes.div_ceil(LANES)).flat_map(tile).collect())
}

/// Reshare of this many planes a tile, tile after tile: one message, and both our components.
pub(super) fn reshare(
    trio: &mut Trio,
    step: Step,
    mut share: Zeroizing<Vec<[Plane; 1]>>,
    lanes: usize,
) -> Result<Vec<Pairs>, Abort> {
    let tiles = lanes.div_ceil(LANES);
    let planes = share.len() / tiles.max(1);
    let second = trio.reshare(step, &mut share, &shape(lanes, planes))?;
    let tiles = share.chunks(planes.max(1)).zip(second.chunks(planes.max(1)));
    Ok(tiles.map(|(a, b)| Pairs(a.iter().zip(b).map(|([a], [b])| [*a, *b]).collect())).collect())
}

impl Products {
    /// Random numbers of this many bits each, and all products of each one's bits.
    pub(super) fn make(trio: &mut Trio, bits: [usize; 3], lanes: usize) -> Result<Products, Abort> {
        let starts = starts(bits);
        let n = lanes.div_ceil(LANES);
        let mut tiles: Vec<Pairs> = (0..n).map(|_| Pairs::zero(starts[3])).collect();
        let singles: Vec<usize> =
            starts.iter().zip(bits).flat_map(|(start, k)| (0..k).map(move |i| start + (1 << i))).collect();
        let mut random = Zeroizing::new(vec![[[Plane::ZERO; 1]; 2]; singles.len() * n]);
        trio.streams.rand_planes(&mut random, 0..1, &shape(lanes, singles.len()));
        for (tile, random) in tiles.iter_mut().zip(random.chunks(singles.len().max(1))) {
            for (at, [[a], [b]]) in singles.iter().zip(random) {
                tile.0[*at] = [*a, *b];
            }
        }
        for products in rounds(bits) {
            // 1., 2. our re-randomised shares of the products go to the previous party; 3. those of the next
            // are our second components
            let mut share = Zeroizing::new(Vec::with_capacity(n * products.len()));
            vectorize(
                #[inline(always)]
                || {
                    for tile in &tiles {
                        let product = |[_, x, y]: &Product| [mult_local(&tile.0[*x], &tile.0[*y])];
                        share.extend(products.iter().map(product));
                    }
                },
            );
            let made = reshare(trio, PRODUCTS, share, lanes)?;
            for (tile, made) in tiles.iter_mut().zip(&made) {
                products.iter().zip(&made.0).for_each(|([at, ..], pair)| tile.0[*at] = *pair);
            }
        }
        Ok(Products { bits, lanes, tiles })
    }

    /// The tiles of this many lanes from the first on, which is the first of a tile.
    pub(super) fn tiles_of(&self, first: usize, lanes: usize) -> &[Pairs] {
        let first = first / LANES;
        &self.tiles[first..first + lanes.div_ceil(LANES)]
    }

    /// One component of the numbers of these lanes, the third part in the lowest bits, the first in the
    /// highest.
    pub(super) fn numbers(&self, side: usize, first: usize, lanes: usize) -> Zeroizing<Vec<u64>> {
        let mut out = Zeroizing::new(vec![0; lanes]);
        let starts = starts(self.bits);
        for (tile, out) in self.tiles_of(first, lanes).iter().zip(out.chunks_mut(LANES)) {
            let mut at = 0;
            for p in [2, 1, 0] {
                for i in 0..self.bits[p] {
                    let plane = &tile.0[starts[p] + (1 << i)][side];
                    for (word, out) in plane.0.iter().zip(out.chunks_mut(64)) {
                        out.iter_mut().enumerate().for_each(|(b, out)| *out |= (word >> b & 1) << at);
                    }
                    at += 1;
                }
            }
        }
        out
    }
}

/// The products of all sets of the bits of x = c + r, tile by tile, from those of r: `prod (c_i + r_i)`,
/// bit by bit, since c is public. That of the empty set is 1. Without c they are those of r itself.
pub(super) fn shifted(
    tile: &Pairs,
    bits: [usize; 3],
    c: Option<&[u64]>,
    lanes: usize,
    me: divisi_core::PartyId,
) -> Pairs {
    let starts = starts(bits);
    let mut out = Pairs(tile.0.clone());
    let mut one = [Plane::ZERO; 2];
    if let Some(side) = constant_component(me) {
        one[side] = Plane::ONES;
        one[side].keep(lanes);
    }
    let mut at = 0;
    for p in [2, 1, 0] {
        let (start, k) = (starts[p], bits[p]);
        out.0[start] = one;
        for i in 0..k {
            let Some(c) = c else { continue };
            let mut plane = Plane::ZERO;
            for (word, c) in plane.0.iter_mut().zip(c.chunks(64)) {
                *word = c.iter().enumerate().fold(0, |word, (b, c)| word | (c >> at & 1) << b);
            }
            at += 1;
            vectorize(
                #[inline(always)]
                || {
                    for set in (0..1_usize << k).filter(|set| set >> i & 1 == 1) {
                        let [a, b] = out.0[start + (set ^ 1 << i)];
                        let to = &mut out.0[start + set];
                        to[0] ^= plane & a;
                        to[1] ^= plane & b;
                    }
                },
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::run;

    /// In each lane the bit of each set is the product of its bits, with and without a public shift.
    #[test]
    fn every_plane_is_the_product_of_its_set() {
        for (bits, lanes) in [([1, 1, 1], 1), ([2, 3, 1], 70), ([4, 5, 6], 513)] {
            let k: usize = bits.iter().sum();
            let c: Vec<u64> =
                (0..lanes as u64).map(|l| l.wrapping_mul(0x9e37_79b9) & ((1 << k) - 1)).collect();
            let made = run(|mut trio| {
                let made = Products::make(&mut trio, bits, lanes)?;
                let mut tiles = Vec::new();
                for (tile, c) in made.tiles.iter().zip(c.chunks(LANES)) {
                    tiles.push(shifted(tile, bits, Some(c), c.len(), trio.me()));
                }
                Ok((made.numbers(0, 0, lanes), tiles, made.tiles))
            })
            .unwrap();
            let starts = starts(bits);
            for l in 0..lanes {
                let r = made.iter().fold(0, |r, (numbers, ..)| r ^ numbers[l]);
                let mut at = 0;
                for p in [2, 1, 0] {
                    let part = |x: u64| x as usize >> at & ((1 << bits[p]) - 1);
                    let (r, x) = (part(r), part(r ^ c[l]));
                    at += bits[p];
                    for set in 0..1_usize << bits[p] {
                        let lane = |tiles: &[Pairs]| tiles[l / LANES].0[starts[p] + set][0].lane(l % LANES);
                        let of_x = made.iter().fold(0, |sum, (_, tiles, _)| sum ^ lane(tiles));
                        let of_r = made.iter().fold(0, |sum, (.., tiles)| sum ^ lane(tiles));
                        assert_eq!(of_x, u64::from(x & set == set), "{bits:?} {l} {p} {set}");
                        assert_eq!(of_r, u64::from(set > 0 && r & set == set));
                    }
                }
            }
            // our second component is the first one of the next party
            for (i, (_, shifted, plain)) in made.iter().enumerate() {
                let (_, next_shifted, next_plain) = &made[(i + 1) % 3];
                for (ours, next) in [(shifted, next_shifted), (plain, next_plain)] {
                    let pairs = ours.iter().zip(next).flat_map(|(x, y)| x.0.iter().zip(&y.0));
                    assert!(pairs.into_iter().all(|(x, y)| x[1] == y[0]));
                }
            }
        }
    }

    #[test]
    fn each_product_is_made_once_and_after_its_factors() {
        for bits in [[1, 1, 1], [4, 6, 6], [5, 7, 8], [3, 2, 1]] {
            let rounds = rounds(bits);
            let (mut made, starts) = (std::collections::BTreeSet::new(), starts(bits));
            for (start, k) in starts.iter().zip(bits) {
                (0..k).for_each(|i| _ = made.insert(start + (1 << i)));
            }
            let mut products = 0;
            for round in &rounds {
                let before = made.clone();
                for [at, x, y] in round {
                    assert!(before.contains(x) && before.contains(y) && made.insert(*at));
                    products += 1;
                }
            }
            assert_eq!(products, bits.iter().map(|k| (1_usize << k) - k - 1).sum::<usize>());
            let most = bits.into_iter().max().unwrap();
            assert_eq!(rounds.len() as u32, most.next_power_of_two().trailing_zeros());
        }
    }
}
