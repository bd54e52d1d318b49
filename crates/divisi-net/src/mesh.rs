//! A mesh: one party's links to all others, shared by many sessions.

use crate::emulate::Emulation;
use crate::fault::{Fault, Loss};
use crate::frame::{CONTROL, Control, Head, segments, wire_len};
use crate::inbox::{Inbox, Key};
use crate::link::{Pump, TlsLink};
use crate::session::{Cause, Session};
use crate::tamper::Placed;
use crate::world::{World, later, lock};
use crate::{Channel, Frame, PartyId, Permits, Step, step};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, Weak};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Ended sessions that this party never opened, remembered for each peer.
const REMEMBERED: usize = 1024;

/// What a mesh is to be like.
#[derive(Clone)]
pub struct Options {
    /// The time limit of a receive.
    pub timeout: Duration,
    /// What the links pretend to be.
    pub emulation: Option<Emulation>,
    /// How much each link may hold that nobody has read yet, in bytes, in each direction.
    pub buffer: usize,
    /// How many threads may run at once.
    pub permits: Permits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            emulation: None,
            buffer: 256 << 20,
            permits: Permits::unlimited(),
        }
    }
}

/// Where a link's frames go.
pub(crate) enum Out {
    /// Straight into the inbox of a party of this process.
    Memory(Arc<OnceLock<Weak<Core>>>),
    /// Into a TLS connection.
    Tls(Box<TlsLink>),
}

/// One link, seen from one end.
pub(crate) struct Link {
    pub inbox: Inbox,
    pub out: Out,
    pub secret: Zeroizing<[u8; 32]>,
    sent: AtomicU64,
    tapped: AtomicBool,
    placed: Mutex<Option<Placed>>,
}

impl Link {
    pub fn new(peer: PartyId, options: &Options, out: Out, secret: Zeroizing<[u8; 32]>) -> Self {
        Self {
            inbox: Inbox::new(peer, options.buffer, options.emulation),
            out,
            secret,
            sent: AtomicU64::new(0),
            tapped: AtomicBool::new(false),
            placed: Mutex::new(None),
        }
    }

    /// Puts an interceptor in place.
    pub fn place(&self, placed: Placed) {
        *lock(&self.placed) = Some(placed);
        self.tapped.store(true, Ordering::SeqCst);
    }

    fn tap(&self) -> Option<MutexGuard<'_, Option<Placed>>> {
        self.tapped.load(Ordering::Relaxed).then(|| lock(&self.placed))
    }
}

#[derive(Default)]
struct Sessions {
    open: HashMap<u32, (Arc<Session>, usize)>,
    /// Sessions that this party has seen end.
    ended: HashSet<u32>,
    /// Sessions that a peer ended and this party has not opened, by peer.
    aborted: HashMap<PartyId, VecDeque<u32>>,
    /// The first link that was lost.
    lost: Option<(PartyId, Loss)>,
}

/// What a mesh and its channels share.
pub(crate) struct Core {
    pub me: PartyId,
    pub world: Arc<dyn World>,
    links: Vec<Option<Link>>,
    sessions: Mutex<Sessions>,
    timeout: AtomicU64,
    pub pump: Arc<Pump>,
    pub emulated: bool,
    permits: RwLock<Permits>,
}

