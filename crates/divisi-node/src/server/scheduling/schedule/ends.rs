//! How requests end early: by a time limit, with their key, with the session, with the server.

use super::{ARRIVAL, BACKLOG, LATE, Schedule, TURN};
use crate::error::Failed;
use crate::request::ConnectionId;
use crate::server::scheduling::queue::ConnectionQueue;
use crate::server::scheduling::script::step;
use divisi_store::KeyName;
use std::time::{Duration, Instant};

impl Schedule {
    /// A key was destroyed or given to other clients: end the requests that use it, except the one that
    /// destroyed it.
    pub fn key_is_gone(&mut self, name: &KeyName, what: &str, now: Instant) {
        self.end_uses(name, None, what, now);
    }

    /// A key no longer serves this client: end its requests that use the key.
    pub fn key_is_revoked(&mut self, name: &KeyName, client: &str, now: Instant) {
        self.end_uses(name, Some(client), &format!("was taken from client {client}"), now);
    }

    /// End the requests that use a key: those of one client, or of all.
    fn end_uses(&mut self, name: &KeyName, client: Option<&str>, what: &str, now: Instant) {
        let uses = |connection: &ConnectionQueue| {
            if client.is_some_and(|client| connection.who.name != client) {
                return None;
            }
            let request = connection.request.as_ref().filter(|request| request.item.key() == Some(name))?;
            (request.steps > 0).then_some(request.number)
        };
        let ended: Vec<_> =
            self.connections.iter().filter_map(|(id, connection)| Some((*id, uses(connection)?))).collect();
        for (id, number) in ended {
            let message = format!("key {name} {what} meanwhile");
            self.fail(&id, number, Failed::refused(TURN, message), now);
        }
    }

    /// No request can be served now: fail every request, and tell its client.
    pub fn fail_all(&mut self, failed: &Failed, now: Instant) {
        let ids: Vec<ConnectionId> = self.connections.keys().copied().collect();
        for id in ids {
            while let Some(number) =
                self.connections.get(&id).and_then(|connection| Some(connection.request.as_ref()?.number))
            {
                self.fail(&id, number, failed.clone(), now);
            }
        }
    }

    /// Begin no further request; tell the clients of those that wait to try again.
    pub fn drain(&mut self, now: Instant) {
        self.draining = true;
        let waits = |connection: &ConnectionQueue| {
            Some(connection.request.as_ref().filter(|request| request.steps == 0)?.number)
        };
        let waiting: Vec<_> =
            self.connections.iter().filter_map(|(id, connection)| Some((*id, waits(connection)?))).collect();
        let stopping = self.stopping();
        waiting.into_iter().for_each(|(id, number)| self.fail(&id, number, stopping.clone(), now));
    }

    /// Stop: fail the requests in progress, too.
    pub fn close(&mut self, now: Instant) {
        self.draining = true;
        self.fail_all(&self.stopping(), now);
    }

    /// Name the clients that have kept something from one server for a while, each request once.
    fn name_late(&mut self, now: Instant) {
        let me = self.me;
        for connection in self.connections.values_mut() {
            let Some(request) = &mut connection.request else { continue };
            let Some((lacks, since, _)) = request.lacking else { continue };
            let lasts = now.saturating_duration_since(since);
            if lasts >= LATE && !std::mem::replace(&mut request.named, true) {
                let (name, what, seconds) =
                    (&connection.who.name, request.item.summary(), lasts.as_secs_f64());
                let sent = format!("has not sent {lacks} what it sent {me} {seconds:.1} s ago, and waits");
                self.log.note(name, format!("client {name}: {what}: {sent}"));
            }
        }
    }

    /// End the requests that have waited too long, for their clients or for what another server lacks.
    pub fn tick(&mut self, now: Instant) {
        self.name_late(now);
        let mut over = Vec::new();
        let (me, seconds) = (self.me, |time: Duration| time.as_secs_f64());
        for (id, connection) in &self.connections {
            let Some(request) = &connection.request else { continue };
            let (who, step) = (
                &connection.who.name,
                step(&request.item, self.shape, request.taken + connection.inbox.len() as u64, request.last),
            );
            let waited = now.saturating_duration_since(request.moved);
            let failed = match request.lacking {
                Some((party, since, _)) if now.saturating_duration_since(since) >= self.timeout / 2 => {
                    let lasted = seconds(now.saturating_duration_since(since));
                    let message = format!(
                        "for {lasted:.1} s client {who} has not sent {party} what it sent {me}, at {ARRIVAL}"
                    );
                    Failed { peer: party.number(), ..Failed::refused(ARRIVAL, message) }
                }
                _ if connection.unsent > BACKLOG && waited >= self.timeout => {
                    let message = format!(
                        "client {who} has read no answers of {me} for {:.1} s at {step}",
                        seconds(waited)
                    );
                    Failed { peer: me.number(), ..Failed::refused(step, message) }
                }
                _ if self.ready(connection, request).is_none() && waited >= self.timeout => {
                    let message =
                        format!("client {who} has sent {me} nothing for {:.1} s at {step}", seconds(waited));
                    Failed { peer: me.number(), ..Failed::refused(step, message) }
                }
                _ => continue,
            };
            over.push((*id, request.number, Failed { retry: true, ..failed }));
        }
        over.into_iter().for_each(|(id, number, failed)| self.fail(&id, number, failed, now));
    }
}
