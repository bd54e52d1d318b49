//! The session that a share belongs to. Shares of one session are meaningless in another, and opening them
//! there could reveal secrets. So every function that takes shares refuses those of another session.

use divisi_core::{Abort, Misuse, Session, SessionId, Step};

/// Where a share comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The caller made it, as an input or as a dealt share; no session did.
    #[default]
    Brought,
    /// A session made it, in any of its strands.
    Session(SessionId),
    /// It was computed from shares of two sessions: every function refuses it.
    Nowhere,
}

impl Origin {
    /// The origin of what this session makes.
    pub(crate) fn of(session: &Session) -> Origin {
        Origin::Session(session.id())
    }

    /// The origin of a share that is computed from shares of both origins.
    pub(crate) fn and(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Brought, one) | (one, Origin::Brought) => one,
            _ if self == other => self,
            _ => Origin::Nowhere,
        }
    }

    /// Demands that this session accepts the share.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if another session made it.
    pub(crate) fn admit(self, session: &Session, step: Step) -> Result<(), Abort> {
        if self.and(Origin::of(session)) == Origin::Nowhere {
            return Err(session.misuse(step, Misuse::OtherSession));
        }
        Ok(())
    }
}
