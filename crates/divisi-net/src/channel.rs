//! A channel: one strand of one session on a mesh.

use crate::fabric::{Fabric, Link, Out, PATIENCE};
use crate::fault::Fault;
use crate::frame::{Control, MAX_BODY};
use crate::inbox::{Awaited, Look, Progress, Turn};
use crate::permits;
use crate::session::Session;
use crate::world::later;
use crate::{PartyId, Step};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a peer may take to say whom it waits for itself.
const GRACE: Duration = Duration::from_millis(500);

/// How long, after a peer said that a session is over, the other links are watched for a party that died. The
/// end of a dead party's link reaches this party about as fast as the peer's word.
const MOMENT: Duration = Duration::from_millis(50);

/// The sends and receives of one strand of one session.
///
/// Sends and receives of one channel are in order on each link. After a [`Fault`] the session is over: call
/// [`Channel::poison`], which tells the other strands and the peers.
pub struct Channel {
    fabric: Arc<Fabric>,
    session: Arc<Session>,
    strand: u32,
    /// How many more time limits a receive waits for a peer that works, or waits for another party.
    patience: AtomicU32,
}

impl Channel {
    pub(crate) fn new(fabric: Arc<Fabric>, session: Arc<Session>, strand: u32) -> Self {
        Self { fabric, session, strand, patience: AtomicU32::new(0) }
    }

    /// From now on a receive whose time limit passes waits for up to `limits` limits more, one each time that
    /// the peer says that it works, or that it waits for somebody else than us: for protocols in which
    /// parties take their turns one after the other, so that the last one waits for the work of all. A peer
    /// that gives no answer ends the wait as before, and so do, after the second limit, parties that all wait
    /// for one another.
    pub fn set_patience(&self, limits: u32) {
        self.patience.store(limits, Ordering::Relaxed);
    }

    /// This party.
    pub fn me(&self) -> PartyId {
        self.fabric.me
    }

    /// The session's number.
    pub fn session(&self) -> u32 {
        self.session.number
    }

    /// The strand's number.
    pub fn strand(&self) -> u32 {
        self.strand
    }

    /// Sends a message. It does not wait for the peer to read, unless the link's buffer of unread bytes is
    /// full.
    pub fn send(&self, to: PartyId, step: Step, depth: u32, body: &[u8]) -> Result<(), Fault> {
        self.check(step)?;
        if body.len() > MAX_BODY {
            return Err(Fault::Misuse { step, what: "the message is longer than 1 GiB" });
        }
        self.fabric.send(to, step, &self.session, self.strand, depth, body)
    }

    /// Waits until at most `most` bytes wait to be sent to a peer: this bounds the memory of a party that
    /// sends much to a slower peer. The peer must read meanwhile, whatever else it waits for: parties that
    /// wait in this way for each other would wait for ever.
    pub fn wait_for_capacity(&self, to: PartyId, step: Step, most: usize) -> Result<(), Fault> {
        match &self.fabric.link(to, step)?.out {
            Out::Memory(_) => Ok(()),
            Out::Tls(tls) => tls.wait_for_capacity(&self.fabric, to, step, most, &self.session),
        }
    }

    /// Receives the message of exactly `body.len()` bytes that `from` sent for this step; returns its depth.
    pub fn recv(&self, from: PartyId, step: Step, body: &mut [u8]) -> Result<u32, Fault> {
        let link = self.fabric.link(from, step)?;
        let key = (self.session.number, self.strand);
        let mut progress = Progress::default();
        let mut begun: Option<(Instant, Instant)> = None;
        let (mut asked, mut waits) = (false, 0);
        loop {
            self.check(step)?;
            let due = match link.inbox.take(key, step, body, &mut progress, &*self.fabric.world)? {
                Look::Complete(depth) => {
                    if asked {
                        link.inbox.ask(key, false);
                    }
                    return Ok(depth);
                }
                Look::Wait(due) => due,
            };
            let now = self.fabric.world.now();
            let (start, mut limit) = *begun.get_or_insert_with(|| (now, later(now, self.fabric.timeout())));
            if now >= limit {
                let claim = if asked { link.inbox.take_claim(key) } else { None };
                if !asked {
                    asked = true;
                    link.inbox.ask(key, true);
                    self.fabric.tell(link, key.0, Control::Ask { strand: key.1 });
                }
                let claimed = claim.flatten();
                let is_patient = waits < self.patience.load(Ordering::Relaxed)
                    && claimed.is_some_and(|(party, _)| party != self.fabric.me);
                // after one limit a message of a circle may be on its way; a peer that works is in none
                let is_circle = |claim: (PartyId, u32)| {
                    waits > 0 && claim.0 != from && self.follow(from, step, claim).is_none()
                };
                if is_patient && !claimed.is_some_and(is_circle) {
                    (asked, waits) = (false, waits + 1);
                    link.inbox.ask(key, false);
                    begun = Some((start, later(now, self.fabric.timeout())));
                    continue;
                }
                // a peer that works names itself, which is no claim about another party
                let claim = claim.filter(|_| claimed.is_none_or(|(party, _)| party != from));
                limit += GRACE;
                if now >= limit || claim.is_some() {
                    // of a circle nobody stands out: the first claim stays
                    let claim = claim.flatten().map(|claim| self.follow(from, step, claim).unwrap_or(claim));
                    // who was asked may have ended the session, and says because of whom
                    self.check(step)?;
                    return Err(Fault::Stalled { peer: from, step, waited: now - start, claim });
                }
            }
            let long = now >= start + PATIENCE;
            // a message that has come and is not due yet is not on the socket
            let glance = !long && due.is_none();
            let until = due.map_or(limit, |due| due.min(limit));
            self.wait((from, link), step, Awaited::Message, until, long, glance);
        }
    }

