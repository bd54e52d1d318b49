//! Runs under doubt: every comparison says that what it compares differs, whatever it is, and the session
//! goes on. So a check that passes by anything else than what it compares is seen in a run in which nobody
//! deviates.

use super::{DrawRecord, current};
use crate::Check;
use divisi_net::Step;
use std::cell::Cell;

thread_local! {
    /// Whether this thread compared something since its last check.
    static SINCE: Cell<bool> = const { Cell::new(false) };
}

/// An execution of a check in a run under doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckUnderDoubt {
    /// The check.
    pub check: Check,
    /// Where it was executed.
    pub step: Step,
    /// Whether it passed.
    pub passed: bool,
}

/// The outcome of a comparison in the session that this thread uses: false if that runs under doubt.
pub(crate) fn doubted(same: bool) -> bool {
    let doubts = |record: &DrawRecord| record.known.as_ref().is_some_and(|known| known.doubt);
    if current().is_none_or(|(record, _)| !doubts(&record)) {
        return same;
    }
    SINCE.set(true);
    false
}

impl DrawRecord {
    /// Notes a check if it compared something. Whether the session goes on whatever the verdict is.
    pub(crate) fn goes_on(&self, check: Check, step: Step, passed: bool) -> bool {
        let doubt = self.known.as_ref().is_some_and(|known| known.doubt);
        if doubt && SINCE.take() {
            self.log().all.doubted.push(CheckUnderDoubt { check, step, passed });
        }
        doubt
    }
}
