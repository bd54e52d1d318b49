//! The inner product that the first fold leaves, term by term: `c x(R)` and `y(R)`.
//!
//! A batch has far more terms than fit a cache, so each is written once, and while a group's terms are at
//! hand they enter the line products of the next level too.

use super::points::{BYTES, corner_weights};
use crate::coin::next_words;
use crate::record::product::{FOLDS, GROUP};
use crate::record::{Group, Visit};
use crate::relation::Weighed;
use crate::share::Rep;
use crate::verify::inner_product::line_products;
use divisi_core::Prg;
use divisi_field::{BigField, Field, Gf64, Plane, gf64};
use zeroize::Zeroize;

/// The terms so far.
pub(super) struct InnerProduct<'a> {
    xy: [Rep<Gf64>; 2],
    /// How many terms have entered the line products, which are `lines`.
    entered: usize,
    lines: (Gf64, Gf64),
    corner: [Gf64; GROUP],
    beta: &'a [Gf64; 8],
    expansion: Prg,
    c: [Gf64; Plane::LANES],
    /// A group's terms: both components of x, then of y.
    group: Box<[[[Gf64; Plane::LANES]; 2]; 2]>,
    /// For each relation the weights of its factors at the point, corner by corner.
    weights: Vec<Option<[Vec<Gf64>; 2]>>,
}

impl Drop for InnerProduct<'_> {
    fn drop(&mut self) {
        self.group.iter_mut().flatten().flatten().for_each(|x| x.0.zeroize());
    }
}

impl<'a> InnerProduct<'a> {
    /// No terms yet; `xy` is empty, with room for all of them and one more.
    pub(super) fn new(
        xy: [Rep<Gf64>; 2],
        point: &[Gf64; FOLDS],
        beta: &'a [Gf64; 8],
        expansion: Prg,
    ) -> Self {
        InnerProduct {
            xy,
            entered: 0,
            lines: (Gf64::ZERO, Gf64::ZERO),
            corner: corner_weights(point),
            beta,
            expansion,
            c: [Gf64::ZERO; Plane::LANES],
            group: Box::new([[[Gf64::ZERO; Plane::LANES]; 2]; 2]),
            weights: Vec::new(),
        }
    }

    /// Returns both lists of factors, of one element each or of an even number, and their line products.
    pub(super) fn finish(mut self) -> (Rep<Gf64>, Rep<Gf64>, (Gf64, Gf64)) {
        let n = self.xy[0].a.len();
        if n == 0 || (n > 1 && n % 2 == 1) {
            self.xy.iter_mut().for_each(|v| v.extend(&Rep::zero(1))); // a zero triple [A11]
        }
        self.enter();
        let [x, y] = std::mem::replace(&mut self.xy, [Rep::zero(0), Rep::zero(0)]);
        (x, y, self.lines)
    }

    /// Enter the pairs that are new into the line products.
    fn enter(&mut self) {
        let [x, y] = &self.xy;
        let ready = x.a.len() / 2 * 2;
        let new = self.entered..ready;
        let [x, y] = [x, y].map(|v| [&v.a[new.clone()], &v.b[new.clone()]]);
        let (one, leading) = line_products(x, y);
        self.lines = (self.lines.0 + one, self.lines.1 + leading);
        self.entered = ready;
    }

    /// Append the terms of some records, each weighed by its corner.
    fn append(&mut self, relation: &Weighed, records: &[[&[Plane]; 2]], corner: &[Gf64], lanes: usize) {
        // c = alpha beta
        let mut alpha = [Gf64::ZERO; BYTES];
        next_words(&mut self.expansion, &mut alpha);
        let c = &mut self.c[..lanes];
        for (c, alpha) in c.chunks_mut(8).zip(alpha) {
            c.fill(alpha);
        }
        for c in c.chunks_mut(8) {
            Gf64::mul_assign(c, &self.beta[..c.len()]);
        }
        let factors = [&relation.relation.x, &relation.relation.y];
        if self.weights.len() <= relation.number {
            self.weights.resize_with(relation.number + 1, || None);
        }
        let weights = self.weights[relation.number].get_or_insert_with(|| {
            factors.map(|w| corner.iter().flat_map(|at| w.iter().map(move |(_, w)| *at * *w)).collect())
        });
        let all = self.xy.iter_mut().zip(self.group.iter_mut()).zip(factors.iter().zip(weights)).enumerate();
        for (factor, ((v, group), (planes, weights))) in all {
            for (side, (v, terms)) in [&mut v.a, &mut v.b].into_iter().zip(group).enumerate() {
                let planes: Vec<&Plane> =
                    records.iter().flat_map(|record| planes.iter().map(|(i, _)| &record[side][*i])).collect();
                let terms = &mut terms[..lanes];
                terms.fill(Gf64::ZERO);
                gf64::weigh(terms, &planes, &weights[..planes.len()]);
                if factor == 0 {
                    Gf64::mul_assign(terms, c);
                }
                v.extend_from_slice(terms);
            }
        }
        self.enter();
    }
}

impl Visit for InnerProduct<'_> {
    fn visit(&mut self, relation: &Weighed, group: &Group<'_>) {
        match group.small {
            Some(_) => {
                let corner = self.corner;
                self.append(relation, group.records, &corner, group.lanes);
            }
            None => self.append(relation, group.records, &[Gf64::ONE], group.lanes),
        }
    }
}
