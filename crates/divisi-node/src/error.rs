//! How a client's request ends before its time, in the words that the command line and its JSON use.

use divisi_core::{Abort, PartyId, Refusal, Step};
use divisi_net::Fault;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What kind of end it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ErrorKind {
    /// The servers' session ended: somebody deviated, stalled or died.
    Abort,
    /// The servers, or one of them, refused the request.
    Refused,
    /// A server cannot be reached, or is not ready.
    Unavailable,
    /// What the servers answered does not fit together: somebody deviated, and is named if one can be. Or,
    /// with no peer named, that a ciphertext or tag is not authentic, by the word of all three.
    Mismatch,
    /// The caller asked for what cannot be: correct the call.
    Usage,
}

impl ErrorKind {
    /// Its name in JSON.
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

/// Why a request did not end well: one sentence, and what a program needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of end.
    pub kind: ErrorKind,
    /// Whether the same request may go well later.
    pub retry: bool,
    /// The party that it is about, if there is one.
    pub peer: Option<PartyId>,
    /// Where in the request's way.
    pub step: String,
    /// One sentence that says why and what to do.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// An error of our own finding.
    pub(crate) fn new(kind: ErrorKind, step: Step, message: impl Into<String>) -> Error {
        Error { kind, retry: false, peer: None, step: step.name.into(), message: message.into() }
    }

    pub(crate) fn with_peer(self, peer: PartyId) -> Error {
        Error { peer: Some(peer), ..self }
    }
}

/// A server's word that a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub kind: ErrorKind,
    pub retry: bool,
    /// The number of the party that it is about, or 0.
    pub peer: u8,
    pub step: String,
    pub message: String,
    /// Another server knows the reason.
    pub hearsay: bool,
}

impl Failed {
    pub fn refused(step: Step, message: impl Into<String>) -> Failed {
        let (kind, message) = (ErrorKind::Refused, message.into());
        Failed { kind, retry: false, peer: 0, step: step.name.into(), message, hearsay: false }
    }

    /// What a client makes of it. The text is a server's and goes to a terminal: ASCII that can be seen, with
    /// an end.
    pub fn into_error(self) -> Error {
        let clean = |text: &str, longest: usize| -> String {
            let seen = |c: char| c.is_ascii_graphic() || c == ' ';
            text.chars().take(longest).map(|c| if seen(c) { c } else { '?' }).collect()
        };
        Error {
            kind: self.kind,
            retry: self.retry,
            peer: PartyId::new(self.peer),
            step: clean(&self.step, 100),
            message: clean(&self.message, 600),
        }
    }
}

impl Failed {
    /// A session's end, as party `me` saw it; `compared` says that before it all had seen the same.
    ///
    /// Who falls out of step, or waits for us as we for it, after a third may have told it something else is
    /// named as by hearsay, and so is whom another says that it waits for.
    pub fn abort(me: PartyId, abort: &Abort, compared: bool) -> Failed {
        let peer = match abort {
            // who waits for another itself is not the one to blame, unless it says that it waits for us
            Abort::Network(Fault::Stalled { claim: Some((other, _)), .. }) if *other != me => Some(*other),
            _ => abort.peer(),
        };
        let hearsay = match abort {
            // who only heard that the session ended does not know why
            Abort::Network(Fault::Aborted { .. } | Fault::Poisoned { .. }) => true,
            Abort::Network(Fault::Stalled { claim: Some((other, _)), .. }) if *other != me => true,
            // who does not even say whom it waits for does nothing, whatever it was told
            Abort::Network(
                Fault::Stalled { claim: Some(_), .. } | Fault::WrongStep { .. } | Fault::Malformed { .. },
            ) => !compared,
            _ => false,
        };
        Failed {
            kind: ErrorKind::Abort,
            retry: matches!(abort, Abort::Network(_)),
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
    /// With the session.
    Abort(Abort),
    /// By itself: the next request is served.
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
}
