//! The first step of MAESTRO Protocol 2 on products that lie in bit planes: straight from the planes of the S-box layers to
//! an inner product over GF(2^64) that is a fraction as long.
//!
//! A *record* is one S-box of up to 512 lanes: the planes of everything that its protocol made. A *relation* says, with public
//! weights, how three sums of planes are the factors and the product of one multiplication over GF(2^64); it holds exactly
//! when the products of the paper's that it stands for are right ([`crate::sbox`] has them, with their exhaustive tests [A12,
//! A14, A15]). Everything here is linear in the planes but the products of the fold itself.
//!
//! For each relation, groups g of 2^k records ([`FOLDS`] = k) and each lane l:
//! 1. c_{g,l}: independent coefficients, expanded from a coin tossed after the barrier \[A8\] (error 1/2^64 whatever the batch).
//! 2. x_{g,l}(R), y_{g,l}(R): multilinear in k variables, with the records' x and y at the corners {0,1}^k. The polynomial
//!    h(R) = sum c_{g,l} x_{g,l}(R) y_{g,l}(R) is of degree 2 in each variable: determined by its values on {0,1,inf}^k. At the
//!    corners these are derived from the records' own z, never received \[A10\]; the 3^k - 2^k others are sent (weakDotProduct).
//! 3. k coins after them \[A9\]; both sides are evaluated there: error 2k/2^64 (Schwartz-Zippel; COSTS T8, with the corners
//!    bound one by one).
//!
//! What is left is sum (c x(R)) y(R) = h(R), one term for each group and lane: [`super::inner_product`] continues.
//! Nothing of the size of the batch is stored but that.

use super::inner_product::verify_dot_product;
use super::{BITS_64, error, levels};
use crate::Trio;
use crate::ledger::{Made, Relation, Relations, Visit};
use crate::random::{Coin, next_elements, next_words};
use crate::share::{Rep, Tile};
use crate::views::Fixed;
use divisi_core::{Abort, Check, Prg, Step, step};
use divisi_field::{BigField, Field, Gf64, Plane, gf64};
use std::collections::BTreeSet;
use zeroize::Zeroize;

/// How many variables are folded at once.
const FOLDS: usize = 2;
/// Records in a group.
const GROUP: usize = 1 << FOLDS;
/// Points of {0,1,inf}^k, with 2 for infinity: the point's number in base 3 has its coordinates.
const GRID: usize = 3usize.pow(FOLDS as u32);

const H: Step = step!("planes.h");

/// Verify all products of a batch in one inner product.
pub(super) fn verify(trio: &mut Trio, fixed: &Fixed, made: &[Made]) -> Result<(), Abort> {
    // [A11] [A12] [A14] [A15] [A17] [A18] [A20]: every record, under every relation
    let mut checks = BTreeSet::from([Check::A11, Check::A12]);
    checks.extend(made.iter().flat_map(Made::checks));
    checks.into_iter().for_each(|check| trio.session.observe(check));
    // 1. coefficients
    let coefficients = trio.first_coin(fixed)?;
    let mut expansion = coefficients.expand();
    let relations = Relations::new(made, &mut expansion, |check| trio.session.mutated(check));
    // 2. h on the grid
    let mut grid = Grid { expansion, ..Grid::new(&coefficients) };
    made.iter().for_each(|made| made.visit(GROUP, &relations, &mut grid));
    let sent = trio.reshare_elements(H, grid.shares().to_vec())?;
    // 3. the point, and both sides there
    let mut point = [Gf64::ZERO; FOLDS];
    next_elements(&mut trio.coin(fixed)?.expand(), &mut point);
    trio.session.observe(Check::A9); // [A9]
    let z = grid.at(&point, &sent);
    let mut terms = Count(0);
    made.iter().for_each(|made| made.visit(GROUP, &relations, &mut terms));
    let (x, y) = (trio.scratch.take(terms.0), trio.scratch.take(terms.0));
    let mut expansion = coefficients.expand();
    Relations::new(made, &mut expansion, |_| false); // the same elements of it go to the relations
    let mut xy = InnerProduct { x, y, at: 0, corner: corner_weights(&point), expansion, c: Lanes::default() };
    made.iter().for_each(|made| made.visit(GROUP, &relations, &mut xy));
    let bilinear = made.iter().any(|made| matches!(made, Made::Byte(_)));
    trio.session.meter().verification_error(error(FOLDS, levels(terms.0), BITS_64, bilinear));
    verify_dot_product(trio, fixed, &mut xy.x, &mut xy.y, z)?;
    trio.scratch.give(xy.x);
    trio.scratch.give(xy.y);
    Ok(())
}

/// Vectors as long as a batch, kept from verification to verification: fresh ones would cost a page fault for every 4 KiB.
#[derive(Default)]
pub(crate) struct Scratch(Vec<Rep<Gf64>>);

