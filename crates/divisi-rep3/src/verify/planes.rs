//! The first step of MAESTRO Protocol 2 on products that lie in bit planes: straight from the planes of the layers to an inner
//! product over GF(2^64) that is a fraction as long.
//!
//! A *record* is one S-box or one-hot vector of up to 512 lanes, or several of few lanes: the planes of everything that its protocol
//! made. A *relation*
//! says how three sums of planes are the factors and the product of one multiplication over GF(2^64); it holds exactly when the
//! products of the paper's that it stands for are right ([`crate::sbox`] and [`crate::ohv`] have them, with their exhaustive tests
//! [A12, A14, A15, A17, A20]). Everything here is linear in the planes but the products of the fold itself.
//!
//! For each relation, groups g of 2^k records ([`FOLDS`] = k) and each lane l:
//! 1. c_{g,l} = alpha_{g,a} beta_b for lane l = 8a + b: alpha independent for each group and byte of lanes, beta for the batch, all
//!    expanded from a coin tossed after the barrier \[A8\]. A bilinear form in alpha and beta that is not zero is zero at a
//!    random point with probability at most 2/2^64, whatever the batch.
//! 2. x_{g,l}(R), y_{g,l}(R): multilinear in k variables, with the records' x and y at the corners {0,1}^k. The polynomial
//!    h(R) = sum c_{g,l} x_{g,l}(R) y_{g,l}(R) is of degree 2 in each variable: determined by its values on {0,1,inf}^k. At the
//!    corners these are derived from the records' own z, never received \[A10\]; the 3^k - 2^k others are sent (weakDotProduct).
//!    On that grid x and y are sums of planes, still in the small field, where their products are made ([`super::small`]); only
//!    the sum over 512 lanes is embedded ([`divisi_field::gf64::combine`]; docs/lookups.md, 5).
//! 3. k coins after them \[A9\]; both sides are evaluated there: error 2k/2^64 (Schwartz-Zippel, with the corners bound one by
//!    one).
//!
//! What is left is sum (c x(R)) y(R) = h(R), one term for each group and lane: [`super::inner_product`] continues. Relations whose
//! factors are in no small field (vectors of 256) skip step 2 and 3: their terms are (c x) y, and their z adds to the claim.
//! Nothing of the size of the batch is stored but the terms.

#[cfg(feature = "fault")]
pub(crate) mod fault;
mod points;
mod terms;

use super::Passes;
use super::grid;
use super::inner_product::verify_dot_product;
use super::small::{FACTOR, PRODUCT, Small};
use super::walk::{Missed, Owed};
use crate::Trio;
use crate::ledger::{self, Made, Relations, Visit, Weighed};
use crate::random::{Coin, next_elements, next_words};
use crate::share::{Rep, Tile, make_room};
use crate::views::Fixed;
use divisi_core::{Abort, Check, Prg, Step, step};
use divisi_field::kernel::{Task, run};
use divisi_field::{Field, Gf64, Plane, Word, gf64};
pub(super) use points::FOLDS;
pub(crate) use points::GROUP;
use points::{GRID, at_infinity, corner, weights};
use std::collections::BTreeSet;
use std::marker::PhantomData;
use terms::InnerProduct;
use zeroize::Zeroize;

/// Bytes of lanes in a plane.
const BYTES: usize = Plane::BYTES;

const H: Step = step!("planes.h");

/// Verify all products of a batch in one inner product.
pub(super) fn verify(trio: &mut Trio, fixed: &Fixed, made: &[Made]) -> Result<Missed, Abort> {
    // [A12] [A14] [A15] [A17] [A18] [A20]: every record, under every relation
    let mut checks = BTreeSet::from([Check::A12]);
    checks.extend(made.iter().flat_map(Made::checks));
    checks.into_iter().for_each(|check| trio.session.observe(check));
    // 1. coefficients
    let coefficients = trio.first_coin(fixed)?;
    let batch = Batch::new(made, &coefficients, |check| trio.session.mutated(check));
    // 2. h on the grid
    let mut grid = Grid::new(batch.alphas(&coefficients));
    batch.visit(&mut grid);
    // 3. the point, and both sides there
    let mut point = [Gf64::ZERO; FOLDS];
    let mut z = Rep { a: vec![grid.claim[0]], b: vec![grid.claim[1]] };
    if grid.any {
        #[cfg(feature = "fault")]
        if trio.session.mutated(Check::A10) {
            // the mutant takes the corners from the parties: the records' z are bound to nothing
            grid.corners = fault::corners(trio, &batch, &coefficients)?;
        }
        // the mutant of A9 tosses the point's coin before h is fixed
        let early = if trio.session.mutated(Check::A9) { Some(trio.coin_ahead(fixed)?) } else { None };
        let sent = trio.reshare_elements(H, grid.shares().to_vec())?;
        let coin = early.map_or_else(|| trio.coin_ahead(fixed), Ok)?;
        next_elements(&mut coin.expand(), &mut point);
        [Check::A9, Check::A10].into_iter().for_each(|c| trio.session.observe(c)); // [A9] [A10]
        grid.add_at(&point, &sent, &mut z);
    }
    let terms = grid.terms.max(1); // a mutant may have forgotten every relation
    let (x, y) = (trio.scratch.take(terms + 1), trio.scratch.take(terms + 1));
    // coefficients of rank one, and a variable of degree two for each that was folded; weights of rank one in
    // the relation of bytes
    let bilinear = made.iter().any(|made| matches!(made, Made::Byte(_)));
    let folded = if grid.any { 2 * FOLDS } else { 0 };
    let missed = Missed::at::<Gf64>(2 + folded + if bilinear { 2 } else { 0 });
    // the same coefficients again
    let mut xy = InnerProduct::new([x, y], &point, &batch.beta, batch.alphas(&coefficients));
    batch.visit(&mut xy);
    let (mut x, mut y, lines) = xy.finish();
    let missed = missed + verify_dot_product(trio, fixed, &mut x, &mut y, z, Some(lines))?;
    trio.scratch.give(x);
    trio.scratch.give(y);
    Ok(missed)
}

