//! Phases of a strand, and how long the chain of messages in each became.

use super::Session;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Where to return to after a detour, or after what was counted aside.
#[must_use]
pub struct PhasePlace {
    phase: &'static str,
    /// Where the chain of messages was, for [`Session::aside`]; `None` if it goes on where the phase is.
    depth: Option<u32>,
    /// When a detour to another phase began.
    since: Option<Instant>,
}

/// How far the chain of messages of each phase came.
pub(crate) type Chains = BTreeMap<&'static str, u32>;

impl Session {
    /// Count what follows in this phase. A strand does one thing after the other: if it was in the phase
    /// before, rounds are added to those of then.
    pub fn phase(&mut self, name: &'static str) {
        self.begin_again_after_reset();
        if name != self.phase {
            self.chains.insert(self.phase, self.depth);
            (self.phase, self.depth) = (name, self.chains.get(name).copied().unwrap_or(0));
        }
    }

    /// Count what follows in another phase, until [`Session::back`]. Detours to the same phase follow each
    /// other, and so do their rounds; within that phase already, nothing changes.
    pub fn detour(&mut self, name: &'static str) -> PhasePlace {
        let since = (name != self.phase).then(|| self.shared.mesh.world().now());
        let place = PhasePlace { phase: self.phase, depth: None, since };
        self.phase(name);
        place
    }

    /// Count what follows in the same phase as a chain of its own, which runs beside the present one, until
    /// [`Session::back`].
    pub fn aside(&mut self) -> PhasePlace {
        let place = PhasePlace { phase: self.phase, depth: Some(self.chain()), since: None };
        self.begin_again_after_reset();
        self.depth = 0;
        place
    }

    /// Return to the phase that a detour left, or to the chain beside which something was counted.
    pub fn back(&mut self, place: PhasePlace) {
        if let Some(since) = place.since {
            let took = self.shared.mesh.world().now().saturating_duration_since(since);
            *self.detoured.entry(self.phase).or_default() += took;
        }
        self.phase(place.phase);
        if let Some(depth) = place.depth {
            self.depth = depth;
        }
    }

    /// How long the detours of this strand to a phase took so far: for whoever times the phases that they
    /// left, so that times and rounds are those of the same work.
    #[must_use]
    pub fn detoured(&self, name: &'static str) -> Duration {
        self.detoured.get(name).copied().unwrap_or_default()
    }

    /// The number of messages in the longest chain of this phase so far; in a chain each message was sent
    /// after the one before it had arrived.
    #[must_use]
    pub fn chain(&self) -> u32 {
        if self.resets == self.shared.meter.resets() { self.depth } else { 0 }
    }

    /// Count what follows as sent after a chain of `messages` messages: the chain of another strand for which
    /// this party has waited.
    pub fn after_chain(&mut self, messages: u32) {
        self.begin_again_after_reset();
        self.depth = self.depth.max(messages);
    }

    /// How far the chains of all phases came.
    pub(crate) fn chains(&self) -> Chains {
        if self.resets != self.shared.meter.resets() {
            return Chains::new();
        }
        let mut chains = self.chains.clone();
        chains.insert(self.phase, self.depth);
        chains
    }

    /// [`Session::after_chain`] for the chains of all phases of another strand.
    pub(crate) fn after_chains(&mut self, chains: &Chains) {
        self.begin_again_after_reset();
        for (phase, messages) in chains {
            let ours =
                if *phase == self.phase { &mut self.depth } else { self.chains.entry(*phase).or_default() };
            *ours = (*ours).max(*messages);
        }
    }

    /// If the meter was reset, its rounds begin at zero, and so do the chains of messages.
    pub(super) fn begin_again_after_reset(&mut self) {
        let resets = self.shared.meter.resets();
        if self.resets != resets {
            self.resets = resets;
            self.depth = 0;
            self.chains.clear();
        }
    }
}
