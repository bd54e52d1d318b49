//! Interceptors of the messages on a link, for tests: see [`crate::tamper`].

use crate::Frame;
use std::collections::BTreeMap;

/// An interceptor between a corrupt party and its link to one peer.
pub trait Intercept: Send {
    /// Called for each message that is about to be sent; returns the messages that are sent in its place, in
    /// this order.
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame>;
    /// Called for each message that has arrived from the peer, before the party's own code sees it.
    fn incoming(&mut self, _frame: &Frame) {}
    /// Called after the party has told the peer that a session is over.
    fn abort_sent(&mut self, _session: u32) {}
}

impl<F: FnMut(Frame) -> Vec<Frame> + Send> Intercept for F {
    fn outgoing(&mut self, frame: Frame) -> Vec<Frame> {
        self(frame)
    }
}

/// An interceptor that is placed on a link.
pub(crate) struct Placed {
    pub intercept: Box<dyn Intercept>,
    /// Incoming bodies of which parts are still missing, by session and strand.
    pub partial: BTreeMap<(u32, u32), Vec<u8>>,
}
