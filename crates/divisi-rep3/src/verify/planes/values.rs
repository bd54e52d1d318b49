//! The polynomial h of the first fold on its grid.

use super::points::{BYTES, at_infinity, weights};
use crate::coin::next_words;
use crate::record::product::{FOLDS, GRID, GROUP};
use crate::record::product::{Factors, Products};
use crate::record::{Group, Visit};
use crate::relation::Weighed;
use crate::share::Rep;
use crate::small::{FACTOR, PRODUCT};
use divisi_core::Prg;
use divisi_field::{Field, Gf64, Plane, gf64};
use zeroize::Zeroize;

/// The values of h on the grid: at corners our components of the claim, elsewhere our additive shares; and
/// our components of the claims that are on no grid.
pub(super) struct Grid {
    expansion: Prg,
    pub(super) corners: [[Gf64; GROUP]; 2],
    others: [Gf64; GRID],
    pub(super) claim: [Gf64; 2],
    /// Whether anything is on the grid.
    pub(super) any: bool,
    pub(super) terms: usize,
    factors: Box<Factors>,
    products: Box<Products>,
}

impl Drop for Grid {
    fn drop(&mut self) {
        self.factors.iter_mut().flatten().flatten().for_each(Zeroize::zeroize);
        self.products.iter_mut().flatten().for_each(Zeroize::zeroize);
    }
}

impl Grid {
    pub(super) fn new(expansion: Prg) -> Grid {
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
    pub(super) fn shares(&self) -> [Gf64; GRID - GROUP] {
        let mut points = (0..GRID).filter(|p| at_infinity(*p));
        std::array::from_fn(|_| points.next().map_or(Gf64::ZERO, |p| self.others[p]))
    }

    /// Add h at a point, from the claims at the corners and from what was sent.
    pub(super) fn add_at(&self, point: &[Gf64; FOLDS], sent: &Rep<Gf64>, z: &mut Rep<Gf64>) {
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
    fn visit(&mut self, relation: &Weighed, group: &Group<'_>) {
        self.terms += group.lanes;
        let alpha = self.alpha();
        let Some(small) = group.small else {
            for (claim, planes) in self.claim.iter_mut().zip(group.records.iter().flatten()) {
                *claim += claimed(relation, planes, &alpha);
            }
            return;
        };
        self.any = true;
        for (e, record) in group.records.iter().enumerate() {
            for (corners, planes) in self.corners.iter_mut().zip(record) {
                corners[e] += claimed(relation, planes, &alpha);
            }
        }
        small.multiply(&mut self.factors, &mut self.products);
        for p in (0..GRID).filter(|p| at_infinity(*p)) {
            let planes: [&Plane; PRODUCT] = self.products[p].each_ref();
            self.others[p] += gf64::combine(&planes[..small.planes()], &relation.product, &alpha);
        }
    }
}

/// One component of the claim of a record: the sum over its lanes of c z.
fn claimed(relation: &Weighed, planes: &[Plane], alpha: &[Gf64; BYTES]) -> Gf64 {
    let selected: Vec<&Plane> = relation.relation.z.iter().map(|(i, _)| &planes[*i]).collect();
    gf64::combine(&selected, &relation.z, alpha)
}
