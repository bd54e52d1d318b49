//! Labels: each names one row, and so the public polynomial that its contributions are made with \[G8\].
//!
//! Two messages under one key and one polynomial give their difference away (the errors' is a multiple of p):
//! a key share, where the other message is known. So a label is neither copied nor cloned, an encryption
//! takes it, and a session has one source of them, whose numbers do not return.
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

use crate::parameters::MOST_GATES;
use divisi_core::{Abort, Check, Session, Step, step};

const LABEL: Step = step!("label");

/// The name of one row: (g, alpha, beta) as one number. Used by value, once \[G8\].
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

    /// A label without a session: for tests of rows alone, and for attacks, which use one twice.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn danger_any(number: u64) -> Label {
        Label(number)
    }
}

/// The numbers of a session's gates.
pub(crate) struct Labels {
    next: u64,
    /// All numbers below were given out.
    spent: u64,
}

impl Labels {
    /// The only source of a session.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if it has one already, in whatever strand.
    pub(crate) fn new(session: &Session) -> Result<Labels, Abort> {
        if !session.first("labels of garbled rows") {
            return Err(session.misuse(LABEL, "a second garbler in one session: labels would repeat"));
        }
        Ok(Labels { next: 0, spent: 0 })
    }

    /// The numbers of so many new gates: the first one.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] for numbers that were given out; [`Abort::Misuse`] for more gates than a
    /// session may have.
    pub(crate) fn take(&mut self, session: &Session, gates: usize) -> Result<u64, Abort> {
        let first = self.next;
        let Some(end) = first.checked_add(gates as u64).filter(|end| *end <= MOST_GATES) else {
            return Err(session.misuse(LABEL, "more gates than the bound on decryption failures allows"));
        };
        session.require(Check::G8, LABEL, first >= self.spent, None)?; // [G8]
        self.spent = end;
        self.next = end;
        Ok(first)
    }

    /// The number of a gate, by that of the first one that was taken with it.
    pub(crate) fn of_gate(session: &Session, first: u64, gate: usize) -> u64 {
        // the mutant calls all gates by one number
        if session.mutated(Check::G8) { first } else { first + gate as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Both parties of a session of its own.
    fn each(act: impl Fn(&Session) + Sync) {
        let done = AtomicUsize::new(0);
        // who is refused ends the session for the other one too
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
        for gate in (0..100).chain([1 << 23, MOST_GATES - 1]) {
            assert!((0..4).all(|row| all.insert(Label::of(gate, row).number())), "{gate}");
        }
    }

    #[test]
    fn numbers_do_not_return() {
        each(|session| {
            let mut labels = Labels::new(session).unwrap();
            assert_eq!([3, 0, 5, 1].map(|n| labels.take(session, n).unwrap()), [0, 3, 3, 8]);
            // were they to, it would be refused
            labels.next = 2;
            let refused = labels.take(session, 1);
            assert!(matches!(refused, Err(Abort::CheckFailed { check: Check::G8, .. })));
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
