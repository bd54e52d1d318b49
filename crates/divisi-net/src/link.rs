//! A link over TLS: a socket that the waiting threads read themselves.
//!
//! There is no reader thread. The thread that waits for a message polls the socket, decrypts what comes and
//! hands out what belongs to others. A send encrypts and offers to the socket what it takes at once; the rest
//! stays queued, and every later send or wait, and the mesh's pump, push it on.

use crate::channel::PATIENCE;
use crate::fault::{Fault, Loss};
use crate::frame::{Head, Parser};
use crate::inbox::Inbox;
use crate::mesh::{Core, Link, Out};
use crate::permits::{self, Pause};
use crate::session::{Cause, Session};
use crate::world::{lasting, lock};
use crate::{PartyId, Step};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::VecDeque;
use std::io::{self, BufRead, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How much is read from the socket at once.
const READ: usize = 64 * 1024;
/// How many reads one turn does at most, so that no peer keeps a thread for itself.
const TURNS: usize = 16;
/// How long what the kernel did not take may lie before the pump takes care of it.
const STUCK: Duration = Duration::from_millis(1);

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

struct Side {
    tls: rustls::Connection,
    queue: VecDeque<Vec<u8>>,
    queued: usize,
}

struct Reader {
    raw: Vec<u8>,
    parser: Parser,
}

impl Side {
    /// Encrypts the parts as one, or queues them behind what waits already.
    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        if self.queue.is_empty() && !self.tls.wants_write() {
            let slices: Vec<IoSlice<'_>> = parts.iter().map(|p| IoSlice::new(p)).collect();
            let taken = self.tls.writer().write_vectored(&slices)?;
            let whole: usize = parts.iter().map(|p| p.len()).sum();
            if taken < whole {
                self.push(parts.concat().split_off(taken));
            }
        } else {
            self.push(parts.concat());
        }
        Ok(())
    }

    fn push(&mut self, bytes: Vec<u8>) {
        self.queued += bytes.len();
        self.queue.push_back(bytes);
    }

    /// Hands to the kernel what it takes; returns what is left.
    fn flush(&mut self, socket: &TcpStream) -> io::Result<usize> {
        loop {
            while self.tls.wants_write() {
                match self.tls.write_tls(&mut &*socket) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(_) => {}
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(self.queued.max(1)),
                    Err(e) => return Err(e),
                }
            }
            let Some(mut next) = self.queue.pop_front() else { return Ok(0) };
            let taken = self.tls.writer().write(&next)?;
            self.queued -= taken;
            if taken < next.len() {
                self.queue.push_front(next.split_off(taken));
            }
        }
    }

    /// Decrypts; appends whole frames to `frames`. True at the end of the stream.
    fn decrypt(
        &mut self,
        mut raw: &[u8],
        parser: &mut Parser,
        frames: &mut Vec<(Head, Option<u64>, Vec<u8>)>,
    ) -> Result<bool, Loss> {
        loop {
            if !raw.is_empty() {
                self.tls.read_tls(&mut raw).map_err(|_| Loss::Garbage)?;
            }
            self.tls.process_new_packets().map_err(|_| Loss::Garbage)?;
            let mut reader = self.tls.reader();
            loop {
                let len = match reader.fill_buf() {
                    Ok([]) => return Ok(true),
                    Ok(plain) => {
                        parser.feed(plain, &mut |head, stamp, body| {
                            frames.push((head, stamp, body));
                            Ok(())
                        })?;
                        plain.len()
                    }
                    Err(_) => break,
                };
                reader.consume(len);
            }
            if raw.is_empty() {
                return Ok(false);
            }
        }
    }
}

impl TlsLink {
    /// A link over an established connection. `stamped` on emulated links.
    pub fn new(
        socket: TcpStream,
        mut tls: rustls::Connection,
        stamped: bool,
        cap: usize,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        // What is queued is bounded here, by `cap`.
        tls.set_buffer_limit(None);
        let (bell, ear) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ear.set_nonblocking(true)?;
        Ok(Self {
            socket,
            side: Mutex::new(Side { tls, queue: VecDeque::new(), queued: 0 }),
            reader: Mutex::new(Reader { raw: vec![0; READ], parser: Parser::new(stamped) }),
            pending: AtomicUsize::new(0),
            cap,
            bell,
            ear,
            failed: AtomicBool::new(false),
        })
    }

