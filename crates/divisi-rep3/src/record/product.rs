//! The products of a group of records on the grid, in the small field of their relation.

use crate::grid;
use crate::small::{FACTOR, PRODUCT, Small};
use crate::tile::Tile;
use divisi_field::kernel::{Task, run};
use divisi_field::{Plane, Word};
use std::marker::PhantomData;

/// How many variables are folded at once.
pub(crate) const FOLDS: usize = 3;
/// Records in a group.
pub(crate) const GROUP: usize = 1 << FOLDS;
/// The number of points of {0,1,inf}^k. The digits of a point's number in base 3 are its coordinates, 2 for
/// infinity.
pub(crate) const GRID: usize = 3usize.pow(FOLDS as u32);

/// The number of the point that is corner `e`: bit `v` of `e` is its coordinate in variable `v`.
pub(crate) const fn corner(e: usize) -> usize {
    grid::corner(e, FOLDS)
}

/// The factors at each point of the grid: scratch.
pub(crate) type Factors = [[[Plane; FACTOR]; 2]; GRID];
/// The product at each point of the grid.
pub(crate) type Products = [[Plane; PRODUCT]; GRID];

/// A relation's product in the small field of its factors, for records of K planes.
pub(crate) trait Product<const K: usize>: Sync {
    /// How many planes a product has.
    fn planes(&self) -> usize;

    /// Our additive shares of the products at all points of the grid with infinity in them.
    fn on_grid(&self, group: &[&Tile<K>], factors: &mut Factors, products: &mut Products);
}

impl<const K: usize, S: Small<K> + Sync> Product<K> for S {
    fn planes(&self) -> usize {
        S::Z
    }

    fn on_grid(&self, group: &[&Tile<K>], factors: &mut Factors, products: &mut Products) {
        products.iter_mut().for_each(|planes| planes[..S::Z].fill(Plane::ZERO));
        // MultLocal: x_i y_i, then (x_i + x_{i+1})(y_i + y_{i+1})
        for both in [false, true] {
            run(OfGroup::<K, S> { group, both, factors, products, small: PhantomData });
        }
    }
}

/// A group of records with their product, whatever their number of planes.
pub(crate) trait OnGrid {
    /// See [`Product::planes`].
    fn planes(&self) -> usize;

    /// See [`Product::on_grid`].
    fn multiply(&self, factors: &mut Factors, products: &mut Products);
}

/// The group as tiles, with the product of their relation.
pub(crate) struct Tiles<'g, const K: usize> {
    pub(crate) group: &'g [&'g Tile<K>],
    pub(crate) product: &'g dyn Product<K>,
}

impl<const K: usize> OnGrid for Tiles<'_, K> {
    fn planes(&self) -> usize {
        self.product.planes()
    }

    fn multiply(&self, factors: &mut Factors, products: &mut Products) {
        self.product.on_grid(self.group, factors, products);
    }
}

/// Adds products at all points of the grid with infinity in them: those of our first components, or, with
/// `both`, of the sums of our two components.
struct OfGroup<'a, const K: usize, S> {
    group: &'a [&'a Tile<K>],
    both: bool,
    factors: &'a mut Factors,
    products: &'a mut Products,
    small: PhantomData<S>,
}

impl<const K: usize, S: Small<K>> Task for OfGroup<'_, K, S> {
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
