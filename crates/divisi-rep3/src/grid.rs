//! Points of {0,1,inf}^k: a polynomial of degree 2 in each of k variables is determined by its values there.
//!
//! A point is a number in base 3 with one digit for each variable, 2 for infinity; a corner is a point
//! without infinity, numbered by the bits of its coordinates.

use divisi_field::{Field, Gf64};

/// A point's coordinate in a variable: 0, 1, or 2 for infinity.
pub(crate) const fn coordinate(p: usize, variable: usize) -> usize {
    p / 3usize.pow(variable as u32) % 3
}

/// Whether a point of k variables is not a corner.
pub(crate) const fn at_infinity(p: usize, k: usize) -> bool {
    let mut v = 0;
    while v < k {
        if coordinate(p, v) == 2 {
            return true;
        }
        v += 1;
    }
    false
}

/// The number of the point that is corner `e`, in k variables.
pub(crate) const fn corner(e: usize, k: usize) -> usize {
    let (mut p, mut v) = (0, 0);
    while v < k {
        p += (e >> v & 1) * 3usize.pow(v as u32);
        v += 1;
    }
    p
}

/// For a point with infinity among its coordinates: the two points that have 0 and 1 in the last such
/// variable and agree with it elsewhere. `None` for a corner.
pub(crate) const fn line(p: usize, k: usize) -> Option<(usize, usize)> {
    let mut v = k;
    while v > 0 {
        v -= 1;
        if coordinate(p, v) == 2 {
            let step = 3usize.pow(v as u32);
            return Some((p - 2 * step, p - step));
        }
    }
    None
}

/// The weight of each corner in a multilinear polynomial at this point.
pub(crate) fn corner_weights(at: &[Gf64]) -> impl Iterator<Item = Gf64> {
    (0..1usize << at.len()).map(|e| {
        let weights = at.iter().enumerate().map(|(v, r)| if e >> v & 1 == 1 { *r } else { Gf64::ONE + *r });
        weights.fold(Gf64::ONE, |w, x| w * x)
    })
}

/// The weight of each point's value in a polynomial of degree 2 in each variable: the tensor product of
/// `h(r) = h(0) (1 + r) + h(1) r + h(inf) (r + r^2)`.
pub(crate) fn point_weights(at: &[Gf64]) -> impl Iterator<Item = Gf64> {
    (0..3usize.pow(at.len() as u32)).map(|p| {
        let weights =
            at.iter().enumerate().map(|(v, r)| [Gf64::ONE + *r, *r, *r + r.square()][coordinate(p, v)]);
        weights.fold(Gf64::ONE, |w, x| w * x)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corners_are_the_points_without_infinity_in_order() {
        for k in 1..=6 {
            let corners: Vec<usize> = (0..3usize.pow(k as u32)).filter(|p| !at_infinity(*p, k)).collect();
            assert_eq!(corners, (0..1 << k).map(|e| corner(e, k)).collect::<Vec<_>>());
            assert!(corners.iter().all(|p| line(*p, k).is_none()));
        }
    }

    #[test]
    fn a_product_of_multilinear_polynomials_is_its_grid() {
        let value = |i: usize| Gf64((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for k in 1..=4usize {
            let (corners, points) = (1 << k, 3usize.pow(k as u32));
            let at: Vec<Gf64> = (0..k).map(|v| Gf64(0x1234_5678_9abc_def1 << v)).collect();
            let grid = |seed: usize| {
                let mut grid = vec![Gf64::ZERO; points];
                (0..corners).for_each(|e| grid[corner(e, k)] = value(e + seed));
                for p in 0..points {
                    if let Some((zero, one)) = line(p, k) {
                        grid[p] = grid[zero] + grid[one];
                    }
                }
                grid
            };
            let (x, y) = (grid(1), grid(100));
            let multilinear = |grid: &[Gf64]| {
                let weighed = corner_weights(&at).enumerate().map(|(e, w)| w * grid[corner(e, k)]);
                weighed.fold(Gf64::ZERO, |sum, term| sum + term)
            };
            let products = point_weights(&at).zip(x.iter().zip(&y)).map(|(w, (x, y))| w * *x * *y);
            let at_point = products.fold(Gf64::ZERO, |sum, term| sum + term);
            assert_eq!(at_point, multilinear(&x) * multilinear(&y));
        }
    }
}
