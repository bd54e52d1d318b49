//! What is verified of three factors, over GF(2^64), with weights drawn after everything is fixed.
//!
//! **Coefficients of lanes.** Lane 64 w + b of a tile has gamma_w Y^b, gamma drawn for each word of 64
//! lanes. A claim that is linear in bits then takes a product a word, not a lane: the word itself is the
//! sum of its lanes' bits times Y^b, and is zero only if none of them is one.
//!
//! **Products of a vector** \[A17, A18\]: as in [`super::super::relation`], for each of the three parts
//! `(sum alpha_S m_S) (sum beta_T m_T) = sum alpha_S beta_T m_{S or T}`. With e the errors of one term in
//! the lanes of a word, as an element, what is left is `sum alpha_S beta_T gamma_w e_{S,T,w}`: trilinear,
//! zero with probability at most 3/2^64 unless all e are.
//!
//! **Lookups** \[S2\]: with `a_S1` the additive sum of the table contracted by the second and third
//! factor, bit by bit b of the entries, the parties hold `h_{S1,b}`, reshared, for S1 not empty, and the
//! result `t_b`. What must hold is `h_{S1,b} = a_{S1,b}` and `t_b = a_{0,b} + sum over S1 not empty of
//! m_S1 h_{S1,b}`. With a weight lambda for each S1 and b, lambda_{0,b} that of the result, the sum of
//! all is one relation a lane,
//!
//! ```text
//! sum_{S1 > 0, b} lambda_{S1,b} h_{S1,b} + sum_b lambda_{0,b} t_b
//!     = sum_{S2} m_S2 (sum_{S3} A(S2, S3) m_S3) + sum_{S1 > 0} m_S1 (sum_b lambda_{0,b} h_{S1,b}),
//! ```
//!
//! of 2^k1 + 2^k2 - 1 products, where `A(S2, S3)` is the sum of `lambda_{S1,b}` over the coefficients of the
//! table that are 1: made once for all lanes. Errors leave `sum lambda_{S1,b} gamma_w e_{S1,b,w}`: zero with
//! probability at most 2/2^64 unless all are.

use super::super::make::masks;
use super::super::relation::sides;
use super::grid::Grid;
use super::make::{Pair, Pairs, Products, starts};
use crate::bit::used;
use crate::coin::next_words;
use crate::share::Rep;
use crate::verify::{Statement, Sum};
use divisi_core::Prg;
use divisi_field::gf64::weigh;
use divisi_field::kernel::vectorize;
use divisi_field::plane::LANES;
use divisi_field::{BigField, Field, Gf64, Plane};
use std::sync::Arc;

/// Words of 64 lanes in a tile.
const WORDS: usize = LANES / 64;

#[cfg_attr(feature = "testing", track_caller)]
fn draw(expansion: &mut Prg, n: usize) -> Vec<Gf64> {
    let mut drawn = vec![Gf64::ZERO; n];
    next_words(expansion, &mut drawn);
    drawn
}

/// The coefficients of the lanes of a tile: gamma, and each times all powers of Y.
#[cfg_attr(feature = "testing", track_caller)]
fn coefficients(expansion: &mut Prg, lanes: usize) -> (Vec<Gf64>, Vec<Gf64>) {
    let gamma = draw(expansion, WORDS);
    let mut c = vec![Gf64::ZERO; LANES];
    for (c, gamma) in c.chunks_exact_mut(64).zip(&gamma) {
        c.iter_mut().enumerate().for_each(|(b, c)| *c = Gf64(1 << b));
        Gf64::scale(c, *gamma);
    }
    c.truncate(lanes);
    (gamma, c)
}

/// Both components of the weighed sums of planes, lane by lane.
fn weighed(pairs: &[&Pair], weights: &[Gf64], lanes: usize) -> Rep<Gf64> {
    let mut out = Rep::zero(lanes);
    for (side, out) in [&mut out.a, &mut out.b].into_iter().enumerate() {
        let planes: Vec<&Plane> = pairs.iter().map(|pair| &pair[side]).collect();
        weigh(out, &planes, weights);
    }
    out
}

/// The coefficient of each lane, times its bit.
fn times_bit(c: &[Gf64], pair: &Pair) -> Rep<Gf64> {
    let [a, b] = [0, 1].map(|side| {
        let mut out = c.to_vec();
        let plane = &pair[side];
        vectorize(
            #[inline(always)]
            || {
                for (out, word) in out.chunks_mut(64).zip(plane.0) {
                    out.iter_mut().zip(masks(word)).for_each(|(x, mask)| x.0 &= mask);
                }
            },
        );
        out
    });
    Rep { a, b }
}

