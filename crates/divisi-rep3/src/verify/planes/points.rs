//! The points of {0,1,inf}^k on which the fold has its polynomials: their numbers, and the weights of a
//! polynomial's values there in its value at any point.

use crate::grid;
use crate::record::product::{FOLDS, GRID, GROUP};
use divisi_field::{Field, Gf64, Plane};

/// The number of bytes in a plane, of eight lanes each.
pub(super) const BYTES: usize = Plane::BYTES;

/// The weights with which the values of h on the grid add up to its value at this point.
pub(super) fn weights(point: &[Gf64; FOLDS]) -> [Gf64; GRID] {
    let mut all = grid::point_weights(point);
    std::array::from_fn(|_| all.next().unwrap_or(Gf64::ZERO))
}

/// The weight of each corner in a multilinear polynomial at this point.
pub(super) fn corner_weights(point: &[Gf64; FOLDS]) -> [Gf64; GROUP] {
    let mut all = grid::corner_weights(point);
    std::array::from_fn(|_| all.next().unwrap_or(Gf64::ZERO))
}

/// Whether a point is not a corner.
pub(super) const fn at_infinity(p: usize) -> bool {
    grid::at_infinity(p, FOLDS)
}

#[cfg(test)]
mod tests {
    use super::super::values::Grid;
    use super::*;
    use crate::grid::coordinate;
    use crate::record::product::corner;
    use crate::share::Rep;
    use divisi_core::Prg;

    #[test]
    fn the_corners_are_the_points_without_infinity_in_order() {
        let corners: Vec<usize> = (0..GRID).filter(|p| !at_infinity(*p)).collect();
        assert_eq!(corners, (0..GROUP).map(corner).collect::<Vec<_>>());
    }

    #[test]
    fn a_product_of_multilinear_polynomials_is_its_grid() {
        let value = |i: usize| Gf64((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (x, y): (Vec<_>, Vec<_>) = (0..GROUP).map(|e| (value(e + 1), value(e + 100))).unzip();
        let point: [Gf64; FOLDS] = std::array::from_fn(|v| Gf64(0x1234_5678_9abc_def1 << v));
        let at = |v: &[Gf64]| corner_weights(&point).iter().zip(v).map(|(w, x)| *w * *x).sum::<Gf64>();
        let belongs = |e: usize, p: usize| (0..FOLDS).all(|v| [2, e >> v & 1].contains(&coordinate(p, v)));
        let sum = |v: &[Gf64], p: usize| (0..GROUP).filter(|e| belongs(*e, p)).map(|e| v[e]).sum::<Gf64>();
        let mut grid = Grid::new(Prg::new(&[0; 16]));
        let mut sent = Rep::zero(0);
        for p in (0..GRID).filter(|p| at_infinity(*p)) {
            sent.a.push(sum(&x, p) * sum(&y, p));
            sent.b.push(Gf64::ZERO);
        }
        for e in 0..GROUP {
            grid.corners[0][e] = x[e] * y[e];
        }
        let mut z = Rep::zero(1);
        grid.add_at(&point, &sent, &mut z);
        assert_eq!(z.a[0], at(&x) * at(&y));
    }
}
