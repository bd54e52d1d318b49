//! The state of all clients of a server: messages received, answers due, and the steps that are ready to run.

mod ends;
mod offers;
mod replies;

use super::leads::Leads;
use super::limits::Accounts;
use super::log::Log;
use super::queue::{ConnectionQueue, Request, log_line};
use super::script::{Shape, due, step};
use super::turns::Turns;
use crate::admit::Who;
use crate::error::{ErrorKind, Failed};
use crate::request::{ConnectionId, Item, Reply, ToClient, ToServer};
use crate::server::allowances::Allowances;
use divisi_core::{PartyId, Step};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TURN: Step = Step::new("divisi_node::server::intake/turn");
const STOPPING: Step = Step::new("divisi_node::server::intake/stopping");
const ARRIVAL: Step = Step::new("divisi_node::server::intake/arrival");

/// The longest pause before a step is offered again for which another server lacked messages.
const PAUSE: Duration = Duration::from_millis(64);
/// After how long the log names a client that has sent something to some servers only.
const LATE: Duration = Duration::from_secs(1);
/// The bytes of answers that may wait for a client to take them while more are made.
const BACKLOG: usize = 512 * 1024;
/// The largest number of bytes that a message other than a request has besides its data.
const SMALL: usize = 64;

/// One step of one request: what the servers agree to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Offer {
    pub connection: ConnectionId,
    pub number: u64,
    /// How many steps of the request are done.
    pub step: u64,
}

/// What a server has of an offer.
pub(crate) enum Stand {
    /// All messages of the step.
    Ready(Taken),
    /// Some messages are missing and may still arrive.
    NotYet,
    /// This server has no such request, or refused it.
    Missing,
}

/// A step with all its messages, ready to be done.
pub(crate) struct Taken {
    pub who: Who,
    pub item: Arc<Item>,
    pub messages: Vec<ToServer>,
    /// The step, for error messages.
    pub step: Step,
}

/// How a request stands after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Done,
    /// The request has more steps; the next one needs no message if part of the last piece is still to be
    /// done.
    More {
        in_hand: bool,
    },
}

/// All clients of a server, and what is next for them.
pub(crate) struct Schedule {
    me: PartyId,
    shape: Shape,
    pub limits: Allowances,
    /// The time limit of a request for its client; half of it is the limit for what another server lacks.
    pub timeout: Duration,
    /// In the order of their ids, so that the same events always have the same effect.
    connections: BTreeMap<ConnectionId, ConnectionQueue>,
    turns: Turns,
    accounts: Accounts,
    leads: Leads,
    came: u64,
    draining: bool,
    log: Log,
    /// The connections whose threads have something to look at.
    woken: BTreeSet<ConnectionId>,
}

impl Schedule {
    pub fn new(me: PartyId, shape: Shape, limits: Allowances, timeout: Duration) -> Schedule {
        let (connections, turns, accounts) = Default::default();
        Schedule {
            me,
            shape,
            limits,
            timeout,
            connections,
            turns,
            accounts,
            leads: Leads::default(),
            came: 0,
            draining: false,
            log: Log::default(),
            woken: BTreeSet::new(),
        }
    }

    /// A connection of a client begins; false if one with the same id exists, which no honest client causes.
    pub fn enter(&mut self, who: Who, id: ConnectionId) -> bool {
        if self.connections.contains_key(&id) {
            return false;
        }
        let (inbox, crowded, outbox) = (VecDeque::new(), BTreeMap::new(), VecDeque::new());
        let connection =
            ConnectionQueue { who, inbox, crowded, outbox, unsent: 0, late: 0, last: 0, request: None };
        self.connections.insert(id, connection);
        true
    }

    /// The name of the client with this connection.
    pub fn name(&self, id: &ConnectionId) -> Option<String> {
        self.connections.get(id).map(|connection| connection.who.name.clone())
    }

    /// A client has disconnected: its requests end.
    pub fn leave(&mut self, id: &ConnectionId, now: Instant) {
        if let Some(connection) = self.connections.remove(id)
            && let Some(request) = connection.request
        {
            self.log.note(&connection.who.name, log_line(&connection.who, &request, "its client left", now));
        }
    }

    /// A client has taken nothing of what was sent to it for so long: its connection is about to be closed.
    pub fn is_deaf(&mut self, id: &ConnectionId, limit: Duration) {
        if let Some(connection) = self.connections.get(id) {
            let (name, me, seconds) = (&connection.who.name, self.me, limit.as_secs_f64());
            let text = format!("client {name} has read no answers of {me} for {seconds:.1} s");
            self.log.note(name, format!("{text}: its connection is closed"));
        }
    }

