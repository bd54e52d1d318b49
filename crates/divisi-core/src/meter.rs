//! The meter: what a session costs and which checks it executed, counted where it happens and reported by
//! phase.

use crate::{Check, Step};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one party sent in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseCounts {
    /// Payload: field elements times the bits of their field, as the papers count.
    pub bits: u64,
    /// Every byte handed to the links: frames with headers, digests and shares of coins.
    pub bytes: u64,
    /// The number of messages in the longest chain of messages, each of which was sent after the one before
    /// had arrived. What a strand does one after the other is added up; of strands that run beside each other
    /// the longest counts.
    pub rounds: u32,
}

/// The counts of a meter at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// The counts of each phase, by the engine's name for it.
    pub phases: BTreeMap<&'static str, PhaseCounts>,
    /// How many times each check was executed.
    pub checks: BTreeMap<Check, u64>,
    /// How many messages this party sent at each step, by the step's name.
    pub steps: BTreeMap<&'static str, u64>,
    /// The error of the worst verification, as minus its binary logarithm; `None` before the first.
    pub verification_error_bits: Option<f64>,
    /// The computational security in bits that remains for labels of 128 bits, for the hash key with the most
    /// targets; `None` if nothing was hashed.
    pub computational_bits: Option<f64>,
    /// The number of values that were opened.
    pub openings: u64,
}

impl Counts {
    /// Payload bits over all phases.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.phases.values().map(|p| p.bits).sum()
    }
}

/// Counts for a session and all its strands.
#[derive(Default)]
pub struct Meter {
    counts: Mutex<Counts>,
    /// How many times the counts were reset.
    resets: AtomicU64,
    /// The coins that were opened, each with the length of the chain of messages before it.
    #[cfg(feature = "testing")]
    coins: Mutex<Vec<(Step, u32)>>,
    /// What was compared for each check.
    #[cfg(feature = "testing")]
    compared: Mutex<BTreeMap<Check, ComparedBits>>,
    /// What was written to a disk, each with how many checks had been executed.
    #[cfg(feature = "testing")]
    stored: Mutex<Vec<(Step, u64)>>,
}

/// What the executions of a check compared.
#[cfg(feature = "testing")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ComparedBits {
    /// How many bits all executions compared, or cover.
    pub all: u64,
    /// How many bits the execution compared that compared the fewest; zero if none compared any.
    pub least: u64,
    /// How many digests were compared of which nobody knows what went into them.
    pub unknown: u64,
}

/// All that a meter has when a run is over.
#[cfg(feature = "testing")]
pub(crate) struct Metered {
    pub counts: Counts,
    /// The coins that were opened, in order, each with the length of the chain of messages before it.
    pub coins: Vec<(Step, u32)>,
    /// What was compared for each check.
    pub compared: BTreeMap<Check, ComparedBits>,
    /// What was written to a disk, in order, each with how many checks had been executed.
    pub stored: Vec<(Step, u64)>,
}

/// What was noted.
#[cfg(feature = "testing")]
fn noted<T: Clone>(all: &Mutex<T>) -> T {
    all.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Meter {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn resets(&self) -> u64 {
        self.resets.load(Ordering::Relaxed)
    }

    pub(crate) fn sent(&self, phase: &'static str, step: Step, bits: u64, bytes: u64) {
        let mut counts = self.counts();
        let p = counts.phases.entry(phase).or_default();
        p.bits += bits;
        p.bytes += bytes;
        *counts.steps.entry(step.name).or_default() += 1;
    }

    pub(crate) fn depth(&self, phase: &'static str, depth: u32) {
        let mut counts = self.counts();
        let p = counts.phases.entry(phase).or_default();
        p.rounds = p.rounds.max(depth);
    }

    pub(crate) fn check(&self, check: Check, n: u64) {
        *self.counts().checks.entry(check).or_default() += n;
    }

    /// A coin is opened after so long a chain of messages.
    #[cfg(feature = "testing")]
    pub(crate) fn coin(&self, step: Step, depth: u32) {
        self.coins.lock().unwrap_or_else(PoisonError::into_inner).push((step, depth));
    }

    /// Something is written to a disk now.
    #[cfg(feature = "testing")]
    pub(crate) fn stores(&self, step: Step) {
        let executed = self.counts().checks.values().sum();
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).push((step, executed));
    }

    /// All that was counted and noted.
    #[cfg(feature = "testing")]
    pub(crate) fn all(&self) -> Metered {
        let (coins, compared, stored) = (noted(&self.coins), noted(&self.compared), noted(&self.stored));
        Metered { counts: self.read(), coins, compared, stored }
    }

    /// An execution of a check compared this.
    #[cfg(feature = "testing")]
    pub(crate) fn compared(&self, check: Check, tally: crate::compared::tally::Tally) {
        if tally.bits == 0 {
            return;
        }
        let mut all = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        let of = all.entry(check).or_default();
        of.all += tally.bits;
        of.unknown += tally.unknown;
        of.least = if of.least == 0 { tally.bits } else { of.least.min(tally.bits) };
    }

    /// A check covers so many bits or values.
    #[cfg(feature = "testing")]
    pub(crate) fn covered(&self, check: Check, bits: u64) {
        if bits == 0 {
            return;
        }
        self.compared.lock().unwrap_or_else(PoisonError::into_inner).entry(check).or_default().all += bits;
    }

    /// Count `n` opened values.
    pub fn opened(&self, n: u64) {
        self.counts().openings += n;
    }

    /// Record that a verification misses a lie with probability at most `error`. The worst verification
    /// counts, because an abort ends the session, so that a lie has to pass the first verification after it.
    pub fn verification_error(&self, error: f64) {
        let bits = -error.log2();
        let mut counts = self.counts();
        counts.verification_error_bits = Some(counts.verification_error_bits.map_or(bits, |b| b.min(bits)));
    }

    /// Record a use of the hash that leaves this many bits of computational security; the minimum counts.
    pub fn computational(&self, bits: f64) {
        let mut counts = self.counts();
        counts.computational_bits = Some(counts.computational_bits.map_or(bits, |b| b.min(bits)));
    }

    /// The counts so far.
    #[must_use]
    pub fn read(&self) -> Counts {
        self.counts().clone()
    }

    /// Reset all counts, for instance after a warm-up. All parties that count on must do so at the same place
    /// of the protocol, because messages tell how many came before them.
    pub fn reset(&self) {
        *self.counts() = Counts::default();
        self.resets.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_all_phases() {
        let mut counts = Counts::default();
        for (name, bits, all) in [("b", 4, 4), ("c", 256, 260), ("a", 1, 261)] {
            counts.phases.entry(name).or_default().bits = bits;
            assert_eq!(counts.bits(), all);
        }
    }
}
