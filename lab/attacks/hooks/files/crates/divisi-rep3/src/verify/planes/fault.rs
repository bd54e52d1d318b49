//! Mutants of the verification in planes, and what an attacker computes of it from coins.

use super::batch::Batch;
use super::points::{BYTES, at_infinity, weights};
use super::values::Grid;
use crate::coin::{Coin, next_elements, next_words};
use crate::record::product::{FOLDS, GRID, GROUP, corner};
use crate::record::{Group, Record, Visit};
use crate::relation::Weighed;
use crate::trio::Trio;
use divisi_core::{Abort, Prg, Step};
use divisi_field::{Field, Gf64, gf64};

/// What the mutant of A10 uses for the corners: products that the parties made, in place of the records' own
/// z.
pub(super) fn corners(
    trio: &mut Trio,
    step: Step,
    batch: &Batch<'_>,
    coin: &Coin,
) -> Result<[[Gf64; GROUP]; 2], Abort> {
    let mut made = Recomputed { alphas: batch.alphas(coin), corners: [Gf64::ZERO; GROUP] };
    batch.visit(&mut made);
    let h = trio.reshare_elements(step, made.corners.to_vec())?;
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
    fn visit(&mut self, relation: &Weighed, group: &Group<'_>) {
        let alpha = self.alpha();
        let Some(small) = group.small else { return };
        for (corner, parts) in self.corners.iter_mut().zip(small.each()) {
            for z in parts {
                *corner += gf64::combine(&z.each_ref()[..small.planes()], &relation.product, &alpha);
            }
        }
    }
}

/// The sums that these records contribute to the claims at the corners, with the coefficients of the first
/// coin. For records that contain only errors, and none in a factor, this is the error of each corner.
pub(crate) fn claims(made: &[Record], coin: &Coin) -> [Gf64; GROUP] {
    let batch = Batch::new(made, coin, |_| false);
    let mut grid = Grid::new(batch.alphas(coin));
    batch.visit(&mut grid);
    grid.corners[0]
}

/// What must be added to the first value of h that is sent, so that these errors of the corners are missed at
/// the point of a coin.
pub(crate) fn hidden_by(claims: &[Gf64; GROUP], coin: &Coin) -> Gf64 {
    let mut point = [Gf64::ZERO; FOLDS];
    next_elements(&mut coin.expand(), &mut point);
    let error: Gf64 = claims.iter().enumerate().map(|(e, error)| *error * weights(&point)[corner(e)]).sum();
    let sent = (0..GRID).find(|p| at_infinity(*p)).unwrap_or(0);
    error * weights(&point)[sent].inverse()
}
