//! Where ciphertexts that pass many parties are refreshed: at the bottom, if more hops follow.
//!
//! GYKW, section 7.1. The hops form runs. Each run has as many hops as the chain has levels, and the last one
//! those that remain. If a ciphertext reaches the bottom before its last hop, the party of the next hop has
//! it refreshed to the level from which the next run ends at the bottom.

use super::{Operation, Parameters, course};

impl Parameters {
    /// The number of steps of a ciphertext.
    fn steps(&self) -> usize {
        course::steps(self.operation, self.form, self.parties).len()
    }

    /// The number of steps in one chain.
    fn run(&self) -> usize {
        self.top().max(1)
    }

    /// How often a ciphertext is refreshed on its way.
    #[must_use]
    pub fn bootstraps(&self) -> usize {
        self.steps().div_ceil(self.run()).saturating_sub(1)
    }

    /// The number of the hop of the party at this position (from 0) of a ring of parties. `None` for a party
    /// without one: the first one, when random bits are made.
    #[must_use]
    pub fn hop_of(&self, position: usize) -> Option<usize> {
        if self.operation == Operation::PrivateTables { Some(position) } else { position.checked_sub(1) }
    }

    /// The level at which the run of this hop begins.
    #[must_use]
    pub fn start_of(&self, hop: usize) -> usize {
        self.run().min(self.steps().saturating_sub(self.first_of(hop)))
    }

    /// The level at which a hop begins.
    #[must_use]
    pub fn level_of(&self, hop: usize) -> usize {
        self.start_of(hop).saturating_sub(hop - self.first_of(hop))
    }

    /// The level of a ciphertext after this hop; the top if there was none.
    #[must_use]
    pub fn level_after(&self, hop: Option<usize>) -> usize {
        hop.map_or(self.top(), |hop| self.level_of(hop).saturating_sub(1))
    }

    /// Whether a ciphertext is refreshed before this hop.
    #[must_use]
    pub fn is_refreshed(&self, hop: usize) -> bool {
        hop > 0 && hop < self.steps() && self.first_of(hop) == hop
    }

    /// All hops before which a ciphertext is refreshed.
    pub(super) fn refreshed_hops(&self) -> impl Iterator<Item = usize> {
        (1..=self.bootstraps()).map(|run| run * self.run())
    }

    /// The first hop of this hop's run.
    fn first_of(&self, hop: usize) -> usize {
        hop / self.run() * self.run()
    }

    /// Whether the chain has all steps, or ends before a hop, where a ciphertext can be refreshed; and
    /// whether a refreshed ciphertext is within the bound of every level to which it may be refreshed \[G5\].
    pub(super) fn ends_where_it_may(&self) -> bool {
        let refreshed = self.bounds().shared();
        let begun = self.levels.iter().skip(1).all(|level| refreshed <= level.noise + 1e-6);
        // a computation without steps has no level but the bottom
        let whole = self.levels.len() > usize::from(self.steps() > 0) && self.steps() >= self.top();
        whole && (self.bootstraps() == 0 || course::refreshable(self.operation, self.form) && begun)
    }
}
