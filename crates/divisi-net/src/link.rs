//! A link over TLS: a socket that the waiting threads read themselves.
//!
//! There is no reader thread. The thread that waits for a message polls the socket, decrypts what comes and
//! hands out what belongs to other threads. A send encrypts the message and hands to the socket what the
//! socket takes at once. The rest stays queued; every later send, every wait that is more than a glance, and
//! the mesh's pump hand more of it to the socket.

use crate::fabric::{Fabric, Out, PATIENCE, Wire, sleep};
use crate::fault::{Fault, Loss};
use crate::frame::{Head, Parser};
use crate::inbox::Inbox;
use crate::permits::{self, Pause};
use crate::session::{Cause, Session};
use crate::side::Side;
use crate::world::lock;
use crate::{PartyId, Step};
use rustix::event::{PollFd, PollFlags};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How much is read from the socket at once.
const READ: usize = 64 * 1024;
/// A peer that takes fewer bytes than this within the time limit is stalled; for one that takes more the
/// limit begins anew.
const PROGRESS: usize = 64 << 10;
/// How many reads one turn does at most, so that no peer keeps a thread for itself.
const TURNS: usize = 16;
/// How long a thread looks for a message before it sleeps: a round trip takes about as long as falling asleep
/// and waking.
const SPIN: Duration = Duration::from_micros(20);
/// The longest time that a look at the socket and a call of the scheduler take if no other process runs
/// meanwhile.
const TURN: Duration = Duration::from_micros(4);

/// The event by which a poll reports that the other end of a link is gone, beside the events that it always
/// reports.
#[cfg(any(target_os = "linux", target_os = "android"))]
const HANGUP: PollFlags = PollFlags::RDHUP;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const HANGUP: PollFlags = PollFlags::empty();

/// A link's socket and its TLS connection.
pub(crate) struct TlsLink {
    socket: TcpStream,
    side: Mutex<Side>,
    reader: Mutex<Reader>,
    /// Bytes queued for the kernel, or 1 when only TLS still holds some.
    pending: AtomicUsize,
    cap: usize,
    /// Written to end the reader's poll.
    bell: UnixStream,
    /// Polled by the reader.
    ear: UnixStream,
    failed: AtomicBool,
}

struct Reader {
    raw: Vec<u8>,
    parser: Parser,
}

