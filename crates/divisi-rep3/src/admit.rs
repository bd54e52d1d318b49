//! Which values an engine accepts as inputs, and which it lets out ([`crate::origin`]).

use crate::origin::{EngineId, Origin};
use crate::trio::Trio;
use divisi_core::{Abort, Misuse, Session, Step};

impl Trio {
    /// The origin of a value that is made now.
    pub(crate) fn origin(&self) -> Origin {
        if self.foreseeing {
            return Origin::NONE;
        }
        Origin { engine_id: self.engine_id, closed: self.closed }
    }

    /// Demand that this engine accepts these values; returns the origin of what is computed from them.
    pub(crate) fn admit(
        &self,
        step: Step,
        values: impl IntoIterator<Item = Origin>,
    ) -> Result<Origin, Abort> {
        let refused = values.into_iter().find(|value| !self.admits(*value));
        match refused {
            None => Ok(self.origin()),
            Some(value) => Err(self.session.misuse(step, self.why_not(value.engine_id))),
        }
    }

    #[inline]
    fn admits(&self, value: Origin) -> bool {
        value.engine_id == self.engine_id || self.admits_other(value)
    }

    #[cold]
    fn admits_other(&self, value: Origin) -> bool {
        if value.engine_id == EngineId::NONE {
            // while programs are only foreseen, the next program takes what the last one did not compute
            return self.foreseeing;
        }
        if value.engine_id.strand() == self.engine_id.strand() {
            return value.engine_id.and(self.engine_id).is_some();
        }
        value.engine_id.is_as_secure_as(self.engine_id) && settled(&self.session, value)
    }

    /// The reason why a value of that engine is refused.
    pub(crate) fn why_not(&self, engine_id: EngineId) -> Misuse {
        if engine_id == EngineId::NONE {
            return Misuse::NotComputed;
        }
        if engine_id.strand() == self.engine_id.strand() {
            Misuse::SecurityDiffers
        } else {
            Misuse::OtherStrand
        }
    }

    /// Demand that values may leave: that they belong here, and that what they rest on was settled.
    pub(crate) fn demand_settled(
        &self,
        step: Step,
        values: impl IntoIterator<Item = Origin>,
    ) -> Result<(), Abort> {
        for value in values {
            self.admit(step, [value])?;
            if !settled(&self.session, value) {
                return Err(self.session.misuse(step, Misuse::NotSettled));
            }
        }
        Ok(())
    }

    /// Tell the other strands how far this one is settled.
    pub(crate) fn note_settled(&self) {
        let next = self.unpaid.first().copied().unwrap_or(self.closed);
        self.session.settled().note(self.engine_id.strand(), next);
    }
}

/// Whether all that a value rests on was settled, in its strand of this session.
fn settled(session: &Session, value: Origin) -> bool {
    session.settled().has(value.engine_id.strand(), value.closed)
}
