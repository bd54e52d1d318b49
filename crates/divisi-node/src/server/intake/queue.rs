//! One client's connection, and the request at its front.

use crate::admit::Who;
use crate::request::{Item, Reply, ToServer};
use crate::wire::encode;
use divisi_core::PartyId;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use zeroize::Zeroizing;

/// A request at the front of its line.
pub(super) struct Request {
    pub number: u64,
    pub item: Arc<Item>,
    pub came: u64,
    pub arrived: Instant,
    /// When a message came last, or a step was done.
    pub moved: Instant,
    pub steps: u64,
    pub in_hand: bool,
    /// Whether a step of it was taken, and is neither done nor back.
    pub out: bool,
    /// The messages that its steps have taken, and how many of them, and the request itself, have no answer.
    pub taken: u64,
    pub open: usize,
    /// How many answers it was given.
    pub answers: u64,
    /// Another server that lacked what we have, since when, and how often it was asked.
    pub lacking: Option<(PartyId, Instant, u32)>,
    pub pause: Option<Instant>,
}

/// One client's connection.
pub(super) struct Queue {
    pub who: Who,
    pub ring: Box<dyn Fn() + Send>,
    /// What it said and nobody has taken, with its length.
    pub inbox: VecDeque<(ToServer, usize)>,
    /// Answers as they go to the wire, and the bytes of those that are not with the socket.
    pub outbox: VecDeque<Zeroizing<Vec<u8>>>,
    pub unsent: usize,
    /// How often in a row another server offered what had not come here.
    pub late: u32,
    /// The number of the last request that came.
    pub last: u64,
    pub request: Option<Request>,
}

impl Queue {
    /// Put an answer where the connection's thread takes it.
    pub fn tell(&mut self, reply: &Reply) {
        if let Some(bytes) = encode(reply, reply.what.body()) {
            self.unsent += bytes.len();
            self.outbox.push_back(bytes);
            (self.ring)();
        }
    }
}

/// What the log says of a request's end.
pub(super) fn log_line(who: &Who, request: &Request, end: &str, now: Instant) -> String {
    let seconds = now.saturating_duration_since(request.arrived).as_secs_f64();
    format!("client {}: {}: {end} in {seconds:.3} s", who.name, request.item.summary())
}
