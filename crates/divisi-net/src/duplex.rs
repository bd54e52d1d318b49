//! A connection on which both ends may send at the same time: sending never waits for receiving.
//!
//! If a server reads only after it has written, and a client writes before it reads, they wait for each other
//! for ever once the buffers between them are full. Here one thread does both; other threads announce
//! messages to send by a bell.

use crate::connection::{Connection, ConnectionError};
use crate::frame::MAX_BODY;
use crate::world::later;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// The number of bytes for which the receiver allocates memory before they have arrived.
const PIECE: usize = 64 * 1024;

/// Wakes the thread that waits on a [`Duplex`].
#[derive(Clone)]
pub struct Bell(Arc<UnixStream>);

impl Bell {
    /// Rings the bell: it ends the current wait, or if there is none, the next one as soon as it begins.
    pub fn ring(&self) {
        // if the bell's buffer is full, it has rung already
        let _ = (&*self.0).write(&[1]);
    }
}

/// The outcome of a wait.
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum WaitOutcome {
    /// A whole message.
    Message(Zeroizing<Vec<u8>>),
    /// The bell rang, or there is room again for messages to send.
    Woken,
    /// Nothing happened within the time.
    Nothing,
}

/// A connection that sends and receives at the same time.
pub struct Duplex {
    connection: Connection,
    bell: UnixStream,
    /// The length of the arriving message, and how many of the length's four bytes have arrived.
    head: ([u8; 4], usize),
    body: Zeroizing<Vec<u8>>,
    /// The time at which the arriving message began. `moved` is the last time at which queued bytes could be
    /// sent, or none were queued.
    begun: Option<Instant>,
    moved: Instant,
}

impl Duplex {
    /// Turns a connection into a duplex one, with the bell that wakes its thread.
    ///
    /// # Errors
    /// If no more files can be opened.
    pub fn new(connection: Connection) -> std::io::Result<(Self, Bell)> {
        let (bell, other) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        other.set_nonblocking(true)?;
        let moved = connection.wire.now();
        let duplex =
            Self { connection, bell, head: ([0; 4], 0), body: Zeroizing::default(), begun: None, moved };
        Ok((duplex, Bell(Arc::new(other))))
    }

    /// The time limit of a message in transit, in either direction.
    pub fn timeout(&self) -> Duration {
        self.connection.timeout()
    }

    /// Queues a message without waiting: the caller limits how much it queues.
    ///
    /// # Errors
    /// If the message is too long (1 GiB), or the connection is closed.
    pub fn queue(&mut self, body: &[u8]) -> Result<(), ConnectionError> {
        let peer = || self.connection.peer().clone();
        let too_long = || ConnectionError::TooLong { peer: peer(), len: body.len(), max: MAX_BODY };
        let len = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_BODY).ok_or_else(too_long)?;
        if !self.connection.wire.is_full() {
            self.moved = self.connection.wire.now();
        }
        let (first, rest) = body.split_at(body.len().min(PIECE));
        let head = Zeroizing::new([&len.to_le_bytes()[..], first].concat());
        let queued = self.connection.wire.queue(&head).and_then(|()| self.connection.wire.queue(rest));
        queued.map_err(|e| self.connection.error(e, self.timeout()))
    }

    /// Whether all queued bytes are handed to the socket.
    pub fn is_sent(&self) -> bool {
        !self.connection.wire.is_full()
    }

    /// Sends queued bytes, and receives the next message of at most `longest` bytes, until the given time.
    /// With `None` it receives nothing, and returns as soon as the queued bytes are sent.
    ///
    /// # Errors
    /// If the connection is closed; [`ConnectionError::Timeout`] if the peer reads nothing within the time
    /// limit, or does not complete a message that it began.
    pub fn wait(&mut self, longest: Option<usize>, until: Instant) -> Result<WaitOutcome, ConnectionError> {
        let limit = self.timeout();
        let only_sends = longest.is_none() && !self.is_sent();
        loop {
            let sent = self.connection.wire.push().map_err(|e| self.connection.error(e, limit))?;
            let now = self.connection.wire.now();
            if sent || self.is_sent() {
                self.moved = now;
            }
            if longest.is_none() && self.begun.is_some() {
                // this end does not read, so that the peer's time limit begins anew
                self.begun = Some(now);
            }
            // checked before anything is received, so that a peer that keeps sending cannot postpone it
            if self.due(longest.is_some()).is_some_and(|due| now >= due) {
                return Err(ConnectionError::Timeout(self.connection.peer().clone(), limit));
            }
            if let Some(longest) = longest
                && let Some(message) = self.pull(longest)?
            {
                return Ok(WaitOutcome::Message(message));
            }
            if self.rang() {
                return Ok(WaitOutcome::Woken);
            }
            if now >= until || (only_sends && self.is_sent()) {
                return Ok(WaitOutcome::Nothing);
            }
            // a message may have begun just now
            let until = self.due(longest.is_some()).map_or(until, |due| due.min(until));
            let waited = self.connection.wire.wait(longest.is_some(), &self.bell, until);
            waited.map_err(|e| self.connection.error(e, limit))?;
        }
    }

    /// When the peer has to have taken something, or completed what it sends.
    fn due(&self, listens: bool) -> Option<Instant> {
        let sending = (!self.is_sent()).then_some(self.moved);
        let receiving = self.begun.filter(|_| listens);
        sending.into_iter().chain(receiving).min().map(|since| later(since, self.timeout()))
    }

    /// Whether the bell rang since it was asked last.
    fn rang(&mut self) -> bool {
        let mut some = [0; 64];
        let mut rang = false;
        loop {
            match self.bell.read(&mut some) {
                Ok(n) if n > 0 => rang = true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                _ => return rang,
            }
        }
    }

    /// The next message, if all of it has arrived. Memory grows with the bytes that arrive, not with the
    /// announced length.
    fn pull(&mut self, longest: usize) -> Result<Option<Zeroizing<Vec<u8>>>, ConnectionError> {
        let limit = self.timeout();
        let failed = |connection: &Connection, e| connection.error(e, limit);
        while self.head.1 < 4 {
            let (head, have) = &mut self.head;
            let scratch = head.get_mut(*have..).unwrap_or_default();
            let n = self.connection.wire.pull(scratch).map_err(|e| failed(&self.connection, e))?;
            if n == 0 {
                return Ok(None);
            }
            *have += n;
            self.begun.get_or_insert(self.connection.wire.now());
        }
        let len = u32::from_le_bytes(self.head.0) as usize;
        if len > longest {
            let peer = self.connection.peer().clone();
            return Err(ConnectionError::TooLong { peer, len, max: longest });
        }
        while self.body.len() < len {
            let have = self.body.len();
            crate::connection::grow(&mut self.body, len.min(have + PIECE));
            let scratch = self.body.get_mut(have..).unwrap_or_default();
            let n = self.connection.wire.pull(scratch).map_err(|e| failed(&self.connection, e))?;
            self.body.truncate(have + n);
            if n == 0 {
                return Ok(None);
            }
        }
        self.head = ([0; 4], 0);
        self.begun = None;
        Ok(Some(std::mem::take(&mut self.body)))
    }

    /// Sends queued bytes as far as this takes little time, and closes the connection in an orderly way.
    pub fn close(self) {
        self.connection.close();
    }
}