impl Core {
    /// `links` has one place for each party, that of `me` empty.
    pub fn new(me: PartyId, world: Arc<dyn World>, options: &Options, links: Vec<Option<Link>>) -> Self {
        Self {
            me,
            world,
            links,
            sessions: Mutex::default(),
            timeout: AtomicU64::new(nanos(options.timeout)),
            pump: Arc::default(),
            emulated: options.emulation.is_some(),
            permits: RwLock::new(options.permits.clone()),
        }
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout.load(Ordering::Relaxed))
    }

    pub fn links(&self) -> impl Iterator<Item = (PartyId, &Link)> {
        let parties = PartyId::all(self.links.len());
        parties.zip(&self.links).filter_map(|(p, link)| link.as_ref().map(|link| (p, link)))
    }

    pub fn link(&self, peer: PartyId, step: Step) -> Result<&Link, Fault> {
        let what =
            if peer == self.me { "a party has no link to itself" } else { "no such party in this mesh" };
        self.links.get(peer.index()).and_then(Option::as_ref).ok_or(Fault::Misuse { step, what })
    }

    /// Sends a message through the interceptor, if there is one.
    pub fn send(
        &self,
        to: PartyId,
        step: Step,
        session: &Session,
        strand: u32,
        depth: u32,
        body: &[u8],
    ) -> Result<(), Fault> {
        let link = self.link(to, step)?;
        let frames = match link.tap().as_deref_mut() {
            Some(Some(placed)) => {
                let frame =
                    Frame { session: session.number, strand, step: step.id, depth, body: body.to_vec() };
                placed.intercept.outgoing(frame)
            }
            _ => return self.emit(to, step, session.number, strand, step.id, depth, body, Some(session)),
        };
        for f in frames {
            self.emit(to, step, f.session, f.strand, f.step, f.depth, &f.body, Some(session))?;
        }
        Ok(())
    }

    /// Sends a message as it is.
    pub fn emit(
        &self,
        to: PartyId,
        step: Step,
        session: u32,
        strand: u32,
        id: u32,
        depth: u32,
        body: &[u8],
        unless_over: Option<&Session>,
    ) -> Result<(), Fault> {
        let link = self.link(to, step)?;
        match link.inbox.down() {
            None => {}
            Some(reason) => return Err(Cause::Lost(to, reason).fault(step)),
        }
        link.sent.fetch_add(wire_len(body.len()), Ordering::Relaxed);
        match &link.out {
            Out::Memory(peer) => {
                let Some(peer) = resident(peer) else {
                    return Err(Fault::Lost { peer: to, step, reason: Loss::Closed });
                };
                let head = Head { session, strand, step: id, depth, len: body.len() as u32, more: false };
                peer.deliver(self.me, head, body.to_vec(), None);
                Ok(())
            }
            Out::Tls(tls) => {
                tls.send(self, to, step, segments(session, strand, id, depth, body), unless_over)
            }
        }
    }

    /// Sends a control message; a link that is gone needs none.
    pub fn tell(&self, link: &Link, session: u32, control: Control) {
        let (head, body) = control.encode(session);
        match &link.out {
            Out::Memory(peer) => {
                if let Some(peer) = resident(peer) {
                    peer.deliver(self.me, head, body, None);
                }
            }
            Out::Tls(tls) => tls.tell(self, &head, &body),
        }
    }

    /// Takes in a frame from a peer. `sent` is known on links that carry it.
    pub fn deliver(&self, from: PartyId, head: Head, body: Vec<u8>, sent: Option<Instant>) {
        if let Err(loss) = self.try_deliver(from, head, body, sent) {
            self.lose(from, loss);
        }
    }

    /// As [`Self::deliver`], for the caller that itself ends the link on an error.
    pub fn try_deliver(
        &self,
        from: PartyId,
        head: Head,
        body: Vec<u8>,
        sent: Option<Instant>,
    ) -> Result<(), Loss> {
        let Ok(link) = self.link(from, step!("deliver")) else { return Ok(()) };
        if head.strand == CONTROL {
            return self.control(from, link, head.session, Control::decode(&head, &body)?);
        }
        if let Some(Some(placed)) = link.tap().as_deref_mut() {
            let key = (head.session, head.strand);
            let whole = placed.partial.entry(key).or_default();
            whole.extend_from_slice(&body);
            if !head.more {
                let body = placed.partial.remove(&key).unwrap_or_default();
                let Head { session, strand, step, depth, .. } = head;
                placed.intercept.incoming(&Frame { session, strand, step, depth, body });
            }
        }
        let sent = sent.or_else(|| link.inbox.emulated().then(|| self.world.now()));
        link.inbox.deliver(&head, body, sent, |session| self.is_over(session))
    }

    fn control(&self, from: PartyId, link: &Link, session: u32, control: Control) -> Result<(), Loss> {
        match control {
            Control::Abort => self.aborted(from, session),
            Control::Close => {
                link.inbox.lose(Loss::Closed);
            }
            Control::Ask { strand } => {
                let waits = self.links().find_map(|(p, l)| Some((p, l.inbox.waiting((session, strand))?)));
                if let Some((p, step)) = waits {
                    self.tell(link, session, Control::Answer { strand, party: p.number(), step });
                }
            }
            Control::Answer { strand, party, step } => {
                let party = PartyId::new(party).filter(|p| p.index() < self.links.len());
                link.inbox.answer((session, strand), party.map(|p| (p, step)));
            }
        }
        Ok(())
    }

    fn is_over(&self, session: u32) -> bool {
        let sessions = lock(&self.sessions);
        sessions.ended.contains(&session)
    }

    /// A peer ended a session.
    fn aborted(&self, from: PartyId, number: u32) {
        {
            let sessions = &mut *lock(&self.sessions);
            match sessions.open.get(&number) {
                Some((session, _)) => {
                    session.end(Cause::Aborted(from));
                    sessions.ended.insert(number);
                }
                None => {
                    let known = sessions.aborted.entry(from).or_default();
                    if !known.contains(&number) {
                        known.push_back(number);
                    }
                    if known.len() > REMEMBERED {
                        known.pop_front();
                    }
                }
            }
        }
        self.wake(number);
    }

    /// This party ends a session: wakes its strands, tells the peers once.
    pub fn poison(&self, session: &Session) {
        session.end(Cause::Own);
        lock(&self.sessions).ended.insert(session.number);
        self.wake(session.number);
        if session.must_tell() {
            for (_, link) in self.links() {
                if link.inbox.down().is_none() {
                    self.tell(link, session.number, Control::Abort);
                    if let Some(Some(placed)) = link.tap().as_deref_mut() {
                        placed.intercept.abort_sent(session.number);
                    }
                }
            }
        }
    }

    fn wake(&self, session: u32) {
        for (_, link) in self.links() {
            link.inbox.wake_session(session);
            if let Out::Tls(tls) = &link.out {
                tls.interrupt(&link.inbox);
            }
        }
    }

    /// A link broke: all sessions of the mesh are over.
    pub fn lose(&self, peer: PartyId, reason: Loss) {
        let Ok(link) = self.link(peer, step!("lose")) else { return };
        if !link.inbox.lose(reason) {
            return;
        }
        if let Out::Tls(tls) = &link.out {
            tls.reset();
        }
        let open: Vec<Arc<Session>> = {
            let sessions = &mut *lock(&self.sessions);
            sessions.lost.get_or_insert((peer, reason));
            let open: Vec<_> = sessions.open.values().map(|(session, _)| session.clone()).collect();
            sessions.ended.extend(open.iter().map(|session| session.number));
            open
        };
        for session in open {
            session.end(Cause::Lost(peer, reason));
            self.wake(session.number);
        }
    }

    fn open(&self, number: u32, strand: u32) -> Result<Arc<Session>, Fault> {
        let step = step!("open");
        if strand == CONTROL {
            return Err(Fault::Misuse { step, what: "this strand number is reserved" });
        }
        let session = {
            let sessions = &mut *lock(&self.sessions);
            if let Some((peer, reason)) = sessions.lost {
                return Err(Cause::Lost(peer, reason).fault(step));
            }
            if let Some((peer, _)) = sessions.aborted.iter().find(|(_, known)| known.contains(&number)) {
                return Err(Fault::Aborted { peer: *peer, step });
            }
            let fresh = || (Arc::new(Session::new(number)), 0);
            let (session, strands) = sessions.open.entry(number).or_insert_with(fresh);
            let session = session.clone();
            session.check(step)?;
            if *strands == 0 && sessions.ended.contains(&number) {
                sessions.open.remove(&number);
                return Err(Fault::Poisoned { step });
            }
            *strands += 1;
            session
        };
        let key = (number, strand);
        for (_, link) in self.links() {
            if !link.inbox.open(key) {
                self.release(number);
                return Err(Fault::Misuse { step, what: "this channel is open already" });
            }
        }
        Ok(session)
    }

    /// A channel is closed.
    pub fn shut(&self, key: Key) {
        for (_, link) in self.links() {
            link.inbox.shut(key);
        }
        self.release(key.0);
    }

    fn release(&self, number: u32) {
        let sessions = &mut *lock(&self.sessions);
        if let Some((_, strands)) = sessions.open.get_mut(&number) {
            *strands -= 1;
            if *strands == 0 {
                sessions.open.remove(&number);
            }
        }
    }
}