/// The claim of the weighed sum of planes: a product for each plane and word of lanes.
fn claim(sum: &mut Sum<Gf64>, pairs: &[&Pair], weights: &[Gf64], gamma: &[Gf64]) {
    let mut words = vec![Gf64::ZERO; pairs.len()];
    let mut total = [Gf64::ZERO; 2];
    for (side, total) in total.iter_mut().enumerate() {
        for (w, gamma) in gamma.iter().enumerate() {
            words.iter_mut().zip(pairs).for_each(|(word, pair)| *word = Gf64(pair[side].0[w]));
            *total += *gamma * Gf64::dot(&words, weights);
        }
    }
    zeroize::Zeroize::zeroize(&mut words);
    sum.claim(total[0], total[1]);
}

/// The products of the vectors' bits, of these parts.
pub(super) struct Vectors {
    pub(super) made: Arc<Products>,
    pub(super) parts: Vec<usize>,
}

impl Statement<Gf64> for Vectors {
    fn add(&self, expansion: &mut Prg, sum: &mut Sum<Gf64>) {
        let made = &self.made;
        let starts = starts(made.bits);
        for p in &self.parts {
            let (start, k) = (starts[*p], made.bits[*p]);
            let sides = sides(k);
            let [alpha, beta] = sides.each_ref().map(|sets| draw(expansion, sets.len()));
            let mut weights = vec![Gf64::ZERO; 1 << k];
            for (s, alpha) in sides[0].iter().zip(&alpha) {
                for (t, beta) in sides[1].iter().zip(&beta) {
                    weights[s | t] += *alpha * *beta;
                }
            }
            for (t, tile) in made.tiles.iter().enumerate() {
                let lanes = used(made.lanes, t);
                let (gamma, c) = coefficients(expansion, lanes);
                let pairs = |sets: &[usize]| sets.iter().map(|set| &tile.0[start + set]).collect::<Vec<_>>();
                let mut x = weighed(&pairs(&sides[0]), &alpha, lanes);
                Gf64::mul_assign(&mut x.a, &c);
                Gf64::mul_assign(&mut x.b, &c);
                sum.x.extend(&x);
                sum.y.extend(&weighed(&pairs(&sides[1]), &beta, lanes));
                let all: Vec<&Pair> = tile.0[start..start + (1 << k)].iter().collect();
                claim(sum, &all, &weights, &gamma);
            }
        }
    }

    fn is_bilinear(&self) -> bool {
        true
    }
}

/// A tile of lookups, as the verification needs it.
pub(super) struct Tile {
    /// The products of all sets of x, at the places of [`starts`].
    pub(super) m: Pairs,
    /// The reshared sums, for each S1 that is not empty and each bit of an entry.
    pub(super) h: Pairs,
    /// The result, a pair of planes for each bit of an entry.
    pub(super) t: Pairs,
}

/// Lookups in one table.
pub(super) struct Lookups {
    pub(super) grid: Arc<Grid>,
    pub(super) lanes: usize,
    pub(super) tiles: Vec<Tile>,
}

impl Statement<Gf64> for Lookups {
    fn add(&self, expansion: &mut Prg, sum: &mut Sum<Gf64>) {
        let Grid { bits, width, .. } = *self.grid;
        let (starts, inner) = (starts(bits), 1 << bits[2]);
        let lambda = draw(expansion, width << bits[0]);
        let (of_result, of_sums) = lambda.split_at(width);
        let table = self.grid.weighed(&lambda);
        for (t, tile) in self.tiles.iter().enumerate() {
            let lanes = used(self.lanes, t);
            let (gamma, c) = coefficients(expansion, lanes);
            let m3: Vec<&Pair> = tile.m.0[starts[2]..].iter().collect();
            for (m2, weights) in tile.m.0[starts[1]..starts[2]].iter().zip(table.chunks_exact(inner)) {
                sum.x.extend(&times_bit(&c, m2));
                sum.y.extend(&weighed(&m3, weights, lanes));
            }
            for (m1, h) in tile.m.0[1..starts[1]].iter().zip(tile.h.0.chunks_exact(width)) {
                sum.x.extend(&times_bit(&c, m1));
                sum.y.extend(&weighed(&h.iter().collect::<Vec<_>>(), of_result, lanes));
            }
            claim(sum, &tile.h.0.iter().collect::<Vec<_>>(), of_sums, &gamma);
            claim(sum, &tile.t.0.iter().collect::<Vec<_>>(), of_result, &gamma);
        }
    }

