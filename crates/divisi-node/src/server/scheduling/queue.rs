//! One client's connection, and the request at the head of its queue.

use crate::admit::Who;
use crate::request::{Item, Reply, ToServer};
use crate::wire::encode;
use divisi_core::PartyId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use zeroize::Zeroizing;

/// A request at the front of its connection's queue.
pub(super) struct Request {
    pub number: u64,
    pub item: Arc<Item>,
    pub came: u64,
    pub arrived: Instant,
    /// When the last message arrived, or the last step was done.
    pub moved: Instant,
    pub steps: u64,
    pub in_hand: bool,
    /// Whether a step of it is being computed.
    pub out: bool,
    /// How many messages its steps have taken; `open`: how many of them, and of the request itself, are not
    /// answered yet.
    pub taken: u64,
    pub open: usize,
    /// For a message of unknown length: the number of the marked last piece, if a step has taken it; the
    /// bytes that the step being computed has taken; and how many were done before.
    pub last: Option<u64>,
    pub out_bytes: u64,
    pub done_bytes: u64,
    /// How many answers it was given.
    pub answers: u64,
    /// A server that lacked messages that we have, since when, and how often we offered the step.
    pub lacking: Option<(PartyId, Instant, u32)>,
    /// Whether the log has named the client for that.
    pub named: bool,
    pub pause: Option<Instant>,
}

/// One client's connection.
pub(super) struct ConnectionQueue {
    pub who: Who,
    /// Messages that no step has taken yet, with their lengths in bytes.
    pub inbox: VecDeque<(ToServer, usize)>,
    /// The requests, by number, that came when as many of the client's requests as allowed were waiting, and
    /// how many were.
    pub crowded: BTreeMap<u64, usize>,
    /// Encoded answers; `unsent`: how many bytes are not handed to the socket yet.
    pub outbox: VecDeque<Zeroizing<Vec<u8>>>,
    pub unsent: usize,
    /// How many times in succession another server offered what had not arrived here.
    pub late: u32,
    /// The number of the last request that arrived.
    pub last: u64,
    pub request: Option<Request>,
}

impl ConnectionQueue {
    /// Queue an answer, which the connection's thread sends.
    pub fn queue(&mut self, reply: &Reply) {
        if let Some(bytes) = encode(reply, reply.what.body()) {
            self.unsent += bytes.len();
            self.outbox.push_back(bytes);
        }
    }
}

/// What the log says of a request's end.
pub(super) fn log_line(who: &Who, request: &Request, end: &str, now: Instant) -> String {
    let seconds = now.saturating_duration_since(request.arrived).as_secs_f64();
    format!("client {}: {}: {end} in {seconds:.3} s", who.name, request.item.summary())
}
