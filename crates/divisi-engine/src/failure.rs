//! The failures of commands: their kind, one sentence that says what to do, and the exit code.

use crate::differ::Differ;
use crate::disagreement::Disagreement;
use crate::unsupported::Unsupported;
use divisi_core::{Abort, Refusal};
use divisi_net::PartyId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A session of the parties ended early, without an output.
    Abort,
    /// The servers, or the client itself, refused this request.
    Refused,
    /// A server or a process cannot be reached.
    Unavailable,
    /// A result is wrong.
    Mismatch,
    /// The arguments, a file or the configuration are wrong.
    Usage,
}

impl Kind {
    /// The exit code of the program: 1 for an abort, a refusal or a wrong result, 2 for what the caller has
    /// to correct.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Abort | Kind::Refused | Kind::Unavailable | Kind::Mismatch => 1,
            Kind::Usage => 2,
        }
    }
}

/// The failure of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// One sentence: the cause, then what to do.
    pub error: String,
    /// The kind of the failure.
    pub kind: Kind,
    /// Whether the same command may succeed later.
    pub retry: bool,
    /// The number of the party at fault, if it is known.
    pub peer: Option<u8>,
    /// The step of the protocol, if it is known.
    pub step: Option<String>,
}

impl Failure {
    /// A failure without peer and step. Only failures of kind `Unavailable` are worth a retry.
    pub fn new(kind: Kind, error: impl Into<String>) -> Self {
        Failure { error: error.into(), kind, retry: kind == Kind::Unavailable, peer: None, step: None }
    }

    /// A failure that the caller has to correct.
    pub fn usage(error: impl Into<String>) -> Self {
        Self::new(Kind::Usage, error)
    }

    /// A failure to reach a server or a process.
    pub fn unavailable(error: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, error)
    }

    /// The failure of a wrong result.
    pub fn mismatch(error: impl Into<String>) -> Self {
        Self::new(Kind::Mismatch, error)
    }

    /// This failure, with the party at fault.
    #[must_use]
    pub fn with_peer(mut self, peer: PartyId) -> Self {
        self.peer = Some(peer.number());
        self
    }

    /// This failure, with the step at which it happened.
    #[must_use]
    pub fn at(mut self, step: impl Into<String>) -> Self {
        self.step = Some(step.into());
        self
    }

    /// The object that `--json` prints.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": 1,
            "error": self.error,
            "kind": self.kind,
            "retry": self.retry,
            "peer": self.peer,
            "step": self.step,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error)
    }
}

impl std::error::Error for Failure {}

