//! That products are right: one random combination of all, masked.

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
    /// So many are to come.
    pub fn with_room(count: usize) -> Self {
        Products { x: Vec::with_capacity(count), m: Vec::with_capacity(count) }
    }

    /// More of them.
    pub fn extend(&mut self, x: impl Iterator<Item = F>, m: &[F]) {
        self.x.extend(x);
        self.m.extend_from_slice(m);
    }

    /// Open r + sum chi_j z_j, the chi_j from a coin that follows all messages of the products, and let the
    /// next check see its MAC \[K15\]. `r` is random, known to nobody, and serves nothing else.
    ///
    /// With e_ik what P_i's share of z is off by where its bit is one, and f_ik likewise for the MAC's, the
    /// sum of the sigmas is that of all chi b_i (f_ik + alpha e_ik): zero if these are all zero, or with
    /// probability 2/|F|. So an honest b_i is one only if f_ik = alpha e_ik, which is a guess of alpha unless
    /// both are zero.
    ///
    /// Cost: f bits, and a link of the coin; 2 rounds.
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
