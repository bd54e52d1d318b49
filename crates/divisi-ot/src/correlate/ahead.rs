//! Products whose payloads are sent before the peers' are awaited, so that both travel while the caller works
//! on something else.
//!
//! [`Setup::begin_correlate`] does step 1 for all rows and [`Setup::finish_correlate`] step 2. The messages
//! are those of [`Setup::correlate`]. A holder's message depends on nothing that it receives in this round,
//! so only the time at which the peers' messages are read differs. What must follow all payloads, for
//! example a coin, must follow `finish_correlate`.

use super::{PAYLOAD, Payload, Round, Work, add_own, messages};
use crate::hash::TweakableHash;
use crate::pads::{Pads, Trust};
use crate::setup::Setup;
use divisi_core::wipe::{self, WipedVec};
use divisi_core::{Abort, Misuse, PartyId, Session};

/// Products under way: our payloads are sent, the peers' are not received. Wiped when dropped.
#[must_use = "products that were begun must be finished"]
pub struct PreprocessedProducts<S: Trust, P: Payload> {
    session: [u8; 32],
    /// How many were begun before in this set-up.
    number: u64,
    round: Round<S>,
    class: u8,
    payload: P,
    out: WipedVec<P::Word>,
}

impl Setup {
    /// The first half of [`Setup::correlate`]: sends our payloads for all rows, and waits for nothing. All
    /// parties begin and finish the same products in the same order. All of our payloads may be on their way
    /// at once, so there should not be many of them.
    ///
    /// # Errors
    /// Those of [`Setup::correlate`].
    pub fn begin_correlate<S: Trust, P: Payload>(
        &mut self,
        session: &mut Session,
        pads: &mut Pads<S>,
        chooser: Option<PartyId>,
        payload: P,
        values: &[P::Word],
    ) -> Result<PreprocessedProducts<S, P>, Abort> {
        let class = self.class_of(session, pads, &payload, values)?;
        let round = Round::taken(session, pads, chooser)?;
        session.observe(S::CHECK); // [K14] [G14]
        let made = wipe::stack(|| {
            session.exchange(|session| {
                let hash = TweakableHash::new(session);
                let mut work =
                    Work::new(session, &hash, &round, class, &payload, WipedVec::zeros(values.len()));
                for rows in messages(&payload, round.len) {
                    work.send(self, session, &rows, values)?;
                }
                let mut out = work.out;
                if round.chooses {
                    add_own(&payload, &round.bits, values, &mut out);
                }
                Ok(out)
            })
        });
        self.keep_if(&made);
        // our rows as holder have served
        let round = Round { others: Vec::new(), ..round };
        let out = made?;
        let number = self.ahead.products_begun;
        self.ahead.products_begun += 1;
        Ok(PreprocessedProducts { session: *session.id().as_bytes(), number, out, round, class, payload })
    }

    /// The second half: receives the peers' payloads and returns our shares.
    ///
    /// # Errors
    /// The abort that ends the session, which erases all secrets; [`Abort::Misuse`] for another session's
    /// products, and for others than the oldest that were begun: payloads arrive in the order of beginning.
    pub fn finish_correlate<S: Trust, P: Payload>(
        &mut self,
        session: &mut Session,
        ahead: PreprocessedProducts<S, P>,
    ) -> Result<WipedVec<P::Word>, Abort> {
        let PreprocessedProducts { session: of, number, round, class, payload, out } = ahead;
        if self.session != *session.id().as_bytes() || of != self.session {
            return Err(session.misuse(PAYLOAD, Misuse::OtherSession));
        }
        if number != self.ahead.products_finished {
            return Err(session.misuse(PAYLOAD, Misuse::OutOfOrder));
        }
        self.ahead.products_finished += 1;
        let made = wipe::stack(|| {
            let hash = TweakableHash::new(session);
            let mut work = Work::new(session, &hash, &round, class, &payload, out);
            for rows in messages(&payload, round.len) {
                work.receive(session, &rows)?;
            }
            Ok(work.out)
        });
        self.keep_if(&made);
        made
    }
}
