//! Tampering: a corrupt party in a test, made of an honest one whose messages are changed on their way out.
//!
//! An [`Intercept`] sits between a party's protocol code and its link to one peer. It sees every message of
//! every session that the party sends to or receives from that peer and may change, drop, duplicate, reorder,
//! hold back or replace what is sent. Two interceptors of one party may share state, and so collude.

use crate::fabric::Fabric;
use crate::mesh::Mesh;
use crate::{Fault, Frame, PartyId, step};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands between a corrupt party and its link to one peer.
pub trait Intercept: Send {
    /// A message is about to be sent: what is sent in its place, in this order.
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame>;
    /// A message has arrived from the peer, before the party's own code sees it.
    fn incoming(&mut self, _frame: &Frame) {}
    /// The party has told the peer that a session is over.
    fn abort_sent(&mut self, _session: u32) {}
}

impl<F: FnMut(Frame) -> Vec<Frame> + Send> Intercept for F {
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame> {
        self(frame)
    }
}

/// An interceptor in its place.
pub(crate) struct Placed {
    pub intercept: Box<dyn Intercept>,
    /// Bodies of which parts are still missing, by session and strand.
    pub partial: BTreeMap<(u32, u32), Vec<u8>>,
}

/// The tampering hand on one party's mesh.
#[derive(Clone)]
pub struct Tap(Arc<Fabric>);

impl Tap {
    /// A hand on this mesh.
    pub fn new(mesh: &Mesh) -> Self {
        Self(mesh.fabric().clone())
    }

    /// Places an interceptor on the link to `peer`, in the place of an earlier one.
    pub fn intercept(&self, peer: PartyId, intercept: Box<dyn Intercept>) -> Result<(), Fault> {
        self.0.link(peer, step!("intercept"))?.place(Placed { intercept, partial: BTreeMap::new() });
        Ok(())
    }

    /// Sends a message past the interceptor, and past the rule that a poisoned session is silent.
    pub fn inject(&self, peer: PartyId, frame: &Frame) -> Result<(), Fault> {
        self.0.emit(
            peer,
            step!("inject"),
            frame.session,
            frame.strand,
            frame.step,
            frame.depth,
            &frame.body,
            None,
        )
    }
}
