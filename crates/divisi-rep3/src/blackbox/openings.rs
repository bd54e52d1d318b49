//! Openings: values that all parties learn before they are compared and before the products behind them are
//! verified.

use super::{Additive, BlackBox, Element, Mask, Misfit, RECONST, Shared, Unverified};
use crate::wire;
use divisi_core::{Abort, Lanes, Misuse, taint};
use zeroize::Zeroizing;

impl BlackBox {
    /// Reconst(`[x]`): x, unverified. A value that depends on unverified products needs a mask: see
    /// [`BlackBox::reconst_masked`]. One round.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if x depends on products that [`BlackBox::verify_mul`] has not verified.
    pub fn reconst<F: Element>(&mut self, x: &Shared<F>) -> Result<Unverified<F>, Abort> {
        if x.rests_on > self.verified {
            return Err(self.trio.session.misuse(RECONST, Misuse::NotVerified));
        }
        self.open(x, F::BITS)
    }

    /// Reconst(`[x + r]`) for a fresh mask: c = x + r, unverified, and `[r]`, with which the caller
    /// continues, and which may be opened when x may. One round.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless value and mask have the same number of lanes and belong to this black box.
    pub fn reconst_masked<F: Element>(
        &mut self,
        x: &Shared<F>,
        mask: Mask<F>,
    ) -> Result<(Unverified<F>, Shared<F>), Abort> {
        let sum = self.add(x, &mask.0)?;
        // whoever knows r gets x from c, so opening r would open x
        let mut r = mask.0;
        r.rests_on = r.rests_on.max(x.rests_on);
        Ok((self.open(&sum, F::BITS)?, r))
    }

    /// Reconst(`<x> + [r]`) for a fresh mask: c = x + r, unverified, and `[x]`, which is `[r]` + c. The
    /// products behind x are owed a verification \[S2\], as after a reshare. A share of zero hides our share
    /// from the party that holds our component of r \[A16\]. One round, 2 k bits.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless value and mask have the same number of lanes and belong to this black box.
    pub fn reconst_additive<F: Element>(
        &mut self,
        mut x: Additive<F>,
        mask: Mask<F>,
    ) -> Result<(Unverified<F>, Shared<F>), Abort> {
        let r = mask.0;
        self.demand(RECONST, x.origin == self.origin && r.origin == self.origin, Misfit::Origin)?;
        self.demand(RECONST, x.lanes() == r.lanes(), Misfit::Lanes)?;
        let mut share = std::mem::take(&mut x.share);
        share.iter_mut().zip(&r.rep.a).for_each(|(x, r)| *x = *x + *r);
        let value = self.trio.open_additive_low(RECONST, share, F::BITS)?;
        self.openings += 1;
        self.fresh += value.len() as u64;
        let mut replicated = self.add_public(&r, &value)?;
        self.owe_sum(&mut x, &replicated.rep)?;
        replicated.rests_on = self.statements;
        let opened =
            Unverified { value, origin: self.origin, opening: self.openings, rests_on: self.statements };
        Ok((opened, replicated))
    }

    /// Open a value whose bits above the low `bits` are zero.
    pub(crate) fn open<F: Element>(&mut self, x: &Shared<F>, bits: usize) -> Result<Unverified<F>, Abort> {
        self.demand(RECONST, x.origin == self.origin, Misfit::Origin)?;
        let lanes = x.lanes();
        // first our component, and then the one that we lack
        let mut message = Zeroizing::new(wire::write_low(&x.rep.a, bits));
        let view = self.verifies();
        self.trio.missing_layer(RECONST, &mut message, (lanes * bits) as u64, view)?; // [A22]
        let Some(missing) = wire::read_low::<F>(&message, lanes, bits).map(Zeroizing::new) else {
            return Err(self.trio.malformed_from(self.trio.prev, RECONST, message.len()));
        };
        let mut value: Vec<F> = (0..lanes).map(|l| x.rep.a[l] + x.rep.b[l] + missing[l]).collect();
        taint::public(RECONST, &mut value);
        if view {
            self.trio.absorb("reconst", &wire::write_low(&value, bits)); // [A2]
        }
        self.openings += 1;
        self.fresh += lanes as u64;
        Ok(Unverified { value, origin: self.origin, opening: self.openings, rests_on: x.rests_on })
    }
}
