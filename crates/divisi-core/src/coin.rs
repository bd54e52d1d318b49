//! The n-party coin: every party commits to a chain of random links at set-up, the commitments are echoed,
//! and each toss opens one link of each party.
//!
//! Adversary: any number of malicious parties. A coin is the sum of values from all parties' links, so that
//! it is uniform and unknown until the last honest party has opened its link; a party that has seen all other
//! links can only end the session. A coin does not depend on messages of the protocol, so that nothing can be
//! tried offline. Everything that a coin checks has to be fixed before an honest party opens its link: a
//! party tosses only after it has received all of it, and sends its link to all parties.
//!
//! A link is the hash of the next one with session, party and position: link t - 1 = H(id, party, t - 1, link
//! t). Link 0 is the commitment, and link t opens exactly one commitment; a link cannot be copied from
//! another party.
//!
//! One strand commits; any strand may toss, one toss at a time and in the same order at all parties.
//!
//! Cost: two rounds and 64 bytes a pair for the commitments (one round for two parties), then one round and
//! 32 bytes a pair for each toss \[M0.2\].

use crate::broadcast::{Echo, Echoed};
use crate::{Abort, Expands, Misuse, PartyId, Session, Step, same_bytes, taint};
use crate::{checks, purposes};
use divisi_net::step;
use zeroize::{Zeroize, Zeroizing};

const COMMIT: Step = step!("commit");
const ECHO: Step = step!("echo");

/// How many coins one commitment gives. A chain of this length is 32 KiB, and made in a tenth of a
/// millisecond.
const LENGTH: usize = 1024;

/// The coins of a session: committed, not yet opened.
pub struct Coins {
    /// This party's links in reverse order, so that the next one is the last element.
    chain: Vec<Zeroizing<[u8; 32]>>,
    /// The last link that each party opened, by the party's index; before the first toss its commitment.
    seen: Vec<[u8; 32]>,
    /// The number of the next toss in this chain, from 1.
    next: u64,
    /// The session of these coins, and the strand that committed to them.
    session: [u8; 32],
    strand: u32,
}

/// Coins to which this party has sent its commitment.
#[must_use = "coins that were announced must be confirmed"]
pub struct Announced {
    chain: Vec<Zeroizing<[u8; 32]>>,
    first: [u8; 32],
}

/// Coins of which this party has received all commitments and sent its echo of them.
#[must_use = "received commitments must be confirmed"]
pub struct UnconfirmedCoins {
    coins: Coins,
    echoed: Echoed,
}

impl Coins {
    /// Commit to coins: announce, receive and confirm, in two rounds.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if a party sent different commitments to different parties; [`Abort::Network`]
    /// if a message does not arrive.
    pub fn commit(session: &mut Session) -> Result<Coins, Abort> {
        Coins::announce(session)?.receive(session)?.confirm(session)
    }

    /// Send this party's commitment to all peers, together with other messages of the round.
    ///
    /// # Errors
    /// [`Abort::Network`] if the session is poisoned or a link is gone.
    pub fn announce(session: &mut Session) -> Result<Announced, Abort> {
        let mut link = Zeroizing::new([0; 32]);
        session.entropy(purposes::LINK, link.as_mut_slice());
        let mut chain = Vec::with_capacity(LENGTH);
        for position in (0..LENGTH as u64).rev() {
            let before = Zeroizing::new(earlier(session, session.number(), session.me(), position, &link));
            chain.push(std::mem::replace(&mut link, before));
        }
        for peer in session.peers() {
            session.send(COMMIT, peer, link.as_slice(), 0)?;
        }
        Ok(Announced { chain, first: *link })
    }

