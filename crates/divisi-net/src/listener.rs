//! The listener of a party: one listening port for the other parties and for clients.
//!
//! Each connection does its handshake in a thread of its own, within time limits. The number of handshakes in
//! progress is limited, and newer ones replace the oldest. A peer that is not in the configuration gets no
//! further than the handshake.

mod incoming;

use crate::PartyId;
use crate::config::{Config, ConfigError};
use crate::connection::Connection;
use crate::handshakes::{Handshakes, Refused};
use crate::identity::Identity;
use crate::status::ServerStatus;
use crate::trouble::Trouble;
use crate::wire::Wire;
use crate::world::{World, later, lock};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// How long an answer to a greeting may take between two parties that are there.
pub(crate) const ANSWER: Duration = Duration::from_secs(2);
/// How long the listener waits for a place or a descriptor before it looks again whether it is closed.
const NAP: Duration = Duration::from_millis(50);
/// Refusals remembered for messages.
const REFUSALS: usize = 8;
/// Refused identities remembered for the log.
const STRANGERS: usize = 16;

/// A join that is under way.
#[derive(Clone, Copy)]
pub(crate) struct Attempt {
    pub number: u64,
    pub emulated: bool,
}

#[derive(Default)]
pub(crate) struct State {
    pub attempts: u64,
    pub joining: Option<Attempt>,
    /// Connections to parties, greeted and confirmed in this attempt.
    pub arrived: BTreeMap<PartyId, Wire>,
    /// Why a party is not connected in this attempt.
    pub troubles: BTreeMap<PartyId, Trouble>,
    /// Why parties were turned away before this attempt. It is reported if they do not connect again.
    pub earlier: BTreeMap<PartyId, Trouble>,
    /// The newest connection of each party: older ones that still wait give way.
    newest: BTreeMap<PartyId, u64>,
    clients: VecDeque<Connection>,
    /// The peers that were turned away lately, and why.
    pub refusals: VecDeque<String>,
    /// The same for a log, until [`Listener::take_strangers`].
    strangers: VecDeque<String>,
}

/// What the listener's threads share.
pub(crate) struct Shared {
    config: RwLock<Arc<Config>>,
    pub me: PartyId,
    pub identity: Arc<Identity>,
    pub world: Arc<dyn World>,
    state: Mutex<State>,
    pub changed: Condvar,
    handshakes: Arc<Handshakes>,
    /// What a server says of itself to those who check.
    status: Mutex<Option<ServerStatus>>,
    closed: AtomicBool,
}

impl Shared {
    pub fn config(&self) -> Arc<Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn state(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Whether this join is still under way.
    pub fn is_current(&self, attempt: u64) -> bool {
        !self.is_closed() && self.state().joining.is_some_and(|a| a.number == attempt)
    }

    /// Records an identity that was refused, for a log.
    fn name(&self, who: String) {
        let mut state = self.state();
        if state.strangers.len() < STRANGERS {
            state.strangers.push_back(who);
        }
    }

    fn refuse(&self, who: String) {
        self.name(who.clone());
        let mut state = self.state();
        state.refusals.push_back(who);
        if state.refusals.len() > REFUSALS {
            state.refusals.pop_front();
        }
    }

    /// Keeps places that no flood takes for the addresses of the other parties, from the start. A host name
    /// is looked up in a thread of its own, however long that takes.
    fn expect_parties(self: &Arc<Self>) {
        for party in self.config().parties() {
            if party.id == self.me {
                continue;
            }
            if let Ok(address) = party.address.parse::<SocketAddr>() {
                self.handshakes.proved(address.ip());
                continue;
            }
            let (inside, address) = (self.clone(), party.address.clone());
            let look_up = move || {
                for place in address.to_socket_addrs().into_iter().flatten() {
                    inside.handshakes.proved(place.ip());
                }
            };
            // without a thread, the party's address becomes known when the party connects
            let _ = self.world.spawn(format!("look-up of {}", party.address), Box::new(look_up));
        }
    }
}

/// A party's listening port. Closed when dropped.
pub struct Listener {
    shared: Arc<Shared>,
    address: SocketAddr,
    bell: UnixStream,
}

impl Listener {
    /// Listens at the address of party `me` in the configuration, which must be one of this machine.
    pub fn open(
        config: Config,
        me: PartyId,
        identity: Arc<Identity>,
        world: Arc<dyn World>,
    ) -> Result<Self, ConfigError> {
        let address = config.party(me)?.address.clone();
        Self::open_on(&address, config, me, identity, world)
    }

    /// Listens at `host:port`, which may differ from the address at which others reach this party, as behind
    /// address translation.
    pub fn open_on(
        address: &str,
        config: Config,
        me: PartyId,
        identity: Arc<Identity>,
        world: Arc<dyn World>,
    ) -> Result<Self, ConfigError> {
        config.check_identity(me, &identity)?;
        let listener = TcpListener::bind(address).map_err(|e| {
            ConfigError::new(match e.kind() {
                ErrorKind::AddrInUse => format!(
                    "the port of {me}, {address}, is taken: stop the program that uses it, or change the address in \
                     the configuration"
                ),
                ErrorKind::AddrNotAvailable => format!(
                    "{me} cannot listen at {address}, which is no address of this machine: if others reach it there \
                     all the same, say with --listen at which address of its own it listens, like 0.0.0.0:{}",
                    address.rsplit_once(':').map_or("4701", |(_, port)| port)
                ),
                _ => format!("{me} cannot listen at {address} ({e}): correct the address in the configuration"),
            })
        })?;
        Self::open_at(listener, config, me, identity, world)
    }