    /// For whom a chain of parties waits that begins with `from`, whose answer is `claim`: each is asked in
    /// turn, until one gives no answer or works. `None` if the chain comes back to us or to one that was
    /// asked before.
    fn follow(&self, from: PartyId, step: Step, claim: (PartyId, u32)) -> Option<(PartyId, u32)> {
        let key = (self.session.number, self.strand);
        let (mut known, mut last) = (vec![self.fabric.me, from], claim);
        loop {
            let (party, _) = last;
            if known.contains(&party) {
                return None;
            }
            known.push(party);
            let Ok(link) = self.fabric.link(party, step) else { return Some(last) };
            link.inbox.ask(key, true);
            self.fabric.tell(link, key.0, Control::Ask { strand: key.1 });
            let until = later(self.fabric.world.now(), GRACE);
            let answer = loop {
                let answer = link.inbox.take_claim(key);
                let over = || self.session.is_over() || link.inbox.down().is_some();
                if answer.is_some() || self.fabric.world.now() >= until || over() {
                    break answer.flatten();
                }
                self.wait((party, link), step, Awaited::Answer, until, true, false);
            };
            link.inbox.ask(key, false);
            match answer {
                Some(next) if next.0 != party => last = next,
                _ => return Some(last),
            }
        }
    }

    /// Checks that the session is not over. A peer that says that it is over may only have noticed earlier
    /// than this party that a third one is gone; then the fault names the third one.
    fn check(&self, step: Step) -> Result<(), Fault> {
        self.session.check(step).map_err(|fault| match fault {
            Fault::Aborted { peer, .. } => match self.fabric.dead_besides(peer, MOMENT) {
                Some((peer, reason)) => Fault::Lost { peer, step, reason },
                None => fault,
            },
            _ => fault,
        })
    }

    /// Waits, without a permit after a first glance, until a look into the inbox is worth while or `until`
    /// has come.
    fn wait(
        &self,
        (from, link): (PartyId, &Link),
        step: Step,
        awaited: Awaited,
        until: Instant,
        long: bool,
        glance: bool,
    ) {
        let fabric = &*self.fabric;
        let key = (self.session.number, self.strand);
        let stop = || self.session.is_over();
        if let (Out::Tls(tls), true) = (&link.out, glance)
            && link.inbox.enter()
        {
            let came = tls.glance(fabric, from, until, &stop);
            link.inbox.leave(None);
            if came {
                if permits::wanted() {
                    drop(permits::pause()); // whoever waits for the permit goes first
                }
                return;
            }
        }
        let pause = permits::pause();
        let Out::Tls(tls) = &link.out else {
            link.inbox.wait(key, step, awaited, until, false, &*fabric.world, stop);
            return;
        };
        let until = until.min(fabric.world.now() + PATIENCE);
        if link.inbox.wait(key, step, awaited, until, true, &*fabric.world, stop) == Turn::Look {
            return;
        }
        tls.read(fabric, from, until, long, pause, &stop);
        link.inbox.leave(Some(key));
    }

    /// Ends the session: its strands wake with [`Fault::Poisoned`], each peer gets one frame that says so,
    /// and nothing else is sent in the session.
    pub fn poison(&self) {
        self.fabric.poison(&self.session, None);
    }

    /// Like [`Channel::poison`], after a fault: the peers are told which party stalled or is gone, so that
    /// all name it, and not the one that noticed it first.
    pub fn poison_after(&self, fault: &Fault) {
        self.fabric.poison(&self.session, fault.passes_on());
    }

    /// Whether the session is over.
    pub fn is_poisoned(&self) -> bool {
        self.session.is_over()
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.fabric.shut((self.session.number, self.strand));
    }
}
