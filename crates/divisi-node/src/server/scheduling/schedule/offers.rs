//! The steps that can be done next: which there are, what each takes out of the queues, and what goes back.

use super::{BACKLOG, Offer, PAUSE, SMALL, Schedule, Stand, Taken};
use crate::request::{Item, ToServer};
use crate::server::scheduling::leads::SUSPICIOUS;
use crate::server::scheduling::plan::{Budget, KeyStatus, RoundPlan, Waiting, plan};
use crate::server::scheduling::queue::{ConnectionQueue, Request};
use crate::server::scheduling::script::{Cost, Kind, cost, kind, needs, runs_programs, step};
use divisi_core::PartyId;
use divisi_store::KeyName;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The kind and the cost of a request's next step, and the key that has to be loaded for it, if there is one.
fn price<'i>(item: &'i Item, known: &dyn Fn(&KeyName) -> KeyStatus) -> (Kind, Cost, Option<&'i KeyName>) {
    let key = item.key().map(|key| (key, known(key)));
    let makes = key.filter(|(_, known)| !known.is_ready).map(|(key, _)| key);
    (kind(item), cost(item, key.and_then(|(_, known)| known.size)), makes)
}

impl Schedule {
    /// How many messages the next step of a request takes, if they are all here.
    pub(super) fn ready(&self, connection: &ConnectionQueue, request: &Request) -> Option<usize> {
        let wanted = match request.in_hand {
            true => 0,
            false => needs(&request.item, self.shape, request.steps > 0, request.taken) as usize,
        };
        (connection.inbox.len() >= wanted && connection.unsent <= BACKLOG).then_some(wanted)
    }

    /// The steps that could be done next, in order of priority; `known` says what is known of a key.
    pub fn plan(&self, now: Instant, budget: Budget, known: &dyn Fn(&KeyName) -> KeyStatus) -> Vec<Offer> {
        let mut offers = Vec::new();
        let mut waiting = Vec::new();
        for (id, connection) in &self.connections {
            let Some(request) = &connection.request else { continue };
            if request.pause.is_some_and(|pause| now < pause) || self.ready(connection, request).is_none() {
                continue;
            }
            offers.push(Offer { connection: *id, number: request.number, step: request.steps });
            let (kind, cost, makes) = price(&request.item, known);
            waiting.push(Waiting { client: &connection.who.name, kind, cost, makes, came: request.came });
        }
        plan(&waiting, &self.turns, budget).into_iter().filter_map(|at| offers.get(at).copied()).collect()
    }

    /// How many of these steps run programs: so many are garbled in the round, each by itself.
    pub fn programs(&self, offers: &[Offer]) -> usize {
        let item = |offer: &Offer| Some(&self.connections.get(&offer.connection)?.request.as_ref()?.item);
        offers.iter().filter_map(item).filter(|item| runs_programs(item)).count()
    }

    /// The earliest time at which a paused request can be offered again, if there is one.
    pub fn next_pause(&self, now: Instant) -> Option<Instant> {
        self.connections
            .values()
            .filter_map(|connection| connection.request.as_ref()?.pause.filter(|pause| *pause > now))
            .min()
    }

    /// Whether all messages of an offered step are here, without taking them; `None` if there is no such
    /// request, or if it is not at that step.
    pub fn stands(&self, offer: &Offer) -> Option<bool> {
        let connection = self.connections.get(&offer.connection);
        let Some(connection) = connection else { return if offer.step == 0 { Some(false) } else { None } };
        match &connection.request {
            Some(request) if (request.number, request.steps) == (offer.number, offer.step) => {
                Some(self.ready(connection, request).is_some())
            }
            // a request that has not come, or stands behind another
            _ if offer.step == 0
                && offer.number
                    >= connection.request.as_ref().map_or(connection.last + 1, |r| r.number + 1) =>
            {
                Some(false)
            }
            _ => None,
        }
    }

