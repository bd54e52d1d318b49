//! A server's state in a session, and what it has received of an offer.

use super::Node;
use super::given::Given;
use super::intake::{Offer, Taken};
use super::keys::Found;
use super::plan::KeyStatus;
use super::ready::Ready;
use super::trips::RoundTrips;
use super::work::Under;
use crate::request::ConnectionId;
use divisi_core::Step;
use divisi_rep3::{Rep3, Rounds};
use divisi_store::KeyName;
use divisi_symmetric::aes::KeySize;
use std::collections::HashSet;

/// A session's state, besides the engine: the same at all three servers, except for requests that ended at
/// one of them only.
pub(super) struct ServerState<'a> {
    pub node: &'a Node,
    pub rep: Rep3,
    pub ready: Ready,
    pub under: Under,
    /// Rounds since the last one with short texts: the same at all three servers, because all three did
    /// those.
    pub since_short: u32,
    /// The round trips that this server measured as leader.
    pub trips: RoundTrips,
    /// How the programs of this round run: proposed by the leader, agreed by all.
    pub rounds: Rounds,
    /// The requests whose use of a key is already counted.
    pub counted: HashSet<(ConnectionId, u64)>,
}

impl ServerState<'_> {
    /// What is known of a key, without a look at the disk.
    pub fn known(&self, name: &KeyName) -> KeyStatus {
        let size = self.node.keys.kind(name).and_then(|kind| KeySize::from_bytes(kind.bytes()));
        KeyStatus { size, is_ready: self.ready.has_name(name) }
    }
}

/// An offer of this round, with what this server has of it.
pub(super) struct Candidate {
    pub offer: Offer,
    /// A digest of client, connection, number and contents of the request.
    pub request: [u8; 32],
    pub step: Step,
    pub taken: Taken,
    pub given: Given,
    /// The key that the first step uses.
    pub found: Option<Found>,
}
