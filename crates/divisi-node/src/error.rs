//! Errors of a client's request, in the words that the command line and its JSON use.

use divisi_core::{Abort, PartyId, Refusal, Step};
use divisi_engine::Failure;
use divisi_engine::failure;
use divisi_net::Fault;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "exit codes and programs rely on it")]
pub enum ErrorKind {
    /// The session of the servers ended: a party deviated, stalled or failed.
    Abort,
    /// At least one server refused the request.
    Refused,
    /// A server cannot be reached or is not ready.
    Unavailable,
    /// The answers of the servers contradict each other: a server deviated, and the error names it if it can.
    /// With [`Error::by_all`] it is no contradiction: all three say that a ciphertext or tag is not
    /// authentic.
    Mismatch,
    /// The arguments of the call are wrong.
    Usage,
}

impl ErrorKind {
    /// The name of the kind in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Abort => "abort",
            ErrorKind::Refused => "refused",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Mismatch => "mismatch",
            ErrorKind::Usage => "usage",
        }
    }
}

/// Why a request failed: one sentence, and the fields that a program needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// Whether the same request may succeed later.
    pub retry: bool,
    /// The party at fault, if it is known.
    pub peer: Option<PartyId>,
    /// Whether this is the word of all three servers. What fewer say may be one server's lie; what this
    /// client found itself is not their word.
    pub by_all: bool,
    /// The step of the request at which it failed.
    pub step: String,
    /// One sentence: the cause and what to do.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// An error that names no peer, and for which a retry is not expected to help.
    pub(crate) fn new(kind: ErrorKind, step: Step, message: impl Into<String>) -> Error {
        Error {
            kind,
            retry: false,
            peer: None,
            by_all: false,
            step: step.name.into(),
            message: message.into(),
        }
    }

    pub(crate) fn with_peer(self, peer: PartyId) -> Error {
        Error { peer: Some(peer), ..self }
    }
}

/// Names of parties in a sentence.
pub(crate) fn parties(all: impl Iterator<Item = PartyId>) -> String {
    all.map(|party| party.to_string()).collect::<Vec<_>>().join(" and ")
}

/// A server's word that a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub kind: ErrorKind,
    pub retry: bool,
    /// The number of the party at fault, or 0.
    pub peer: u8,
    pub step: String,
    pub message: String,
    /// Whether this server only repeats what another server said, or found that the servers differ: either
    /// may be the doing of one of the others.
    pub hearsay: bool,
}

impl Failed {
    pub fn refused(step: Step, message: impl Into<String>) -> Failed {
        let (kind, message) = (ErrorKind::Refused, message.into());
        Failed { kind, retry: false, peer: 0, step: step.name.into(), message, hearsay: false }
    }

    /// The error that the client reports. The text comes from a server and goes to a terminal, so that it is
    /// cut to a bounded length and to printable ASCII.
    pub fn into_error(self) -> Error {
        let clean = |text: &str, longest: usize| -> String {
            let seen = |c: char| c.is_ascii_graphic() || c == ' ';
            text.chars().take(longest).map(|c| if seen(c) { c } else { '?' }).collect()
        };
        Error {
            kind: self.kind,
            retry: self.retry,
            peer: PartyId::all(3).find(|party| party.number() == self.peer),
            by_all: false,
            step: clean(&self.step, 100),
            message: clean(&self.message, 600),
        }
    }
}

