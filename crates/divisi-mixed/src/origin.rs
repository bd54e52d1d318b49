//! Which session a share is of: shares of one are noise in another, and whoever opens them there learns
//! something that nobody meant to tell. Every entry refuses what another session made.

use divisi_core::{Abort, Session, SessionId, Step};

/// Where a share comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Brought by the caller, as an input or as a share that was dealt: no session made it.
    #[default]
    Brought,
    /// Made in a session, in any of its strands.
    Session(SessionId),
    /// Made of shares of two sessions: no entry takes it.
    Nowhere,
}

impl Origin {
    /// That of what this session makes.
    pub(crate) fn of(session: &Session) -> Origin {
        Origin::Session(session.id())
    }

    /// That of what is made of both.
    pub(crate) fn and(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Brought, one) | (one, Origin::Brought) => one,
            _ if self == other => self,
            _ => Origin::Nowhere,
        }
    }

    /// That this session takes it.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for what another session made.
    pub(crate) fn admit(self, session: &Session, step: Step) -> Result<(), Abort> {
        if self.and(Origin::of(session)) == Origin::Nowhere {
            return Err(session.misuse(step, "shares of another session"));
        }
        Ok(())
    }
}
