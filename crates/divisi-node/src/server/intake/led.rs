//! Records which clients a leader leaves out. A corrupt leader can keep a client waiting in each round that
//! it leads; the two others serve the client, and their logs name leader and client.

use super::steps::price;
use super::{Intake, Offer};
use crate::server::plan::{Budget, KeyStatus, RoundPlan};
use divisi_core::PartyId;
use divisi_store::KeyName;
use std::collections::{BTreeMap, BTreeSet};

/// If a leader leaves out a client with a waiting request in this many of the rounds that it leads, one after
/// the other, it is no accident. A few such rounds can be due to messages that have not reached the leader
/// yet.
const SUSPICIOUS: u32 = 32;

/// How many rounds in succession each leader has passed over each client.
pub(super) type Leads = BTreeMap<(u8, String), u32>;

impl Intake {
    /// Another server leads a round and offers this. A client counts as passed over if a request of it could
    /// be done here, nobody lacked a message of it, and the offers left room for it.
    pub fn led(&mut self, leader: PartyId, offers: &[Offer], known: &dyn Fn(&KeyName) -> KeyStatus) {
        let mut room = RoundPlan::new(Budget::ROUND);
        let mut offered = BTreeSet::new();
        for offer in offers {
            let connection = self.connections.get(&offer.connection);
            let Some((connection, request)) =
                connection.and_then(|connection| Some((connection, connection.request.as_ref()?)))
            else {
                // the request may still come; its cost is not known here, and so not the room that is left
                return;
            };
            offered.insert(connection.who.name.as_str());
            let (kind, cost, makes) = price(&request.item, known);
            room.take(kind, cost, makes);
        }
        let stands =
            self.connections.values().filter(|connection| !offered.contains(connection.who.name.as_str()));
        let passed: BTreeSet<String> = stands
            .filter_map(|connection| {
                let request = connection.request.as_ref()?;
                let (kind, cost, makes) = price(&request.item, known);
                let fits = room.fits(kind, cost, makes);
                let can =
                    !request.out && request.lacking.is_none() && self.ready(connection, request).is_some();
                (fits && can).then(|| connection.who.name.clone())
            })
            .collect();
        if passed.is_empty() && self.leads.is_empty() {
            return;
        }
        let number = leader.number();
        let clients: BTreeSet<&str> =
            self.connections.values().map(|connection| connection.who.name.as_str()).collect();
        self.leads.retain(|(party, client), _| {
            clients.contains(client.as_str()) && (*party != number || !offered.contains(client.as_str()))
        });
        let mut named = Vec::new();
        for client in passed {
            let count = self.leads.entry((number, client.clone())).or_default();
            *count = count.saturating_add(1);
            if *count == SUSPICIOUS {
                named.push(client);
            }
        }
        for client in named {
            let text = format!(
                "{leader} has passed over client {client} in {SUSPICIOUS} rounds that it led, one after the other, with a \
                 request at {} that could be done: either the client sends {leader} nothing, or {leader} does not call it",
                self.me
            );
            self.log.note(&client, text);
        }
    }
}
