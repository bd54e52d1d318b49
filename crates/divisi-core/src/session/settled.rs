//! Which computations of each engine of a session were settled: needed where a value moves between strands.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// For each engine's strand, by a number that is unique in this process, how many of its computations were
/// settled, from the first on without a gap.
#[derive(Default)]
pub struct Settled(Mutex<BTreeMap<u64, u64>>);

impl Settled {
    /// Record that all computations before this one were settled in that strand.
    pub fn note(&self, strand: u64, computation: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(strand, computation);
    }

    /// Whether this computation of that strand was settled.
    #[must_use]
    pub fn has(&self, strand: u64, computation: u64) -> bool {
        let settled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        settled.get(&strand).is_some_and(|next| computation < *next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_settled_or_is_of_another_session_is_not() {
        let settled = Settled::default();
        assert!(!settled.has(7, 0));
        settled.note(7, 2);
        assert_eq!([0, 1, 2, u64::MAX].map(|c| settled.has(7, c)), [true, true, false, false]);
        assert!(!settled.has(8, 0) && !Settled::default().has(7, 0));
    }
}
