//! The [`Intake`], shared by the threads that talk with clients and the thread that computes with the other
//! servers.

use super::intake::{Intake, Offer};
use super::plan::{Budget, KeyStatus};
use crate::error::Failed;
use crate::request::{ConnectionId, ToClient};
use divisi_net::World;
use divisi_store::KeyName;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// An intake that threads share.
pub(crate) struct SharedIntake {
    pub world: Arc<dyn World>,
    intake: Mutex<Intake>,
    /// Signalled when there may be something to compute.
    bell: Condvar,
}

impl SharedIntake {
    pub fn new(world: Arc<dyn World>, intake: Intake) -> SharedIntake {
        SharedIntake { world, intake: Mutex::new(intake), bell: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Intake> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Call `f` with the intake and the present time.
    pub fn with<R>(&self, f: impl FnOnce(&mut Intake, Instant) -> R) -> R {
        let mut intake = self.lock();
        f(&mut intake, self.world.now())
    }

    /// Like [`SharedIntake::with`], and wake the computing thread.
    pub fn tell<R>(&self, f: impl FnOnce(&mut Intake, Instant) -> R) -> R {
        let result = self.with(f);
        self.bell.notify_all();
        result
    }

    pub fn answer(&self, id: &ConnectionId, number: u64, answer: ToClient) {
        self.with(|intake, _| intake.answer(id, number, answer));
    }

    pub fn fail(&self, id: &ConnectionId, number: u64, failed: Failed) {
        self.with(|intake, now| intake.fail(id, number, failed, now));
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
        let mut intake = self.lock();
        loop {
            let now = self.world.now();
            let offers = intake.plan(now, budget, &known);
            if !offers.is_empty() || now >= until || else_() {
                return offers;
            }
            let wake = intake.next_pause(now).map_or(until, |pause| pause.min(until));
            intake = self.wait(intake, wake);
        }
    }

    /// Wait until the messages of each offer are here or not worth waiting for, at most until the deadline.
    pub fn await_offers(&self, offers: &[Offer], until: Instant) {
        let mut intake = self.lock();
        while offers.iter().any(|offer| intake.may_come(offer)) && self.world.now() < until {
            intake = self.wait(intake, until);
        }
    }

    fn wait<'a>(&self, intake: MutexGuard<'a, Intake>, until: Instant) -> MutexGuard<'a, Intake> {
        let left = until.saturating_duration_since(self.world.now());
        self.bell.wait_timeout(intake, left).unwrap_or_else(PoisonError::into_inner).0
    }
}
