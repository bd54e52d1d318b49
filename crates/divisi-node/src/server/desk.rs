//! The desk between the threads that talk with clients and the one thread that computes with the other servers.
//!
//! A [`Line`] is one client's connection. Its own thread posts what the client says, one message at a time, and waits for the
//! answer; the computing thread takes messages, each within a time limit, and answers without ever waiting for a client.

use crate::admit::Who;
use crate::error::Failed;
use crate::request::{ConnectionId, ToClient, ToServer};
use divisi_net::World;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct LineState {
    /// What the client said and nobody has taken.
    message: Option<ToServer>,
    /// Whether the client waits for an answer.
    owed: bool,
    answer: Option<ToClient>,
    /// Whether a request of this client is being served.
    serving: bool,
    /// Why the last request ended, if its client has not been told.
    ended: Option<Failed>,
    closed: bool,
}

/// One client's connection.
pub(crate) struct Line {
    pub who: Who,
    pub id: ConnectionId,
    state: Mutex<LineState>,
    bell: Condvar,
}

/// Why no message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    Silent,
    Closed,
}

impl Line {
    /// The next answer to the client, within a time; `None` if there is none yet.
    pub fn await_answer(&self, within: Duration, world: &dyn World) -> Option<ToClient> {
        let until = world.now() + within;
        let mut state = lock(&self.state);
        loop {
            if let Some(answer) = state.answer.take() {
                return Some(answer);
            }
            let left = until.saturating_duration_since(world.now());
            if left.is_zero() {
                return None;
            }
            state = self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The client's next message of the request being served.
    pub fn take(&self, until: Instant, world: &dyn World) -> Result<ToServer, Gone> {
        let mut state = lock(&self.state);
        loop {
            if let Some(message) = state.message.take() {
                return Ok(message);
            }
            if state.closed {
                return Err(Gone::Closed);
            }
            let left = until.saturating_duration_since(world.now());
            if left.is_zero() {
                return Err(Gone::Silent);
            }
            state = self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Answer the client, if it waits for an answer.
    pub fn answer(&self, answer: ToClient) {
        let mut state = lock(&self.state);
        if std::mem::take(&mut state.owed) {
            state.answer = Some(answer);
            self.bell.notify_all();
        }
    }

    /// The request is over. If it failed, whoever waits is told; a client that was just silent is told when it speaks.
    pub fn end(&self, failed: Option<Failed>) {
        let mut state = lock(&self.state);
        state.serving = false;
        let Some(failed) = failed else { return };
        state.message = None;
        if std::mem::take(&mut state.owed) {
            state.answer = Some(ToClient::Failed(failed));
            self.bell.notify_all();
        } else {
            state.ended = Some(failed);
        }
    }
}

#[derive(Default)]
struct DeskState {
    lines: HashMap<ConnectionId, Arc<Line>>,
    /// Requests in the order of their coming; for the server that leads.
    queue: VecDeque<(ConnectionId, u64)>,
    /// How many requests were called, and the last one of each client, by its name in the configuration.
    calls: u64,
    called: HashMap<String, u64>,
}

/// All clients of a server.
pub(crate) struct Desk {
    pub world: Arc<dyn World>,
    state: Mutex<DeskState>,
    bell: Condvar,
}

impl Desk {
    pub fn new(world: Arc<dyn World>) -> Desk {
        Desk { world, state: Mutex::default(), bell: Condvar::new() }
    }

    /// A client has begun; `None` if one of the same name is there, which no honest client brings about.
    pub fn enter(&self, who: Who, id: ConnectionId) -> Option<Arc<Line>> {
        let line = Arc::new(Line { who, id, state: Mutex::default(), bell: Condvar::new() });
        let mut state = lock(&self.state);
        if state.lines.contains_key(&id) {
            return None;
        }
        state.lines.insert(id, line.clone());
        self.bell.notify_all();
        Some(line)
    }

    /// A client has gone.
    pub fn leave(&self, line: &Line) {
        let mut state = lock(&self.state);
        state.lines.remove(&line.id);
        state.queue.retain(|(id, _)| *id != line.id);
        lock(&line.state).closed = true;
        line.bell.notify_all();
    }

    /// A client said something. What belongs to no request is answered at once.
    pub fn post(&self, line: &Line, message: ToServer, out_of_turn: impl FnOnce() -> Failed) {
        let mut desk = lock(&self.state);
        let mut state = lock(&line.state);
        state.owed = true;
        state.answer = None;
        match message {
            ToServer::Request { number, .. } => {
                state.ended = None;
                state.message = Some(message);
                desk.queue.push_back((line.id, number));
                self.bell.notify_all();
            }
            _ if state.serving => state.message = Some(message),
            _ => {
                let failed = state.ended.take().unwrap_or_else(out_of_turn);
                state.owed = false;
                state.answer = Some(ToClient::Failed(failed));
            }
        }
        line.bell.notify_all();
    }

    /// For the server that leads: the next request, waiting for one until a moment. The clients take turns, whatever number of
    /// connections each has; of one client's requests the one that came first.
    pub fn first(&self, until: Instant) -> Option<(ConnectionId, u64)> {
        let mut state = lock(&self.state);
        loop {
            let DeskState { lines, queue, calls, called } = &mut *state;
            queue.retain(|(id, number)| lines.get(id).is_some_and(|line| is_waiting(line, *number)));
            let waiting = queue.iter().filter_map(|name| Some((*name, &lines.get(&name.0)?.who.name)));
            if let Some((name, client)) = waiting.min_by_key(|(_, client)| called.get(*client)) {
                *calls += 1;
                called.insert(client.clone(), *calls);
                queue.retain(|other| *other != name);
                return Some(name);
            }
            state = self.wait(state, until)?;
        }
    }

    /// Whether a request waits on another line than this one.
    pub fn others_wait(&self, line: &Line) -> bool {
        let state = lock(&self.state);
        let waits = |(id, number): &(ConnectionId, u64)| {
            *id != line.id && state.lines.get(id).is_some_and(|line| is_waiting(line, *number))
        };
        state.queue.iter().any(waits)
    }

    /// The request of this name, which its client sends to each server at its own time. From now on it is being served.
    pub fn request(&self, id: &ConnectionId, number: u64, until: Instant) -> Option<(Arc<Line>, ToServer)> {
        let mut state = lock(&self.state);
        loop {
            if let Some(line) = state.lines.get(id).filter(|line| is_waiting(line, number)).cloned() {
                state.queue.retain(|name| *name != (*id, number));
                let mut inside = lock(&line.state);
                inside.serving = true;
                let message = inside.message.take();
                drop(inside);
                return message.map(|message| (line, message));
            }
            state = self.wait(state, until)?;
        }
    }

    /// No request can be served now: everybody who waits is told.
    pub fn fail_all(&self, failed: &Failed) {
        let lines: Vec<Arc<Line>> = {
            let mut state = lock(&self.state);
            state.queue.clear();
            state.lines.values().cloned().collect()
        };
        for line in lines {
            let concerned = {
                let state = lock(&line.state);
                state.owed || state.serving
            };
            if concerned {
                line.end(Some(failed.clone()));
            }
        }
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, DeskState>,
        until: Instant,
    ) -> Option<MutexGuard<'a, DeskState>> {
        let left = until.saturating_duration_since(self.world.now());
        if left.is_zero() {
            return None;
        }
        Some(self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0)
    }
}

fn is_waiting(line: &Line, wanted: u64) -> bool {
    matches!(lock(&line.state).message, Some(ToServer::Request { number, .. }) if number == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_net::Machine;

    fn enter(desk: &Desk, name: &str, id: u8) -> Arc<Line> {
        let who = Who { name: name.into(), fingerprint: [0; 32] };
        let line = desk.enter(who, [id; 32]).unwrap();
        let items = vec![];
        desk.post(&line, ToServer::Request { number: 1, items }, || unreachable!("it is a request"));
        line
    }

    /// One client's many requests do not go before another's one.
    #[test]
    fn clients_take_turns() {
        let desk = Desk::new(Arc::new(Machine));
        let _greedy: Vec<_> = (0..4).map(|id| enter(&desk, "greedy", id)).collect();
        let now = desk.world.now();
        let next = || desk.first(now).map(|(id, _)| id[0]);
        assert_eq!(next(), Some(0));
        let modest = enter(&desk, "modest", 9);
        assert!(desk.others_wait(&modest));
        assert_eq!(next(), Some(9));
        assert_eq!([next(), next(), next(), next()], [Some(1), Some(2), Some(3), None]);
        assert!(!desk.others_wait(&modest));
    }
}
