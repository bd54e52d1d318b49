//! The data that a server's threads share: the schedule of all clients' requests, the keys, and the
//! configuration in force.

use super::allowances::{Allowances, Limits};
use super::in_force::MeshInForce;
use super::operators::Orders;
use super::options::ServerOptions;
use super::presence::Presence;
use super::scheduling::{Budget, KeyStatus, Offer, Schedule, Shape};
use super::stores::{self, Stores};
use crate::admit::{Admit, Who};
use crate::error::Failed;
use crate::request::{ConditionReport, ConnectionId, ToClient};
use divisi_core::{PartyId, Step};
use divisi_net::{Bell, Config, Fingerprint, Listener, ServerStatus, World};
use divisi_store::{KeyName, StoredKeys};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const KNOWN: Step = Step::new("divisi_node::server::node/known");

/// After another server's list of clients became equal again, a new difference is not logged for this time.
const DIFFERS: Duration = Duration::from_secs(60);
/// The longest interval at which a leader that has nothing to do shows that it is alive.
const BEAT: Duration = Duration::from_secs(1);

/// The schedule, and what it needs of threads.
pub(super) struct Scheduled {
    schedule: Schedule,
    /// Each wakes the thread of a client's connection.
    bells: HashMap<ConnectionId, Bell>,
}

/// What a server's threads share.
pub(crate) struct Node {
    pub me: PartyId,
    pub world: Arc<dyn World>,
    pub(super) scheduled: Mutex<Scheduled>,
    /// Signalled when there may be something to compute.
    pub(super) work: Condvar,
    /// The parties in force.
    pub(super) mesh: Mutex<MeshInForce>,
    /// A digest of the identities of the parties of the session, or of the last one: the same at all three.
    pub(super) joined: Mutex<[u8; 32]>,
    /// Whether the others are joined and the three serve, for clients.
    pub(super) presence: Mutex<Presence>,
    pub keys: StoredKeys,
    /// How the stores of the three servers compared at the start of the session, and the file that says that
    /// this server's store is new.
    pub(super) stores: Mutex<Stores>,
    pub(super) new_store: PathBuf,
    pub admit: Arc<dyn Admit>,
    pub options: ServerOptions,
    /// The operators' orders.
    pub(super) orders: Mutex<Orders>,
    /// The digest of this server's list of clients, and for each other server whether the log says that its
    /// list differs, and when the log last said that they are equal again.
    pub(super) lists: Mutex<([u8; 16], [(bool, Option<Instant>); 3])>,
    /// Set when the server has to stop; the next field when it has stopped.
    pub stop: Arc<AtomicBool>,
    pub(super) ended: AtomicBool,
    pub(super) listener: Listener,
}