    /// Uses a port that is already open.
    pub fn open_at(
        listener: TcpListener,
        config: Config,
        me: PartyId,
        identity: Arc<Identity>,
        world: Arc<dyn World>,
    ) -> Result<Self, ConfigError> {
        config.check_identity(me, &identity)?;
        let failed =
            |e: std::io::Error| ConfigError::new(format!("{me} cannot listen ({e}): try another port"));
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (bell, ear) = UnixStream::pair().map_err(failed)?;
        let shared = Arc::new(Shared {
            config: RwLock::new(Arc::new(config)),
            me,
            identity,
            world: world.clone(),
            state: Mutex::default(),
            changed: Condvar::new(),
            handshakes: Arc::default(),
            status: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        shared.expect_parties();
        let inside = shared.clone();
        world
            .spawn(format!("listener of {me}"), Box::new(move || attend(&inside, &listener, &ear)))
            .map_err(failed)?;
        Ok(Self { shared, address, bell })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The party whose listener it is.
    pub fn me(&self) -> PartyId {
        self.shared.me
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        self.shared.config()
    }

    /// Puts another configuration in force, for connections from now on. A mesh that was joined before stays
    /// as it is: whoever has it must end it if [`Config::has_parties_of`] says that the parties are others.
    pub fn reload(&self, config: Config) -> Result<(), ConfigError> {
        config.check_identity(self.shared.me, &self.shared.identity)?;
        let places =
            |config: &Config| config.parties().iter().map(|party| party.address.clone()).collect::<Vec<_>>();
        let before = self.shared.config();
        if !config.has_parties_of(&before) || places(&config) != places(&before) {
            // places are kept for the addresses of parties of this configuration, and of no earlier one
            self.shared.handshakes.forget_parties();
        }
        *self.shared.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        self.shared.expect_parties();
        // connections of parties that wait for a join look whether they are still pinned
        drop(self.shared.state());
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Says what those who check this party's link are told of it: see [`crate::check`].
    pub fn set_status(&self, status: ServerStatus) {
        *lock(&self.shared.status) = Some(status);
    }

    /// The counts of failed handshakes since the last call, for a log.
    pub fn take_refused(&self) -> Refused {
        self.shared.handshakes.take_refused()
    }

    /// The peers whose identity was refused since the last call, for a log: their addresses and fingerprints.
    /// At most 16 are remembered; [`Listener::take_refused`] counts all.
    pub fn take_strangers(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().strangers).into()
    }

    /// Whether a party is expected from this address.
    #[cfg(test)]
    pub(crate) fn expects(&self, from: std::net::IpAddr) -> bool {
        self.shared.handshakes.expects(from)
    }

    /// The number of the newest connection of this party that waits, or waited, for a join.
    #[cfg(test)]
    pub(crate) fn newest(&self, party: PartyId) -> Option<u64> {
        self.shared.state().newest.get(&party).copied()
    }

    /// How many clients wait to be served.
    #[cfg(test)]
    pub(crate) fn clients(&self) -> usize {
        self.shared.state().clients.len()
    }

    /// The next client that has connected; waits for one until the time limit.
    pub fn next_client(&self, timeout: Duration) -> Option<Connection> {
        let until = later(self.shared.world.now(), timeout);
        let mut state = self.shared.state();
        loop {
            if let Some(client) = state.clients.pop_front() {
                return Some(client);
            }
            let left = until.saturating_duration_since(self.shared.world.now());
            if left.is_zero() {
                return None;
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        // Taken and given back so that no thread misses the call between its look and its sleep.
        drop(self.shared.state());
        self.shared.changed.notify_all();
        let _ = (&self.bell).write(&[1]);
    }
}

/// The life of the listening thread.
fn attend(shared: &Arc<Shared>, listener: &TcpListener, ear: &UnixStream) {
    while !shared.is_closed() {
        let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(ear, PollFlags::IN)];
        if poll(&mut fds, None).is_err_and(|e| e != rustix::io::Errno::INTR) {
            return;
        }
        if shared.is_closed() {
            return;
        }
        match listener.accept() {
            Ok((socket, from)) => {
                // a connection whose socket cannot be duplicated is not closed when it is displaced, but ends
                // at its time limit
                let slot = shared.handshakes.admit(from.ip(), socket.try_clone().ok());
                let inside = shared.clone();
                let work = move || inside.receive(socket, from, slot);
                // Without a thread the connection is dropped, and its place with it.
                let _ = shared.world.spawn("handshake".into(), Box::new(work));
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            // Out of descriptors, most likely: others have to close some first.
            Err(_) => pause(shared),
        }
    }
}

/// Waits a moment, or until the listener closes.
fn pause(shared: &Shared) {
    let state = shared.state();
    drop(shared.changed.wait_timeout(state, NAP).unwrap_or_else(PoisonError::into_inner));
}
