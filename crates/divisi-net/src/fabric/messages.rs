//! How messages go onto a link, and how arriving frames go to the link's inbox.

use super::{Fabric, Link, Out, resident};
use crate::body::Body;
use crate::fault::{Fault, Loss};
use crate::frame::{CONTROL, Control, Head, segments, wire_len};
use crate::session::{Cause, Session};
use crate::{Frame, PartyId, Step, step};
use std::sync::atomic::Ordering;
use std::time::Instant;

impl Fabric {
    /// Sends a message through the interceptor, if there is one.
    pub fn send(
        &self,
        to: PartyId,
        step: Step,
        session: &Session,
        strand: u32,
        depth: u32,
        body: &[u8],
    ) -> Result<(), Fault> {
        let link = self.link(to, step)?;
        let frames = match link.tap().as_deref_mut() {
            Some(Some(placed)) => {
                let frame =
                    Frame { session: session.number, strand, step: step.id, depth, body: body.to_vec() };
                placed.intercept.outgoing(frame)
            }
            _ => return self.emit(to, step, session.number, strand, step.id, depth, body, Some(session)),
        };
        for f in frames {
            self.emit(to, step, f.session, f.strand, f.step, f.depth, &f.body, Some(session))?;
        }
        Ok(())
    }

    /// Sends a message as it is.
    pub fn emit(
        &self,
        to: PartyId,
        step: Step,
        session: u32,
        strand: u32,
        id: u32,
        depth: u32,
        body: &[u8],
        unless_over: Option<&Session>,
    ) -> Result<(), Fault> {
        let link = self.link(to, step)?;
        match link.inbox.down() {
            None => {}
            Some(reason) => return Err(Cause::Lost(to, reason).fault(step)),
        }
        link.sent.fetch_add(wire_len(body.len()), Ordering::Relaxed);
        match &link.out {
            Out::Memory(peer) => {
                let Some(peer) = resident(peer) else {
                    return Err(Fault::Lost { peer: to, step, reason: Loss::Closed });
                };
                let head = Head { session, strand, step: id, depth, len: body.len() as u32, more: false };
                peer.deliver(self.me, head, Body::from(body), None);
                Ok(())
            }
            Out::Tls(tls) => {
                tls.send(self, to, step, &mut segments(session, strand, id, depth, body), unless_over)
            }
        }
    }

    /// Sends a control message. Nothing happens if the link is gone.
    pub fn tell(&self, link: &Link, session: u32, control: Control) {
        let (head, body) = control.encode(session);
        match &link.out {
            Out::Memory(peer) => {
                if let Some(peer) = resident(peer) {
                    peer.deliver(self.me, head, body, None);
                }
            }
            // A peer that asks and does not read must not fill the queue with answers.
            Out::Tls(tls) if matches!(control, Control::Answer { .. }) && tls.is_pending() => {}
            Out::Tls(tls) => tls.tell(self, &head, &body),
        }
    }

    /// Takes in a frame from a peer. `sent` is known on links that carry it.
    pub fn deliver(&self, from: PartyId, head: Head, body: Body, sent: Option<Instant>) {
        if let Err(loss) = self.try_deliver(from, head, body, sent) {
            self.lose(from, loss);
        }
    }

    /// Like [`Self::deliver`], for a caller that itself ends the link on an error.
    pub fn try_deliver(
        &self,
        from: PartyId,
        head: Head,
        body: Body,
        sent: Option<Instant>,
    ) -> Result<(), Loss> {
        let Ok(link) = self.link(from, step!("deliver")) else { return Ok(()) };
        if head.strand == CONTROL {
            return self.control(from, link, head.session, Control::decode(&head, &body)?);
        }
        if let Some(Some(placed)) = link.tap().as_deref_mut() {
            let key = (head.session, head.strand);
            let whole = placed.partial.entry(key).or_default();
            whole.extend_from_slice(&body);
            if !head.more {
                let body = placed.partial.remove(&key).unwrap_or_default();
                let Head { session, strand, step, depth, .. } = head;
                placed.intercept.incoming(&Frame { session, strand, step, depth, body });
            }
        }
        let sent = sent.or_else(|| link.inbox.emulated().then(|| self.world.now()));
        link.inbox.deliver(&head, body, sent, |session| self.is_over(session))
    }

    fn control(&self, from: PartyId, link: &Link, session: u32, control: Control) -> Result<(), Loss> {
        match control {
            Control::Abort { blames } => {
                let blames = PartyId::new(blames).filter(|p| p.index() < self.links.len());
                self.aborted(from, session, blames);
            }
            Control::Close => {
                link.inbox.lose(Loss::Closed);
            }
            Control::Ask { strand } => {
                // a party that waits for nobody names itself, which means that it works
                let waits = self.links().find_map(|(p, l)| Some((p, l.inbox.waiting((session, strand))?)));
                let (party, step) = waits.unwrap_or((self.me, 0));
                self.tell(link, session, Control::Answer { strand, party: party.number(), step });
            }
            Control::Answer { strand, party, step } => {
                let party = PartyId::new(party).filter(|p| p.index() < self.links.len());
                link.inbox.answer((session, strand), party.map(|p| (p, step)));
            }
        }
        Ok(())
    }
}
