//! Broadcast with abort (Goldwasser, Lindell 2005): parties echo what they received, and compare the echoes
//! before anything depends on it.
//!
//! Adversary: any number of malicious parties. Honest parties that all pass the comparison received the same
//! from everybody; a party that received something else ends the session. Nobody can tell who lied, because a
//! false echo looks the same \[M0.3\]. Cost: one round and 32 bytes for each pair, however much was
//! broadcast; nothing between two parties, which have nobody to compare with.
//!
//! The digest may be sent together with other messages of its round: [`Echo::send`] and [`Echoed::compare`]
//! are separate.

use crate::{Abort, Check, ComparedDigest, Misuse, PartyId, Session, Step};

/// Everything that was broadcast up to one point, this party's own messages included, in an order that is the
/// same at all parties.
pub struct Echo {
    hasher: blake3::Hasher,
    step: Step,
    absorbed: u64,
}

impl Echo {
    /// An echo in which nothing is recorded yet. `step` names the comparison.
    #[must_use]
    pub fn new(session: &mut Session, step: Step) -> Echo {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 broadcast echo v1");
        hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
        hasher.update(&session.count(step.name).to_le_bytes());
        hasher.update(&step.id.to_le_bytes());
        Echo { hasher, step, absorbed: 0 }
    }

    /// Record that `party` broadcast `told`. What is recorded, and when, must be the same at all parties.
    pub fn absorb(&mut self, party: PartyId, told: &[u8]) {
        self.hasher.update(&[party.number()]).update(&(told.len() as u64).to_le_bytes()).update(told);
        self.absorbed += 1;
    }

    /// Send the digest of everything recorded to every peer.
    ///
    /// # Errors
    /// [`Abort::Network`] if the session is poisoned or a link is gone; [`Abort::Misuse`] if nothing was
    /// recorded.
    pub fn send(self, session: &mut Session) -> Result<Echoed, Abort> {
        if self.absorbed == 0 {
            return Err(session.misuse(self.step, Misuse::Empty));
        }
        let digest = self.hasher.to_compare();
        if session.parties() > 2 {
            for peer in session.peers() {
                session.send(self.step, peer, &digest, 0)?;
            }
        }
        Ok(Echoed { digest, step: self.step })
    }
}

/// A digest that was sent, and waits for those of the other parties.
#[must_use = "nothing may depend on a broadcast before its echoes are compared"]
pub struct Echoed {
    digest: [u8; 32],
    step: Step,
}

impl Echoed {
    /// Receive every peer's digest and demand that it equals this party's.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] without a culprit if a peer's digest differs; [`Abort::Network`] if one does
    /// not arrive.
    pub fn compare(self, session: &mut Session, check: Check) -> Result<(), Abort> {
        if session.parties() <= 2 {
            return Ok(());
        }
        for peer in session.peers() {
            let mut theirs = [0; 32];
            session.recv(self.step, peer, &mut theirs)?;
            let same = session.same_digest(&self.digest, &theirs);
            session.require(check, self.step, same, None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{each_byte_counts, party, run};
    use crate::{PublicParameters, checks};

    /// Whatever each party told counts, from its first byte to its last, however long it is.
    #[test]
    fn all_that_was_told_is_echoed() {
        let ends = run(2, &PublicParameters::new("echoes"), |mut session| {
            let Echo { hasher, step, .. } = Echo::new(&mut session, divisi_net::step!("echo"));
            let of = |told: &[(PartyId, &[u8])]| {
                let mut echo = Echo { hasher: hasher.clone(), step, absorbed: 0 };
                told.iter().for_each(|(party, told)| echo.absorb(*party, told));
                *echo.hasher.finalize().as_bytes()
            };
            let [one, other] = [1, 2].map(party);
            each_byte_counts(|told| of(&[(one, told), (other, &[5; 400])]));
            each_byte_counts(|told| of(&[(one, &[5; 400]), (other, told)]));
            assert!(of(&[(one, &[1]), (other, &[])]) != of(&[(one, &[]), (other, &[1])]));
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }

    /// Whoever was told something else is noticed by each other party that looks, also by one that is not
    /// beside it: parties between two may lie to both.
    #[test]
    fn each_party_compares_with_every_other() {
        const PARTIES: usize = 4;
        const STEP: Step = divisi_net::step!("echo");
        for (odd, looks) in (0..PARTIES * PARTIES).map(|pair| (pair / PARTIES, pair % PARTIES)) {
            for by_echo in [true, false] {
                let all = std::sync::Barrier::new(PARTIES);
                let ends = run(PARTIES, &PublicParameters::new("echoes"), |mut session| {
                    let me = session.me().index();
                    let told = [u8::from(me == odd && odd != looks); 32];
                    let mut echo = Echo::new(&mut session, STEP);
                    echo.absorb(party(1), &told);
                    let echoed = if by_echo { Some(echo.send(&mut session)?) } else { None };
                    if !by_echo {
                        session.show(STEP, &told)?;
                    }
                    all.wait();
                    let end = match echoed {
                        _ if me != looks => Ok(()),
                        Some(echoed) => echoed.compare(&mut session, checks::M0_3),
                        None => session.demand_same(checks::M0_3, STEP, &told),
                    };
                    all.wait();
                    end
                });
                let found = matches!(ends[looks], Err(Abort::CheckFailed { check: checks::M0_3, .. }));
                assert!(found != ends[looks].is_ok() && found == (odd != looks), "{odd} {looks} {by_echo}");
            }
        }
    }
}
