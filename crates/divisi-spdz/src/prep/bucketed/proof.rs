//! The proof that products are right: one random combination of all of them, masked.

use crate::check::combinations;
use crate::part::Mac;
use crate::party::Party;
use crate::share::Auth;
use divisi_core::{Abort, Check, Step, step};
use divisi_ot::wipe;
use zeroize::Zeroizing;

const COIN: Step = step!("proof.coin");
const SUM: Step = step!("proof.sum");

/// Shares of products and of their MACs, as elements, whatever part of the field they lie in.
#[derive(Default)]
pub(super) struct Products<F: Mac> {
    x: Vec<F>,
    m: Vec<F>,
}

impl<F: Mac> Drop for Products<F> {
    fn drop(&mut self) {
        wipe::words(&mut self.x);
        wipe::words(&mut self.m);
    }
}

impl<F: Mac> Products<F> {
    /// An empty list with room for `count` products.
    pub fn with_room(count: usize) -> Self {
        Products { x: Vec::with_capacity(count), m: Vec::with_capacity(count) }
    }

    /// Add products.
    pub fn extend(&mut self, x: impl Iterator<Item = F>, m: &[F]) {
        self.x.extend(x);
        self.m.extend_from_slice(m);
    }

    /// Open r + sum chi_j z_j, with the chi_j from a coin that follows all messages of the products, and let
    /// the next check verify its MAC \[K15\]. `r` must be random, known to nobody, and used for nothing else.
    ///
    /// Let e_ij be the error of product j where the honest bit b_i is one, and f_ij that of its MAC. The sum
    /// of the sigmas is the sum of all b_i c_i, plus a constant, with c_i = sum chi_j (f_ij + alpha e_ij).
    /// The session goes on if it is zero: for a fraction 2^-rank of all b, where rank is that of the c_i over
    /// GF(2). With errors in the products of m items' bits this is 2^-m + 1/|F| on average over chi. That the
    /// session goes on although not all errors of the products are zero has probability 1/|F|, plus that of
    /// the check of MACs (docs/spdz.md, 7).
    ///
    /// Cost: f bits, and the bits of a coin; 2 rounds.
    pub fn prove(self, party: &mut Party<F>, r: &Auth<F, F>) -> Result<(), Abort> {
        if party.session.mutated(Check::K15) {
            return Ok(());
        }
        let coin = party.coins.toss(&mut party.session, COIN)?;
        let sums = Zeroizing::new(combinations(&coin, [&self.x, &self.m]));
        let mut masked = r.clone();
        masked.x.iter_mut().for_each(|x| *x += sums[0]);
        masked.m.iter_mut().for_each(|m| *m += sums[1]);
        party.session.observe_each(Check::K15, self.x.len() as u64); // [K15]
        party.open(SUM, &masked.x, &masked.m)?;
        Ok(())
    }
}