impl Owed for Made {
    fn passes(asked: Passes) -> usize {
        asked.number()
    }

    fn walk(trio: &mut Trio, fixed: &Fixed, all: &[Self]) -> Result<Missed, Abort> {
        verify(trio, fixed, all)
    }
}

/// What is verified, with what its first coin gives before the alphas.
struct Batch<'a> {
    made: &'a [Made],
    relations: Relations,
    beta: [Gf64; 8],
    /// Whether a mutant forgets the last group \[A11\].
    #[cfg(feature = "fault")]
    forgets: bool,
}

impl<'a> Batch<'a> {
    fn new(made: &'a [Made], coin: &Coin, mutated: impl Fn(Check) -> bool + Copy) -> Self {
        let mut expansion = coin.expand();
        let mut beta = [Gf64::ZERO; 8];
        next_words(&mut expansion, &mut beta);
        Batch {
            made,
            relations: Relations::new(made, &beta, &mut expansion, mutated),
            beta,
            #[cfg(feature = "fault")]
            forgets: mutated(Check::A11),
        }
    }

    /// The same coin's expansion, from the first alpha on.
    fn alphas(&self, coin: &Coin) -> Prg {
        let mut expansion = coin.expand();
        next_words(&mut expansion, &mut vec![Gf64::ZERO; self.beta.len() + self.relations.drawn()]);
        expansion
    }

    /// Visit every group under every relation \[A11\].
    fn visit(&self, visit: &mut impl Visit) {
        #[cfg(feature = "fault")]
        if self.forgets {
            return fault::visit_all_but_the_last(self, visit);
        }
        ledger::visit(self.made, &self.relations, visit);
    }
}

/// Vectors as long as a batch, kept from verification to verification: fresh ones would cost a page fault for every 4 KiB.
#[derive(Default)]
pub(crate) struct Scratch(Vec<Rep<Gf64>>);

impl Scratch {
    /// An empty vector with room for so many elements.
    fn take(&mut self, room: usize) -> Rep<Gf64> {
        let mut rep = self.0.pop().unwrap_or_else(|| Rep::zero(0));
        for side in [&mut rep.a, &mut rep.b] {
            side.clear();
            make_room(side, room);
        }
        rep
    }

    /// A vector of zeros.
    pub(super) fn zeros(&mut self, len: usize) -> Rep<Gf64> {
        let mut rep = self.take(len);
        rep.a.resize(len, Gf64::ZERO);
        rep.b.resize(len, Gf64::ZERO);
        rep
    }

    /// A vector for the next time; it is wiped when the strand ends.
    pub(super) fn give(&mut self, rep: Rep<Gf64>) {
        self.0.push(rep);
    }
}

/// The values of h on the grid: at corners our components of the claim, elsewhere our additive shares; and our components of the
/// claims that are on no grid.
struct Grid {
    expansion: Prg,
    corners: [[Gf64; GROUP]; 2],
    others: [Gf64; GRID],
    claim: [Gf64; 2],
    /// Whether anything is on the grid.
    any: bool,
    terms: usize,
    factors: Box<[[[Plane; FACTOR]; 2]; GRID]>,
    products: Box<[[Plane; PRODUCT]; GRID]>,
}

impl Drop for Grid {
    fn drop(&mut self) {
        self.factors.iter_mut().flatten().flatten().for_each(Zeroize::zeroize);
        self.products.iter_mut().flatten().for_each(Zeroize::zeroize);
    }
}

impl Grid {
    fn new(expansion: Prg) -> Grid {
        Grid {
            expansion,
            corners: [[Gf64::ZERO; GROUP]; 2],
            others: [Gf64::ZERO; GRID],
            claim: [Gf64::ZERO; 2],
            any: false,
            terms: 0,
            factors: Box::new([[[Plane::ZERO; FACTOR]; 2]; GRID]),
            products: Box::new([[Plane::ZERO; PRODUCT]; GRID]),
        }
    }

