//! A connection between a client and a party: messages with a length, each within a time limit.

use crate::PartyId;
use crate::config::Config;
use crate::dial::{dial, greet};
use crate::hello::{Hello, Role};
use crate::identity::{Fingerprint, Identity};
use crate::interrupt::Interrupt;
use crate::trouble::Trouble;
use crate::wire::{Broken, Wire};
use crate::world::{World, later};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// The number of bytes for which the receiver allocates memory before they have arrived.
const PIECE: usize = 64 * 1024;

/// The peer, by the identity with which it authenticated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "who a peer is decides what it may do")]
pub enum Peer {
    /// A party of the mesh.
    Party(PartyId),
    /// A client of this name.
    Client(String),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Party(id) => id.fmt(f),
            Self::Client(name) => write!(f, "client {name}"),
        }
    }
}

/// Why a connection could not be made or used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The connection could not be made.
    Trouble(Peer, Trouble),
    /// The peer sent nothing, or read nothing, within the time limit.
    Timeout(Peer, Duration),
    /// The peer or the network closed the connection.
    Closed(Peer),
    /// The peer announced a message longer than the protocol allows.
    TooLong {
        /// The peer.
        peer: Peer,
        /// The announced length in bytes.
        len: usize,
        /// The largest length allowed, in bytes.
        max: usize,
    },
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trouble(peer, trouble) => write!(f, "{peer} {trouble}"),
            Self::Timeout(peer, after) => {
                write!(f, "{peer} did not answer within {:.1} s", after.as_secs_f64())
            }
            Self::Closed(peer) => write!(f, "{peer} closed the connection"),
            Self::TooLong { peer, len, max } => {
                write!(f, "{peer} announced a message of {len} bytes where at most {max} are expected")
            }
        }
    }
}

impl std::error::Error for ConnectionError {}

impl ConnectionError {
    /// The peer that the error names.
    pub fn peer(&self) -> &Peer {
        match self {
            Self::Trouble(peer, _) | Self::Timeout(peer, _) | Self::Closed(peer) => peer,
            Self::TooLong { peer, .. } => peer,
        }
    }
}

/// An authenticated connection.
pub struct Connection {
    pub(crate) wire: Wire,
    peer: Peer,
    own: Fingerprint,
    timeout: Duration,
    binding: Zeroizing<[u8; 32]>,
}

impl Connection {
    pub(crate) fn new(wire: Wire, peer: Peer, own: Fingerprint, timeout: Duration) -> Result<Self, Broken> {
        let binding = wire.secret(b"client")?;
        Ok(Self { wire, peer, own, timeout, binding })
    }

    /// Dials a party as the client with this `identity`.
    pub fn dial(
        config: &Config,
        party: PartyId,
        identity: &Identity,
        world: &Arc<dyn World>,
        within: Duration,
    ) -> Result<Self, ConnectionError> {
        Self::dial_until(config, party, identity, world, within, &Interrupt::default())
    }

    /// The same, unless the caller wants to wait no more; it is asked later, too, while this connection
    /// waits.
    pub fn dial_until(
        config: &Config,
        party: PartyId,
        identity: &Identity,
        world: &Arc<dyn World>,
        within: Duration,
        interrupt: &Interrupt,
    ) -> Result<Self, ConnectionError> {
        let peer = Peer::Party(party);
        let until = later(world.now(), within);
        let own = identity.fingerprint();
        let begin = || {
            let mut wire = dial(config, party, identity, world, until, interrupt)?;
            let hello = Hello::new(Role::Client, 0, party.number(), config.digest(), &**world);
            greet(&mut wire, &hello, identity, until)?;
            let pinned = wire.peer();
            Self::new(wire, peer.clone(), own, config.timeout())
                .map_err(|e| Trouble::from_broken(e, pinned, own))
        };
        begin().map_err(|trouble| ConnectionError::Trouble(peer.clone(), trouble))
    }

    /// The peer.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The identity with which the peer authenticated.
    pub fn identity(&self) -> Fingerprint {
        self.wire.peer()
    }