    /// Sends the frames of a message, unless its session ends meanwhile.
    pub fn send<'b>(
        &self,
        core: &Core,
        to: PartyId,
        step: Step,
        frames: impl Iterator<Item = (Head, &'b [u8])>,
        unless_over: Option<&Session>,
    ) -> Result<(), Fault> {
        for (head, body) in frames {
            if self.pending.load(Ordering::Relaxed) > self.cap {
                self.room(core, to, step, unless_over)?;
            }
            let mut side = lock(&self.side);
            // Asked under the lock under which the frame that ends the session goes out.
            if let Some(session) = unless_over {
                session.check(step)?;
            }
            if !self.write(&mut side, core, &head, body) {
                let reason = core.link(to, step)?.inbox.down().unwrap_or(Loss::Cut);
                return Err(Cause::Lost(to, reason).fault(step));
            }
        }
        Ok(())
    }

    /// Sends a control frame if the link still takes any.
    pub fn tell(&self, core: &Core, head: &Head, body: &[u8]) {
        self.write(&mut lock(&self.side), core, head, body);
    }

    fn write(&self, side: &mut Side, core: &Core, head: &Head, body: &[u8]) -> bool {
        if self.failed.load(Ordering::Relaxed) {
            return false;
        }
        let stamp = if self.stamped(core) {
            u64::try_from(core.world.unix_time().as_nanos()).unwrap_or(u64::MAX).to_le_bytes().to_vec()
        } else {
            Vec::new()
        };
        let left = side.put(&[&stamp, &head.encode(), body]).and_then(|()| side.flush(&self.socket));
        self.note(left);
        if self.pending.load(Ordering::Relaxed) > 0 {
            core.pump.wake();
        }
        !self.failed.load(Ordering::Relaxed)
    }

