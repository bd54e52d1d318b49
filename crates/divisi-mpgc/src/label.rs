//! Labels. A label names one row, and determines the public polynomial for the row's contributions \[G8\].
//!
//! If two messages are encrypted with the same key and polynomial, their difference is revealed (that of the
//! errors is a multiple of p); if one of the messages is known, the other is a key share. So a label is
//! neither copied nor cloned, an encryption consumes it, and a session has only one source of labels, which
//! never repeats a number.
//!
//! ```compile_fail,E0382
//! fn twice(
//!     scheme: &divisi_mpgc::scheme::Scheme,
//!     label: divisi_mpgc::label::Label,
//!     sampler: &mut divisi_bgv::Sampler,
//! ) {
//!     let (key, message, mut row) = ([0; 1024], [0; 1024], [0; 1024]);
//!     scheme.encrypt(label, &key, &message, sampler, &mut row);
//!     scheme.encrypt(label, &key, &message, sampler, &mut row);
//! }
//! ```

use crate::checks;
use crate::parameters::MOST_GATES;
use divisi_core::{Abort, Misuse, Session, Step, step};

const LABEL: Step = step!("label");

/// The label of one row: (g, alpha, beta) as one number. Using it consumes it \[G8\].
#[derive(Debug)]
pub struct Label(u64);

impl Label {
    /// The label of a row of a gate.
    pub(crate) fn of(gate: u64, row: u64) -> Label {
        Label(4 * gate + row)
    }

    /// Its number.
    pub(crate) fn number(&self) -> u64 {
        self.0
    }

    /// A label without a session: for tests of rows, and for attacks that use one twice.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn danger_any(number: u64) -> Label {
        Label(number)
    }
}

/// The numbers of a session's gates.
pub(crate) struct Labels {
    next: u64,
    /// All numbers below this one were used.
    spent: u64,
}

impl Labels {
    /// The session's only source of labels.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the session has one already, in any strand.
    pub(crate) fn new(session: &Session) -> Result<Labels, Abort> {
        if !session.first("labels of garbled rows") {
            return Err(session.misuse(LABEL, Misuse::SecondSetUp));
        }
        Ok(Labels { next: 0, spent: 0 })
    }

    /// Goes on with this number.
    #[cfg(test)]
    pub(crate) fn skip_to(&mut self, next: u64) {
        self.next = next;
    }

    /// Reserves numbers for `gates` new gates, and returns the first one.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if they were used already; [`Abort::Misuse`] if the session would have more
    /// gates than are allowed.
    pub(crate) fn take(&mut self, session: &Session, gates: usize) -> Result<u64, Abort> {
        let first = self.next;
        let Some(end) = first.checked_add(gates as u64).filter(|end| *end <= MOST_GATES) else {
            return Err(session.misuse(LABEL, Misuse::TooLarge));
        };
        session.require(checks::G8, LABEL, first >= self.spent, None)?; // [G8]
        self.spent = end;
        self.next = end;
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Runs `act` at both parties of a new session.
    fn each(act: impl Fn(&Session) + Sync) {
        let done = AtomicUsize::new(0);
        // a refusal at one party ends the session for the other one, too
        let _ = local::run(2, &PublicParameters::new("labels"), |session| {
            act(&session);
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        assert!(done.into_inner() > 0);
    }

    #[test]
    fn labels_are_one_of_a_kind() {
        let mut all = std::collections::HashSet::new();
        for gate in (0..100).chain((7..24).map(|bit| 1 << bit)).chain([MOST_GATES - 1]) {
            assert!((0..4).all(|row| all.insert(Label::of(gate, row).number())), "{gate}");
        }
    }

    #[test]
    fn numbers_do_not_return() {
        each(|session| {
            let mut labels = Labels::new(session).unwrap();
            assert_eq!([3, 0, 5, 1].map(|n| labels.take(session, n).unwrap()), [0, 3, 3, 8]);
            // numbers that were used already are refused
            for used in [8, 2] {
                labels.next = used;
                let refused = labels.take(session, 1);
                assert!(matches!(refused, Err(Abort::CheckFailed { check: checks::G8, .. })), "{used}");
            }
        });
    }

    #[test]
    fn a_session_has_one_source_and_so_many_gates() {
        each(|session| {
            let _first = Labels::new(session).unwrap();
            assert!(matches!(Labels::new(session), Err(Abort::Misuse { .. })));
        });
        each(|session| {
            let mut labels = Labels::new(session).unwrap();
            assert!(labels.take(session, MOST_GATES as usize).is_ok());
            assert!(matches!(labels.take(session, 1), Err(Abort::Misuse { .. })));
        });
    }
}
