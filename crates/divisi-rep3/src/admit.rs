//! Which values an engine accepts as inputs, and which it lets out ([`crate::origin`]).

use crate::origin::{Origin, Place};
use crate::trio::Trio;
use divisi_core::{Abort, Session, Step};

impl Trio {
    /// That of a value made now.
    pub(crate) fn origin(&self) -> Origin {
        Origin { place: self.place, closed: self.closed }
    }

    /// Demand that values may be computed with here; the origin of what comes out.
    pub(crate) fn admit(
        &self,
        step: Step,
        values: impl IntoIterator<Item = Origin>,
    ) -> Result<Origin, Abort> {
        let refused = values.into_iter().find(|value| !self.admits(*value));
        match refused {
            None => Ok(self.origin()),
            Some(value) => Err(self.session.misuse(step, self.why_not(value.place))),
        }
    }

    #[inline]
    fn admits(&self, value: Origin) -> bool {
        value.place == self.place || self.admits_other(value)
    }

    #[cold]
    fn admits_other(&self, value: Origin) -> bool {
        if value.place.strand() == self.place.strand() {
            return value.place.and(self.place).is_some();
        }
        value.place.is_as_secure_as(self.place) && settled(&self.session, value)
    }

    /// What to say of a value of that place.
    pub(crate) fn why_not(&self, place: Place) -> &'static str {
        if place.strand() == self.place.strand() {
            "values with and without active security in one computation"
        } else {
            "values of another strand that were not settled there"
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
                return Err(self.session.misuse(step, "a value whose computation was not settled"));
            }
        }
        Ok(())
    }

    /// Tell the other strands how far this one is settled.
    pub(crate) fn note_settled(&self) {
        let next = self.unpaid.first().copied().unwrap_or(self.closed);
        self.session.settled().note(self.place.strand(), next);
    }
}

/// Whether all that a value rests on was settled, in its strand of this session.
fn settled(session: &Session, value: Origin) -> bool {
    session.settled().has(value.place.strand(), value.closed)
}