impl Scratch {
    /// A vector of zeros.
    fn take(&mut self, len: usize) -> Rep<Gf64> {
        let mut rep = self.0.pop().unwrap_or_else(|| Rep::zero(0));
        for side in [&mut rep.a, &mut rep.b] {
            side.clear();
            side.resize(len, Gf64::ZERO);
        }
        rep
    }

    /// A vector for the next time; it is wiped when the strand ends.
    fn give(&mut self, rep: Rep<Gf64>) {
        self.0.push(rep);
    }
}

/// How many terms there are.
struct Count(usize);

impl Visit for Count {
    fn group<const K: usize>(&mut self, _: &Relation, _: &[Tile<K>], lanes: usize) {
        self.0 += lanes;
    }
}

/// A value of each lane of a tile.
struct Lanes([Gf64; Plane::LANES]);

impl Default for Lanes {
    fn default() -> Self {
        Lanes([Gf64::ZERO; Plane::LANES])
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Lanes {
    /// The next coefficients, one for each of `n` lanes.
    fn draw(&mut self, expansion: &mut Prg, n: usize) -> &[Gf64] {
        let c = &mut self.0[..n];
        next_words(expansion, c);
        c
    }

    /// A weighted sum of planes, lane by lane: `sum w_i bit_l(plane_i)`.
    fn weigh<const K: usize>(
        &mut self,
        planes: &[Plane; K],
        weights: &[(usize, Gf64)],
        n: usize,
    ) -> &mut [Gf64] {
        let out = &mut self.0[..n];
        out.fill(Gf64::ZERO);
        weigh(out, weights.iter().map(|(i, w)| (&planes[*i], *w)));
        out
    }
}

/// Adds weighted planes to every lane, some at a time.
fn weigh<'p>(out: &mut [Gf64], terms: impl Iterator<Item = (&'p Plane, Gf64)>) {
    const AT_ONCE: usize = 32;
    let (mut planes, mut weights) = ([&Plane::ZERO; AT_ONCE], [Gf64::ZERO; AT_ONCE]);
    let mut used = 0;
    for (plane, weight) in terms {
        (planes[used], weights[used]) = (plane, weight);
        used += 1;
        if used == AT_ONCE {
            gf64::weigh(out, &planes, &weights);
            used = 0;
        }
    }
    if used > 0 {
        gf64::weigh(out, &planes[..used], &weights[..used]);
    }
}

/// The values of h on the grid: at corners our components of the claim, elsewhere our additive shares.
struct Grid {
    corners: [[Gf64; GROUP]; 2],
    others: [Gf64; GRID],
    x: [Lanes; 2],
    y: [Lanes; 2],
    expansion: Prg,
    c: Lanes,
}

impl Visit for Grid {
    /// Add a group's part of every value.
    fn group<const K: usize>(&mut self, relation: &Relation, group: &[Tile<K>], n: usize) {
        let c = self.c.draw(&mut self.expansion, n);
        for (e, record) in group.iter().enumerate() {
            for (corners, planes) in self.corners.iter_mut().zip(record) {
                corners[e] += Gf64::dot(c, self.x[0].weigh(planes, &relation.z, n));
            }
        }
        let ([xa, xb], [ya, yb]) = (&mut self.x, &mut self.y);
        for p in (0..GRID).filter(|p| at_infinity(*p)) {
            let tile = at_point(group, p);
            let (xa, xb) = (xa.weigh(&tile[0], &relation.x, n), xb.weigh(&tile[1], &relation.x, n));
            let (ya, yb) = (ya.weigh(&tile[0], &relation.y, n), yb.weigh(&tile[1], &relation.y, n));
            // MultLocal: x_a y_a + (x_a + x_b)(y_a + y_b), times c
            Gf64::mul_assign(xa, c);
            Gf64::mul_assign(xb, c);
            self.others[p] += Gf64::dot(xa, ya);
            Gf64::add_assign(xb, xa);
            Gf64::add_assign(yb, ya);
            self.others[p] += Gf64::dot(xb, yb);
        }
    }
}

impl Grid {
    fn new(coefficients: &Coin) -> Grid {
        Grid {
            corners: [[Gf64::ZERO; GROUP]; 2],
            others: [Gf64::ZERO; GRID],
            x: Default::default(),
            y: Default::default(),
            expansion: coefficients.expand(),
            c: Lanes::default(),
        }
    }

    /// Our additive shares of the values that are sent, in the order of the points.
    fn shares(&self) -> [Gf64; GRID - GROUP] {
        let mut points = (0..GRID).filter(|p| at_infinity(*p));
        std::array::from_fn(|_| points.next().map_or(Gf64::ZERO, |p| self.others[p]))
    }

