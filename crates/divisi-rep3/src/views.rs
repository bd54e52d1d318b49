//! The views: what was opened, and the proof that all parties saw the same.
//!
//! Adversary: one malicious party, who may send different things to different parties. Whatever a party
//! learns as a public value enters its view digest \[A2\]; at a barrier all three digests are compared,
//! before the first message of a verification and also when nothing was opened \[A8\]. A collision of BLAKE3
//! is needed to get past: 128 bits.

use crate::checks;
use crate::trio::Trio;
use divisi_core::{Abort, Step, step};

/// The proof that all views of a strand were equal at its latest barrier. A coin of that strand demands it.
///
/// It contains an id, unique in this process, of the engine that computes in the strand; the next engine
/// there counts its barriers from the start.
#[derive(PartialEq, Eq)]
pub struct Fixed(u64, u64);

/// A barrier that was begun: this party's digest has left, and no other one is compared.
#[must_use = "nothing may depend on openings before all views are compared"]
pub(crate) struct Begun {
    digest: [u8; 32],
    /// How many openings it covers.
    openings: u64,
}

const BARRIER: Step = step!("barrier");

impl Trio {
    /// Add a public value to the view that is not compared yet: something opened or broadcast. No output
    /// leaves before the next barrier.
    pub fn absorb(&mut self, what: &str, value: &[u8]) {
        self.uncompared = true;
        self.note(what, value);
    }

    /// Take a value into the view that was compared at once.
    pub(crate) fn note(&mut self, what: &str, value: &[u8]) {
        self.openings += 1;
        if self.session.mutated(checks::A2) {
            return; // the mutant forgets what it opened
        }
        for part in [what.as_bytes(), value] {
            self.view.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }

    /// Compare views with both other parties. Afterwards everything that was opened is known to be the same
    /// at all of them, and every message up to here was received. One round.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A2 if a view differs.
    pub fn barrier(&mut self) -> Result<Fixed, Abort> {
        let begun = self.begin_barrier()?;
        self.end_barrier(begun)
    }

    /// The first half of a barrier: send the digest of our view. What is sent before the second half must not
    /// depend on anything that was opened since the barrier before.
    pub(crate) fn begin_barrier(&mut self) -> Result<Begun, Abort> {
        self.session.observe(checks::A8); // [A8]
        self.view.update(&self.openings.to_le_bytes());
        let digest = *self.view.finalize().as_bytes();
        if !self.session.mutated(checks::A8) {
            self.session.show(BARRIER, &digest)?;
        }
        Ok(Begun { digest, openings: self.openings })
    }

    /// The second half.
    ///
    /// # Errors
    /// As [`Trio::barrier`].
    pub(crate) fn end_barrier(&mut self, begun: Begun) -> Result<Fixed, Abort> {
        if !self.session.mutated(checks::A8) {
            self.session.demand_same(checks::A2, BARRIER, &begun.digest)?; // [A2]
        }
        // what was opened since it began is for the next one
        self.uncompared = self.openings != begun.openings;
        self.barriers += 1;
        Ok(self.fixed())
    }

    /// What the latest barrier fixed.
    pub(crate) fn fixed(&self) -> Fixed {
        Fixed(self.engine_id.strand(), self.barriers)
    }

    /// An output is about to leave: everything that was opened before must have been compared.
    pub(crate) fn demand_compared(&self, step: Step) -> Result<(), Abort> {
        if self.uncompared {
            return Err(self.session.misuse(step, "an output before a barrier has compared the openings"));
        }
        Ok(())
    }
}
