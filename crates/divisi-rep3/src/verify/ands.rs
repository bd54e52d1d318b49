//! The first step of MAESTRO Protocol 2 on products over GF(2): straight from the planes of [`crate::ands`]
//! to an inner product over GF(2^64) that is a 64th as long.
//!
//! For groups g of 2^k dots ([`FOLDS`] = k), and each lane l = 64 w + b of a tile:
//! 1. c_{g,l} = alpha_{g,w} Y^b, alpha independent for each group, tile and word of 64 lanes, all expanded
//!    from a coin tossed after the barrier \[A8\]. The errors of a word's lanes, weighed by Y^b, are the word
//!    itself as an element of GF(2^64): zero only if no lane is wrong. Take one dot of each group: the
//!    weighed sum of the errors of all their words is zero with probability at most 1/2^64, unless all of
//!    these dots are right.
//! 2. x_{g,l}(R), y_{g,l}(R): multilinear in k variables, with the dots' factors at the corners {0,1}^k; with
//!    several terms a dot, as many x and y as terms. h(R) = sum c_{g,l} x_{g,l}(R) y_{g,l}(R) is of degree 2
//!    in each variable: determined by its values on {0,1,inf}^k. At the corners these are derived from the
//!    dots' own results, never received \[A10\]; the 3^k - 2^k others are sent (weakDotProduct). On that grid
//!    x and y are sums of planes, their products ANDs of planes.
//! 3. k coins after them \[A9\]; both sides are evaluated there: error 2k/2^64 (Schwartz-Zippel; each corner
//!    is bound to the results of its own dots).
//!
//! What is left is sum (c x(R)) y(R) = h(R), one term for each group, lane and term: [`super::inner_product`]
//! continues.

use super::inner_product::verify_dot_product;
use super::owed::{Missed, Owed};
use crate::ands::{Block, Chunk, FACTORS, FOLDS, GROUP, RESULT, folded_terms};
use crate::checks;
use crate::coin::{next_elements, next_words};
use crate::grid::{at_infinity, corner, corner_weights, line, point_weights};
use crate::passes::Passes;
use crate::share::Rep;
use crate::trio::Trio;
use crate::views::Fixed;
use divisi_core::{Abort, Step, step};
use divisi_field::gf64::{self, Unreduced};
use divisi_field::kernel::{Task, run};
use divisi_field::{BigField, Field, Gf64, Plane, Word};
use zeroize::{Zeroize, Zeroizing};

/// The number of points of {0,1,inf}^k.
const GRID: usize = 3usize.pow(FOLDS as u32);
/// The grid is made in parts that fit the nearest cache: one for each point in the upper variables.
const LOWER: usize = 4;
const UPPER: usize = FOLDS - LOWER;
/// Corners and points of a part.
const PART_CORNERS: usize = 1 << LOWER;
const PART: usize = 3usize.pow(LOWER as u32);
/// Words of 64 lanes in a plane.
const WORDS: usize = Plane::LANES / 64;

/// For each point of a part with infinity among its coordinates, the two points whose sum it takes
/// ([`line`]).
const LINES: [Option<(usize, usize)>; PART] = {
    let mut lines = [None; PART];
    let mut p = 0;
    while p < PART {
        lines[p] = line(p, LOWER);
        p += 1;
    }
    lines
};

const H: Step = step!("ands.h");

/// Verify all dots \[S6\] in one inner product.
pub(super) fn verify(trio: &mut Trio, fixed: &Fixed, chunks: &[Chunk]) -> Result<Missed, Abort> {
    // 1. coefficients
    let coefficients = trio.first_coin(fixed)?;
    // 2. h on the grid
    let mut grid = Grid::new();
    let mut expansion = coefficients.expand();
    let mut alpha = [Gf64::ZERO; WORDS];
    for block in chunks.iter().flat_map(Chunk::blocks) {
        next_words(&mut expansion, &mut alpha);
        grid.add(&block, &alpha);
    }
    let sent = trio.reshare_elements(H, grid.shares())?;
    // 3. the point, and both sides there
    let mut point = [Gf64::ZERO; FOLDS];
    next_elements(&mut trio.coin_ahead(fixed)?.expand(), &mut point);
    trio.session.observe(checks::A9); // [A9]
    let z = grid.at(&point, &sent);
    let terms = folded_terms(chunks);
    let missed = Missed::at::<Gf64>(1 + 2 * FOLDS);
    let (mut x, mut y) = (trio.scratch.zeros(terms), trio.scratch.zeros(terms));
    let weights: Vec<Gf64> = corner_weights(&point).collect();
    // the same coefficients again
    let mut expansion = coefficients.expand();
    let mut at = 0;
    let mut c = [Gf64::ZERO; Plane::LANES];
    for block in chunks.iter().flat_map(Chunk::blocks) {
        next_words(&mut expansion, &mut alpha);
        for (c, alpha) in c.chunks_exact_mut(64).zip(alpha).take(block.lanes.div_ceil(64)) {
            c.iter_mut().enumerate().for_each(|(b, c)| *c = Gf64(1 << b));
            Gf64::scale(c, alpha);
        }
        for factors in block.factors.chunks_exact(GROUP) {
            let range = at..at + block.lanes;
            at = range.end;
            let outs = [&mut x.a, &mut x.b, &mut y.a, &mut y.b];
            for (i, out) in outs.into_iter().enumerate() {
                let planes: [&Plane; GROUP] = std::array::from_fn(|e| &factors[e][i]);
                gf64::weigh(&mut out[range.clone()], &planes, &weights);
            }
            Gf64::mul_assign(&mut x.a[range.clone()], &c[..block.lanes]);
            Gf64::mul_assign(&mut x.b[range], &c[..block.lanes]);
        }
    }
    let missed = missed + verify_dot_product(trio, fixed, &mut x, &mut y, z, None)?;
    trio.scratch.give(x);
    trio.scratch.give(y);
    Ok(missed)
}

