//! A mesh: one party's links to all others, shared by many sessions.

use crate::fabric::{Fabric, Out, resident};
use crate::fault::{Fault, Loss};
use crate::frame::Control;
use crate::world::{World, later};
use crate::{Channel, PartyId, Permits, step};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use zeroize::Zeroizing;

/// One party's links to all others.
///
/// Dropping it closes the links in an orderly way; during a panic of its thread it resets them, as the end of
/// the process would.
pub struct Mesh {
    fabric: Arc<Fabric>,
    ended: bool,
}

impl Mesh {
    pub(crate) fn from_fabric(fabric: Arc<Fabric>) -> Self {
        Self { fabric, ended: false }
    }

    pub(crate) fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// This party.
    pub fn me(&self) -> PartyId {
        self.fabric.me
    }

    /// How many parties the mesh has, this one included.
    pub fn parties(&self) -> usize {
        self.fabric.parties()
    }

    /// All other parties, in order.
    pub fn peers(&self) -> impl Iterator<Item = PartyId> {
        self.fabric.links().map(|(p, _)| p)
    }

    /// The surroundings of this party.
    pub fn world(&self) -> &Arc<dyn World> {
        &self.fabric.world
    }

    /// Opens the channel of a strand of a session. A session that was ended stays ended.
    pub fn open(&self, session: u32, strand: u32) -> Result<Channel, Fault> {
        let session = self.fabric.open(session, strand)?;
        Ok(Channel::new(self.fabric.clone(), session, strand))
    }

    /// The bytes handed to the link to a peer so far, headers included; 0 if there is no such peer.
    pub fn bytes_sent(&self, peer: PartyId) -> u64 {
        self.fabric.link(peer, step!("bytes_sent")).map_or(0, |link| link.sent.load(Ordering::Relaxed))
    }

    /// A secret that only this party and `peer` know, fresh with each connection: the root of the pairwise
    /// keys.
    pub fn link_secret(&self, peer: PartyId) -> Result<Zeroizing<[u8; 32]>, Fault> {
        Ok(self.fabric.link(peer, step!("link_secret"))?.secret.clone())
    }

    /// How long a receive waits for a message.
    pub fn timeout(&self) -> Duration {
        self.fabric.timeout()
    }

    /// Sets the time limit of a receive, for all channels of this mesh.
    pub fn set_timeout(&self, timeout: Duration) {
        self.fabric.set_timeout(timeout);
    }

    /// The permits that the strands of this mesh share.
    pub fn permits(&self) -> Permits {
        self.fabric.permits()
    }

    /// Sets the permits, for strands that start from now on.
    pub fn set_permits(&self, permits: Permits) {
        self.fabric.set_permits(permits);
    }

    /// The first link that broke, if one did: the mesh cannot be used any more.
    pub fn lost(&self) -> Option<(PartyId, Loss)> {
        self.fabric.lost()
    }

    /// Tells the peers that nothing more follows, waits until all queued bytes are sent, and closes the
    /// links.
    pub fn close(mut self, within: Duration) {
        self.end(within);
    }

    /// Cuts all links at once, as the end of the process would.
    pub fn reset(mut self) {
        self.cut();
    }

    fn end(&mut self, within: Duration) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let until = later(self.fabric.world.now(), within);
        for (_, link) in self.fabric.links() {
            if link.inbox.down().is_none() {
                self.fabric.tell(link, 0, Control::Close);
            }
        }
        for (_, link) in self.fabric.links() {
            if let Out::Tls(tls) = &link.out {
                tls.close(&self.fabric, until);
            }
        }
        self.finish();
    }

    fn cut(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        for (_, link) in self.fabric.links() {
            match &link.out {
                Out::Memory(peer) => {
                    if let Some(peer) = resident(peer) {
                        peer.lose(self.fabric.me, Loss::Cut);
                    }
                }
                Out::Tls(tls) => tls.reset(),
            }
        }
        self.finish();
    }

    /// Ends the links that this party still has open.
    fn finish(&self) {
        for (peer, link) in self.fabric.links() {
            if link.inbox.down() == Some(Loss::Closed) {
                continue;
            }
            self.fabric.lose(peer, Loss::Own);
        }
        self.fabric.pump.end();
        if let Some(skipping) = self.fabric.skipping() {
            skipping.gone(self.fabric.me);
        }
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        if std::thread::panicking() { self.cut() } else { self.end(Duration::from_secs(1)) }
    }
}
