//! Functionality F_ABB, the arithmetic black box: GYKW, Figure 2, instantiated as in section 3.3.
//!
//! | command | bits, modulo 2 | numbers, modulo p | encrypted numbers |
//! |---|---|---|---|
//! | Input | [`Gmw::input`](crate::Gmw::input) | shares that the owner deals ([`Num::new`]) | |
//! | Random | [`Mixed::take_bits`], shared modulo p, too | [`Mixed::prepare_masks`], shared as bits, too | |
//! | Encrypt | | | [`a2e`](crate::conv::a2e) |
//! | LinComb | [`GmwBit::add`](crate::GmwBit::add) | [`Num::add`], [`Num::sub`], [`Num::scale`], [`Num::add_public`] | the same of [`EncryptedNum`](crate::encrypted::EncryptedNum) |
//! | Mult | [`run`](divisi_core::Boolean::run) of [`Gmw`](crate::Gmw) | [`Mixed::multiply`], [`Mixed::multiply_matrices`] | |
//! | Output | [`Gmw::output`](crate::Gmw::output) | [`open_to`](crate::num::open_to), [`open`](crate::num::open) | |
//!
//! This module multiplies numbers, as in section 3.3 (Beaver 1991). Adversary: semi-honest, all parties but
//! one. The opened d = x - a and e = y - b are uniform, because a and b are uniform and used once \[G7\].
//! Cost of a product: an arithmetic triple ([`crate::arithmetic`]), and the opening of two numbers, in two
//! rounds.

use crate::mixed::Mixed;
use crate::num::{self, Num};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, Step, step};

const PRODUCTS: Step = step!("multiply");

impl Mixed {
    /// (Mult) x y, lane by lane: one opening of both masked factors, and one triple for each lane (section
    /// 3.3).
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the numbers of lanes differ, or if there are no keys for triples; the abort that
    /// ends the session.
    pub fn multiply(&mut self, x: &Num, y: &Num) -> Result<Num, Abort> {
        let (triple, masked) = self.mask_factors(x, y)?;
        let opened = num::open(self.gmw.session(), self.plain, &masked)?;
        self.product_of(&triple, &opened)
    }

    /// A triple for each lane, and the lanes of d = x - a followed by those of e = y - b.
    pub(crate) fn mask_factors(&mut self, x: &Num, y: &Num) -> Result<([Num; 3], Num), Abort> {
        let (p, lanes) = (self.plain, x.lanes());
        [x, y].into_iter().try_for_each(|x| x.admit(self.session(), p, PRODUCTS))?;
        if y.lanes() != lanes {
            return Err(self.session().misuse(PRODUCTS, Misuse::LanesDiffer));
        }
        let [a, b, c] = self.take_products(lanes)?.open(); // [G7]
        let session = self.gmw.session();
        let unfit = || session.misuse(PRODUCTS, Misuse::LanesDiffer);
        let (d, e) = (x.sub(p, &a).ok_or_else(unfit)?, y.sub(p, &b).ok_or_else(unfit)?);
        let masked = Num::join(&[&d, &e]);
        Ok(([a, b, c], masked))
    }

    /// Our share of c + d b + e a + d e, for opened d and e; the first party adds d e.
    pub(crate) fn product_of(&mut self, [a, b, c]: &[Num; 3], opened: &[u64]) -> Result<Num, Abort> {
        let (p, session) = (self.plain, self.gmw.session());
        let unfit = || session.misuse(PRODUCTS, Misuse::LanesDiffer);
        let (d, e) = opened.split_at_checked(c.lanes()).ok_or_else(unfit)?;
        let mut z = WipedVec::from(c.shares());
        p.add_product(&mut z, d, b.shares());
        p.add_product(&mut z, e, a.shares());
        if session.me().index() == 0 {
            p.add_product(&mut z, d, e);
        }
        Ok(Num::new(z).made(session))
    }

    /// (Mult) The product of two matrices of public sizes: x is `rows` times `inner`, y `inner` times
    /// `columns`, both row by row. Every product of two numbers takes a triple.
    ///
    /// # Errors
    /// It fails as [`Mixed::multiply`] does; [`Abort::Misuse`] if the matrices do not have these sizes, or
    /// one has no numbers.
    pub fn multiply_matrices(
        &mut self,
        [rows, inner, columns]: [usize; 3],
        x: &Num,
        y: &Num,
    ) -> Result<Num, Abort> {
        let sizes = [(x, rows.checked_mul(inner)), (y, inner.checked_mul(columns))];
        if sizes.iter().any(|(x, size)| x.lanes() == 0 || Some(x.lanes()) != *size) {
            return Err(self.session().misuse(PRODUCTS, Misuse::CountsDiffer));
        }
        let places = (0..rows * columns).flat_map(|at| (0..inner).map(move |k| (at, k)));
        let (left, right): (Vec<usize>, Vec<usize>) =
            places.map(|(at, k)| (at / columns * inner + k, k * columns + at % columns)).unzip();
        let (Some(x), Some(y)) = (x.gather(&left), y.gather(&right)) else {
            return Err(self.session().misuse(PRODUCTS, Misuse::CountsDiffer));
        };
        let (p, products) = (self.plain, self.multiply(&x, &y)?);
        let mut sums = WipedVec::zeros(rows * columns);
        for (sum, products) in sums.iter_mut().zip(products.shares().chunks_exact(inner)) {
            *sum = products.iter().fold(0, |sum, x| p.add(sum, *x));
        }
        Ok(Num::new(sums).made(self.session()))
    }
}
