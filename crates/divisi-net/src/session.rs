//! The state that all strands of a session share: whether it has ended, and why; and the list of sessions.

use crate::fault::{Fault, Loss};
use crate::world::lock;
use crate::{PartyId, Step};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The number of sessions that a peer ended and this party never opened that are remembered, for each peer.
const REMEMBERED: usize = 1024;

/// Why a session is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// A peer said so, and perhaps because of whom.
    Aborted(PartyId, Option<PartyId>),
    /// A link of the mesh is gone.
    Lost(PartyId, Loss),
    /// A strand of this party said so.
    Own,
}

impl Cause {
    /// The fault that a strand meets at `step`.
    pub fn fault(self, step: Step) -> Fault {
        match self {
            Self::Aborted(peer, blames) => Fault::Aborted { peer, step, blames },
            Self::Lost(peer, Loss::Flooded) => Fault::Flooded { peer, step },
            Self::Lost(peer, reason) => Fault::Lost { peer, step, reason },
            Self::Own => Fault::Poisoned { step },
        }
    }
}

/// The common state of a session's strands.
#[derive(Debug)]
pub(crate) struct Session {
    pub number: u32,
    over: AtomicBool,
    cause: Mutex<Option<Cause>>,
    told: AtomicBool,
}

impl Session {
    pub fn new(number: u32) -> Self {
        Self { number, over: AtomicBool::new(false), cause: Mutex::new(None), told: AtomicBool::new(false) }
    }

    /// Whether the session is over.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Ends it; the first cause stands.
    pub fn end(&self, cause: Cause) {
        lock(&self.cause).get_or_insert(cause);
        self.over.store(true, Ordering::SeqCst);
    }

    /// True for the one caller that has to tell the peers.
    pub fn must_tell(&self) -> bool {
        !self.told.swap(true, Ordering::SeqCst)
    }

    /// The fault of this session's end, if it is over.
    pub fn check(&self, step: Step) -> Result<(), Fault> {
        if !self.is_over() {
            return Ok(());
        }
        Err(lock(&self.cause).unwrap_or(Cause::Own).fault(step))
    }
}

/// The sessions of a mesh.
#[derive(Default)]
pub(crate) struct Sessions {
    open: BTreeMap<u32, (Arc<Session>, usize)>,
    /// Sessions that this party has seen end.
    ended: BTreeSet<u32>,
    /// Sessions that a peer ended and this party has not opened, by peer, and because of whom.
    aborted: BTreeMap<PartyId, VecDeque<(u32, Option<PartyId>)>>,
    /// The first link that was lost.
    lost: Option<(PartyId, Loss)>,
}

impl Sessions {
    /// The first link that was lost.
    pub fn lost(&self) -> Option<(PartyId, Loss)> {
        self.lost
    }

    /// Whether this party has seen a session end.
    pub fn is_over(&self, number: u32) -> bool {
        self.ended.contains(&number)
    }

    /// Records that a session has ended.
    pub fn ended(&mut self, number: u32) {
        self.ended.insert(number);
    }

    /// Records that a peer ended a session, and because of whom.
    pub fn aborted(&mut self, from: PartyId, number: u32, blames: Option<PartyId>) {
        match self.open.get(&number) {
            Some((session, _)) => {
                session.end(Cause::Aborted(from, blames));
                self.ended.insert(number);
            }
            None => {
                let known = self.aborted.entry(from).or_default();
                if known.iter().all(|(other, _)| *other != number) {
                    known.push_back((number, blames));
                }
                if known.len() > REMEMBERED {
                    known.pop_front();
                }
            }
        }
    }

    /// Records that a link broke, which ends all sessions. Returns those that were open, whose strands are
    /// still to be told.
    pub fn lose(&mut self, peer: PartyId, reason: Loss) -> Vec<Arc<Session>> {
        self.lost.get_or_insert((peer, reason));
        let open: Vec<_> = self.open.values().map(|(session, _)| session.clone()).collect();
        self.ended.extend(open.iter().map(|session| session.number));
        open
    }

    /// Opens a strand of a session.
    pub fn open(&mut self, number: u32, step: Step) -> Result<Arc<Session>, Fault> {
        if let Some((peer, reason)) = self.lost {
            return Err(Cause::Lost(peer, reason).fault(step));
        }
        let of_peer = |(peer, known): (&PartyId, &VecDeque<(u32, Option<PartyId>)>)| {
            let (_, blames) = known.iter().find(|(other, _)| *other == number)?;
            Some(Cause::Aborted(*peer, *blames).fault(step))
        };
        if let Some(fault) = self.aborted.iter().find_map(of_peer) {
            return Err(fault);
        }
        let fresh = || (Arc::new(Session::new(number)), 0);
        let (session, strands) = self.open.entry(number).or_insert_with(fresh);
        let session = session.clone();
        session.check(step)?;
        if *strands == 0 && self.ended.contains(&number) {
            self.open.remove(&number);
            return Err(Fault::Poisoned { step });
        }
        *strands += 1;
        Ok(session)
    }

