//! The [`Desk`] between the threads that talk with clients and the one that computes with the other servers.

use super::desk::{Desk, Offer};
use super::plan::Budget;
use crate::error::Failed;
use crate::request::{ConnectionId, ToClient};
use divisi_net::World;
use divisi_store::KeyName;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A desk that threads share.
pub(crate) struct Counter {
    pub world: Arc<dyn World>,
    desk: Mutex<Desk>,
    /// Rings when there may be something to compute.
    bell: Condvar,
}

impl Counter {
    pub fn new(world: Arc<dyn World>, desk: Desk) -> Counter {
        Counter { world, desk: Mutex::new(desk), bell: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happens to the desk, now.
    pub fn with<R>(&self, f: impl FnOnce(&mut Desk, Instant) -> R) -> R {
        let mut desk = self.lock();
        f(&mut desk, self.world.now())
    }

    /// The same, and the computing thread looks again.
    pub fn tell<R>(&self, f: impl FnOnce(&mut Desk, Instant) -> R) -> R {
        let result = self.with(f);
        self.bell.notify_all();
        result
    }

    pub fn answer(&self, id: &ConnectionId, number: u64, answer: ToClient) {
        self.with(|desk, _| desk.answer(id, number, answer));
    }

    pub fn fail(&self, id: &ConnectionId, number: u64, failed: Failed) {
        self.with(|desk, now| desk.fail(id, number, failed, now));
    }

    /// What can be done now, waiting for something until a moment, or until there is something `else_` to do;
    /// `is_ready` tells of a key whether it is.
    pub fn plan(
        &self,
        budget: Budget,
        until: Instant,
        is_ready: impl Fn(&KeyName) -> bool,
        else_: impl Fn() -> bool,
    ) -> Vec<Offer> {
        let mut desk = self.lock();
        loop {
            let now = self.world.now();
            let offers = desk.plan(now, budget, &is_ready);
            if !offers.is_empty() || now >= until || else_() {
                return offers;
            }
            let wake = desk.next_pause(now).map_or(until, |pause| pause.min(until));
            desk = self.wait(desk, wake);
        }
    }

    /// Wait until each offer is here or is not worth it, at most until a moment.
    pub fn await_offers(&self, offers: &[Offer], until: Instant) {
        let mut desk = self.lock();
        while offers.iter().any(|offer| desk.may_come(offer)) && self.world.now() < until {
            desk = self.wait(desk, until);
        }
    }

    fn wait<'a>(&self, desk: MutexGuard<'a, Desk>, until: Instant) -> MutexGuard<'a, Desk> {
        let left = until.saturating_duration_since(self.world.now());
        self.bell.wait_timeout(desk, left).unwrap_or_else(PoisonError::into_inner).0
    }
}
