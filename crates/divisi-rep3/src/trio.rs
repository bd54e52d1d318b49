//! Three parties in a session: their neighbours, their pairwise streams, and their views.
//!
//! Party i's *next* is i+1 and its *previous* i-1, cyclically. Component i is held by party i and by its
//! previous, so that whatever is derived from their pairwise key is a component that both know and the third
//! does not: that is all of F_rand and F_zero of MAESTRO section 2.5 ([`crate::streams`]).

use crate::origin::EngineId;
use crate::passes::Passes;
use crate::scratch::Scratch;
use crate::streams::Streams;
use divisi_core::wipe::Pool;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};
use divisi_field::Plane;
use std::collections::BTreeSet;
use zeroize::Zeroizing;

const TRIO: Step = step!("trio");

/// One strand of a session among three, ready to compute on replicated sharings.
pub struct Trio {
    pub(crate) session: Session,
    /// The strand and engine to which values made here belong.
    pub(crate) engine_id: EngineId,
    /// Whether programs are only noted, and not run: what is made meanwhile is no value, and belongs to no
    /// engine.
    pub(crate) foreseeing: bool,
    pub(crate) next: PartyId,
    pub(crate) prev: PartyId,
    pub(crate) streams: Streams,
    /// The digest of everything that was opened since the last barrier, and of every barrier before it
    /// \[A2\].
    pub(crate) view: blake3::Hasher,
    /// Whether the view holds something that no barrier has compared yet.
    pub(crate) uncompared: bool,
    /// The digest of the component of the last coin that we received, until its other holder's digest has
    /// been compared with it.
    pub(crate) unconfirmed: Option<[u8; 32]>,
    /// How many barriers there were.
    pub(crate) barriers: u64,
    /// How many computations were closed.
    pub(crate) closed: u64,
    /// The numbers of the closed computations that were not settled yet.
    pub(crate) unpaid: BTreeSet<u64>,
    /// How many openings the view holds.
    pub(crate) openings: u64,
    /// Scratch for messages, kept from step to step.
    pub(crate) wire: Zeroizing<Vec<u8>>,
    /// How often products are verified.
    pub(crate) passes: Passes,
    /// Scratch for verifications.
    pub(crate) scratch: Scratch,
    /// Memory for records.
    pub(crate) pool: Pool<Plane>,
}

impl Trio {
    /// A strand of the session, to compute on replicated sharings.
    ///
    /// # Errors
    /// [`Abort::Misuse`] unless the session has three parties.
    pub fn new(mut session: Session) -> Result<Trio, Abort> {
        if session.parties() != 3 {
            return Err(session.misuse(TRIO, Misuse::PartyCount));
        }
        let (next, prev) = (session.me().next(3), session.me().prev(3));
        let streams = Streams::new(&mut session, next, prev);
        let mut view = blake3::Hasher::new_derive_key("divisi 2026 rep3 view v1");
        view.update(session.id().as_bytes());
        Ok(Trio {
            session,
            engine_id: EngineId::new(),
            foreseeing: false,
            next,
            prev,
            streams,
            view,
            uncompared: false,
            unconfirmed: None,
            barriers: 0,
            closed: 0,
            unpaid: BTreeSet::new(),
            openings: 0,
            wire: Zeroizing::new(Vec::new()),
            passes: Passes::default(),
            scratch: Scratch::default(),
            pool: Pool::default(),
        })
    }

    /// Set the number of passes of verifications from now on. All three parties call this at the same place,
    /// with a value that they agreed on in the session's parameters.
    pub fn set_passes(&mut self, passes: Passes) {
        self.passes = passes;
    }

    /// Close a computation: gives it the next number, and notes that it is not settled yet.
    pub(crate) fn close(&mut self) -> u64 {
        let number = self.closed;
        self.closed += 1;
        self.unpaid.insert(number);
        number
    }

    /// The number of this party.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.session.me()
    }

    /// The session: phases, meter, strands.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Whether a barrier has compared everything that was opened or broadcast so far: then both other parties
    /// saw what this one saw, and a party that sends an unexpected step deviates. Otherwise a third party may
    /// have misled it.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        !self.uncompared
    }

    /// The session, for another engine. Openings that are not compared, and values that are closed and not
    /// settled, would be forgotten, so the session ends if there are any.
    #[must_use]
    pub fn into_session(self) -> Session {
        if self.uncompared {
            let _ = self.session.misuse(TRIO, Misuse::NotCompared);
        }
        if !self.unpaid.is_empty() {
            let _ = self.session.misuse(TRIO, Misuse::NotSettled);
        }
        self.session
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};
    use std::sync::Barrier;

    /// Each strand of a session of another number of parties is refused, and not the first one alone.
    #[test]
    fn a_trio_has_three_parties_each_time() {
        let refused = |parties: usize| {
            let all = Barrier::new(parties);
            local::run(parties, &PublicParameters::new("trio"), |session| {
                let strands = [session.strand()?, session.strand()?, session];
                all.wait(); // a refusal ends the session, which has to begin at each party
                let refused = |trio| matches!(trio, Err(Abort::Misuse { what: Misuse::PartyCount, .. }));
                Ok(strands.map(|strand| refused(Trio::new(strand))))
            })
            .unwrap()
        };
        for parties in [2, 3, 4] {
            assert_eq!(refused(parties), vec![[parties != 3; 3]; parties]);
        }
    }
}
