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

#[cfg(test)]
mod tests {
    use crate::{GmwBit, Num};
    use divisi_core::{PublicParameters, local};
    use divisi_field::zp::{Modulus, P32};

    /// However many parts are joined, and whichever of them is of another session, what comes out is not of
    /// this session alone.
    #[test]
    fn a_part_of_another_session_is_noticed_anywhere() {
        let made = || {
            let ends = local::run(2, &PublicParameters::new("origins"), |session| {
                Ok((GmwBit::zero(1).made(&session), Num::zero(1).made(&session)))
            });
            ends.unwrap().swap_remove(0)
        };
        let (p, (bit, number), (other_bit, other)) = (Modulus::new(P32).unwrap(), made(), made());
        for len in [1, 2, 3, 4, 5, 64, 65, 300] {
            let own = (GmwBit::join(&vec![&bit; len]), Num::join(&vec![&number; len]));
            assert!(own.0.clone().add(&own.0) && own.1.add(p, &own.1).is_some(), "{len}");
            // the others are ours, or no session's
            for (bit, number) in [(&bit, &number), (&GmwBit::zero(1), &Num::zero(1))] {
                for at in 0..len {
                    let (mut bits, mut numbers) = (vec![bit; len], vec![number; len]);
                    (bits[at], numbers[at]) = (&other_bit, &other);
                    assert!(!own.0.clone().add(&GmwBit::join(&bits)), "bit {at} of {len}");
                    assert!(own.1.add(p, &Num::join(&numbers)).is_none(), "number {at} of {len}");
                }
            }
        }
    }
}