    /// A value that only the two ends of this connection know: a message that is bound to it cannot be
    /// replayed elsewhere.
    pub fn binding(&self) -> &[u8; 32] {
        &self.binding
    }

    /// The time limit of each send and receive.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sets the time limit of each send and receive.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Sets whom this connection asks while it waits. A send or receive that ends early fails as one whose
    /// time is over, and the connection cannot be used any more.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.wire.set_interrupt(interrupt);
    }

    /// Sends a message (at most 1 GiB).
    pub fn send(&mut self, body: &[u8]) -> Result<(), ConnectionError> {
        let max = crate::frame::MAX_BODY;
        let too_long = || ConnectionError::TooLong { peer: self.peer.clone(), len: body.len(), max };
        let len = u32::try_from(body.len()).ok().filter(|_| body.len() <= max).ok_or_else(too_long)?;
        let until = later(self.wire.now(), self.timeout);
        // The length and the beginning go together, so that a short message is one TLS record.
        let (first, rest) = body.split_at(body.len().min(PIECE));
        let head = Zeroizing::new([&len.to_le_bytes()[..], first].concat());
        let result = self.wire.write_all(&head, until).and_then(|()| self.wire.write_all(rest, until));
        result.map_err(|e| self.error(e, self.timeout))
    }

    /// Receives a message of at most `max_len` bytes. Memory grows with the bytes that arrive, not with the
    /// announced length.
    pub fn recv(&mut self, max_len: usize) -> Result<Vec<u8>, ConnectionError> {
        self.recv_within(max_len, self.timeout)
    }

    /// Like [`Self::recv`], with a time limit for this call.
    pub fn recv_within(&mut self, max_len: usize, within: Duration) -> Result<Vec<u8>, ConnectionError> {
        let until = later(self.wire.now(), within);
        message(max_len, |bytes| self.wire.read_exact(bytes, until)).map_err(|e| match e {
            Unread::TooLong(len) => ConnectionError::TooLong { peer: self.peer.clone(), len, max: max_len },
            Unread::Broken(broken) => self.error(broken, within),
        })
    }

    /// Whether the connection is open, and nothing has arrived that was not received yet; it does not wait.
    /// After `false` the connection must not be used any more: a byte of what had arrived is lost.
    pub fn is_quiet(&mut self) -> bool {
        matches!(self.wire.pull(&mut [0]), Ok(0))
    }

    /// Closes the connection in an orderly way.
    pub fn close(mut self) {
        self.wire.close();
    }

    pub(crate) fn error(&self, broken: Broken, limit: Duration) -> ConnectionError {
        match broken {
            Broken::Timeout => ConnectionError::Timeout(self.peer.clone(), limit),
            Broken::Closed | Broken::Io(_) => ConnectionError::Closed(self.peer.clone()),
            other => {
                let trouble = Trouble::from_broken(other, self.wire.peer(), self.own);
                ConnectionError::Trouble(self.peer.clone(), trouble)
            }
        }
    }
}

/// Why no message could be read from a stream.
#[derive(Debug)]
pub(crate) enum Unread<E> {
    /// The announced length, which is not allowed.
    TooLong(usize),
    Broken(E),
}

/// The next message of at most `max_len` bytes. `read` fills its argument from the stream.
pub(crate) fn message<E>(
    max_len: usize,
    mut read: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Vec<u8>, Unread<E>> {
    let mut len = [0; 4];
    read(&mut len).map_err(Unread::Broken)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > max_len {
        return Err(Unread::TooLong(len));
    }
    let mut body = Zeroizing::new(Vec::new());
    while body.len() < len {
        let have = body.len();
        grow(&mut body, len.min(have + PIECE));
        let new = body.get_mut(have..).unwrap_or_default();
        read(new).map_err(Unread::Broken)?;
    }
    Ok(std::mem::take(&mut *body))
}

/// Lengthens `body`. If it moves to larger memory, the memory that it leaves is wiped, because messages carry
/// shares.
pub(crate) fn grow(body: &mut Zeroizing<Vec<u8>>, len: usize) {
    if len > body.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(len.max(2 * body.len())));
        larger.extend_from_slice(body);
        *body = larger;
    }
    body.resize(len, 0);
}
