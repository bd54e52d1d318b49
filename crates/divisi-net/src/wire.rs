//! A TLS connection used by one thread, each call with its time limit: handshakes, greetings, clients.

use crate::identity::Fingerprint;
use crate::interrupt::Interrupt;
use crate::tls::{Begun, EXPORTER};
use crate::world::{World, lasting, later};
use rustix::event::{PollFd, PollFlags, poll};
use rustls::AlertDescription;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// How long a closing end waits for the other.
const LINGER: Duration = Duration::from_millis(200);

/// How a call on a connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The time limit passed.
    Timeout,
    /// The peer closed the connection.
    Closed,
    /// The peer refused in the handshake; most often it does not know this identity.
    Alert(AlertDescription),
    /// The peer showed no identity that is accepted here.
    Unpinned,
    /// The peer's identity is not accepted here.
    Identity(Fingerprint),
    /// The bytes are not TLS, or not authentic.
    Tls(String),
    /// Another error of the network.
    Io(ErrorKind),
}

/// An authenticated connection.
pub(crate) struct Wire {
    socket: TcpStream,
    tls: rustls::Connection,
    world: Arc<dyn World>,
    peer: Fingerprint,
    interrupt: Interrupt,
}

impl Wire {
    /// Shakes hands. The peer has to answer, or at the accepting end to begin, before `first`; each later
    /// answer may take `answer`.
    pub fn establish(
        socket: TcpStream,
        begun: Begun,
        world: Arc<dyn World>,
        first: Instant,
        answer: Duration,
        until: Instant,
    ) -> Result<Self, Broken> {
        Self::establish_for(&Interrupt::default(), socket, begun, world, first, answer, until)
    }

    /// The same, unless the caller wants to wait no more.
    pub fn establish_for(
        interrupt: &Interrupt,
        socket: TcpStream,
        begun: Begun,
        world: Arc<dyn World>,
        first: Instant,
        answer: Duration,
        until: Instant,
    ) -> Result<Self, Broken> {
        let Begun { tls, seen } = begun;
        let zero = crate::PublicKey::new([0; 32]).fingerprint();
        let interrupt = interrupt.clone();
        let mut wire = Self { socket, tls, world, peer: zero, interrupt };
        let result = wire.shake(&seen, first.min(until), answer, until);
        // A peer that was silent needs no reason.
        if result.as_ref().is_err_and(|e| *e != Broken::Timeout) {
            wire.linger();
        }
        result.map(|()| wire)
    }

    fn shake(
        &mut self,
        seen: &OnceLock<Fingerprint>,
        first: Instant,
        answer: Duration,
        until: Instant,
    ) -> Result<(), Broken> {
        let wire = self;
        let ready = wire.socket.set_nonblocking(true).and_then(|()| wire.socket.set_nodelay(true));
        ready.map_err(|e| Broken::Io(e.kind()))?;
        wire.flush(first)?;
        let mut limit = first;
        while wire.tls.is_handshaking() {
            // This end sends a whole flight, which the peer has to answer.
            if wire.tls.wants_write() {
                limit = until.min(later(wire.world.now(), answer));
            }
            wire.flush(until)?;
            if wire.tls.is_handshaking() {
                wire.fill(limit).map_err(|e| match (e, seen.get()) {
                    (Broken::Unpinned, Some(peer)) => Broken::Identity(*peer),
                    (e, _) => e,
                })?;
            }
        }
        wire.flush(until)?;
        wire.peer = *seen.get().ok_or_else(|| Broken::Tls("the peer showed no identity".into()))?;
        Ok(())
    }

