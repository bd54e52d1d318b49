//! What the protocols for triples need to know about the party that runs them.

use crate::hash::{Call, Name, Oracle};
use crate::share::{Seats, Shares};
use crate::table::GarblingForm;
use divisi_core::PartyId;

/// The party that runs a batch of triples, and its hash.
pub(crate) struct TripleContext<'a> {
    pub seats: Seats,
    pub oracle: &'a Oracle,
    pub form: GarblingForm,
    /// The number, within the session, of the batch's first triple.
    pub first: u64,
    /// Shares of random bits that are used only in the zero check, as many as [`crate::zero::bits`] says.
    pub fresh: Shares,
}

impl TripleContext<'_> {
    /// The name of a hash call: the step `call`, on the key that `holder` has for a bit of `owner`.
    pub fn name(&self, call: Call, holder: PartyId, owner: PartyId) -> Name {
        Name { call, from: holder, to: owner, gate: self.first }
    }
}