    /// Open the next coin: 128 bits that nobody could predict. One round.
    ///
    /// Call it only after everything that the coin checks was received. When a chain is used up, the parties
    /// commit to another one first, in two more rounds.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`], which names the party, if a party's link does not open its commitment;
    /// [`Abort::Network`] if a link does not arrive; [`Abort::Misuse`] for coins of another session.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn toss(&mut self, session: &mut Session, step: Step) -> Result<[u8; 16], Abort> {
        self.ready(session)?;
        let opened = self.open(session, step)?;
        self.receive(session, opened)
    }

    /// Ensure that there is another coin: commit to a new chain if the present one is used up, in two rounds.
    ///
    /// # Errors
    /// Those of [`Coins::commit`].
    pub fn ready(&mut self, session: &mut Session) -> Result<(), Abort> {
        if self.chain.is_empty() {
            *self = Coins::commit(session)?;
        }
        Ok(())
    }

    /// The first half of a toss: send this party's link to all peers. Other messages of the round may be sent
    /// before [`Coins::receive`]; a new commitment, which waits for the peers, must come before: see
    /// [`Coins::ready`].
    ///
    /// # Errors
    /// [`Abort::Network`] if the session is poisoned or a link is gone; [`Abort::Misuse`] if the chain is
    /// used up, or belongs to another session.
    pub fn open(&mut self, session: &mut Session, step: Step) -> Result<Opened, Abort> {
        if self.session != *session.id().as_bytes() {
            return Err(session.misuse(step, Misuse::OtherSession));
        }
        let Some(ours) = self.chain.pop() else {
            return Err(session.misuse(step, Misuse::UsedTwice));
        };
        let position = self.next;
        self.next += 1;
        #[cfg(feature = "testing")]
        session.note_coin(step);
        for peer in session.peers() {
            session.send(step, peer, ours.as_slice(), 0)?;
        }
        Ok(Opened { ours, position, step })
    }

    /// The second half of a toss: receive the links of the other parties, and return the coin.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`], which names the party, if a party's link does not open its commitment;
    /// [`Abort::Network`] if a link does not arrive.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn receive(&mut self, session: &mut Session, opened: Opened) -> Result<[u8; 16], Abort> {
        let Opened { ours, position, step } = opened;
        let mut coin = share(&ours, step);
        for peer in session.peers() {
            let mut link = [0; 32];
            session.recv(step, peer, &mut link)?;
            let before = earlier(session, self.strand, peer, position - 1, &link);
            let seen = &mut self.seen[peer.index()];
            session.require(checks::M0_2, step, same_bytes(&before, seen), Some(peer))?; // [M0.2]
            *seen = link;
            coin.iter_mut().zip(share(&link, step)).for_each(|(x, y)| *x ^= y);
        }
        taint::public(step, &mut coin);
        // opened and compared already: a test that changes it sees what rests on it, and nothing else
        purposes::COIN.numbers(&mut coin, |byte, last| byte ^ if last { 0x80 } else { 1 });
        purposes::COIN.drawn(|| coin);
        Ok(coin)
    }
}

/// This party's opened link: the coin is known when those of the other parties have arrived.
#[must_use = "the other parties' links of an opened coin must be received"]
pub struct Opened {
    ours: Zeroizing<[u8; 32]>,
    position: u64,
    step: Step,
}

impl Announced {
    /// Receive all commitments and echo them.
    ///
    /// # Errors
    /// [`Abort::Network`] if a commitment does not arrive, or the echo cannot be sent.
    pub fn receive(self, session: &mut Session) -> Result<UnconfirmedCoins, Abort> {
        let me = session.me();
        let mut seen = vec![[0; 32]; session.parties()];
        seen[me.index()] = self.first;
        for peer in session.peers() {
            session.recv(COMMIT, peer, &mut seen[peer.index()])?;
        }
        let mut echo = Echo::new(session, ECHO);
        for (party, first) in PartyId::all(session.parties()).zip(&seen) {
            echo.absorb(party, first);
        }
        let echoed = echo.send(session)?;
        let (session_id, strand) = (*session.id().as_bytes(), session.number());
        let coins = Coins { chain: self.chain, seen, next: 1, session: session_id, strand };
        Ok(UnconfirmedCoins { coins, echoed })
    }
}

impl UnconfirmedCoins {
    /// Compare the echoes. Afterwards nobody can change a coin.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] without a culprit if a party sent different commitments to different parties;
    /// [`Abort::Network`] if an echo does not arrive.
    pub fn confirm(self, session: &mut Session) -> Result<Coins, Abort> {
        self.echoed.compare(session, checks::M0_3)?; // [M0.3]
        Ok(self.coins)
    }
}

/// The link before `link`, at this position in the chain of this party.
fn earlier(session: &Session, strand: u32, party: PartyId, position: u64, link: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 coin chain v1");
    hasher.update(session.id().as_bytes()).update(&strand.to_le_bytes());
    hasher.update(&[party.number()]).update(&position.to_le_bytes()).update(link);
    let before = *hasher.finalize().as_bytes();
    hasher.zeroize();
    before
}

