//! What a mesh and its channels share: the links, the sessions, and how a frame finds its way between them.

mod endings;
mod messages;

use crate::fault::{Fault, Loss};
use crate::frame::{CONTROL, Head};
use crate::inbox::{Inbox, Key};
use crate::intercept::Placed;
use crate::options::Options;
use crate::permits::Pause;
use crate::pump::Pump;
use crate::session::{Session, Sessions};
use crate::skip::Skipping;
use crate::world::{World, lasting, lock};
use crate::{PartyId, Permits, Step, step};
use rustix::event::{PollFd, PollFlags, poll};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// In a mesh of up to this many parties, a thread that waits on one link watches all links for their end.
const SMALL: usize = 16;

/// How long a thread waits on one link before it attends to all links.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// Where a link's frames go.
pub(crate) enum Out {
    /// Straight into the inbox of a party of this process.
    Memory(Arc<OnceLock<Weak<Fabric>>>),
    /// Into a TLS connection.
    Tls(Box<dyn Wire>),
}

/// What a link needs of a connection whose socket the waiting threads read themselves.
pub(crate) trait Wire: Send + Sync {
    /// Sends the frames of a message, unless its session ends meanwhile.
    fn send(
        &self,
        fabric: &Fabric,
        to: PartyId,
        step: Step,
        frames: &mut dyn Iterator<Item = (Head, &[u8])>,
        unless_over: Option<&Session>,
    ) -> Result<(), Fault>;

    /// Waits until at most `most` bytes wait to be sent.
    fn wait_for_capacity(
        &self,
        fabric: &Fabric,
        to: PartyId,
        step: Step,
        most: usize,
        session: &Session,
    ) -> Result<(), Fault>;

    /// Sends a control frame if the link still takes any.
    fn tell(&self, fabric: &Fabric, head: &Head, body: &[u8]);

    /// Hands queued bytes to the kernel.
    fn flush(&self);

    /// The socket, to be polled.
    fn polled(&self, flags: PollFlags) -> PollFd<'_>;

    fn is_pending(&self) -> bool;

    /// The work of the thread that has the reader's role of this link: it waits until something comes or
    /// `until`, and takes in what has come. After a `long` wait it attends to all links. In small meshes it
    /// watches from the start whether another link has ended, so that faults name the first link that was
    /// lost.
    fn read(
        &self,
        fabric: &Fabric,
        peer: PartyId,
        until: Instant,
        long: bool,
        pause: Pause,
        stop: &dyn Fn() -> bool,
    );

    /// Looks for a short time for bytes that are there already or about to come, and takes them in; true if
    /// something came. The thread keeps its permit and lets other processes run; the look ends at once if
    /// another thread wants the permit. For the reader only.
    fn glance(&self, fabric: &Fabric, peer: PartyId, until: Instant, stop: &dyn Fn() -> bool) -> bool;

    /// Takes in what the socket holds; true if something came. For the reader only.
    fn pull(&self, fabric: &Fabric, peer: PartyId) -> bool;

    /// Takes in what came with the handshake's last bytes, before the link existed.
    fn begin(&self, fabric: &Fabric, peer: PartyId);

    /// Ends the poll of the thread that reads this link.
    fn interrupt(&self, inbox: &Inbox);

    /// Waits until what is queued has left, and closes this direction.
    fn close(&self, fabric: &Fabric, until: Instant);

    /// Shuts the socket at once.
    fn reset(&self);
}

/// Polls; false if the time passed.
pub(crate) fn sleep(fds: &mut [PollFd<'_>], time: Duration) -> bool {
    poll(fds, Some(&lasting(time))).is_ok_and(|n| n > 0)
}

/// One link, seen from one end.
pub(crate) struct Link {
    pub inbox: Inbox,
    pub out: Out,
    pub secret: Zeroizing<[u8; 32]>,
    pub sent: AtomicU64,
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

    /// This link, on which threads wait by this clock.
    pub fn with_skipping(mut self, skipping: &Arc<Skipping>) -> Self {
        self.inbox.set_skipping(skipping.clone());
        self
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

/// What a mesh and its channels share.
pub(crate) struct Fabric {
    pub me: PartyId,
    pub world: Arc<dyn World>,
    links: Vec<Option<Link>>,
    sessions: Mutex<Sessions>,
    timeout: AtomicU64,
    pub pump: Arc<Pump>,
    pub emulated: bool,
    permits: RwLock<Permits>,
    skipping: Option<Arc<Skipping>>,
}

impl Fabric {
    /// `links` has an entry for each party, and `None` for `me`.
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
            skipping: None,
        }
    }

    /// This fabric with a clock that is told when this party's channels open and close, and when its mesh is
    /// gone.
    pub fn with_skipping(mut self, skipping: &Arc<Skipping>) -> Self {
        self.skipping = Some(skipping.clone());
        self
    }

    /// The clock that is skipped ahead, if this mesh has one.
    pub fn skipping(&self) -> Option<&Arc<Skipping>> {
        self.skipping.as_ref()
    }

    pub fn parties(&self) -> usize {
        self.links.len()
    }

    /// The first link that was lost.
    pub fn lost(&self) -> Option<(PartyId, Loss)> {
        lock(&self.sessions).lost()
    }

    pub fn permits(&self) -> Permits {
        self.permits.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_permits(&self, permits: Permits) {
        *self.permits.write().unwrap_or_else(PoisonError::into_inner) = permits;
    }

    pub fn set_timeout(&self, timeout: Duration) {
        self.timeout.store(nanos(timeout), Ordering::Relaxed);
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout.load(Ordering::Relaxed))
    }

    pub fn links(&self) -> impl Iterator<Item = (PartyId, &Link)> {
        let parties = PartyId::all(self.links.len());
        parties.zip(&self.links).filter_map(|(p, link)| link.as_ref().map(|link| (p, link)))
    }

    /// Whether a look at all links costs next to nothing.
    pub fn is_small(&self) -> bool {
        self.links.len() <= SMALL
    }

    pub fn link(&self, peer: PartyId, step: Step) -> Result<&Link, Fault> {
        let what =
            if peer == self.me { "a message to this party itself" } else { "no such party in this mesh" };
        self.links.get(peer.index()).and_then(Option::as_ref).ok_or(Fault::Misuse { step, what })
    }

    /// Opens a channel of a session.
    pub fn open(&self, number: u32, strand: u32) -> Result<Arc<Session>, Fault> {
        let step = step!("open");
        if strand == CONTROL {
            return Err(Fault::Misuse { step, what: "this strand number is reserved" });
        }
        let session = lock(&self.sessions).open(number, step)?;
        let key = (number, strand);
        for (_, link) in self.links() {
            if !link.inbox.open(key) {
                lock(&self.sessions).release(number);
                return Err(Fault::Misuse { step, what: "this channel is open already" });
            }
        }
        if let Some(skipping) = &self.skipping {
            skipping.opened(self.me);
        }
        Ok(session)
    }

    /// Closes a channel of a session.
    pub fn shut(&self, key: Key) {
        for (_, link) in self.links() {
            link.inbox.shut(key);
        }
        lock(&self.sessions).release(key.0);
        if let Some(skipping) = &self.skipping {
            skipping.shut(self.me);
        }
    }
}

/// The party at the other end of a memory link, while it lives.
pub(crate) fn resident(place: &OnceLock<Weak<Fabric>>) -> Option<Arc<Fabric>> {
    place.get().and_then(Weak::upgrade)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
