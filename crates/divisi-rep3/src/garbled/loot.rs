//! What a corrupt evaluator of a test does with calls that were garbled ahead.

use super::ahead::Ahead;
use super::store::Half;
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};

const LOOT: Step = step!("loot");

/// What it kept of one of them.
pub struct Loot(Half);

impl Ahead {
    /// Keep what there is of it beyond its session.
    ///
    /// # Errors
    /// If it is gone.
    pub fn loot(mut self, trio: &Trio) -> Result<Loot, Abort> {
        Ok(Loot(self.stored.take(&trio.session, LOOT)?.half))
    }

    /// Take tables, labels and decoding bits of another call for those of this one.
    ///
    /// # Errors
    /// If it is gone.
    pub fn plant(&mut self, loot: Loot, trio: &Trio) -> Result<(), Abort> {
        let mut stored = self.stored.take(&trio.session, LOOT)?;
        stored.half = loot.0;
        self.stored.put(&trio.session, stored);
        Ok(())
    }
}
