//! The answers to a client, and how many bytes of them may wait.

use super::{BACKLOG, Schedule};
use crate::request::{ConnectionId, Reply, ToClient, UNANSWERED};
use crate::server::scheduling::queue::ConnectionQueue;
use zeroize::Zeroizing;

impl Schedule {
    /// Whether the server reads from a client: the client is not too far ahead, and takes its answers.
    pub fn may_receive(&self, id: &ConnectionId) -> bool {
        let most = UNANSWERED * 2 * self.shape.chunk;
        let waits =
            |connection: &ConnectionQueue| connection.inbox.iter().map(|(_, bytes)| bytes).sum::<usize>();
        let may = |connection: &ConnectionQueue| {
            connection.inbox.len() <= UNANSWERED && waits(connection) < most && connection.unsent <= BACKLOG
        };
        self.connections.get(id).is_some_and(may)
    }

    /// Whether a client still waits for an answer.
    pub fn owes(&self, id: &ConnectionId) -> bool {
        let open = |connection: &ConnectionQueue| {
            connection.request.as_ref().is_some_and(|request| request.open > 0)
        };
        self.connections.get(id).is_some_and(|connection| open(connection) || !connection.inbox.is_empty())
    }

    /// How many requests of all clients wait for their first step.
    pub fn all_waiting(&self) -> usize {
        self.waiting(|_| true)
    }

    /// Queue an answer for a client.
    pub fn answer(&mut self, id: &ConnectionId, number: u64, answer: ToClient) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if let Some(request) = connection.request.as_mut().filter(|request| request.number == number) {
            request.open = request.open.saturating_sub(1);
            let nth = request.answers;
            request.answers += 1;
            connection.queue(&Reply { number, nth, what: answer });
            self.woken.insert(*id);
        }
    }

    /// The next answer to send to a client.
    pub fn next_answer(&mut self, id: &ConnectionId) -> Option<Zeroizing<Vec<u8>>> {
        self.connections.get_mut(id)?.outbox.pop_front()
    }

    /// The answers taken from the queue are handed to the socket; returns whether the bytes that wait fell
    /// below the limit by this.
    pub fn sent(&mut self, id: &ConnectionId) -> bool {
        let Some(connection) = self.connections.get_mut(id) else { return false };
        let before = connection.unsent;
        connection.unsent = connection.outbox.iter().map(|answer| answer.len()).sum();
        before > BACKLOG && connection.unsent <= BACKLOG
    }
}
