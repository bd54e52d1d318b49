//! How sessions and links end, and who else has ended.

use super::{Fabric, Link, Out, sleep};
use crate::fault::Loss;
use crate::frame::Control;
use crate::session::{Cause, Session};
use crate::world::lock;
use crate::{PartyId, step};
use rustix::event::PollFlags;
use std::time::Duration;

impl Fabric {
    pub(super) fn is_over(&self, session: u32) -> bool {
        lock(&self.sessions).is_over(session)
    }

    /// A peer ended a session, because of `blames` if it says so.
    pub(super) fn aborted(&self, from: PartyId, number: u32, blames: Option<PartyId>) {
        lock(&self.sessions).aborted(from, number, blames);
        self.wake(number);
    }

    /// This party ends a session: wakes its strands, tells the peers once, and because of whom.
    pub fn poison(&self, session: &Session, blames: Option<PartyId>) {
        session.end(Cause::Own);
        lock(&self.sessions).ended(session.number);
        self.wake(session.number);
        if session.must_tell() {
            let abort = Control::Abort { blames: blames.map_or(0, PartyId::number) };
            for (_, link) in self.links() {
                if link.inbox.down().is_none() {
                    self.tell(link, session.number, abort);
                    if let Some(Some(placed)) = link.tap().as_deref_mut() {
                        placed.intercept.abort_sent(session.number);
                    }
                }
            }
        }
    }

    fn wake(&self, session: u32) {
        for (_, link) in self.links() {
            link.inbox.wake_session(session);
            if let Out::Tls(tls) = &link.out {
                tls.interrupt(&link.inbox);
            }
        }
    }

    /// A link broke: all sessions of the mesh are over.
    pub fn lose(&self, peer: PartyId, reason: Loss) {
        let Ok(link) = self.link(peer, step!("lose")) else { return };
        if link.inbox.down().is_some() {
            return;
        }
        // The sessions first: who wakes by the link's end finds theirs ended.
        let open = lock(&self.sessions).lose(peer, reason);
        for session in &open {
            session.end(Cause::Lost(peer, reason));
        }
        link.inbox.lose(reason);
        if let Out::Tls(tls) = &link.out {
            tls.reset();
        }
        for session in open {
            self.wake(session.number);
        }
    }

    /// The first party other than `peer` whose link broke without an orderly end, and the loss. `peer` is
    /// left out because it did send word. The links are watched for `moment`, except those that another
    /// thread reads, which will notice itself.
    pub fn dead_besides(&self, peer: PartyId, moment: Duration) -> Option<(PartyId, Loss)> {
        let until = self.world.now() + moment;
        let dead = || {
            let cut = |link: &Link| link.inbox.down().filter(|reason| *reason == Loss::Cut);
            self.links().filter(|(p, _)| *p != peer).find_map(|(p, link)| Some((p, cut(link)?)))
        };
        loop {
            let mut held = Vec::new();
            for (p, link) in self.links().filter(|(p, _)| *p != peer) {
                if let Out::Tls(tls) = &link.out
                    && link.inbox.enter()
                {
                    held.push((p, link, tls));
                }
            }
            let left = until.saturating_duration_since(self.world.now());
            let mut fds: Vec<_> = held.iter().map(|(.., tls)| tls.polled(PollFlags::IN)).collect();
            let ready = !fds.is_empty() && sleep(&mut fds, left);
            for (p, link, tls) in held {
                if ready {
                    tls.pull(self, p);
                }
                link.inbox.leave(None);
            }
            let dead = dead();
            if dead.is_some() || !ready || self.world.now() >= until {
                return dead;
            }
        }
    }
}