/// The party at the other end of a memory link, while it lives.
fn resident(place: &OnceLock<Weak<Core>>) -> Option<Arc<Core>> {
    place.get().and_then(Weak::upgrade)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// One party's links to all others.
///
/// Dropping it closes the links in an orderly way when all is well; while its thread panics it resets them, as
/// the death of the process would.
pub struct Mesh {
    core: Arc<Core>,
    ended: bool,
}

impl Mesh {
    pub(crate) fn from_core(core: Arc<Core>) -> Self {
        Self { core, ended: false }
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// This party.
    pub fn me(&self) -> PartyId {
        self.core.me
    }

    /// How many parties the mesh has, this one included.
    pub fn parties(&self) -> usize {
        self.core.links.len()
    }

    /// All other parties, in order.
    pub fn peers(&self) -> impl Iterator<Item = PartyId> {
        self.core.links().map(|(p, _)| p)
    }

    /// The surroundings of this party.
    pub fn world(&self) -> &Arc<dyn World> {
        &self.core.world
    }

    /// Opens the channel of a strand of a session. Sessions that were ended stay so.
    pub fn open(&self, session: u32, strand: u32) -> Result<Channel, Fault> {
        let session = self.core.open(session, strand)?;
        Ok(Channel::new(self.core.clone(), session, strand))
    }

    /// The bytes handed to the link to a peer so far, headers included; 0 for who is no peer.
    pub fn bytes_sent(&self, peer: PartyId) -> u64 {
        let link = self.core.links.get(peer.index()).and_then(Option::as_ref);
        link.map_or(0, |link| link.sent.load(Ordering::Relaxed))
    }

    /// A secret that only this party and `peer` know, fresh with each connection: the root of the pairwise keys.
    pub fn link_secret(&self, peer: PartyId) -> Result<Zeroizing<[u8; 32]>, Fault> {
        Ok(self.core.link(peer, step!("link_secret"))?.secret.clone())
    }

    /// The time limit of a receive.
    pub fn timeout(&self) -> Duration {
        self.core.timeout()
    }

    /// Sets the time limit of a receive, for all channels of this mesh.
    pub fn set_timeout(&self, timeout: Duration) {
        self.core.timeout.store(nanos(timeout), Ordering::Relaxed);
    }

    /// The permits that the strands of this mesh share.
    pub fn permits(&self) -> Permits {
        self.core.permits.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Sets the permits, for strands that start from now on.
    pub fn set_permits(&self, permits: Permits) {
        *self.core.permits.write().unwrap_or_else(std::sync::PoisonError::into_inner) = permits;
    }

    /// The first link that broke, if one did: the mesh is then of no more use.
    pub fn lost(&self) -> Option<(PartyId, Loss)> {
        lock(&self.core.sessions).lost
    }

    /// Tells the peers that nothing more comes, waits until what is under way has left, and shuts the links.
    pub fn close(mut self, within: Duration) {
        self.end(within);
    }

    /// Cuts all links at once, as the death of the process would.
    pub fn reset(mut self) {
        self.cut();
    }

    fn end(&mut self, within: Duration) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let until = later(self.core.world.now(), within);
        for (_, link) in self.core.links() {
            if link.inbox.down().is_none() {
                self.core.tell(link, 0, Control::Close);
            }
        }
        for (_, link) in self.core.links() {
            if let Out::Tls(tls) = &link.out {
                tls.close(&self.core, until);
            }
        }
        self.finish();
    }

    fn cut(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        for (_, link) in self.core.links() {
            match &link.out {
                Out::Memory(peer) => {
                    if let Some(peer) = resident(peer) {
                        peer.lose(self.core.me, Loss::Cut);
                    }
                }
                Out::Tls(tls) => tls.reset(),
            }
        }
        self.finish();
    }

    /// Ends what this party itself still has open.
    fn finish(&self) {
        for (peer, link) in self.core.links() {
            if link.inbox.down() == Some(Loss::Closed) {
                continue;
            }
            self.core.lose(peer, Loss::Own);
        }
        self.core.pump.end();
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        if std::thread::panicking() { self.cut() } else { self.end(Duration::from_secs(1)) }
    }
}