impl Node {
    pub fn new(
        listener: Listener,
        data: &Path,
        keys: StoredKeys,
        options: ServerOptions,
        world: Arc<dyn World>,
    ) -> Node {
        let config = listener.config();
        let timeout = options.timeout.unwrap_or_else(|| config.timeout());
        let parties = MeshInForce::of(&config);
        let limits = Allowances::of_config(&config, &options.limits);
        let schedule = Schedule::new(listener.me(), Shape::STANDARD, limits, timeout);
        let orders = Mutex::new(Orders::new(listener.me(), options.orders));
        Node {
            me: listener.me(),
            presence: Mutex::new(Presence::new(world.now())),
            world,
            scheduled: Mutex::new(Scheduled { schedule, bells: HashMap::new() }),
            work: Condvar::new(),
            joined: Mutex::new(parties.digest),
            mesh: Mutex::new(parties),
            keys,
            stores: Mutex::default(),
            new_store: stores::mark(data),
            admit: options.admit.clone(),
            options,
            stop: Arc::default(),
            orders,
            lists: Mutex::new((config.digest().clients, [(false, None); 3])),
            ended: AtomicBool::new(false),
            listener,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Scheduled> {
        self.scheduled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Call `f` with the schedule and the present time, and wake the threads of the connections for which it
    /// has something.
    pub fn schedule<R>(&self, f: impl FnOnce(&mut Schedule, Instant) -> R) -> R {
        let mut scheduled = self.lock();
        let Scheduled { schedule, bells } = &mut *scheduled;
        let result = f(schedule, self.world.now());
        schedule.take_woken().iter().filter_map(|id| bells.get(id)).for_each(Bell::ring);
        result
    }

    /// Like [`Node::schedule`], and wake the computing thread.
    pub fn report<R>(&self, f: impl FnOnce(&mut Schedule, Instant) -> R) -> R {
        let result = self.schedule(f);
        self.work.notify_all();
        result
    }

    /// Wake the computing thread.
    pub fn wake(&self) {
        // with the lock, the thread is not between its last look and its wait
        self.report(|_, _| ());
    }

    /// A connection of a client begins, whose thread this bell wakes; false if one with the same id exists.
    pub fn enter(&self, who: Who, id: ConnectionId, bell: Bell) -> bool {
        let mut scheduled = self.lock();
        let enters = scheduled.schedule.enter(who, id);
        if enters {
            scheduled.bells.insert(id, bell);
        }
        enters
    }

    /// A client has disconnected.
    pub fn leave(&self, id: &ConnectionId) {
        let mut scheduled = self.lock();
        scheduled.schedule.leave(id, self.world.now());
        scheduled.bells.remove(id);
        self.work.notify_all();
    }

    /// Queue an answer for a client.
    pub fn answer(&self, id: &ConnectionId, number: u64, answer: ToClient) {
        self.schedule(|schedule, _| schedule.answer(id, number, answer));
    }

    /// End a request early.
    pub fn fail(&self, id: &ConnectionId, number: u64, failed: Failed) {
        self.schedule(|schedule, now| schedule.fail(id, number, failed, now));
    }

    /// The steps that can be done now. Waits until there is one, until the deadline, or until `else_` is
    /// true; `known` says what is known of a key.
    pub fn plan(
        &self,
        budget: Budget,
        until: Instant,
        known: impl Fn(&KeyName) -> KeyStatus,
        else_: impl Fn() -> bool,
    ) -> Vec<Offer> {
        let mut scheduled = self.lock();
        loop {
            let now = self.world.now();
            let offers = scheduled.schedule.plan(now, budget, &known);
            if !offers.is_empty() || now >= until || else_() {
                return offers;
            }
            let wake = scheduled.schedule.next_pause(now).map_or(until, |pause| pause.min(until));
            scheduled = self.wait(scheduled, wake);
        }
    }

    /// Wait until the messages of each offer are here or not worth waiting for, at most until the deadline.
    pub fn await_offers(&self, offers: &[Offer], until: Instant) {
        let mut scheduled = self.lock();
        while offers.iter().any(|offer| scheduled.schedule.may_come(offer)) && self.world.now() < until {
            scheduled = self.wait(scheduled, until);
        }
    }

    fn wait<'a>(&self, scheduled: MutexGuard<'a, Scheduled>, until: Instant) -> MutexGuard<'a, Scheduled> {
        let left = until.saturating_duration_since(self.world.now());
        self.work.wait_timeout(scheduled, left).unwrap_or_else(PoisonError::into_inner).0
    }

    /// This server's clock, in seconds since 1970.
    pub fn clock(&self) -> u64 {
        #[cfg(test)]
        if let Some(clocks) = &self.options.clocks {
            return clocks.lock().unwrap_or_else(PoisonError::into_inner)[self.me.index()];
        }
        self.world.unix_time().as_secs()
    }

    pub fn log(&self, line: &str) {
        (self.options.log)(line);
    }

    pub fn config(&self) -> Arc<Config> {
        self.listener.config()
    }

    /// How long a receive from another server waits.
    pub fn timeout(&self) -> Duration {
        self.options.timeout.unwrap_or_else(|| self.config().timeout())
    }

    /// The interval at which the leader shows that it is alive.
    pub fn beat(&self) -> Duration {
        #[cfg(not(test))]
        let longest = BEAT;
        #[cfg(test)]
        let longest = self.options.beat.unwrap_or(BEAT);
        (self.timeout() / 4).min(longest)
    }

    /// The offers that a corrupt leader makes, of those that it could make.
    #[cfg(test)]
    pub(super) fn offered(&self, mut offers: Vec<Offer>) -> Vec<Offer> {
        if let Some((_, name)) = self.options.passes_over.filter(|(who, _)| *who == self.me) {
            self.schedule(|schedule, _| offers.retain(|offer| schedule.client_of(offer) != Some(name)));
        }
        offers
    }

    /// No request can be served now: fail all that wait.
    pub(super) fn fail_all(&self, failed: &Failed) {
        self.schedule(|schedule, now| schedule.fail_all(failed, now));
        self.tick();
    }

    /// The limits of a client.
    pub fn limits(&self, client: &str) -> Limits {
        self.schedule(|schedule, _| schedule.limits.of(client).clone())
    }

    /// End requests and orders that have waited too long, and log what became of requests.
    pub fn tick(&self) {
        let lines = self.schedule(|schedule, now| {
            schedule.tick(now);
            schedule.take_log()
        });
        lines.iter().for_each(|line| self.log(line));
        self.operators(|orders, now| orders.tick(now));
    }

    /// Change the state of the operators' orders, and log what changed.
    pub(super) fn operators<R>(&self, f: impl FnOnce(&mut Orders, Instant) -> R) -> R {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut orders, self.world.now());
        let lines = orders.take_log();
        drop(orders);
        lines.iter().for_each(|line| self.log(line));
        result
    }