impl Failed {
    /// The end of a session as party `me` saw it; `compared` says whether the parties had compared all views
    /// before.
    ///
    /// A party that sends an unexpected message, or that waits for us while we wait for it, may have been
    /// misled by a third party: then the error counts as hearsay, and so does one that names a party for
    /// which a peer says that it waits.
    pub fn abort(me: PartyId, abort: &Abort, compared: bool) -> Failed {
        let peer = match abort {
            // a party that itself waits for another is not to blame, unless it says that it waits for us
            Abort::Network(
                Fault::Stalled { claim: Some((other, _)), .. } | Fault::Aborted { blames: Some(other), .. },
            ) if *other != me => Some(*other),
            _ => abort.peer(),
        };
        let hearsay = match abort {
            // a party that was only told that the session ended does not know why
            Abort::Network(Fault::Aborted { .. } | Fault::Poisoned { .. }) => true,
            Abort::Network(Fault::Stalled { claim: Some((other, _)), .. }) if *other != me => true,
            // a party that does not even report for whom it waits is not working, whatever it was told
            Abort::Network(
                Fault::Stalled { claim: Some(_), .. } | Fault::WrongStep { .. } | Fault::Malformed { .. },
            ) => !compared,
            _ => false,
        };
        Failed {
            kind: ErrorKind::Abort,
            retry: matches!(abort, Abort::Network(fault) if fault.may_pass()),
            peer: peer.map_or(0, PartyId::number),
            step: abort.step().name.into(),
            message: abort.to_string(),
            hearsay,
        }
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Failed {
        Failed::refused(refusal.step, refusal.reason)
    }
}

/// How serving a request ends early, at a server.
pub(crate) enum Stop {
    /// The failure ends the session too.
    Abort(Abort),
    /// Only the request ends; the server continues with the next one.
    Refused(Failed),
}

impl From<Abort> for Stop {
    fn from(abort: Abort) -> Stop {
        Stop::Abort(abort)
    }
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Stop {
        Stop::Refused(failed)
    }
}

impl From<Error> for Failure {
    /// The failure of a command whose client met this error.
    fn from(error: Error) -> Self {
        let kind = match error.kind {
            ErrorKind::Abort => failure::Kind::Abort,
            ErrorKind::Refused => failure::Kind::Refused,
            ErrorKind::Unavailable => failure::Kind::Unavailable,
            ErrorKind::Mismatch => failure::Kind::Mismatch,
            ErrorKind::Usage => failure::Kind::Usage,
        };
        let (retry, peer) = (error.retry, error.peer.map(PartyId::number));
        Failure { error: error.message, kind, retry, peer, step: Some(error.step) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::step;
    use std::time::Duration;

    /// A peer that says whom it waits for itself passes the blame on, but not to us, who know better.
    #[test]
    fn who_waits_for_another_is_not_to_blame() {
        let party = |number| PartyId::new(number).unwrap();
        let named = |me, claim: Option<u8>| {
            let claim = claim.map(|number| (party(number), 0));
            let fault =
                Fault::Stalled { peer: party(2), step: step!("x"), waited: Duration::from_secs(3), claim };
            let failed = Failed::abort(party(me), &Abort::Network(fault.clone()), true);
            assert!(failed.retry && failed.kind == ErrorKind::Abort);
            // while views may differ nobody who waits is named at first hand
            assert_eq!(Failed::abort(party(me), &Abort::Network(fault), false).hearsay, claim.is_some());
            (failed.peer, failed.hearsay)
        };
        assert_eq!(named(1, None), (2, false));
        assert_eq!(named(1, Some(3)), (3, true));
        assert_eq!(named(1, Some(1)), (2, false));
    }

    /// Of a server's words only printable ASCII comes to a terminal: other characters turn text around, hide
    /// it, or look like others.
    #[test]
    fn nothing_but_printable_ascii_is_shown() {
        let rare = ['\u{feff}', '\u{fff9}', '\u{1f600}', '\u{e0041}', char::MAX];
        for c in ('\0'..'\u{3000}').chain(rare) {
            let failed = Failed { step: c.into(), ..Failed::refused(step!("x"), c) };
            let Error { step, message, .. } = failed.into_error();
            let shown = String::from(if matches!(c, ' '..='~') { c } else { '?' });
            assert_eq!((&step, &message), (&shown, &shown), "{c:?}");
        }
    }
}
