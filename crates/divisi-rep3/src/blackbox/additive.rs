//! Local operations on additive shares: the GF(2)-linear ones, as on replicated shares.
//!
//! An additive value remembers the products of which it is the sum, for the verification of its Reshare. Sums
//! and multiples of products are inner products again. Any other GF(2)-linear f is a sum of Frobenius powers,
//! `f(v) = sum_j a_j v^(2^j)`, so that `f(x y) = sum_j (a_j x^(2^j)) y^(2^j)`: a product becomes at most k
//! products, whose factors are local.

use super::element::Element;
use super::linear::{Linear, sum, times};
use super::value::{Additive, Shared};
use super::{BlackBox, Misfit, PIECE};
use crate::share::Rep;
use divisi_core::{Abort, Lanes, Misuse, Step, step};
use std::sync::Arc;
use zeroize::Zeroize;

const LINOP: Step = step!("linop");

impl BlackBox {
    /// Linop on one additive value: `<f(x)>` for any GF(2)-linear f of one input. Local. The number of
    /// products behind x grows by a factor of up to k: apply further functions after a reshare, or compose
    /// them into one.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless f has one input, or if f(x) has more than [`PIECE`] products in all lanes:
    /// reshare x first.
    pub fn linop_additive<F: Element>(
        &mut self,
        f: &Linear<F, F>,
        mut x: Additive<F>,
    ) -> Result<Additive<F>, Abort> {
        self.demand(LINOP, x.origin == self.origin, Misfit::Origin)?;
        self.demand(LINOP, f.images.len() == 1, Misfit::Lanes)?;
        let apply = |x: &[F]| {
            let image = |x: &F| {
                let mut image = F::ZERO;
                f.add(0, *x, &mut image);
                image
            };
            x.iter().map(image).collect::<Vec<F>>()
        };
        let image = apply(&x.share);
        std::mem::replace(&mut x.share, image).zeroize();
        x.linear = Rep { a: apply(&x.linear.a), b: apply(&x.linear.b) };
        let coefficients = frobenius_coefficients(&f.images[0]);
        let used = coefficients.iter().filter(|a| **a != F::ZERO).count();
        self.demand_terms(x.pairs.len().saturating_mul(used), x.lanes())?;
        let mut pairs = Vec::new();
        for (left, right) in &x.pairs {
            let (mut left, mut right) = (Arc::clone(left), Arc::clone(right));
            for a in &coefficients {
                if *a != F::ZERO {
                    pairs.push((Arc::new(left.map(|x| *a * x)), Arc::clone(&right)));
                }
                (left, right) = (Arc::new(left.map(F::square)), Arc::new(right.map(F::square)));
            }
        }
        x.pairs = pairs;
        x.bits = F::BITS;
        Ok(x)
    }

    /// `<x + y>`. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless both have the same number of lanes and belong to this black box, or for sums
    /// of more than [`PIECE`] products.
    pub fn add_additive<F: Element>(
        &mut self,
        mut x: Additive<F>,
        mut y: Additive<F>,
    ) -> Result<Additive<F>, Abort> {
        self.demand(LINOP, x.origin == self.origin && y.origin == self.origin, Misfit::Origin)?;
        self.demand(LINOP, x.lanes() == y.lanes(), Misfit::Lanes)?;
        self.demand_terms(x.pairs.len().saturating_add(y.pairs.len()), x.lanes())?;
        x.share.iter_mut().zip(&y.share).for_each(|(x, y)| *x = *x + *y);
        x.pairs.append(&mut y.pairs);
        x.bits = x.bits.max(y.bits);
        x.linear = sum(&x.linear, &y.linear);
        Ok(x)
    }

    /// `<x + y>` of an additive x and a replicated y. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless both have the same number of lanes and belong to this black box.
    pub fn add_shared<F: Element>(
        &mut self,
        mut x: Additive<F>,
        y: &Shared<F>,
    ) -> Result<Additive<F>, Abort> {
        self.demand(LINOP, x.origin == self.origin && y.origin == self.origin, Misfit::Origin)?;
        self.demand(LINOP, x.lanes() == y.lanes(), Misfit::Lanes)?;
        x.share.iter_mut().zip(&y.rep.a).for_each(|(x, y)| *x = *x + *y);
        x.linear = sum(&x.linear, &y.rep);
        x.bits = F::BITS;
        Ok(x)
    }

    /// Demand that an additive value is the sum of at most [`PIECE`] products in all lanes, or of one product
    /// in each lane.
    fn demand_terms(&mut self, pairs: usize, lanes: usize) -> Result<(), Abort> {
        if pairs.saturating_mul(lanes.max(1)) as u64 <= PIECE.max(lanes as u64) {
            return Ok(());
        }
        Err(self.trio.session.misuse(LINOP, Misuse::ReshareFirst))
    }

    /// `<c x>` for a public c. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless c has as many elements as x has lanes, and x belongs to this black box.
    pub fn mul_public_additive<F: Element>(
        &mut self,
        mut x: Additive<F>,
        c: &[F],
    ) -> Result<Additive<F>, Abort> {
        self.demand(LINOP, x.origin == self.origin, Misfit::Origin)?;
        self.demand(LINOP, x.lanes() == c.len(), Misfit::Lanes)?;
        x.share.iter_mut().zip(c).for_each(|(x, c)| *x = *x * *c);
        x.pairs.iter_mut().for_each(|(left, _)| *left = Arc::new(times(left, c)));
        x.linear = times(&x.linear, c);
        x.bits = F::BITS;
        Ok(x)
    }
}

/// The `a_j` of a linear function, by its images of the powers of X: v is the sum of `trace(d_i v) X^i`,
/// hence `a_j` is the sum of `d_i^(2^j) f(X^i)`.
fn frobenius_coefficients<F: Element>(images: &[F]) -> Vec<F> {
    let mut dual = F::dual_basis().to_vec();
    let mut coefficients = Vec::with_capacity(F::BITS);
    for _ in 0..F::BITS {
        coefficients.push(dual.iter().zip(images).fold(F::ZERO, |sum, (d, image)| sum + *d * *image));
        dual.iter_mut().for_each(|d| *d = d.square());
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::{Gf2, Gf4, Gf8, Gf64, Gf128};

    fn is_the_function<F: Element>() {
        let image = |i: usize| F::from_low_bits((i as u128 * 77 + 5).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let images: Vec<F> = (0..F::BITS).map(image).collect();
        let coefficients = frobenius_coefficients(&images);
        for seed in 0..64_u128 {
            let v = F::from_low_bits(seed.wrapping_mul(0x2545_f491_4f6c_dd1d_9e37_79b9_7f4a_7c15));
            let direct = (0..F::BITS).filter(|i| v.to_bits() >> i & 1 == 1).map(|i| images[i]);
            let mut power = v;
            let by_powers = coefficients.iter().fold(F::ZERO, |sum, a| {
                let term = *a * power;
                power = power.square();
                sum + term
            });
            assert!(direct.fold(F::ZERO, |sum, image| sum + image) == by_powers);
        }
    }

    #[test]
    fn every_linear_function_is_a_sum_of_frobenius_powers() {
        is_the_function::<Gf2>();
        is_the_function::<Gf4>();
        is_the_function::<Gf8>();
        is_the_function::<Gf64>();
        is_the_function::<Gf128>();
    }
}