    /// Ends this direction and waits a moment for the other: unread bytes would turn the close into a reset,
    /// and the alert that says why might be lost.
    fn linger(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Write);
        let (until, mut rest) = (self.world.now() + LINGER, [0; 4096]);
        while self.sleep(PollFlags::IN, until).is_ok() {
            if !matches!((&self.socket).read(&mut rest), Ok(n) if n > 0) {
                return;
            }
        }
    }

    /// Whom to ask from now on whether to wait.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.interrupt = interrupt.clone();
    }

    /// The peer's identity.
    pub fn peer(&self) -> Fingerprint {
        self.peer
    }

    /// The world's clock.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    fn sleep(&self, flags: PollFlags, until: Instant) -> Result<(), Broken> {
        loop {
            let now = self.world.now();
            if now >= until || self.interrupt.is_due_at(now) {
                return Err(Broken::Timeout);
            }
            let mut fds = [PollFd::new(&self.socket, flags)];
            let left = self.interrupt.slice(until.saturating_duration_since(now));
            match poll(&mut fds, Some(&lasting(left))) {
                Ok(n) if n > 0 => return Ok(()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(Broken::Io(io::Error::from(e).kind())),
            }
        }
    }

    fn flush(&mut self, until: Instant) -> Result<(), Broken> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut &self.socket) {
                Ok(0) => return Err(Broken::Closed),
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.sleep(PollFlags::OUT, until)?,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(gone(&e)),
            }
        }
        Ok(())
    }

    /// Waits for bytes and decrypts them.
    fn fill(&mut self, until: Instant) -> Result<(), Broken> {
        loop {
            match self.tls.read_tls(&mut &self.socket) {
                Ok(0) => return Err(Broken::Closed),
                Ok(_) => break,
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.sleep(PollFlags::IN, until)?,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(gone(&e)),
            }
        }
        match self.tls.process_new_packets() {
            Ok(_) => Ok(()),
            Err(e) => {
                // The alert that says why; the connection ends either way.
                let _ = self.tls.write_tls(&mut &self.socket);
                Err(match e {
                    rustls::Error::AlertReceived(alert) => Broken::Alert(alert),
                    rustls::Error::InvalidCertificate(_) => Broken::Unpinned,
                    e => Broken::Tls(e.to_string()),
                })
            }
        }
    }

    /// Reads exactly this many bytes.
    pub fn read_exact(&mut self, mut out: &mut [u8], until: Instant) -> Result<(), Broken> {
        while !out.is_empty() {
            match self.tls.reader().read(out) {
                Ok(0) => return Err(Broken::Closed),
                Ok(n) => out = out.get_mut(n..).unwrap_or_default(),
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.fill(until)?,
                Err(e) => return Err(gone(&e)),
            }
        }
        Ok(())
    }

    /// Writes all of this.
    pub fn write_all(&mut self, mut bytes: &[u8], until: Instant) -> Result<(), Broken> {
        while !bytes.is_empty() {
            let taken = self.tls.writer().write(bytes).map_err(|e| gone(&e))?;
            bytes = bytes.get(taken..).unwrap_or_default();
            self.flush(until)?;
        }
        Ok(())
    }

    /// Queues these bytes, however many are waiting already: [`Self::push`] sends them.
    pub fn queue(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.tls.set_buffer_limit(None);
        self.tls.writer().write_all(bytes).map_err(|e| gone(&e))
    }

    /// Sends as many of the waiting bytes as the socket takes now; returns whether it took any.
    pub fn push(&mut self) -> Result<bool, Broken> {
        let mut some = false;
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut &self.socket) {
                Ok(0) => return Err(Broken::Closed),
                Ok(_) => some = true,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(gone(&e)),
            }
        }
        Ok(some)
    }

    /// Whether something waits to be sent.
    pub fn is_full(&self) -> bool {
        self.tls.wants_write()
    }

    /// Reads bytes that have arrived already; returns how many, 0 if there are none.
    pub fn pull(&mut self, out: &mut [u8]) -> Result<usize, Broken> {
        loop {
            match self.tls.reader().read(out) {
                Ok(0) if !out.is_empty() => return Err(Broken::Closed),
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == ErrorKind::WouldBlock => match self.fill(self.world.now()) {
                    Err(Broken::Timeout) => return Ok(0),
                    filled => filled?,
                },
                Err(e) => return Err(gone(&e)),
            }
        }
    }

    /// Waits until there is something to read, if that is wanted, room to send what waits, or `bell` rings.
    pub fn wait(&self, listens: bool, bell: &UnixStream, until: Instant) -> Result<(), Broken> {
        let mut flags = if listens { PollFlags::IN } else { PollFlags::empty() };
        flags.set(PollFlags::OUT, self.is_full());
        let left = until.saturating_duration_since(self.world.now());
        let mut fds = [PollFd::new(&self.socket, flags), PollFd::new(bell, PollFlags::IN)];
        match poll(&mut fds, Some(&lasting(left))) {
            // poll reports that a socket is gone even if nothing is asked of it, and would report it again at
            // once
            Ok(_) if flags.is_empty() && fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                Err(Broken::Closed)
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(Broken::Io(io::Error::from(e).kind())),
        }
    }

    /// A secret that belongs to this connection alone and to `context`, which must be the same at both ends.
    pub fn secret(&self, context: &[u8]) -> Result<Zeroizing<[u8; 32]>, Broken> {
        let out = Zeroizing::new([0; 32]);
        self.tls
            .export_keying_material(*out, EXPORTER, Some(context))
            .map(Zeroizing::new)
            .map_err(|e| Broken::Tls(e.to_string()))
    }

    /// Says that nothing more comes, and closes.
    pub fn close(&mut self) {
        self.tls.send_close_notify();
        let _ = self.flush(self.world.now() + LINGER);
        self.linger();
    }

    /// The socket and its TLS state, for a link.
    pub fn into_parts(self) -> (TcpStream, rustls::Connection) {
        (self.socket, self.tls)
    }
}

fn gone(e: &io::Error) -> Broken {
    match e.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Broken::Closed,
        kind => Broken::Io(kind),
    }
}

#[cfg(test)]
pub(crate) mod tests;