    /// The parties in force.
    pub fn mesh(&self) -> MeshInForce {
        self.mesh.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether these are the parties in force still.
    pub(super) fn has_parties(&self, parties: &MeshInForce) -> bool {
        *self.mesh.lock().unwrap_or_else(PoisonError::into_inner) == *parties
    }

    /// A digest of the identities of the parties of the session, for a new key.
    pub(super) fn mesh_of_session(&self) -> [u8; 32] {
        *self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the last comparison of stores found.
    pub(super) fn stores(&self) -> Stores {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The others are not joined: because of these, as far as it is known. For clients, and for those who
    /// check the link.
    pub(super) fn report_missing(&self, missing: impl IntoIterator<Item = PartyId>, trouble: String) {
        let (me, now) = (self.me, self.world.now());
        let missing = missing.into_iter().filter(|party| *party != me);
        self.presence.lock().unwrap_or_else(PoisonError::into_inner).apart(missing, now);
        self.tell_checkers(Vec::new(), trouble);
    }

    /// The others are joined, with these identities. For clients, and for those who check the link.
    pub(super) fn report_joined(&self, session: Vec<(PartyId, Fingerprint)>, trouble: String) {
        let (now, lost) = (self.world.now(), self.stores().lost);
        self.presence.lock().unwrap_or_else(PoisonError::into_inner).joined(lost, now);
        self.tell_checkers(session, trouble);
    }

    /// How this server is, for a client that asks.
    pub fn condition(&self) -> ConditionReport {
        let (waiting, now) = self.schedule(|schedule, now| (schedule.all_waiting(), now));
        let stopping = self.stop.load(Ordering::SeqCst);
        self.presence.lock().unwrap_or_else(PoisonError::into_inner).report(stopping, waiting, now)
    }

    /// Say what those who check the link to this server are told of it.
    fn tell_checkers(&self, session: Vec<(PartyId, Fingerprint)>, trouble: String) {
        let now = self.world.unix_time().as_millis();
        let since_unix_ms = u64::try_from(now).unwrap_or(u64::MAX);
        let stores_differ = if session.is_empty() { Vec::new() } else { self.stores().differ };
        self.listener.set_status(ServerStatus { session, since_unix_ms, stores_differ, trouble });
    }

    /// The digest of this server's list of clients.
    pub fn clients(&self) -> [u8; 16] {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Compare another server's digest of its list of clients with this server's, and log a difference: a
    /// client that one server does not know cannot be served.
    pub fn compare_clients(&self, party: PartyId, theirs: &[u8]) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, differs) = &mut *lists;
        let (differ, now) = (own[..] != *theirs, self.world.now());
        // a server that keeps changing between the two is logged from time to time only
        let soon = |since: &Instant| now.saturating_duration_since(*since) < DIFFERS;
        let news = |(before, since): &&mut (bool, Option<Instant>)| {
            *before != differ && !since.as_ref().is_some_and(soon)
        };
        let Some(before) = differs.get_mut(party.index()).filter(news) else { return };
        // a first difference is logged at once, and so is its end
        *before = (differ, if differ { before.1 } else { Some(now) });
        drop(lists);
        self.log(&if differ {
            format!(
                "{party} has another list of clients than {}: a client that is not in both lists cannot be served",
                self.me
            )
        } else {
            format!("{party} has the same list of clients as {} again", self.me)
        });
    }

    /// Check that a client is in the configuration, with the identity that it proved.
    pub fn knows(&self, who: &Who) -> Result<(), Failed> {
        let config = self.config();
        let known = |c: &divisi_net::ClientEntry| {
            c.name == who.name && *c.pin.fingerprint().bytes() == who.fingerprint
        };
        if config.clients().iter().any(known) {
            return Ok(());
        }
        let message = format!("client {} is not in the configuration of {} any more", who.name, self.me);
        Err(Failed::refused(KNOWN, message))
    }
}
