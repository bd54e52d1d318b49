//! Mutants of the verification in planes, and what an attacker computes of it from coins (feature `fault`).

use super::points::{FOLDS, GRID, GROUP, at_infinity, corner, weights};
use super::{BYTES, Batch, Grid, H};
use crate::Trio;
use crate::ledger::{self, Made, Visit, Weighed};
use crate::random::{Coin, next_elements, next_words};
use crate::share::Tile;
use crate::verify::small::{PRODUCT, Small};
use divisi_core::{Abort, Prg};
use divisi_field::{Field, Gf64, Plane, gf64};

/// What the mutant of A11 verifies.
pub(super) fn visit_all_but_the_last(batch: &Batch<'_>, visit: &mut impl Visit) {
    let all = |visit: &mut AllBut<'_, _>| {
        ledger::visit(batch.made, &batch.relations, visit);
    };
    let mut counted = AllBut { left: 0, seen: 0, visit };
    all(&mut counted);
    counted.left = counted.seen.saturating_sub(1);
    all(&mut counted);
}

/// Visits as many groups as are left, and counts all.
struct AllBut<'a, V> {
    left: usize,
    seen: usize,
    visit: &'a mut V,
}

impl<V> AllBut<'_, V> {
    fn next(&mut self) -> Option<&mut V> {
        self.seen += 1;
        self.left = self.left.checked_sub(1)?;
        Some(&mut *self.visit)
    }
}

impl<V: Visit> Visit for AllBut<'_, V> {
    fn small<const K: usize, S: Small<K>>(&mut self, relation: &Weighed, group: &[&Tile<K>], lanes: usize) {
        if let Some(visit) = self.next() {
            visit.small::<K, S>(relation, group, lanes);
        }
    }

    fn large<const K: usize>(&mut self, relation: &Weighed, record: &Tile<K>, lanes: usize) {
        if let Some(visit) = self.next() {
            visit.large(relation, record, lanes);
        }
    }
}

/// What the mutant of A10 uses for the corners: products that the parties made, in place of the records' own z.
pub(super) fn corners(trio: &mut Trio, batch: &Batch<'_>, coin: &Coin) -> Result<[[Gf64; GROUP]; 2], Abort> {
    let mut made = Recomputed { alphas: batch.alphas(coin), corners: [Gf64::ZERO; GROUP] };
    batch.visit(&mut made);
    let h = trio.reshare_elements(H, made.corners.to_vec())?;
    Ok([&h.a, &h.b].map(|side| std::array::from_fn(|e| side.get(e).copied().unwrap_or_default())))
}

/// Our additive shares of h at the corners.
struct Recomputed {
    alphas: Prg,
    corners: [Gf64; GROUP],
}

impl Recomputed {
    fn alpha(&mut self) -> [Gf64; BYTES] {
        let mut alpha = [Gf64::ZERO; BYTES];
        next_words(&mut self.alphas, &mut alpha);
        alpha
    }
}

impl Visit for Recomputed {
    fn small<const K: usize, S: Small<K>>(&mut self, relation: &Weighed, group: &[&Tile<K>], _: usize) {
        let alpha = self.alpha();
        for (corner, [first, second]) in self.corners.iter_mut().zip(group.iter().copied()) {
            // MultLocal
            let sum: [Plane; K] = std::array::from_fn(|i| first[i] ^ second[i]);
            for component in [first, &sum] {
                let [x, y] = S::factors::<Plane>(component);
                let z: [Plane; PRODUCT] = S::multiply(&x, &y);
                *corner += gf64::combine(&z.each_ref()[..S::Z], &relation.product, &alpha);
            }
        }
    }

    fn large<const K: usize>(&mut self, _: &Weighed, _: &Tile<K>, _: usize) {
        self.alpha();
    }
}

/// What these records add to the claims at the corners, by the first coin: of records that are errors and nothing else, the
/// error of each corner, if no error is in a factor.
pub(crate) fn claims(made: &[Made], coin: &Coin) -> [Gf64; GROUP] {
    let batch = Batch::new(made, coin, |_| false);
    let mut grid = Grid::new(batch.alphas(coin));
    batch.visit(&mut grid);
    grid.corners[0]
}

/// What must be added to the first value of h that is sent, so that these errors of the corners are missed at the point of a coin.
pub(crate) fn hidden_by(claims: &[Gf64; GROUP], coin: &Coin) -> Gf64 {
    let mut point = [Gf64::ZERO; FOLDS];
    next_elements(&mut coin.expand(), &mut point);
    let error: Gf64 = claims.iter().enumerate().map(|(e, error)| *error * weights(&point)[corner(e)]).sum();
    let sent = (0..GRID).find(|p| at_infinity(*p)).unwrap_or(0);
    error * weights(&point)[sent].inverse()
}
