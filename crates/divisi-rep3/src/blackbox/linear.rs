//! Linop (GF(2)-linear functions) and other local operations.

use super::element::Element;
use super::value::{Shared, Unverified};
use super::{BlackBox, Misfit};
use crate::share::{Rep, constant_component};
use divisi_core::{Abort, Lanes, Step, step};
use divisi_field::Field;
use std::sync::Arc;

const LINOP: Step = step!("linop");

/// A GF(2)-linear function from a number of elements of F to one element of G, given by the images of the
/// powers of X. Any images give a linear function.
#[derive(Clone)]
pub struct Linear<F: Element, G: Element> {
    /// Input by input, the images of 1, X, X^2, ..
    pub(super) images: Vec<Vec<G>>,
    from: std::marker::PhantomData<F>,
}

impl<F: Element, G: Element> Linear<F, G> {
    /// The function that takes X^i of input `j` to `image(j, i)`.
    #[must_use]
    pub fn new(inputs: usize, image: impl Fn(usize, usize) -> G) -> Self {
        let images = (0..inputs).map(|j| (0..F::BITS).map(|i| image(j, i)).collect()).collect();
        Linear { images, from: std::marker::PhantomData }
    }

    /// Bit `i` of one input, as 0 or 1.
    #[must_use]
    pub fn bit(i: usize) -> Self {
        Linear::new(1, |_, at| if at == i { G::ONE } else { G::ZERO })
    }

    /// Add the contribution of input `j` with value `x` to `sum`, by the same operations whatever x is.
    pub(super) fn add(&self, j: usize, x: F, sum: &mut G) {
        let x = x.to_bits();
        for (i, image) in self.images[j].iter().enumerate() {
            let mask = (x >> i & 1).wrapping_neg();
            *sum = *sum + G::from_low_bits(image.to_bits() & mask);
        }
    }
}

impl BlackBox {
    /// Linop(f, `[x1]`, ..): `[f(x1, ..)]` for any GF(2)-linear function f, lane by lane. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless f has as many inputs as are given, all with the same number of lanes.
    pub fn linop<F: Element, G: Element>(
        &mut self,
        f: &Linear<F, G>,
        inputs: &[&Shared<F>],
    ) -> Result<Shared<G>, Abort> {
        let lanes = inputs.first().map_or(0, |x| x.lanes());
        let fit = inputs.len() == f.images.len() && inputs.iter().all(|x| x.lanes() == lanes);
        self.demand(LINOP, fit && !inputs.is_empty(), Misfit::Lanes)?;
        inputs.iter().try_for_each(|x| self.demand(LINOP, x.origin == self.origin, Misfit::Origin))?;
        let mut out = Rep::zero(lanes);
        for (j, x) in inputs.iter().enumerate() {
            for (sums, x) in [(&mut out.a, &x.rep.a), (&mut out.b, &x.rep.b)] {
                sums.iter_mut().zip(x).for_each(|(sum, x)| f.add(j, *x, sum));
            }
        }
        Ok(self.shared(out, inputs.iter().map(|x| x.rests_on).max().unwrap_or(0)))
    }

    /// `[x + y]`, lane by lane. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless both have the same number of lanes and belong to this black box.
    pub fn add<F: Element>(&mut self, x: &Shared<F>, y: &Shared<F>) -> Result<Shared<F>, Abort> {
        self.demand_pair(LINOP, x, y)?;
        Ok(self.shared(sum(&x.rep, &y.rep), x.rests_on.max(y.rests_on)))
    }

    /// `[x + c]` for a public c. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless c has as many elements as x has lanes, and x belongs to this black box.
    pub fn add_public<F: Element>(&mut self, x: &Shared<F>, c: &[F]) -> Result<Shared<F>, Abort> {
        self.demand(LINOP, x.origin == self.origin, Misfit::Origin)?;
        self.demand(LINOP, c.len() == x.lanes(), Misfit::Lanes)?;
        let mut rep = Rep::clone(&x.rep);
        if let Some(side) = constant_component(self.trio.me()) {
            let side = if side == 0 { &mut rep.a } else { &mut rep.b };
            side.iter_mut().zip(c).for_each(|(x, c)| *x = *x + *c);
        }
        Ok(self.shared(rep, x.rests_on))
    }

    /// `[c x]` for a public c. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless c has as many elements as x has lanes, and x belongs to this black box.
    pub fn mul_public<F: Element>(&mut self, x: &Shared<F>, c: &[F]) -> Result<Shared<F>, Abort> {
        self.demand(LINOP, x.origin == self.origin, Misfit::Origin)?;
        self.demand(LINOP, c.len() == x.lanes(), Misfit::Lanes)?;
        Ok(self.shared(times(&x.rep, c), x.rests_on))
    }

    /// The public vector c as a sharing. Local.
    ///
    /// # Errors
    /// None at present; the type is that of the other operations.
    pub fn public<F: Element>(&mut self, c: &[F]) -> Result<Shared<F>, Abort> {
        let zero = self.shared(Rep::zero(c.len()), 0);
        self.add_public(&zero, c)
    }

    /// `[x + c]` for an opened c: as unverified as c. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless both have the same number of lanes and belong to this black box.
    pub fn add_opened<F: Element>(&mut self, x: &Shared<F>, c: &Unverified<F>) -> Result<Shared<F>, Abort> {
        self.demand(LINOP, c.origin == self.origin, Misfit::Origin)?;
        let mut sum = self.add_public(x, &c.value)?;
        sum.rests_on = sum.rests_on.max(c.rests_on);
        Ok(sum)
    }

    /// `[c x]` for an opened c: as unverified as c. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless both have the same number of lanes and belong to this black box.
    pub fn mul_opened<F: Element>(&mut self, x: &Shared<F>, c: &Unverified<F>) -> Result<Shared<F>, Abort> {
        self.demand(LINOP, c.origin == self.origin, Misfit::Origin)?;
        let mut product = self.mul_public(x, &c.value)?;
        product.rests_on = product.rests_on.max(c.rests_on);
        Ok(product)
    }

    /// The lanes of several vectors, one vector after the other. Local.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for vectors of another black box.
    pub fn join<F: Element>(&mut self, parts: &[&Shared<F>]) -> Result<Shared<F>, Abort> {
        parts.iter().try_for_each(|x| self.demand(LINOP, x.origin == self.origin, Misfit::Origin))?;
        let mut all = Rep::zero(0);
        parts.iter().for_each(|part| all.extend(&part.rep));
        Ok(self.shared(all, parts.iter().map(|x| x.rests_on).max().unwrap_or(0)))
    }

    /// A value of this box.
    pub(crate) fn shared<F: Element>(&self, rep: Rep<F>, rests_on: u64) -> Shared<F> {
        Shared { rep: Arc::new(rep), origin: self.origin, rests_on }
    }
}

/// The sum, component by component.
pub(super) fn sum<F: Field>(x: &Rep<F>, y: &Rep<F>) -> Rep<F> {
    let add = |x: &[F], y: &[F]| x.iter().zip(y).map(|(x, y)| *x + *y).collect();
    Rep { a: add(&x.a, &y.a), b: add(&x.b, &y.b) }
}

/// The multiples, component by component.
pub(super) fn times<F: Field>(x: &Rep<F>, c: &[F]) -> Rep<F> {
    let multiply = |x: &[F]| x.iter().zip(c).map(|(x, c)| *x * *c).collect();
    Rep { a: multiply(&x.a), b: multiply(&x.b) }
}
