//! What a server has in a session, and what it has of an offer.

use super::Node;
use super::given::Given;
use super::intake::{Offer, Taken};
use super::keys::Found;
use super::ready::Ready;
use super::work::Under;
use crate::request::ConnectionId;
use divisi_core::Step;
use divisi_rep3::{Rep3, Rounds};
use std::collections::HashSet;
use std::time::Duration;

/// A session's state, besides the engine: the same at all three, but for requests that ended at one of them
/// only.
pub(super) struct House<'a> {
    pub node: &'a Node,
    pub rep: Rep3,
    pub ready: Ready,
    pub under: Under,
    /// How many rounds there were since the last one with short texts: the same at all three, for all three
    /// did them.
    pub since_short: u32,
    /// The shortest round trip that this server saw when it led.
    pub nearest: Option<Duration>,
    /// How the programs of this round run: as its leader proposed, and all agreed.
    pub rounds: Rounds,
    /// Requests whose use of a key is counted.
    pub counted: HashSet<(ConnectionId, u64)>,
}

/// An offer of this round, with what this server has of it.
pub(super) struct Candidate {
    pub offer: Offer,
    /// What a digest of it stands for: client, connection, number, what is asked for.
    pub request: [u8; 32],
    pub step: Step,
    pub taken: Taken,
    pub given: Given,
    /// The key that its first step uses.
    pub found: Option<Found>,
}
