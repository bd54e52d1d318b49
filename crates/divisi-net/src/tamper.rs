//! Tampering: a corrupt party in a test, which is an honest party whose messages are changed after it sends
//! them.
//!
//! An [`Intercept`] sits between a party's protocol code and its link to one peer. It sees every message of
//! every session that the party sends to or receives from that peer and may change, drop, duplicate, reorder,
//! hold back or replace what is sent. Two interceptors of one party may share state, and so collude.

pub use crate::intercept::Intercept;

use crate::fabric::Fabric;
use crate::intercept::Placed;
use crate::mesh::Mesh;
use crate::skip::Skipping;
use crate::{Fault, Frame, Loss, PartyId, step};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Access to one party's mesh for tampering.
#[derive(Clone)]
pub struct Tap(Arc<Fabric>);

impl Tap {
    /// Access to this mesh.
    pub fn new(mesh: &Mesh) -> Self {
        Self(mesh.fabric().clone())
    }

    /// Places an interceptor on the link to `peer`, in the place of an earlier one.
    pub fn intercept(&self, peer: PartyId, intercept: Box<dyn Intercept>) -> Result<(), Fault> {
        self.0.link(peer, step!("intercept"))?.place(Placed { intercept, partial: BTreeMap::new() });
        Ok(())
    }

    /// Sends a message past the interceptor, even in a poisoned session, which is otherwise silent.
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

    /// Ends the link to this peer as if the peer's process had died. It is cut at this end only: the peer's
    /// own end belongs to another tap.
    pub fn cut(&self, peer: PartyId) {
        self.0.lose(peer, Loss::Cut);
    }

    /// As long as the result exists, a thread without a channel acts for this party: in a mesh whose waits
    /// are skipped, no time limit passes meanwhile.
    #[must_use]
    pub fn busy(&self) -> Busy {
        let skipping = self.0.skipping().cloned();
        skipping.iter().for_each(|skipping| skipping.busy());
        Busy(skipping)
    }

    /// Lets time pass, in a thread that acts for this party: it must own one of its channels, or be
    /// [`Self::busy`].
    pub fn wait(&self, time: Duration) {
        match self.0.skipping() {
            Some(skipping) => skipping.pass(time),
            None => std::thread::sleep(time),
        }
    }
}

/// A guard that says that a thread without a channel is acting.
pub struct Busy(Option<Arc<Skipping>>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.iter().for_each(|skipping| skipping.idle());
    }
}
