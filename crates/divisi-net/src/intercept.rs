//! What may stand on a link, for tests: see [`crate::tamper`].

use crate::Frame;
use std::collections::BTreeMap;

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