    fn is_bilinear(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::tests::{are_whole, rank};

    fn pairs(n: usize) -> Pairs {
        Pairs(vec![[Plane::ONES, Plane::ZERO]; n])
    }

    /// Factors of a statement whose shared bits are all one: the first factors under one coin, and the first
    /// and the second factor of the first lane under each of 64 coins.
    fn sums(statement: &dyn Statement<Gf64>) -> [Vec<u64>; 3] {
        let all = (0..64_u8).map(|coin| {
            let mut sum = Sum::<Gf64> { x: Rep::zero(0), y: Rep::zero(0), z: Rep::zero(1) };
            statement.add(&mut Prg::new(&[coin; 16]), &mut sum);
            (sum.x.a.iter().map(|x| x.0).collect::<Vec<_>>(), sum.y.a.iter().map(|y| y.0).collect::<Vec<_>>())
        });
        let all: Vec<(Vec<u64>, Vec<u64>)> = all.collect();
        let first = |of: fn(&(Vec<u64>, Vec<u64>)) -> u64| all.iter().map(of).collect();
        [all[0].0.clone(), first(|(x, _)| x[0]), first(|(_, y)| y[0])]
    }

    /// No weight or coefficient is fixed, small, or equal to that of another lane, word, tile or coin.
    #[test]
    fn weights_and_coefficients_are_drawn_from_the_whole_field() {
        let lanes = LANES + 70;
        // in a part of two bits both sides consist of its single bits
        let made = Products { bits: [2, 1, 1], lanes, tiles: (0..2).map(|_| pairs(8)).collect() };
        let [x, coefficients, weights] = sums(&Vectors { made: Arc::new(made), parts: vec![0] });
        assert_eq!(x.len(), lanes);
        assert!([x, coefficients, weights].iter().all(|values| are_whole(values)));
        // a table whose only coefficients are those of the empty sets
        let rows = Grid::new([1, 1, 1], 3, std::iter::repeat_n(vec![0xff], 3));
        assert_eq!(rows.weighed(&[Gf64(1), Gf64(2), Gf64(4), Gf64(8), Gf64(8), Gf64(8)])[0], Gf64(7));
        let tile = || Tile { m: pairs(6), h: pairs(3), t: pairs(3) };
        let [x, coefficients, weights] =
            sums(&Lookups { grid: Arc::new(rows), lanes, tiles: vec![tile(), tile()] });
        // two sets of the second part and one of the first, tile by tile
        assert_eq!(x.len(), 3 * lanes);
        assert!(are_whole(&[&x[..LANES], &x[3 * LANES..3 * LANES + 70]].concat()));
        assert!(are_whole(&coefficients) && are_whole(&weights));
        // one lane of a word is Y times the one before
        let first = x[0] >> 63;
        assert_eq!(x[1], x[0] << 1 ^ if first == 1 { 0b11011 } else { 0 });
    }

    /// What a statement of one lane adds up to, if of its shared planes one alone is not zero.
    fn alone(statement: &dyn Statement<Gf64>) -> [Gf64; 3] {
        let mut sum = Sum::<Gf64> { x: Rep::zero(0), y: Rep::zero(0), z: Rep::zero(1) };
        statement.add(&mut Prg::new(&[7; 16]), &mut sum);
        [&sum.x, &sum.y, &sum.z].map(|sums| sums.a.iter().copied().sum())
    }

    /// No weight of one coin is a sum of others of its side, and the two sides' are not in proportion.
    #[test]
    fn weights_of_one_coin_are_independent() {
        let one = |n: usize, at: usize| {
            let mut pairs = Pairs::zero(n);
            pairs.0[at][0] = Plane::ONES;
            pairs
        };
        let nonzero = |all: &[[Gf64; 3]], part: usize| -> Vec<Gf64> {
            all.iter().map(|sums| sums[part]).filter(|sum| *sum != Gf64::ZERO).collect()
        };
        let sums: Vec<_> = (1..16)
            .map(|set| {
                let made = Products { bits: [4, 1, 1], lanes: 1, tiles: vec![one(20, set)] };
                alone(&Vectors { made: Arc::new(made), parts: vec![0] })
            })
            .collect();
        let [left, right, products] = [0, 1, 2].map(|part| nonzero(&sums, part));
        assert_eq!((left.len(), right.len(), products.len()), (5, 5, 15));
        assert_eq!([&left, &right, &products].map(|all| rank(all.iter().copied())), [5, 5, 15]);
        assert!((1..5).all(|i| left[i] * right[0] != left[0] * right[i]));

        let rows = Arc::new(Grid::new([2, 2, 1], 3, std::iter::repeat_n(vec![0x5eed_f00d], 3)));
        let lookup = |h: Pairs, t: Pairs| {
            let tiles = vec![Tile { m: Pairs::zero(10), h, t }];
            alone(&Lookups { grid: Arc::clone(&rows), lanes: 1, tiles })
        };
        let of_sums: Vec<_> = (0..9).map(|at| lookup(one(9, at), Pairs::zero(3))).collect();
        let of_result = (0..3).map(|at| lookup(Pairs::zero(9), one(3, at))[2]);
        // of a bit of an entry the weight is that of the result, whatever set of the first part it is for
        let second: Vec<Gf64> = of_sums.iter().map(|sums| sums[1]).collect();
        assert!(rank(second[..3].iter().copied()) == 3 && second[3..] == [&second[..3]; 2].concat());
        assert_eq!(rank(of_sums.iter().map(|sums| sums[2]).chain(of_result)), 12);
    }
}
