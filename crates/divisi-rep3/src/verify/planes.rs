//! The first step of MAESTRO Protocol 2 on products that lie in bit planes: straight from the planes of the S-box layers to
//! an inner product over GF(2^64) that is a fraction as long.
//!
//! A *record* is one S-box of up to 512 lanes: the planes of everything that its protocol made. A *relation* says, with public
//! weights, how three sums of planes are the factors and the product of one multiplication over GF(2^64); it holds exactly
//! when the products of the paper's that it stands for are right ([`crate::sbox`] has them, with their exhaustive tests [A12,
//! A14, A15]). Everything here is linear in the planes but the products of the fold itself.
//!
//! For each relation, groups g of 2^k records ([`FOLDS`] = k) and each lane l:
//! 1. c_{g,l}: independent coefficients, expanded from a coin tossed after the barrier [A8] (error 1/2^64 whatever the batch).
//! 2. x_{g,l}(R), y_{g,l}(R): multilinear in k variables, with the records' x and y at the corners {0,1}^k. The polynomial
//!    h(R) = sum c_{g,l} x_{g,l}(R) y_{g,l}(R) is of degree 2 in each variable: determined by its values on {0,1,inf}^k. At the
//!    corners these are derived from the records' own z, never received [A10]; the 3^k - 2^k others are sent (weakDotProduct).
//! 3. k coins after them [A9]; both sides are evaluated there: error 2k/2^64 (Schwartz-Zippel; COSTS T8, with the corners
//!    bound one by one).
//!
//! What is left is sum (c x(R)) y(R) = h(R), one term for each group and lane: [`super::inner_product`] continues.
//! Nothing of the size of the batch is stored but that.

use super::inner_product::verify_dot_product;
use super::{BITS_64, error, levels};
use crate::Trio;
use crate::multiply::dot_local;
use crate::random::next_elements;
use crate::sbox::{Relation, gf4_circuit, gf8_circuit};
use crate::share::{Rep, Tile};
use crate::views::Fixed;
use divisi_core::{Abort, Check, Step, step};
use divisi_field::{BigField, Field, Gf64, Plane, gf64};
use zeroize::Zeroize;

/// Planes of a record of gf8-circuit.
pub(crate) const GF8_PLANES: usize = 40;
/// Planes of a record of gf4-circuit.
pub(crate) const GF4_PLANES: usize = 28;

/// How many variables are folded at once.
const FOLDS: usize = 2;
/// Records in a group.
const GROUP: usize = 1 << FOLDS;
/// Points of {0,1,inf}^k, with 2 for infinity: the point's number in base 3 has its coordinates.
const GRID: usize = 3usize.pow(FOLDS as u32);

const H: Step = step!("planes.h");

/// The records of one S-box protocol, with the lanes in use of each.
pub(crate) struct Batch<const K: usize> {
    pub(crate) records: Vec<Tile<K>>,
    pub(crate) lanes: Vec<usize>,
}

impl<const K: usize> Default for Batch<K> {
    fn default() -> Self {
        Batch { records: Vec::new(), lanes: Vec::new() }
    }
}

impl<const K: usize> Batch<K> {
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        if self.is_empty() {
            *self = other;
        } else {
            self.records.append(&mut other.records);
            self.lanes.append(&mut other.lanes);
        }
    }
}

impl<const K: usize> Drop for Batch<K> {
    fn drop(&mut self) {
        self.records.iter_mut().flatten().flatten().for_each(Zeroize::zeroize);
    }
}

