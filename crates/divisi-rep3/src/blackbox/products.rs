//! LocalMul, Reshare, BitMul, and the statements about their products that VerifyMul verifies.

use super::element::Element;
use super::linear::sum;
use super::value::{Additive, Pair, Shared};
use super::{BlackBox, Misfit};
use crate::coin::next_elements;
use crate::share::Rep;
use crate::verify::{Statement, Sum};
use divisi_core::{Abort, Lanes, Prg, Step, step};
use divisi_field::{BigField, Field, Gf2};
use std::sync::Arc;
use zeroize::Zeroizing;

const LOCAL_MUL: Step = step!("local_mul");
pub(crate) const RESHARE: Step = step!("reshare");

impl BlackBox {
    /// LocalMul(`[x]`, `[y]`): `<x y>`, lane by lane. Nothing is sent.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless both have the same number of lanes and belong to this black box.
    pub fn local_mul<F: Element>(&mut self, x: &Shared<F>, y: &Shared<F>) -> Result<Additive<F>, Abort> {
        self.demand_pair(LOCAL_MUL, x, y)?;
        // x_i y_i + (x_i + x_{i+1})(y_i + y_{i+1})
        let both = |rep: &Rep<F>| -> Zeroizing<Vec<F>> {
            Zeroizing::new(rep.a.iter().zip(&rep.b).map(|(a, b)| *a + *b).collect())
        };
        let (mut share, mut cross) = (x.rep.a.clone(), both(&x.rep));
        F::mul_assign(&mut share, &y.rep.a);
        F::mul_assign(&mut cross, &both(&y.rep));
        share.iter_mut().zip(&*cross).for_each(|(z, cross)| *z = *z + *cross);
        Ok(Additive {
            share,
            bits: F::BITS,
            pairs: vec![(Arc::clone(&x.rep), Arc::clone(&y.rep))],
            linear: Rep::zero(x.lanes()),
            origin: self.origin,
        })
    }

    /// Reshare(`<x>`): `[x]`. A fresh share of zero hides our share from its receiver \[A19\], and the
    /// products behind x are owed a verification \[S2\]. One round, k bits an element (for a lookup's result,
    /// as many bits as the table's entries have).
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn reshare<F: Element>(&mut self, mut x: Additive<F>) -> Result<Shared<F>, Abort> {
        self.demand(RESHARE, x.origin == self.origin, Misfit::Origin)?;
        let z = Arc::new(self.trio.reshare_low(RESHARE, std::mem::take(&mut x.share), x.bits)?);
        self.owe_sum(&mut x, &z)?;
        Ok(Shared { rep: z, origin: self.origin, rests_on: self.statements })
    }

    /// Record what has to be verified: that a sum of products equals the value `z` that was replicated for
    /// it.
    pub(super) fn owe_sum<F: Element>(&mut self, x: &mut Additive<F>, z: &Rep<F>) -> Result<(), Abort> {
        let claim = sum(z, &x.linear);
        let products = (x.pairs.len() * claim.len()) as u64;
        let pairs = std::mem::take(&mut x.pairs);
        let terms = products.max(claim.len() as u64).max(1); // a statement without products is kept, too
        self.owe::<F>(Box::new(Lanewise { pairs, z: claim }), products, terms)
    }

    /// BitMul(`[x]`, `[y]`): `[x y]` for bits x and elements y, lane by lane. One round, k bits an element.
    ///
    /// # Errors
    /// The errors of [`BlackBox::local_mul`] and [`BlackBox::reshare`].
    pub fn bit_mul<F: Element>(&mut self, x: &Shared<Gf2>, y: &Shared<F>) -> Result<Shared<F>, Abort> {
        // GF(2) lies in every field: the bit is its 0 or its 1
        let x = Shared { rep: Arc::new(bits_as(&x.rep)), origin: x.origin, rests_on: x.rests_on };
        let product = self.local_mul(&x, y)?;
        self.reshare(product)
    }
}

/// Bits as elements 0 and 1 of a field.
pub(crate) fn bits_as<F: Field>(x: &Rep<Gf2>) -> Rep<F> {
    let side = |x: &[Gf2]| x.iter().map(|x| F::from_low_bits(x.to_bits())).collect();
    Rep { a: side(&x.a), b: side(&x.b) }
}

/// MultLocal on one element.
pub(crate) fn mult_local<F: Field>(x: [F; 2], y: [F; 2]) -> F {
    x[0] * y[0] + (x[0] + x[1]) * (y[0] + y[1])
}

/// The statement that in every lane a sum of products equals the reshared value.
struct Lanewise<F: Element> {
    pairs: Vec<Pair<F>>,
    z: Rep<F>,
}

impl<F: Element> Statement<F::Big> for Lanewise<F> {
    fn add(&self, weights: &mut Prg, sum: &mut Sum<F::Big>) {
        let mut c = vec![F::Big::ZERO; self.z.len()];
        next_elements(weights, &mut c);
        let embed = |x: &[F]| x.iter().map(|x| x.embed()).collect::<Vec<_>>();
        let weigh = |x: &[F]| {
            let mut x = embed(x);
            F::Big::mul_assign(&mut x, &c);
            x
        };
        for (x, y) in &self.pairs {
            sum.x.extend(&Rep { a: weigh(&x.a), b: weigh(&x.b) });
            sum.y.extend(&Rep { a: embed(&y.a), b: embed(&y.b) });
        }
        let total = |z: &[F]| z.iter().zip(&c).fold(F::Big::ZERO, |sum, (z, c)| sum + *c * z.embed());
        sum.claim(total(&self.z.a), total(&self.z.b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::tests::are_whole;
    use divisi_field::{Gf8, Gf64};

    /// The factors of a statement about ones are its coefficients: none is fixed, small, or equal to that of
    /// another lane or statement.
    #[test]
    fn every_lane_has_a_coefficient_of_its_own_from_the_whole_field() {
        let ones = || Arc::new(Rep { a: vec![Gf8(1); 70], b: vec![Gf8(0); 70] });
        let mut all = Vec::new();
        let mut weights = Prg::new(&[3; 16]);
        for _ in 0..3 {
            let mut sum = Sum::<Gf64> { x: Rep::zero(0), y: Rep::zero(0), z: Rep::zero(1) };
            Lanewise { pairs: vec![(ones(), ones())], z: Rep::clone(&ones()) }.add(&mut weights, &mut sum);
            assert_eq!(sum.x.a.len(), 70);
            all.extend(sum.x.a.iter().map(|c| c.0));
        }
        assert!(are_whole(&all));
    }
}