    /// h at a point, from the claims at the corners and from what was sent: the tensor product of
    /// `h(r) = h(0) (1 + r) + h(1) r + h(inf) (r + r^2)`.
    fn at(&self, point: &[Gf64; FOLDS], sent: &Rep<Gf64>) -> Rep<Gf64> {
        let mut z = Rep::zero(1);
        let mut others = sent.a.iter().zip(&sent.b);
        let mut corners = self.corners[0].iter().zip(&self.corners[1]);
        for p in 0..GRID {
            let weight = (0..FOLDS).fold(Gf64::ONE, |w, v| {
                let r = point[v];
                w * [Gf64::ONE + r, r, r + r.square()][coordinate(p, v)]
            });
            let value = if at_infinity(p) { others.next() } else { corners.next() };
            if let Some((a, b)) = value {
                z.a[0] += weight * *a;
                z.b[0] += weight * *b;
            }
        }
        z
    }
}

/// The inner product that is left, term by term: `c x(R)` and `y(R)`.
struct InnerProduct {
    x: Rep<Gf64>,
    y: Rep<Gf64>,
    at: usize,
    corner: [Gf64; GROUP],
    expansion: Prg,
    c: Lanes,
}

impl Visit for InnerProduct {
    /// Append a group's terms.
    fn group<const K: usize>(&mut self, relation: &Relation, group: &[Tile<K>], n: usize) {
        let c = self.c.draw(&mut self.expansion, n);
        let range = self.at..self.at + n;
        self.at = range.end;
        let sides = [(&mut self.x, &relation.x), (&mut self.y, &relation.y)];
        for (values, weights) in sides {
            for (side, values) in [&mut values.a, &mut values.b].into_iter().enumerate() {
                let folded = group
                    .iter()
                    .zip(&self.corner)
                    .flat_map(|(record, at)| weights.iter().map(move |(i, w)| (&record[side][*i], *at * *w)));
                weigh(&mut values[range.clone()], folded);
            }
        }
        Gf64::mul_assign(&mut self.x.a[range.clone()], c);
        Gf64::mul_assign(&mut self.x.b[range], c);
    }
}

/// The weight of each corner in a multilinear polynomial at this point.
fn corner_weights(point: &[Gf64; FOLDS]) -> [Gf64; GROUP] {
    std::array::from_fn(|e| {
        (0..FOLDS).fold(Gf64::ONE, |w, v| w * if e >> v & 1 == 1 { point[v] } else { Gf64::ONE + point[v] })
    })
}

/// A point's coordinate in a variable: 0, 1, or 2 for infinity.
fn coordinate(p: usize, variable: usize) -> usize {
    p / 3usize.pow(variable as u32) % 3
}

/// Whether a point is not a corner.
fn at_infinity(p: usize) -> bool {
    (0..FOLDS).any(|v| coordinate(p, v) == 2)
}

/// Whether corner `e`, whose bit `v` is its coordinate in variable `v`, belongs to point `p`: a value at infinity is the sum
/// of those at 0 and 1.
fn belongs(e: usize, p: usize) -> bool {
    (0..FOLDS).all(|v| coordinate(p, v) == 2 || coordinate(p, v) == e >> v & 1)
}

/// The planes of a group at a point of the grid: linear, and so XORs of planes.
fn at_point<const K: usize>(group: &[Tile<K>], p: usize) -> Tile<K> {
    let mut tile = [[Plane::ZERO; K]; 2];
    for (_, record) in group.iter().enumerate().filter(|(e, _)| belongs(*e, p)) {
        for (sum, plane) in tile.iter_mut().flatten().zip(record.iter().flatten()) {
            *sum ^= *plane;
        }
    }
    tile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corners_are_the_points_without_infinity_in_order() {
        let corners: Vec<usize> = (0..GRID).filter(|p| !at_infinity(*p)).collect();
        assert_eq!(corners.len(), GROUP);
        for (e, p) in corners.into_iter().enumerate() {
            assert!((0..GROUP).all(|other| belongs(other, p) == (other == e)));
        }
    }

    #[test]
    fn a_product_of_multilinear_polynomials_is_its_grid() {
        let value = |i: usize| Gf64((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (x, y): (Vec<_>, Vec<_>) = (0..GROUP).map(|e| (value(e + 1), value(e + 100))).unzip();
        let point: [Gf64; FOLDS] = std::array::from_fn(|v| Gf64(0x1234_5678_9abc_def1 << v));
        let at = |v: &[Gf64]| corner_weights(&point).iter().zip(v).map(|(w, x)| *w * *x).sum::<Gf64>();
        let sum = |v: &[Gf64], p: usize| (0..GROUP).filter(|e| belongs(*e, p)).map(|e| v[e]).sum::<Gf64>();
        let mut grid = Grid::new(&Coin::of([0; 16]));
        let mut sent = Rep::zero(0);
        for p in (0..GRID).filter(|p| at_infinity(*p)) {
            sent.a.push(sum(&x, p) * sum(&y, p));
            sent.b.push(Gf64::ZERO);
        }
        for e in 0..GROUP {
            grid.corners[0][e] = x[e] * y[e];
        }
        assert_eq!(grid.at(&point, &sent).a[0], at(&x) * at(&y));
    }
}
