//! How the stores of the three servers compared.

use divisi_core::PartyId;

/// What the last comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stores {
    /// The parties whose active keys are others than this server's.
    pub differ: Vec<PartyId>,
    /// The servers that serve nothing, because their store is empty while another one has keys.
    pub lost: Vec<PartyId>,
}
