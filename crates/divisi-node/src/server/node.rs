//! The data that a server's threads share.

use super::ServerOptions;
use super::compared::Stores;
use super::in_force::MeshInForce;
use super::limits::Limits;
use super::operators::Orders;
use super::shared::SharedIntake;
use crate::admit::{Admit, Who};
use crate::error::Failed;
use divisi_core::{PartyId, Step};
use divisi_net::{Config, Listener};
use divisi_store::StoredKeys;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const KNOWN: Step = Step::new("divisi_node::server::node/known");

/// After another server's list of clients became equal again, a new difference is not logged for this time.
const DIFFERS: Duration = Duration::from_secs(60);

/// What a server's threads share.
pub(crate) struct Node {
    pub me: PartyId,
    /// The parties in force.
    pub(super) mesh: Mutex<MeshInForce>,
    /// A digest of the identities of the parties of the session, or of the last one: the same at all three.
    pub(super) joined: Mutex<[u8; 32]>,
    pub keys: StoredKeys,
    /// How the stores of the three servers compared at the start of the session, and the file that says that
    /// this server's store is new.
    pub(super) stores: Mutex<Stores>,
    pub(super) new_store: PathBuf,
    pub admit: Arc<dyn Admit>,
    pub shared: Arc<SharedIntake>,
    pub options: ServerOptions,
    /// The operators' orders.
    pub(super) orders: Mutex<Orders>,
    /// The digest of this server's list of clients, and for each other server whether the log says that its
    /// list differs, and when the log last said that they are equal again.
    pub(super) lists: Mutex<([u8; 16], [(bool, Option<Instant>); 3])>,
    /// Set when the server has to stop; the next field when it has stopped.
    pub stop: Arc<AtomicBool>,
    pub(super) ended: Arc<AtomicBool>,
    pub(super) listener: Listener,
}

impl Node {
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
        (self.timeout() / 4).min(Duration::from_secs(1))
    }

    /// The offers that a corrupt leader makes, of those that it could make.
    #[cfg(test)]
    pub(super) fn offered(&self, mut offers: Vec<super::intake::Offer>) -> Vec<super::intake::Offer> {
        if let Some((_, name)) = self.options.passes_over.filter(|(who, _)| *who == self.me) {
            self.shared.with(|intake, _| offers.retain(|offer| intake.client_of(offer) != Some(name)));
        }
        offers
    }

    /// No request can be served now: fail all that wait.
    pub(super) fn fail_all(&self, failed: &Failed) {
        self.shared.with(|intake, now| intake.fail_all(failed, now));
        self.tick();
    }

    /// The limits of a client.
    pub fn limits(&self, client: &str) -> Limits {
        self.shared.with(|intake, _| intake.limits.of(client).clone())
    }

    /// End requests and orders that have waited too long, and log what became of requests.
    pub fn tick(&self) {
        let lines = self.shared.with(|intake, now| {
            intake.tick(now);
            intake.take_log()
        });
        lines.iter().for_each(|line| self.log(line));
        self.operators(|orders, now| orders.tick(now));
    }

    /// Change the state of the operators' orders, and log what changed.
    pub(super) fn operators<R>(&self, f: impl FnOnce(&mut Orders, Instant) -> R) -> R {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut orders, self.shared.world.now());
        let lines = orders.take_log();
        drop(orders);
        lines.iter().for_each(|line| self.log(line));
        result
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
        let (differ, now) = (own[..] != *theirs, self.shared.world.now());
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