impl Owed for Chunk {
    fn passes(asked: Passes) -> usize {
        asked.number()
    }

    fn pass(trio: &mut Trio, fixed: &Fixed, all: &[Self]) -> Result<Missed, Abort> {
        verify(trio, fixed, all)
    }
}

/// The values of h on the grid: at corners our components of the claim, elsewhere our additive shares.
struct Grid {
    corners: Zeroizing<Vec<Unreduced>>,
    points: Zeroizing<Vec<Unreduced>>,
    part: Box<Part>,
}

/// A part of the grid: at each point the sums of factors (of our first components, and of the sums of both),
/// and of products.
struct Part {
    factors: [[Plane; FACTORS]; PART],
    products: [Plane; PART],
}

impl Drop for Part {
    fn drop(&mut self) {
        self.factors.iter_mut().flatten().for_each(Zeroize::zeroize);
        self.products.zeroize();
    }
}

impl Grid {
    fn new() -> Grid {
        Grid {
            corners: Zeroizing::new(vec![Unreduced::ZERO; GROUP * RESULT]),
            points: Zeroizing::new(vec![Unreduced::ZERO; GRID]),
            part: Box::new(Part { factors: [[Plane::ZERO; FACTORS]; PART], products: [Plane::ZERO; PART] }),
        }
    }

    fn add(&mut self, block: &Block<'_>, alpha: &[Gf64; WORDS]) {
        gf64::add_words(&mut self.corners, block.results.as_flattened(), alpha);
        for (upper, points) in self.points.chunks_exact_mut(PART).enumerate() {
            self.part.products.fill(Plane::ZERO);
            for factors in block.factors.chunks_exact(GROUP) {
                run(Products { factors, upper, part: &mut self.part });
            }
            gf64::add_words(points, &self.part.products, alpha);
        }
    }

    /// Our additive shares of the values that are sent, in the order of the points.
    fn shares(&self) -> Vec<Gf64> {
        let points = self.points.iter().enumerate().filter(|(p, _)| at_infinity(*p, FOLDS));
        points.map(|(_, sum)| sum.reduce()).collect()
    }

    /// h at a point, from the claims at the corners and from what was sent.
    fn at(&self, point: &[Gf64; FOLDS], sent: &Rep<Gf64>) -> Rep<Gf64> {
        let mut z = Rep::zero(1);
        let mut others = sent.a.iter().zip(&sent.b).map(|(a, b)| [*a, *b]);
        let mut corners = self.corners.as_chunks::<RESULT>().0.iter().map(|c| c.map(|sum| sum.reduce()));
        for (p, weight) in point_weights(point).enumerate() {
            let value = if at_infinity(p, FOLDS) { others.next() } else { corners.next() };
            if let Some([a, b]) = value {
                z.a[0] += weight * a;
                z.b[0] += weight * b;
            }
        }
        z
    }
}

/// Adds the products of one term of a group at all points of a part.
struct Products<'a> {
    factors: &'a [[Plane; FACTORS]],
    /// The part's point in the upper variables.
    upper: usize,
    part: &'a mut Part,
}

/// For each point in the upper variables, the corners whose values add up to the value there, and their
/// number.
const BELOW: [([usize; 1 << UPPER], usize); 3usize.pow(UPPER as u32)] = {
    let mut below = [([0; 1 << UPPER], 0); 3usize.pow(UPPER as u32)];
    let mut p = 0;
    while p < below.len() {
        let mut e = 0;
        while e < 1 << UPPER {
            let (mut v, mut belongs) = (0, true);
            while v < UPPER {
                let digit = crate::grid::coordinate(p, v);
                belongs &= digit == 2 || digit == e >> v & 1;
                v += 1;
            }
            if belongs {
                below[p].0[below[p].1] = e;
                below[p].1 += 1;
            }
            e += 1;
        }
        p += 1;
    }
    below
};

impl Task for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let (corners, count) = &BELOW[self.upper];
        for e in 0..PART_CORNERS {
            let mut sum = [W::zero(); FACTORS];
            for upper in &corners[..*count] {
                let factors = &self.factors[upper * PART_CORNERS + e];
                for (sum, factor) in sum.iter_mut().zip(factors) {
                    *sum ^= W::load(factor);
                }
            }
            // the sums of both components, beside the first ones: MultLocal is x_i y_i + (x_i + x_{i+1})(y_i
            // + y_{i+1})
            sum[1] ^= sum[0];
            sum[3] ^= sum[2];
            let p = corner(e, LOWER);
            W::store_all(&sum, &mut self.part.factors[p]);
            let product = W::load(&self.part.products[p]) ^ (sum[0] & sum[2]) ^ (sum[1] & sum[3]);
            product.store(&mut self.part.products[p]);
        }
        for (p, line) in LINES.iter().enumerate() {
            let Some((zero, one)) = *line else { continue };
            let mut sum = [W::zero(); FACTORS];
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum = W::load(&self.part.factors[zero][i]) ^ W::load(&self.part.factors[one][i]);
            }
            W::store_all(&sum, &mut self.part.factors[p]);
            let product = W::load(&self.part.products[p]) ^ (sum[0] & sum[2]) ^ (sum[1] & sum[3]);
            product.store(&mut self.part.products[p]);
        }
    }
}