impl TlsLink {
    /// A link over an established connection. `stamped` on emulated links.
    pub fn new(socket: TcpStream, tls: rustls::Connection, stamped: bool, cap: usize) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let (bell, ear) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ear.set_nonblocking(true)?;
        Ok(Self {
            socket,
            side: Mutex::new(Side::new(tls)),
            reader: Mutex::new(Reader { raw: vec![0; READ], parser: Parser::new(stamped) }),
            pending: AtomicUsize::new(0),
            cap,
            bell,
            ear,
            failed: AtomicBool::new(false),
        })
    }

    fn write(&self, side: &mut Side, fabric: &Fabric, head: &Head, body: &[u8]) -> bool {
        if self.failed.load(Ordering::Relaxed) {
            return false;
        }
        let stamp = if self.stamped(fabric) {
            u64::try_from(fabric.world.unix_time().as_nanos()).unwrap_or(u64::MAX).to_le_bytes().to_vec()
        } else {
            Vec::new()
        };
        let left = side.put(&[&stamp, &head.encode(), body]).and_then(|()| side.flush(&self.socket));
        self.note(left);
        if self.pending.load(Ordering::Relaxed) > 0 {
            fabric.pump.wake();
        }
        !self.failed.load(Ordering::Relaxed)
    }

    fn stamped(&self, fabric: &Fabric) -> bool {
        fabric.emulated
    }

    fn note(&self, left: io::Result<usize>) {
        match left {
            Ok(left) => self.pending.store(left, Ordering::Relaxed),
            Err(_) => {
                // The reading side tells how the link ended; what is still unread there stays readable.
                self.pending.store(0, Ordering::Relaxed);
                self.failed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Waits until at most `most` bytes are queued, and reads meanwhile, because the peer may wait,
    /// too.
    fn shorten_queue(
        &self,
        fabric: &Fabric,
        to: PartyId,
        step: Step,
        most: usize,
        session: Option<&Session>,
    ) -> Result<(), Fault> {
        let mut start = fabric.world.now();
        let mut before = 0;
        let pause = permits::pause();
        loop {
            let pending = self.pending.load(Ordering::Relaxed);
            if pending <= most {
                break;
            }
            if pending + PROGRESS <= before {
                (start, before) = (fabric.world.now(), pending); // the peer reads
            }
            before = before.max(pending);
            let waited = fabric.world.now() - start;
            if waited >= fabric.timeout() {
                return Err(Fault::Stalled { peer: to, step, waited, claim: None });
            }
            if let Some(session) = session {
                session.check(step)?;
            }
            let inbox = &fabric.link(to, step)?.inbox;
            let reads = inbox.enter();
            let flags = if reads { PollFlags::IN | PollFlags::OUT } else { PollFlags::OUT };
            let mut fds = [self.polled(flags)];
            let ready = sleep(&mut fds, Duration::from_millis(20));
            let came = fds.first().is_some_and(|fd| fd.revents().intersects(!PollFlags::OUT));
            if reads && ready && came {
                self.pull(fabric, to);
            }
            if reads {
                inbox.leave(None);
            }
            self.flush();
        }
        drop(pause);
        Ok(())
    }
}

impl Wire for TlsLink {
    fn send(
        &self,
        fabric: &Fabric,
        to: PartyId,
        step: Step,
        frames: &mut dyn Iterator<Item = (Head, &[u8])>,
        unless_over: Option<&Session>,
    ) -> Result<(), Fault> {
        for (head, body) in frames {
            if self.pending.load(Ordering::Relaxed) > self.cap {
                self.shorten_queue(fabric, to, step, self.cap, unless_over)?;
            }
            let mut side = lock(&self.side);
            // Checked under the lock under which the frame that ends the session is sent.
            if let Some(session) = unless_over {
                session.check(step)?;
            }
            if !self.write(&mut side, fabric, &head, body) {
                let reason = fabric.link(to, step)?.inbox.down().unwrap_or(Loss::Cut);
                return Err(Cause::Lost(to, reason).fault(step));
            }
        }
        Ok(())
    }

    fn wait_for_capacity(
        &self,
        fabric: &Fabric,
        to: PartyId,
        step: Step,
        most: usize,
        session: &Session,
    ) -> Result<(), Fault> {
        if self.pending.load(Ordering::Relaxed) > most {
            self.flush();
            self.shorten_queue(fabric, to, step, most, Some(session))?;
        }
        Ok(())
    }

    fn tell(&self, fabric: &Fabric, head: &Head, body: &[u8]) {
        self.write(&mut lock(&self.side), fabric, head, body);
    }

    fn flush(&self) {
        if self.is_pending() {
            let mut side = lock(&self.side);
            let left = side.flush(&self.socket);
            self.note(left);
        }
    }

    fn polled(&self, flags: PollFlags) -> PollFd<'_> {
        PollFd::new(&self.socket, flags)
    }

    fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed) > 0
    }

    fn read(
        &self,
        fabric: &Fabric,
        peer: PartyId,
        until: Instant,
        long: bool,
        pause: Pause,
        stop: &dyn Fn() -> bool,
    ) {
        let mut held: Vec<(PartyId, &dyn Wire)> = vec![(peer, self)];
        let mut others = Vec::new();
        for (p, link) in fabric.links().filter(|(p, _)| *p != peer) {
            let Out::Tls(tls) = &link.out else { continue };
            if long && link.inbox.enter() {
                held.push((p, &**tls));
            } else if tls.is_pending() || (fabric.is_small() && link.inbox.down().is_none()) {
                others.push((p, link, &**tls));
            }
        }
        let flags = |tls: &dyn Wire, base: PollFlags| {
            if tls.is_pending() { base | PollFlags::OUT } else { base }
        };
        let mut fds = vec![PollFd::new(&self.ear, PollFlags::IN)];
        fds.extend(held.iter().map(|(_, tls)| tls.polled(flags(*tls, PollFlags::IN))));
        fds.extend(others.iter().map(|(.., tls)| tls.polled(flags(*tls, HANGUP))));
        if !stop() {
            sleep(&mut fds, until.saturating_duration_since(fabric.world.now()));
        }
        drop(pause);
        let events: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        let (bell, events) = events.split_first().map_or((PollFlags::empty(), &[][..]), |(b, e)| (*b, e));
        if !bell.is_empty() {
            let mut rings = [0; 64];
            while matches!((&self.ear).read(&mut rings), Ok(n) if n == rings.len()) {}
        }
        for ((p, tls), event) in held.iter().zip(events) {
            if event.contains(PollFlags::OUT) {
                tls.flush();
            }
            if event.intersects(!PollFlags::OUT) {
                tls.pull(fabric, *p);
            }
            if *p != peer
                && let Ok(link) = fabric.link(*p, crate::step!("read"))
            {
                link.inbox.leave(None);
            }
        }
        for ((p, link, tls), event) in others.iter().zip(events.iter().skip(held.len())) {
            tls.flush();
            // The link has ended. If another thread reads it by now, that thread finds out as well.
            if event.intersects(!PollFlags::OUT) && link.inbox.enter() {
                tls.pull(fabric, *p);
                link.inbox.leave(None);
            }
        }
    }

    fn glance(&self, fabric: &Fabric, peer: PartyId, until: Instant, stop: &dyn Fn() -> bool) -> bool {
        let mut now = fabric.world.now();
        let (mut left, until) = (SPIN, until.min(now + 10 * SPIN));
        while !self.pull(fabric, peer) {
            if stop() || permits::wanted() || now >= until || left.is_zero() {
                return false;
            }
            std::thread::yield_now();
            let before = std::mem::replace(&mut now, fabric.world.now());
            // time in which other processes ran does not count
            left = left.saturating_sub(now.saturating_duration_since(before).min(TURN));
        }
        true
    }

    fn pull(&self, fabric: &Fabric, peer: PartyId) -> bool {
        let Reader { raw, parser } = &mut *lock(&self.reader);
        let mut frames = Vec::new();
        let mut came = false;
        for _ in 0..TURNS {
            let (got, end) = match (&self.socket).read(raw) {
                Ok(0) => (0, Some(Loss::Cut)),
                Ok(n) => (n, None),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return came,
                Err(_) => (0, Some(Loss::Cut)),
            };
            came = true;
            let result = match raw.get(..got) {
                Some(new) if got > 0 => {
                    let mut side = lock(&self.side);
                    let result = side.decrypt(new, parser, &mut frames);
                    if side.tls.wants_write() {
                        let left = side.flush(&self.socket);
                        self.note(left);
                    }
                    result
                }
                _ => Ok(false),
            };
            let whole = frames.drain(..).try_for_each(|(head, stamp, body)| {
                fabric.try_deliver(peer, head, body, stamp.map(|s| sent_at(fabric, s)))
            });
            let loss = match (whole, result, end) {
                (Err(loss), ..) | (_, Err(loss), _) | (_, _, Some(loss)) => Some(loss),
                (_, Ok(true), _) => Some(Loss::Cut),
                _ => None,
            };
            if let Some(loss) = loss {
                fabric.lose(peer, loss);
                return true;
            }
            if got < READ {
                return true;
            }
        }
        true
    }

    fn begin(&self, fabric: &Fabric, peer: PartyId) {
        let Reader { parser, .. } = &mut *lock(&self.reader);
        let mut frames = Vec::new();
        let result = lock(&self.side).decrypt(&[], parser, &mut frames);
        for (head, stamp, body) in frames {
            fabric.deliver(peer, head, body, stamp.map(|s| sent_at(fabric, s)));
        }
        match result {
            Ok(false) => {}
            Ok(true) => fabric.lose(peer, Loss::Cut),
            Err(loss) => fabric.lose(peer, loss),
        }
    }

    fn interrupt(&self, inbox: &Inbox) {
        if inbox.is_read() {
            // A full pipe rings already.
            let _ = (&self.bell).write(&[1]);
        }
    }

    fn close(&self, fabric: &Fabric, until: Instant) {
        while self.is_pending() && fabric.world.now() < until {
            let mut fds = [self.polled(PollFlags::OUT)];
            sleep(&mut fds, until.saturating_duration_since(fabric.world.now()).min(PATIENCE));
            self.flush();
        }
        let mut side = lock(&self.side);
        side.tls.send_close_notify();
        let left = side.flush(&self.socket);
        self.note(left);
        let _ = self.socket.shutdown(Shutdown::Write);
        // Unread bytes would turn the close into a reset.
        let mut rest = [0; 4096];
        for _ in 0..1024 {
            if !matches!((&self.socket).read(&mut rest), Ok(n) if n > 0) {
                break;
            }
        }
    }

    fn reset(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.pending.store(0, Ordering::Relaxed);
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// The time of sending by this party's own clock: never in the future, and at most ten seconds ago.
fn sent_at(fabric: &Fabric, stamp: u64) -> Instant {
    let now = fabric.world.now();
    let age =
        fabric.world.unix_time().saturating_sub(Duration::from_nanos(stamp)).min(Duration::from_secs(10));
    now.checked_sub(age).unwrap_or(now)
}

#[cfg(test)]
mod tests;