    /// Closes a strand of a session.
    pub fn release(&mut self, number: u32) {
        if let Some((_, strands)) = self.open.get_mut(&number) {
            *strands -= 1;
            if *strands == 0 {
                self.open.remove(&number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const STEP: Step = Step::new("divisi_net::session::tests/step");
    const PEERS: [PartyId; 2] = [PartyId::P2, PartyId::P3];

    /// A session lives as long as one of its strands; once it has ended, it is opened no more.
    #[test]
    fn a_session_ends_with_its_last_strand() {
        for strands in [1, 2, 256] {
            let mut sessions = Sessions::default();
            (0..strands).for_each(|_| drop(sessions.open(1, STEP).unwrap()));
            let open = sessions.open(1, STEP).unwrap();
            sessions.release(1);
            assert!(Arc::ptr_eq(&open, &sessions.open(1, STEP).unwrap()));
            sessions.release(1);
            sessions.ended(1);
            assert!(sessions.is_over(1) && !sessions.is_over(2));
            // another strand of it is under way, until the session says that it is over
            sessions.open(1, STEP).unwrap().end(Cause::Own);
            assert_eq!(sessions.open(1, STEP).err(), Some(Fault::Poisoned { step: STEP }));
            (0..=strands).for_each(|_| sessions.release(1));
            assert_eq!(sessions.open(1, STEP).err(), Some(Fault::Poisoned { step: STEP }));
            sessions.open(2, STEP).unwrap();
            // one of which only the number is known
            (0..strands).for_each(|_| drop(sessions.open(3, STEP).unwrap()));
            sessions.ended(3);
            (0..strands).for_each(|_| sessions.release(3));
            assert_eq!(sessions.open(3, STEP).err(), Some(Fault::Poisoned { step: STEP }));
        }
    }

    /// Of a session's end the peers are told once, however often it ends.
    #[test]
    fn one_caller_has_to_tell_the_peers() {
        let session = Session::new(1);
        let tell = [0; 3].map(|_| {
            session.end(Cause::Own);
            session.must_tell()
        });
        assert_eq!(tell, [true, false, false]);
    }

    /// What a peer said of a session that is not open here is known when it is opened, however often the peer
    /// says it; of too many the oldest are forgotten, and only those of the same peer.
    #[test]
    fn the_last_sessions_that_each_peer_ended_are_known() {
        let mut sessions = Sessions::default();
        let most = REMEMBERED as u32;
        sessions.aborted(PEERS[1], 0, None);
        (0..most).for_each(|number| sessions.aborted(PEERS[0], number, Some(PartyId::P1)));
        for again in [1, most - 1] {
            (0..5).for_each(|_| sessions.aborted(PEERS[0], again, None));
        }
        let fault = |sessions: &mut Sessions, number| sessions.open(number, STEP).err();
        let told = |peer, blames| Some(Fault::Aborted { peer, step: STEP, blames });
        for number in 0..most {
            assert_eq!(fault(&mut sessions, number), told(PEERS[0], Some(PartyId::P1)), "{number}");
        }
        assert_eq!(fault(&mut sessions, most), None);
        sessions.aborted(PEERS[0], most + 1, None);
        assert_eq!(fault(&mut sessions, 0), told(PEERS[1], None));
        assert_eq!(fault(&mut sessions, 1), told(PEERS[0], Some(PartyId::P1)));
    }

    /// A link that broke ends all sessions that are open, and no other one is opened; the first loss stands.
    #[test]
    fn a_lost_link_ends_all() {
        let mut sessions = Sessions::default();
        let _open = [1, 2].map(|number| sessions.open(number, STEP).unwrap());
        let ended = sessions.lose(PEERS[0], Loss::Cut);
        assert_eq!(ended.iter().map(|session| session.number).collect::<Vec<_>>(), [1, 2]);
        sessions.lose(PEERS[1], Loss::Garbage);
        assert!(sessions.is_over(1) && sessions.is_over(2) && !sessions.is_over(3));
        let lost = Fault::Lost { peer: PEERS[0], step: STEP, reason: Loss::Cut };
        assert_eq!(sessions.open(3, STEP).err(), Some(lost));
    }
}