    /// Another server leads a round and offers this. A client counts as passed over if a request of it could
    /// be done here, nobody lacked a message of it, and the offers left room for it.
    pub fn led(&mut self, leader: PartyId, offers: &[Offer], known: &dyn Fn(&KeyName) -> KeyStatus) {
        let mut round = RoundPlan::new(Budget::ROUND);
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
            round.take(kind, cost, makes);
        }
        let stands =
            self.connections.values().filter(|connection| !offered.contains(connection.who.name.as_str()));
        let passed: BTreeSet<&str> = stands
            .filter_map(|connection| {
                let request = connection.request.as_ref()?;
                let (kind, cost, makes) = price(&request.item, known);
                let fits = round.fits(kind, cost, makes);
                let can =
                    !request.out && request.lacking.is_none() && self.ready(connection, request).is_some();
                (fits && can).then_some(connection.who.name.as_str())
            })
            .collect();
        let connected: BTreeSet<&str> =
            self.connections.values().map(|connection| connection.who.name.as_str()).collect();
        for client in self.leads.count(leader, &connected, &offered, passed) {
            let text = format!(
                "{leader} has passed over client {client} in {SUSPICIOUS} rounds that it led, one after the other, with a \
                 request at {} that could be done: either the client sends {leader} nothing, or {leader} does not call it",
                self.me
            );
            self.log.note(&client, text);
        }
    }

    /// Whether it is worth a moment to wait for the messages of an offer: the client is connected, and has
    /// not made the servers wait in vain repeatedly.
    pub fn may_come(&self, offer: &Offer) -> bool {
        self.connections.get(&offer.connection).is_some_and(|connection| connection.late < 4)
            && self.stands(offer) == Some(false)
    }

    /// Take the messages that a step needs out of the queue.
    pub fn take(&mut self, offer: &Offer) -> Stand {
        match self.stands(offer) {
            None => return Stand::Missing,
            Some(false) => return Stand::NotYet,
            Some(true) => {}
        }
        let wanted = self
            .connections
            .get(&offer.connection)
            .and_then(|connection| self.ready(connection, connection.request.as_ref()?));
        let connection = self.connections.get_mut(&offer.connection);
        let Some((connection, wanted)) = connection.zip(wanted) else { return Stand::NotYet };
        let Some(request) = &mut connection.request else { return Stand::NotYet };
        if std::mem::replace(&mut request.out, true) {
            // one step is done once, however often it is offered
            return Stand::Missing;
        }
        let messages: Vec<ToServer> = connection.inbox.drain(..wanted).map(|(message, _)| message).collect();
        let step = step(&request.item, self.shape, request.taken, request.last);
        if matches!(*request.item, Item::EncryptStream { .. }) {
            // both components of a secret
            request.out_bytes = messages.iter().map(|message| message.body() as u64 / 2).sum();
            let marked = messages.iter().position(|message| matches!(message, ToServer::Last { .. }));
            request.last = request.last.or(marked.map(|at| request.taken + at as u64));
        }
        request.taken += wanted as u64;
        request.open += wanted;
        Stand::Ready(Taken { who: connection.who.clone(), item: request.item.clone(), messages, step })
    }

    /// Put the messages back: party `lacks` has not received all of them.
    pub fn put_back(&mut self, offer: &Offer, messages: Vec<ToServer>, lacks: PartyId, now: Instant) {
        let Some(connection) = self.connections.get_mut(&offer.connection) else { return };
        let Some(request) = connection.request.as_mut().filter(|request| request.number == offer.number)
        else {
            return;
        };
        request.out = false;
        request.taken -= (messages.len() as u64).min(request.taken);
        request.open -= messages.len().min(request.open);
        let with_length = |message: ToServer| (message.body() + SMALL, message);
        for (bytes, message) in messages.into_iter().rev().map(with_length) {
            connection.inbox.push_front((message, bytes));
        }
        let (since, often) = request.lacking.map_or((now, 0), |(_, since, often)| (since, often + 1));
        request.lacking = Some((lacks, since, often));
        // a client whose messages another server lacks has had its turn
        self.turns.serve(&connection.who.name);
        request.pause = Some(now + PAUSE.min(Duration::from_millis(1) * 2u32.saturating_pow(often)));
    }
}