    fn stamped(&self, core: &Core) -> bool {
        core.emulated
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

    /// Pushes on what is queued.
    pub fn flush(&self) {
        if self.is_pending() {
            let mut side = lock(&self.side);
            let left = side.flush(&self.socket);
            self.note(left);
        }
    }

    pub fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Relaxed) > 0
    }

    /// Waits until less than the cap is queued, reading meanwhile, for the peer may wait for the same.
    fn room(&self, core: &Core, to: PartyId, step: Step, session: Option<&Session>) -> Result<(), Fault> {
        let start = core.world.now();
        let pause = permits::pause();
        while self.pending.load(Ordering::Relaxed) > self.cap {
            let waited = core.world.now() - start;
            if waited >= core.timeout() {
                return Err(Fault::Stalled { peer: to, step, waited, claim: None });
            }
            if let Some(session) = session {
                session.check(step)?;
            }
            let inbox = &core.link(to, step)?.inbox;
            let reads = inbox.enter();
            let flags = if reads { PollFlags::IN | PollFlags::OUT } else { PollFlags::OUT };
            let mut fds = [PollFd::new(&self.socket, flags)];
            let ready = sleep(&mut fds, Duration::from_millis(20));
            let came = fds.first().is_some_and(|fd| fd.revents().intersects(!PollFlags::OUT));
            if reads && ready && came {
                self.pull(core, to);
            }
            if reads {
                inbox.leave(None);
            }
            self.flush();
        }
        drop(pause);
        Ok(())
    }

    /// What the thread does that has the reader's role of this link: waits until something comes or `until`,
    /// and takes in what has come. After a `long` wait it attends to all links.
    pub fn read(
        &self,
        core: &Core,
        peer: PartyId,
        until: Instant,
        long: bool,
        pause: Pause,
        stop: &dyn Fn() -> bool,
    ) {
        let mut held = vec![(peer, self)];
        let mut pushed = Vec::new();
        for (p, link) in core.links() {
            let Out::Tls(tls) = &link.out else { continue };
            if p != peer && long && link.inbox.enter() {
                held.push((p, tls));
            } else if p != peer && tls.is_pending() {
                pushed.push(&**tls);
            }
        }
        let flags = |tls: &TlsLink, base: PollFlags| {
            if tls.is_pending() { base | PollFlags::OUT } else { base }
        };
        let mut fds = vec![PollFd::new(&self.ear, PollFlags::IN)];
        fds.extend(held.iter().map(|(_, tls)| PollFd::new(&tls.socket, flags(tls, PollFlags::IN))));
        fds.extend(pushed.iter().map(|tls| PollFd::new(&tls.socket, PollFlags::OUT)));
        if !stop() {
            sleep(&mut fds, until.saturating_duration_since(core.world.now()));
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
                tls.pull(core, *p);
            }
            if *p != peer {
                if let Ok(link) = core.link(*p, crate::step!("read")) {
                    link.inbox.leave(None);
                }
            }
        }
        for tls in pushed {
            tls.flush();
        }
    }

    /// Takes in what the socket holds. For the reader only.
    fn pull(&self, core: &Core, peer: PartyId) {
        let Reader { raw, parser } = &mut *lock(&self.reader);
        let mut frames = Vec::new();
        for _ in 0..TURNS {
            let (got, end) = match (&self.socket).read(raw) {
                Ok(0) => (0, Some(Loss::Cut)),
                Ok(n) => (n, None),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(_) => (0, Some(Loss::Cut)),
            };
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
                core.try_deliver(peer, head, body, stamp.map(|s| sent_at(core, s)))
            });
            let loss = match (whole, result, end) {
                (Err(loss), ..) | (_, Err(loss), _) | (_, _, Some(loss)) => Some(loss),
                (_, Ok(true), _) => Some(Loss::Cut),
                _ => None,
            };
            if let Some(loss) = loss {
                return core.lose(peer, loss);
            }
            if got < READ {
                return;
            }
        }
    }

    /// Takes in what came with the handshake's last bytes, before the link was a link.
    pub fn begin(&self, core: &Core, peer: PartyId) {
        let Reader { parser, .. } = &mut *lock(&self.reader);
        let mut frames = Vec::new();
        let result = lock(&self.side).decrypt(&[], parser, &mut frames);
        for (head, stamp, body) in frames {
            core.deliver(peer, head, body, stamp.map(|s| sent_at(core, s)));
        }
        match result {
            Ok(false) => {}
            Ok(true) => core.lose(peer, Loss::Cut),
            Err(loss) => core.lose(peer, loss),
        }
    }

    /// Ends the poll of the thread that reads this link.
    pub fn interrupt(&self, inbox: &Inbox) {
        if inbox.is_read() {
            // A full pipe rings already.
            let _ = (&self.bell).write(&[1]);
        }
    }

    /// Waits until what is queued has left, and closes this direction.
    pub fn close(&self, core: &Core, until: Instant) {
        while self.is_pending() && core.world.now() < until {
            let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
            sleep(&mut fds, until.saturating_duration_since(core.world.now()).min(PATIENCE));
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

    /// Shuts the socket at once.
    pub fn reset(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.pending.store(0, Ordering::Relaxed);
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// The time of sending by this party's own clock; never in the future, never long ago.
fn sent_at(core: &Core, stamp: u64) -> Instant {
    let now = core.world.now();
    let age = core.world.unix_time().saturating_sub(Duration::from_nanos(stamp)).min(Duration::from_secs(10));
    now.checked_sub(age).unwrap_or(now)
}

/// Polls; false if the time passed.
fn sleep(fds: &mut [PollFd<'_>], time: Duration) -> bool {
    poll(fds, Some(&lasting(time))).is_ok_and(|n| n > 0)
}

/// Wakes the thread that pushes on what the kernel did not take while all strands compute.
#[derive(Default)]
pub(crate) struct Pump {
    state: Mutex<Order>,
    bell: Condvar,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Order {
    #[default]
    Sleep,
    Work,
    End,
}

impl Pump {
    pub fn wake(&self) {
        let mut state = lock(&self.state);
        if *state == Order::Sleep {
            *state = Order::Work;
            self.bell.notify_all();
        }
    }

    pub fn end(&self) {
        *lock(&self.state) = Order::End;
        self.bell.notify_all();
    }

    /// The life of the pump's thread.
    pub fn run(pump: &Self, core: &Weak<Core>) {
        loop {
            let mut state = lock(&pump.state);
            while *state == Order::Sleep {
                state = pump.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if *state == Order::End {
                return;
            }
            state = pump.bell.wait_timeout(state, STUCK).unwrap_or_else(PoisonError::into_inner).0;
            if *state == Order::End {
                return;
            }
            *state = Order::Sleep;
            drop(state);
            let Some(core) = core.upgrade() else { return };
            if push(&core) {
                pump.wake();
            }
        }
    }
}

/// One turn over all links that hold something back; true if some still do.
fn push(core: &Core) -> bool {
    let links = || {
        core.links().filter_map(|(_, link): (_, &Link)| match &link.out {
            Out::Tls(tls) if tls.is_pending() => Some(tls),
            _ => None,
        })
    };
    let stuck: Vec<_> = links().collect();
    let mut fds: Vec<_> = stuck.iter().map(|tls| PollFd::new(&tls.socket, PollFlags::OUT)).collect();
    if fds.is_empty() {
        return false;
    }
    sleep(&mut fds, PATIENCE);
    for tls in &stuck {
        tls.flush();
    }
    links().next().is_some()
}
