//! How sessions and requests end early.
//!
//! An [`Abort`] ends a session: it says what happened, at which step, with which peer, and what can be done.
//! A [`Refusal`] ends one request, without effect on others. Neither contains a secret.

use crate::{Check, Misuse, PartyId, Step};
use divisi_net::Fault;
use std::fmt;

/// The end of a session. The session is poisoned: it outputs nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Abort {
    /// A link failed, a peer stalled, or a message arrived that the protocol does not send.
    Network(Fault),
    /// A check of the protocol failed: a party deviated from it.
    CheckFailed {
        /// The check.
        check: Check,
        /// The step at which it failed.
        step: Step,
        /// The party that deviated, if the check can tell.
        culprit: Option<PartyId>,
    },
    /// The parties do not agree on a public parameter.
    Disagreement {
        /// The party that differs.
        peer: PartyId,
        /// The step of the comparison.
        step: Step,
        /// What the parties differ about.
        what: &'static str,
    },
    /// This party's caller asked for something impossible: no peer is at fault.
    Misuse {
        /// The step of the call.
        step: Step,
        /// What was wrong with the call.
        what: Misuse,
    },
    /// What this party brought to the session (a stock of preprocessing) is unsuitable: no peer is at fault,
    /// and nothing of it was used.
    Unfit {
        /// The step at which it was examined.
        step: Step,
        /// One sentence: what is wrong, and what to do.
        why: String,
    },
}

impl Abort {
    /// The step at which the session ended.
    #[must_use]
    pub fn step(&self) -> Step {
        match self {
            Abort::Network(fault) => fault.step(),
            Abort::CheckFailed { step, .. }
            | Abort::Disagreement { step, .. }
            | Abort::Misuse { step, .. }
            | Abort::Unfit { step, .. } => *step,
        }
    }

    /// The peer at fault, if there is one.
    #[must_use]
    pub fn peer(&self) -> Option<PartyId> {
        match self {
            Abort::Network(fault) => fault.peer(),
            Abort::CheckFailed { culprit, .. } => *culprit,
            Abort::Disagreement { peer, .. } => Some(*peer),
            Abort::Misuse { .. } | Abort::Unfit { .. } => None,
        }
    }

    /// The party to which the end goes back: the peer at fault, or the party that stalled or is gone by what
    /// a peer claims ([`Fault::blames`]).
    #[must_use]
    pub fn blames(&self) -> Option<PartyId> {
        match self {
            Abort::Network(fault) => fault.blames(),
            other => other.peer(),
        }
    }

    /// What the operator can do now.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Abort::Network(_) => "check that the peer runs and can be reached, then try again",
            Abort::CheckFailed { .. } => {
                "a party or its memory deviated from the protocol: find out which one before trying again"
            }
            Abort::Disagreement { .. } => "give all parties the same version and configuration",
            Abort::Misuse { .. } => "correct the call",
            Abort::Unfit { .. } => "nothing was used",
        }
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abort::Network(fault) => write!(f, "{fault}")?,
            Abort::CheckFailed { check, step, culprit: Some(p) } => {
                write!(f, "check {check} failed at {step}: {p} deviated")?
            }
            Abort::CheckFailed { check, step, culprit: None } => write!(f, "check {check} failed at {step}")?,
            Abort::Disagreement { peer, step, what } => write!(f, "{peer} disagrees on {what} at {step}")?,
            Abort::Misuse { step, what } => write!(f, "misuse at {step}: {what}")?,
            Abort::Unfit { why, .. } => return f.write_str(why),
        }
        write!(f, "; {}", self.advice())
    }
}

impl std::error::Error for Abort {}

impl From<Fault> for Abort {
    fn from(fault: Fault) -> Self {
        Abort::Network(fault)
    }
}

/// The end of one request, without effect on others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The step of the request.
    pub step: Step,
    /// One sentence: the cause and what to do.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused at {}: {}", self.step, self.reason)
    }
}

impl std::error::Error for Refusal {}

/// The end of a session or of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum AbortOrRefusal {
    /// The session ended.
    Abort(Abort),
    /// The request ended.
    Refusal(Refusal),
}

impl fmt::Display for AbortOrRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AbortOrRefusal::Abort(abort) => abort.fmt(f),
            AbortOrRefusal::Refusal(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for AbortOrRefusal {}

impl From<Abort> for AbortOrRefusal {
    fn from(abort: Abort) -> Self {
        AbortOrRefusal::Abort(abort)
    }
}

impl From<Refusal> for AbortOrRefusal {
    fn from(refusal: Refusal) -> Self {
        AbortOrRefusal::Refusal(refusal)
    }
}