/// Verify all products of both batches in one inner product.
pub(super) fn verify(
    trio: &mut Trio,
    fixed: &Fixed,
    gf8: &Batch<GF8_PLANES>,
    gf4: &Batch<GF4_PLANES>,
) -> Result<(), Abort> {
    let relations_8 = gf8_circuit::relations(|check| trio.session.mutated(check));
    let relations_4 = gf4_circuit::relations(|check| trio.session.mutated(check));
    for check in [Check::A11, Check::A12, Check::A14, Check::A15] {
        trio.session.observe(check);
    }
    // 1. coefficients
    let coefficients = trio.coin(fixed)?;
    // 2. h on the grid
    let mut grid = Grid::default();
    let mut expansion = coefficients.expand();
    groups(gf8, &relations_8, |r, group, n| grid.add(r, group, &draw(&mut expansion, n)));
    groups(gf4, &relations_4, |r, group, n| grid.add(r, group, &draw(&mut expansion, n)));
    let sent = trio.reshare_elements(H, grid.shares().to_vec())?;
    // 3. the point, and both sides there
    let mut point = [Gf64::ZERO; FOLDS];
    next_elements(&mut trio.coin(fixed)?.expand(), &mut point);
    trio.session.observe(Check::A9);
    let z = grid.at(&point, &sent);
    let mut expansion = coefficients.expand();
    let (mut x, mut y) = (Rep::zero(0), Rep::zero(0));
    let corner = corner_weights(&point);
    groups(gf8, &relations_8, |r, group, n| fold(r, group, &corner, &draw(&mut expansion, n), &mut x, &mut y));
    groups(gf4, &relations_4, |r, group, n| fold(r, group, &corner, &draw(&mut expansion, n), &mut x, &mut y));
    trio.session.meter().verification_error(error(FOLDS, levels(x.len()), BITS_64));
    verify_dot_product(trio, fixed, x, y, z)
}

/// The coefficients of a group's lanes.
fn draw(expansion: &mut divisi_core::Prg, n: usize) -> Vec<Gf64> {
    let mut c = vec![Gf64::ZERO; n];
    next_elements(expansion, &mut c);
    c
}

/// Every group of a batch under every relation, with the lanes it has in use; the last group may be short, which is a group
/// padded with zero records [A11].
fn groups<const K: usize>(
    batch: &Batch<K>,
    relations: &[Relation],
    mut f: impl FnMut(&Relation, &[Tile<K>], usize),
) {
    for (group, lanes) in batch.records.chunks(GROUP).zip(batch.lanes.chunks(GROUP)) {
        let n = lanes.iter().copied().max().unwrap_or(0);
        for relation in relations {
            f(relation, group, n);
        }
    }
}

/// A weighted sum of planes, lane by lane: `out[l] = sum w_i bit_l(plane_i)`.
fn weigh<const K: usize>(out: &mut [Gf64], planes: &[Plane; K], weights: &[(usize, Gf64)]) {
    out.fill(Gf64::ZERO);
    let (planes, weights): (Vec<&Plane>, Vec<Gf64>) = weights.iter().map(|(i, w)| (&planes[*i], *w)).unzip();
    gf64::weigh(out, &planes, &weights);
}

/// The values of h on the grid: at corners our components of the claim, elsewhere our additive shares.
struct Grid {
    corners: [[Gf64; GROUP]; 2],
    others: [Gf64; GRID],
    x: [Vec<Vec<Gf64>>; 2],
    y: [Vec<Vec<Gf64>>; 2],
    scratch: [Vec<Gf64>; 2],
}

impl Default for Grid {
    fn default() -> Self {
        let empty = || [vec![Vec::new(); GRID], vec![Vec::new(); GRID]];
        Grid {
            corners: [[Gf64::ZERO; GROUP]; 2],
            others: [Gf64::ZERO; GRID],
            x: empty(),
            y: empty(),
            scratch: [Vec::new(), Vec::new()],
        }
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        for v in self.x.iter_mut().chain(&mut self.y).flatten().chain(&mut self.scratch) {
            v.zeroize();
        }
    }
}

