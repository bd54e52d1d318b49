//! What the steps of a batch of triples need to know of their party.

use crate::hash::{Call, Name, Oracle};
use crate::share::{Seats, Shares};
use crate::table::GarblingForm;
use divisi_core::PartyId;

/// A party, as the steps of a batch of triples see it.
pub(crate) struct Ground<'a> {
    pub seats: Seats,
    pub oracle: &'a Oracle,
    pub form: GarblingForm,
    /// The number of the first triple in the session.
    pub first: u64,
    /// Shares of random bits for the check alone, as many as [`crate::zero::bits`].
    pub fresh: Shares,
}

impl Ground<'_> {
    /// The hash of a step of the key that one party has on the bit of another.
    pub fn name(&self, call: Call, holder: PartyId, owner: PartyId) -> Name {
        Name { call, from: holder, to: owner, gate: self.first, once: true }
    }
}
