//! Outputs that contradict each other.

use divisi_core::PartyId;

/// Outputs of the parties that contradict each other: at least one party is wrong, or lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differ {
    /// The party that is known to be wrong, if one is.
    pub party: Option<PartyId>,
    /// What that party did, in words that follow its name; without a party, a whole clause.
    pub what: &'static str,
}