impl Grid {
    /// Add a group's part of every value.
    fn add<const K: usize>(&mut self, relation: &Relation, group: &[Tile<K>], c: &[Gf64]) {
        let n = c.len();
        let mut z = vec![Gf64::ZERO; n];
        for side in 0..2 {
            for v in self.x[side].iter_mut().chain(&mut self.y[side]) {
                v.clear();
                v.resize(n, Gf64::ZERO);
            }
            for (e, record) in group.iter().enumerate() {
                let x = &mut self.x[side][corner_point(e)];
                weigh(x, &record[side], &relation.x);
                Gf64::mul_assign(x, c);
                weigh(&mut self.y[side][corner_point(e)], &record[side], &relation.y);
                weigh(&mut z, &record[side], &relation.z);
                self.corners[side][e] += Gf64::dot(c, &z);
            }
            extend(&mut self.x[side]);
            extend(&mut self.y[side]);
        }
        for p in (0..GRID).filter(|p| at_infinity(*p)) {
            let ([xa, xb], [ya, yb]) = (&self.x, &self.y);
            self.others[p] += dot_local([&xa[p], &xb[p]], [&ya[p], &yb[p]], &mut self.scratch);
        }
        z.zeroize();
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

/// Append a group's terms of the inner product that is left: `c x(R)` and `y(R)`.
fn fold<const K: usize>(
    relation: &Relation,
    group: &[Tile<K>],
    corner: &[Gf64; GROUP],
    c: &[Gf64],
    x: &mut Rep<Gf64>,
    y: &mut Rep<Gf64>,
) {
    let folded = |side: usize, weights: &[(usize, Gf64)], out: &mut Vec<Gf64>| {
        let start = out.len();
        out.resize(start + c.len(), Gf64::ZERO);
        let (planes, weights): (Vec<&Plane>, Vec<Gf64>) = group
            .iter()
            .zip(corner)
            .flat_map(|(record, at)| weights.iter().map(move |(i, w)| (&record[side][*i], *at * *w)))
            .unzip();
        gf64::weigh(&mut out[start..], &planes, &weights);
        start
    };
    let start = folded(0, &relation.x, &mut x.a);
    Gf64::mul_assign(&mut x.a[start..], c);
    let start = folded(1, &relation.x, &mut x.b);
    Gf64::mul_assign(&mut x.b[start..], c);
    folded(0, &relation.y, &mut y.a);
    folded(1, &relation.y, &mut y.b);
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

/// The grid point of corner `e`, whose bit `v` is the coordinate in variable `v`.
fn corner_point(e: usize) -> usize {
    (0..FOLDS).map(|v| (e >> v & 1) * 3usize.pow(v as u32)).sum()
}

/// From the corners to the whole grid: the value at infinity is the sum of those at 0 and 1, variable by variable.
fn extend(values: &mut [Vec<Gf64>]) {
    for variable in 0..FOLDS {
        let stride = 3usize.pow(variable as u32);
        for p in 0..GRID {
            // later variables still at corners, earlier ones anywhere
            if coordinate(p, variable) == 2 && (variable + 1..FOLDS).all(|v| coordinate(p, v) < 2) {
                let (low, high) = values.split_at_mut(p);
                high[0].copy_from_slice(&low[p - 2 * stride]);
                Gf64::add_assign(&mut high[0], &low[p - stride]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_three_to_the_k_and_its_corners_are_in_order() {
        let corners: Vec<usize> = (0..GROUP).map(corner_point).collect();
        assert_eq!(corners, (0..GRID).filter(|p| !at_infinity(*p)).collect::<Vec<_>>());
        assert_eq!((0..GRID).filter(|p| at_infinity(*p)).count(), GRID - GROUP);
    }

    #[test]
    fn a_product_of_multilinear_polynomials_is_its_grid() {
        let value = |i: u64| vec![Gf64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))];
        let empty = vec![vec![Gf64::ZERO]; GRID];
        let (mut x, mut y) = (empty.clone(), empty);
        for e in 0..GROUP {
            x[corner_point(e)] = value(e as u64 + 1);
            y[corner_point(e)] = value(e as u64 + 100);
        }
        let point: [Gf64; FOLDS] = std::array::from_fn(|v| Gf64(0x1234_5678_9abc_def1 << v));
        let at = |v: &[Vec<Gf64>]| {
            corner_weights(&point).iter().enumerate().map(|(e, w)| *w * v[corner_point(e)][0]).sum::<Gf64>()
        };
        let expected = at(&x) * at(&y);
        extend(&mut x);
        extend(&mut y);
        let mut grid = Grid::default();
        let mut sent = Rep::zero(0);
        for p in 0..GRID {
            let h = x[p][0] * y[p][0];
            if at_infinity(p) {
                sent.a.push(h);
                sent.b.push(Gf64::ZERO);
            }
        }
        for e in 0..GROUP {
            grid.corners[0][e] = x[corner_point(e)][0] * y[corner_point(e)][0];
        }
        assert_eq!(grid.at(&point, &sent).a[0], expected);
    }
}