    /// The next group's alpha.
    fn alpha(&mut self) -> [Gf64; BYTES] {
        let mut alpha = [Gf64::ZERO; BYTES];
        next_words(&mut self.expansion, &mut alpha);
        alpha
    }

    /// Our additive shares of the values that are sent, in the order of the points.
    fn shares(&self) -> [Gf64; GRID - GROUP] {
        let mut points = (0..GRID).filter(|p| at_infinity(*p));
        std::array::from_fn(|_| points.next().map_or(Gf64::ZERO, |p| self.others[p]))
    }

    /// Add h at a point, from the claims at the corners and from what was sent.
    fn add_at(&self, point: &[Gf64; FOLDS], sent: &Rep<Gf64>, z: &mut Rep<Gf64>) {
        let mut others = sent.a.iter().zip(&sent.b);
        let mut corners = self.corners[0].iter().zip(&self.corners[1]);
        for (p, weight) in weights(point).into_iter().enumerate() {
            let value = if at_infinity(p) { others.next() } else { corners.next() };
            if let Some((a, b)) = value {
                z.a[0] += weight * *a;
                z.b[0] += weight * *b;
            }
        }
    }
}

impl Visit for Grid {
    fn small<const K: usize, S: Small<K>>(&mut self, relation: &Weighed, group: &[&Tile<K>], lanes: usize) {
        self.any = true;
        self.terms += lanes;
        let alpha = self.alpha();
        for (e, record) in group.iter().enumerate() {
            for (corners, planes) in self.corners.iter_mut().zip(record.iter()) {
                corners[e] += claimed(relation, planes, &alpha);
            }
        }
        let products = self.products.as_mut_slice();
        products.iter_mut().for_each(|planes| planes[..S::Z].fill(Plane::ZERO));
        // MultLocal: x_i y_i, then (x_i + x_{i+1})(y_i + y_{i+1})
        for both in [false, true] {
            run(Products::<K, S> { group, both, factors: &mut self.factors, products, small: PhantomData });
        }
        for p in (0..GRID).filter(|p| at_infinity(*p)) {
            let planes: [&Plane; PRODUCT] = products[p].each_ref();
            self.others[p] += gf64::combine(&planes[..S::Z], &relation.product, &alpha);
        }
    }

    fn large<const K: usize>(&mut self, relation: &Weighed, record: &Tile<K>, lanes: usize) {
        self.terms += lanes;
        let alpha = self.alpha();
        for (claim, planes) in self.claim.iter_mut().zip(record) {
            *claim += claimed(relation, planes, &alpha);
        }
    }
}

/// One component of the claim of a record: the sum over its lanes of c z.
fn claimed<const K: usize>(relation: &Weighed, planes: &[Plane; K], alpha: &[Gf64; BYTES]) -> Gf64 {
    let selected: Vec<&Plane> = relation.relation.z.iter().map(|(i, _)| &planes[*i]).collect();
    gf64::combine(&selected, &relation.z, alpha)
}

/// Adds to the products at all points of the grid with infinity in them: of our first components, or of the sums of both.
struct Products<'a, const K: usize, S> {
    group: &'a [&'a Tile<K>],
    both: bool,
    factors: &'a mut [[[Plane; FACTOR]; 2]; GRID],
    products: &'a mut [[Plane; PRODUCT]],
    small: PhantomData<S>,
}

impl<const K: usize, S: Small<K>> Task for Products<'_, K, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        // the corners
        for e in 0..GROUP {
            let mut factors = [[W::zero(); FACTOR]; 2];
            if let Some(record) = self.group.get(e) {
                factors = S::factors::<W>(&record[0]);
                if self.both {
                    let second = S::factors::<W>(&record[1]);
                    for i in 0..S::X {
                        factors[0][i] ^= second[0][i];
                    }
                    for i in 0..S::Y {
                        factors[1][i] ^= second[1][i];
                    }
                }
            }
            let place = &mut self.factors[corner(e)];
            for i in 0..S::X {
                factors[0][i].store(&mut place[0][i]);
            }
            for i in 0..S::Y {
                factors[1][i].store(&mut place[1][i]);
            }
        }
        // at infinity in a variable: the sum of the values at 0 and 1
        for p in 0..GRID {
            let Some((zero, one)) = grid::line(p, FOLDS) else { continue };
            let mut factors = [[W::zero(); FACTOR]; 2];
            let (zero, one) = (&self.factors[zero], &self.factors[one]);
            for i in 0..S::X {
                factors[0][i] = W::load(&zero[0][i]) ^ W::load(&one[0][i]);
            }
            for i in 0..S::Y {
                factors[1][i] = W::load(&zero[1][i]) ^ W::load(&one[1][i]);
            }
            let z = S::multiply(&factors[0], &factors[1]);
            for (out, z) in self.products[p].iter_mut().zip(&z).take(S::Z) {
                (W::load(out) ^ *z).store(out);
            }
            let place = &mut self.factors[p];
            for i in 0..S::X {
                factors[0][i].store(&mut place[0][i]);
            }
            for i in 0..S::Y {
                factors[1][i].store(&mut place[1][i]);
            }
        }
    }
}
