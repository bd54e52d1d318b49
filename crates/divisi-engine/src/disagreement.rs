//! What separately started parties do not agree on.

use divisi_core::{Abort, PartyId, Step};
use std::fmt;

/// Why a session did not start among parties that were started separately.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Disagreement {
    /// The session in which the parties compare, or the one after it, was aborted.
    Abort(Abort),
    /// Another party runs something else.
    Differs {
        /// That party.
        peer: PartyId,
        /// What it runs, in words that follow "runs".
        what: &'static str,
        /// The digest of that party, then that of this one.
        digests: [[u8; 32]; 2],
        /// The step at which it was found.
        step: Step,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disagreement::Abort(abort) => abort.fmt(f),
            Disagreement::Differs { peer, what, digests, .. } => {
                let [theirs, ours] = digests.map(hex::encode);
                write!(
                    f,
                    "{peer} runs {what}: digest {theirs} there, {ours} here; give all parties the same arguments \
                     and files"
                )
            }
        }
    }
}

impl std::error::Error for Disagreement {}

impl From<Abort> for Disagreement {
    fn from(abort: Abort) -> Self {
        Disagreement::Abort(abort)
    }
}
