//! How often each leader has passed over each client. A corrupt leader can keep a client waiting in each
//! round that it leads; the two others serve the client, and their logs name leader and client.

use divisi_core::PartyId;
use std::collections::{BTreeMap, BTreeSet};

/// If a leader leaves out a client with a waiting request in this many of the rounds that it leads, one after
/// the other, it is no accident. A few such rounds can be due to messages that have not reached the leader
/// yet.
pub(super) const SUSPICIOUS: u32 = 32;

/// How many rounds in succession each leader has passed over each client.
#[derive(Default)]
pub(super) struct Leads(BTreeMap<(u8, String), u32>);

impl Leads {
    /// Count a round of this leader, in which it offered steps of some of the connected clients and passed
    /// over others. Returns those of the latter for which that is suspicious now.
    pub fn count(
        &mut self,
        leader: PartyId,
        connected: &BTreeSet<&str>,
        offered: &BTreeSet<&str>,
        passed: BTreeSet<&str>,
    ) -> Vec<String> {
        let number = leader.number();
        self.0.retain(|(party, client), _| {
            connected.contains(client.as_str()) && (*party != number || !offered.contains(client.as_str()))
        });
        let mut named = Vec::new();
        for client in passed {
            let count = self.0.entry((number, client.to_owned())).or_default();
            *count = count.saturating_add(1);
            if *count == SUSPICIOUS {
                named.push(client.to_owned());
            }
        }
        named
    }
}