/// The value that a link contributes to the coin of a step.
fn share(link: &[u8; 32], step: Step) -> [u8; 16] {
    let mut out = [0; 16];
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 coin share v1");
    hasher.update(link).update(&step.id.to_le_bytes());
    hasher.expand(purposes::SHARE_OF_COIN).fill(&mut out);
    out
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::PublicParameters;
    use crate::testing::{Harness, in_another, run};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// All parties toss the same coins, each of whose 128 bits takes both values.
    #[test]
    fn all_bits_of_a_coin_are_tossed() {
        let ends = run(2, &PublicParameters::new("coins"), |mut session| {
            let mut coins = Coins::commit(&mut session)?;
            let toss = |_| coins.toss(&mut session, step!("toss")).map(u128::from_le_bytes);
            (0..128).map(toss).collect::<Result<Vec<u128>, Abort>>()
        });
        let [ours, theirs] = &ends[..] else { unreachable!("two parties") };
        let (ours, theirs) = (ours.as_ref().unwrap(), theirs.as_ref().unwrap());
        assert_eq!(ours, theirs);
        assert_eq!(ours.iter().fold(0, |any, coin| any | coin), u128::MAX);
        assert_eq!(ours.iter().fold(u128::MAX, |all, coin| all & coin), 0);
    }

    /// A coin is made of the links that its own toss opens, of all parties: nobody knows it before.
    #[test]
    fn a_coin_is_made_of_what_its_toss_opens() {
        let ends = run(3, &PublicParameters::new("coins"), |mut session| {
            let mut coins = Coins::commit(&mut session)?;
            for step in [step!("toss"), step!("toss"), step!("another")] {
                let ours = coins.chain.last().map(|link| **link).unwrap();
                let coin = coins.toss(&mut session, step)?;
                let mut links = coins.seen.clone();
                links[session.me().index()] = ours;
                let sum = links.iter().fold(0, |sum, link| sum ^ u128::from_le_bytes(share(link, step)));
                assert_eq!(u128::from_le_bytes(coin), sum);
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }

    /// The commitments to a later chain are compared, too, before a coin is opened.
    #[test]
    fn commitments_to_a_later_chain_are_compared() {
        let harness = Harness::new(3, &PublicParameters::new("coins"));
        // the second commitment of the first party to the third
        harness.change(PartyId::P1, PartyId::P3, COMMIT.name, 1, |body| body[31] ^= 1);
        let tossed: [AtomicUsize; 3] = Default::default();
        let ends = harness.act(|mut session| {
            let mut coins = Coins::commit(&mut session)?;
            loop {
                coins.toss(&mut session, step!("toss"))?;
                tossed[session.me().index()].fetch_add(1, Ordering::Relaxed);
            }
        });
        let found = |end: &Result<(), Abort>| match end {
            Err(Abort::CheckFailed { check, step, .. }) => (*check, *step) == (checks::M0_3, ECHO),
            _ => false,
        };
        assert!(ends.iter().any(found), "{ends:?}");
        assert_eq!(tossed.map(AtomicUsize::into_inner), [LENGTH; 3]);
    }

    /// A link that opens no commitment is noticed at each place of a chain, and the party is named.
    #[test]
    fn every_link_of_a_chain_is_compared() {
        let step = step!("toss");
        for toss in [0, 1, 2, 3, 4, 5, 63, 64, 500, LENGTH - 1] {
            let harness = Harness::new(3, &PublicParameters::new("coins"));
            harness.change(PartyId::P2, PartyId::P3, step.name, toss, |body| body[31] ^= 1);
            let ends = harness.act(|mut session| {
                let mut coins = Coins::commit(&mut session)?;
                (0..=toss).try_for_each(|_| coins.toss(&mut session, step).map(drop))
            });
            let lied = Abort::CheckFailed { check: checks::M0_2, step, culprit: Some(PartyId::P2) };
            assert_eq!(ends[2], Err(lied), "{toss}");
        }
    }

    /// No chain is one of those before: neither the second one nor a later one.
    #[test]
    fn no_coin_comes_twice_however_many_chains_there_are() {
        let ends = run(2, &PublicParameters::new("coins"), |mut session| {
            let mut coins = Coins::commit(&mut session)?;
            let mut seen = std::collections::HashSet::new();
            for number in 0..3 * LENGTH + 2 {
                assert!(seen.insert(coins.toss(&mut session, step!("toss"))?), "{number}");
            }
            Ok(())
        });
        ends.into_iter().for_each(Result::unwrap);
    }

    /// Coins that were committed to in one session are opened in no other, also if its id begins alike.
    #[test]
    fn coins_belong_to_their_session() {
        let ends = in_another(2, &PublicParameters::new("coins"), Coins::commit, |session, mut coins| {
            // not the first coin of this thread
            Coins::commit(session)?.toss(session, step!("toss"))?;
            coins.toss(session, step!("toss")).map(drop)
        });
        let refused = |end: &_| matches!(end, Err(Abort::Misuse { what: Misuse::OtherSession, .. }));
        assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{ends:?}");
    }

    /// A link opens the commitment of one party, at one place of one chain of one session: nobody can give
    /// another one's links as its own.
    #[test]
    fn a_link_is_of_one_party_and_one_place() {
        let ends = run(3, &PublicParameters::new("coins"), |session| {
            let link = [7; 32];
            let mut seen = std::collections::BTreeSet::new();
            for party in PartyId::all(3) {
                for strand in [0, 1, 1 << 8, 1 << 31] {
                    for position in [0, 1, 1 << 8, 1 << 63] {
                        assert!(seen.insert(earlier(&session, strand, party, position, &link)));
                    }
                }
            }
            for byte in 0..32 {
                let mut other = link;
                other[byte] ^= 0x80;
                assert!(seen.insert(earlier(&session, 0, PartyId::P1, 0, &other)), "{byte}");
            }
            Ok(earlier(&session, 0, PartyId::P1, 0, &link))
        });
        let here: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
        let there = run(3, &PublicParameters::new("coins"), |session| {
            Ok(earlier(&session, 0, PartyId::P1, 0, &[7; 32]))
        });
        assert!(here.iter().all(|link| *link == here[0] && *link != there[0].clone().unwrap()));
    }
}
