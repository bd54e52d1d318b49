//! What a corrupt evaluator of a test does with calls that were garbled ahead.

use super::ahead::Ahead;
use super::store::Half;
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};

const STEAL: Step = step!("steal");

/// What the evaluator kept of one call.
pub struct StolenCall(Half);

impl Ahead {
    /// Keep this party's half of the call beyond its session.
    ///
    /// # Errors
    /// If the call was wiped because its session has ended.
    pub fn steal(mut self, trio: &Trio) -> Result<StolenCall, Abort> {
        Ok(StolenCall(self.stored.take(&trio.session, STEAL)?.half))
    }

    /// Take tables, labels and decoding bits of another call for those of this one.
    ///
    /// # Errors
    /// If the call was wiped because its session has ended.
    pub fn plant(&mut self, stolen: StolenCall, trio: &Trio) -> Result<(), Abort> {
        let mut stored = self.stored.take(&trio.session, STEAL)?;
        stored.half = stolen.0;
        self.stored.put(&trio.session, stored);
        Ok(())
    }
}