impl From<Abort> for Failure {
    fn from(abort: Abort) -> Self {
        Failure {
            error: abort.to_string(),
            // an input that does not fit is the caller's to correct
            kind: if matches!(abort, Abort::Unfit { .. }) { Kind::Usage } else { Kind::Abort },
            // A broken link may work again later; a party that deviated or disagrees will not change.
            retry: matches!(&abort, Abort::Network(fault) if fault.may_pass()),
            peer: abort.blames().map(PartyId::number),
            step: Some(abort.step().to_string()),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::new(Kind::Refused, refusal.reason.clone()).at(refusal.step.to_string())
    }
}

impl From<divisi_core::AbortOrRefusal> for Failure {
    fn from(failure: divisi_core::AbortOrRefusal) -> Self {
        match failure {
            divisi_core::AbortOrRefusal::Abort(abort) => abort.into(),
            divisi_core::AbortOrRefusal::Refusal(refusal) => refusal.into(),
        }
    }
}

impl From<Unsupported> for Failure {
    fn from(unsupported: Unsupported) -> Self {
        Failure::usage(unsupported.reason)
    }
}

impl From<Differ> for Failure {
    fn from(differ: Differ) -> Self {
        let worth = "the results mean nothing";
        match differ.party {
            Some(party) => Failure::mismatch(format!("{party} {}: {worth}", differ.what)).with_peer(party),
            None => Failure::mismatch(format!("{}: {worth}", differ.what)),
        }
    }
}

impl From<Disagreement> for Failure {
    fn from(disagreement: Disagreement) -> Self {
        let what = disagreement.to_string();
        match disagreement {
            Disagreement::Abort(abort) => abort.into(),
            Disagreement::Differs { peer, step, .. } => {
                Failure::usage(what).with_peer(peer).at(step.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{Check, Misuse, step};
    use divisi_net::{Fault, Loss};

    #[test]
    fn json_and_exit_codes_say_what_happened() {
        let step = step!("somewhere");
        let abort = Abort::Disagreement { peer: PartyId::P2, step, what: "the protocol" };
        let failure = Failure::from(abort);
        assert_eq!((failure.kind.exit_code(), failure.retry, failure.peer), (1, false, Some(2)));
        let json = failure.to_json();
        assert_eq!((json["schema"].clone(), json["kind"].clone()), (1.into(), "abort".into()));
        assert!(json["step"].as_str().unwrap().contains("somewhere"));

        let refused = Failure::from(Refusal { step, reason: "the key is unknown: make it".into() });
        assert_eq!((refused.kind, refused.kind.exit_code()), (Kind::Refused, 1));
        let usage = Failure::usage("--blocks is 0: give at least 1").to_json();
        assert_eq!((usage["kind"].clone(), usage["peer"].clone()), ("usage".into(), serde_json::Value::Null));
        assert_eq!(Kind::Usage.exit_code(), 2);
        let at = Failure::mismatch("x").with_peer(PartyId::P3).at("there").to_json();
        assert_eq!((at["peer"].clone(), at["step"].clone()), (3.into(), "there".into()));
        assert!(Failure::unavailable("x").retry && !Failure::mismatch("x").retry);
    }

    /// What is worth a second try is a broken link, and nothing that a party did against the protocol.
    #[test]
    fn only_broken_links_are_worth_a_second_try() {
        let (step, peer) = (step!("somewhere"), PartyId::P2);
        let check = Check::new("X1");
        let stalled = Fault::Stalled { peer, step, waited: std::time::Duration::ZERO, claim: None };
        let lost = |reason| Abort::Network(Fault::Lost { peer, step, reason });
        for (abort, kind, retry, blamed) in [
            (Abort::Network(stalled), Kind::Abort, true, Some(2)),
            (lost(Loss::Closed), Kind::Abort, true, Some(2)),
            (lost(Loss::Cut), Kind::Abort, true, Some(2)),
            (lost(Loss::Garbage), Kind::Abort, false, Some(2)),
            (lost(Loss::Flooded), Kind::Abort, false, Some(2)),
            (Abort::Network(Fault::Aborted { peer, step, blames: None }), Kind::Abort, true, Some(2)),
            (Abort::Network(Fault::Malformed { peer, step, want: 2, got: 1 }), Kind::Abort, false, Some(2)),
            (Abort::Network(Fault::WrongStep { peer, step, got: 1 }), Kind::Abort, false, Some(2)),
            (Abort::Network(Fault::Flooded { peer, step }), Kind::Abort, false, Some(2)),
            (Abort::CheckFailed { check, step, culprit: Some(peer) }, Kind::Abort, false, Some(2)),
            (Abort::CheckFailed { check, step, culprit: None }, Kind::Abort, false, None),
            (Abort::Disagreement { peer, step, what: "the protocol" }, Kind::Abort, false, Some(2)),
            (Abort::Misuse { step, what: Misuse::Empty }, Kind::Abort, false, None),
            (Abort::Unfit { step, why: "a used stock: make another".into() }, Kind::Usage, false, None),
        ] {
            let failure = Failure::from(abort.clone());
            assert_eq!((failure.kind, failure.retry, failure.peer), (kind, retry, blamed), "{abort:?}");
            assert_eq!(failure.step, Some(step.to_string()), "{abort:?}");
            assert_eq!(Failure::from(Disagreement::Abort(abort.clone())), failure, "{abort:?}");
        }
        for other in [Kind::Refused, Kind::Mismatch, Kind::Usage, Kind::Abort] {
            assert!(!Failure::new(other, "x").retry, "{other:?}");
        }
    }
}