    /// A client's message of this many bytes has arrived.
    ///
    /// # Errors
    /// If the message is not allowed at this point: the failure, after which the connection ends.
    pub fn receive(
        &mut self,
        id: &ConnectionId,
        message: ToServer,
        bytes: usize,
        now: Instant,
    ) -> Result<(), Failed> {
        let Some(connection) = self.connections.get_mut(id) else { return Ok(()) };
        let fault = match &message {
            ToServer::Begin { .. } => Some("the connection has already begun"),
            ToServer::Request { number, .. } if *number != connection.last + 1 => {
                Some("requests are numbered from 1 in each connection, and no number comes twice")
            }
            ToServer::Data { number, .. } | ToServer::Last { number, .. } | ToServer::Finish { number }
                if *number == 0 || *number > connection.last =>
            {
                Some("message outside of a request")
            }
            ToServer::Request { item, .. } if !item.is_well_formed() => {
                Some("the request is larger than allowed: name fewer clients, and give shorter texts")
            }
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(Failed::refused(TURN, fault));
        }
        if let ToServer::Request { number, .. } = &message {
            connection.last = *number;
            let (number, name) = (*number, connection.who.name.clone());
            let waiting = self.waiting(|connection| connection.who.name == name);
            let crowded = waiting >= self.limits.of(&name).waiting;
            if let Some(connection) = self.connections.get_mut(id).filter(|_| crowded) {
                connection.crowded.insert(number, waiting);
            }
        }
        let Some(connection) = self.connections.get_mut(id) else { return Ok(()) };
        connection.inbox.push_back((message, bytes));
        if let Some(request) = &mut connection.request {
            request.moved = now;
        }
        self.settle(id, now);
        Ok(())
    }

    /// Bring a connection's queue in order: messages of requests that have ended are dropped, the next
    /// request begins to wait, and a request with messages other than those that are due is refused.
    fn settle(&mut self, id: &ConnectionId, now: Instant) {
        loop {
            let Some(connection) = self.connections.get_mut(id) else { return };
            let Some(request) = &connection.request else {
                match connection.inbox.pop_front() {
                    None => return,
                    Some((ToServer::Request { number, item }, _)) => self.arrive(id, number, item, now),
                    // it was sent ahead for a request that failed
                    Some(_) => {}
                }
                continue;
            };
            let sent = (request.taken..).zip(&connection.inbox);
            let mut last = request.last;
            let wrong = sent.map_while(|(nth, (message, _))| {
                let due = due(&request.item, self.shape, nth, last)?;
                if matches!(message, ToServer::Last { .. }) {
                    last = last.or(Some(nth));
                }
                Some((nth, due.is(message) && message.number() == Some(request.number)))
            });
            let Some((nth, _)) = wrong.into_iter().find(|(_, right)| !right) else { return };
            let step = step(&request.item, self.shape, nth, request.last);
            let (number, who) = (request.number, &connection.who.name);
            let message = format!("client {who} sent {} an unexpected message at {step}", self.me);
            self.fail(id, number, Failed::refused(step, message), now);
        }
    }

    /// A request has come to the front of its connection's queue.
    fn arrive(&mut self, id: &ConnectionId, number: u64, item: Item, now: Instant) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let (who, crowded) = (connection.who.clone(), connection.crowded.remove(&number));
        let limits = self.limits.of(&who.name);
        let refused = if self.draining {
            Err(self.stopping())
        } else if let Some(waiting) = crowded {
            let message =
                format!("{waiting} requests of client {} are waiting already: try again later", who.name);
            let failed = Failed { retry: true, ..Failed::refused(TURN, message) };
            Err(Failed { kind: ErrorKind::Unavailable, ..failed })
        } else {
            limits.admits(&item).and_then(|()| self.accounts.begin(limits, &who.name, &item, now))
        };
        self.came += 1;
        let request = Request {
            number,
            item: Arc::new(item),
            came: self.came,
            arrived: now,
            moved: now,
            steps: 0,
            in_hand: false,
            out: false,
            taken: 0,
            open: 1,
            last: None,
            out_bytes: 0,
            done_bytes: 0,
            answers: 0,
            lacking: None,
            named: false,
            pause: None,
        };
        if let Some(connection) = self.connections.get_mut(id) {
            connection.request = Some(request);
        }
        if let Err(failed) = refused {
            self.fail(id, number, failed, now);
        }
    }

    /// How many requests on these connections are not begun, those included that clients have sent ahead.
    fn waiting(&self, counts: impl Fn(&ConnectionQueue) -> bool) -> usize {
        let ahead = |connection: &ConnectionQueue| {
            connection.inbox.iter().filter(|(message, _)| matches!(message, ToServer::Request { .. })).count()
        };
        let counted = self.connections.values().filter(|connection| counts(connection));
        let first = |connection: &ConnectionQueue| {
            connection.request.as_ref().is_some_and(|request| request.steps == 0 && !request.out)
        };
        counted.map(|connection| usize::from(first(connection)) + ahead(connection)).sum()
    }

    fn stopping(&self) -> Failed {
        let message = format!("{} is stopping: try again when it is back", self.me);
        let failed = Failed { retry: true, peer: self.me.number(), ..Failed::refused(STOPPING, message) };
        Failed { kind: ErrorKind::Unavailable, ..failed }
    }

    /// A step was done; the processor's time that it took counts for its client.
    pub fn ran(&mut self, offer: &Offer, after: After, took: Duration, now: Instant) {
        let Some(connection) = self.connections.get_mut(&offer.connection) else { return };
        let Some(request) = connection.request.as_mut().filter(|request| request.number == offer.number)
        else {
            return;
        };
        self.turns.serve(&connection.who.name);
        self.accounts.compute(&connection.who.name, took, now);
        request.steps += 1;
        request.out = false;
        request.moved = now;
        (request.lacking, request.pause) = (None, None);
        let bytes = std::mem::take(&mut request.out_bytes);
        request.done_bytes = request.done_bytes.saturating_add(bytes);
        let length = request.done_bytes;
        match after {
            After::More { in_hand } => request.in_hand = in_hand,
            After::Done => {
                if let Some(request) = connection.request.take() {
                    self.log.note(&connection.who.name, log_line(&connection.who, &request, "done", now));
                }
            }
        }
        connection.late = 0;
        self.woken.insert(offer.connection);
        let (limits, client) = (self.limits.of(&connection.who.name), &connection.who.name);
        // whatever else ends the request: these bytes were computed
        let added = self.accounts.add(limits, client, bytes, now);
        let over = match self.accounts.is_over(limits, client, now) {
            None => limits.admits_so_far(length).and(added).err(),
            over => over,
        };
        if let (Some(failed), After::More { .. }) = (over, after) {
            self.fail(&offer.connection, offer.number, failed, now);
        }
        self.settle(&offer.connection, now);
    }

    /// End a request early: tell its client; this was the client's turn.
    pub fn fail(&mut self, id: &ConnectionId, number: u64, failed: Failed, now: Instant) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let Some(request) = connection.request.take_if(|request| request.number == number) else { return };
        let who = connection.who.clone();
        self.turns.serve(&who.name);
        let end = if failed.kind == ErrorKind::Abort { "aborted" } else { "refused" };
        let text = log_line(&who, &request, &format!("{end} ({})", failed.message), now);
        self.log.note(&who.name, text);
        connection.queue(&Reply { number, nth: request.answers, what: ToClient::Failed(failed) });
        self.woken.insert(*id);
        self.settle(id, now);
    }

    /// A step failed; the processor's time that it took counts for its client.
    pub fn charge(&mut self, offer: &Offer, took: Duration, now: Instant) {
        if let Some(connection) = self.connections.get(&offer.connection) {
            self.accounts.compute(&connection.who.name, took, now);
        }
    }

    /// Something was made ahead in place of what these clients used together, which took so much of the
    /// processor's time.
    pub fn preprocessed(&mut self, clients: &[String], took: Duration, now: Instant) {
        let each = took / u32::try_from(clients.len().max(1)).unwrap_or(u32::MAX);
        clients.iter().for_each(|client| self.accounts.compute(client, each, now));
    }

    /// Another server's offer names messages that have not arrived here.
    pub fn was_late(&mut self, offer: &Offer) {
        if let Some(connection) = self.connections.get_mut(&offer.connection) {
            connection.late = connection.late.saturating_add(1);
        }
    }

    /// Whether any request is in progress.
    pub fn is_busy(&self) -> bool {
        self.connections.values().any(|connection| connection.request.is_some())
    }

    /// Whether this request is in progress or waits.
    pub fn has(&self, id: &ConnectionId, number: u64) -> bool {
        self.connections.get(id).is_some_and(|connection| {
            connection.request.as_ref().is_some_and(|request| request.number == number)
        })
    }

    /// The client that an offer belongs to.
    #[cfg(test)]
    pub fn client_of(&self, offer: &Offer) -> Option<&str> {
        self.connections.get(&offer.connection).map(|connection| connection.who.name.as_str())
    }

    /// How much of the processor's time a client has had within this hour.
    #[cfg(test)]
    pub fn computed(&self, client: &str) -> Duration {
        self.accounts.computed(client)
    }

    /// Remove and return the lines for the log.
    pub fn take_log(&mut self) -> Vec<String> {
        self.log.take()
    }

    /// Remove and return the connections that have something to send, or room for more messages.
    pub fn take_woken(&mut self) -> BTreeSet<ConnectionId> {
        std::mem::take(&mut self.woken)
    }
}

#[cfg(test)]
mod tests;
