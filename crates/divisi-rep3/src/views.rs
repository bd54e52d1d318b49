//! The views: what was opened, and the proof that all parties saw the same.
//!
//! Adversary: one malicious party, who may send different things to different parties. Whatever a party
//! learns as a public value enters its view digest \[A2\]; at a barrier all three digests are compared,
//! before the first message of a verification and also when nothing was opened \[A8\]. A collision of BLAKE3
//! is needed to get past: 128 bits.

use crate::checks;
use crate::trio::Trio;
use divisi_core::{Abort, ComparedDigest, Misuse, Step, step};

/// The proof that all views of a strand were equal at its latest barrier. A coin of that strand demands it.
///
/// It contains the id, unique in this process, of the [`Trio`](crate::Trio) that computes in the strand: a
/// later one there counts its barriers from zero again.
#[derive(PartialEq, Eq)]
pub struct Fixed(u64, u64);

/// A barrier that was begun: this party's digest was sent, and those of the others are not compared yet.
#[must_use = "nothing may depend on openings before all views are compared"]
pub(crate) struct Begun {
    digest: [u8; 32],
    /// How many openings it covers.
    openings: u64,
}

const BARRIER: Step = step!("barrier");

impl Trio {
    /// Add a public value that is not compared yet, something opened or broadcast, to the view. No output
    /// leaves before the next barrier.
    pub fn absorb(&mut self, what: &str, value: &[u8]) {
        self.uncompared = true;
        self.note(what, value);
    }

    /// Add a value that was compared at once to the view.
    pub(crate) fn note(&mut self, what: &str, value: &[u8]) {
        self.openings += 1;
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
        let digest = self.view.to_compare();
        self.session.show(BARRIER, &digest)?;
        Ok(Begun { digest, openings: self.openings })
    }

    /// The second half of a barrier: compare the digests of the others.
    ///
    /// # Errors
    /// The errors of [`Trio::barrier`].
    pub(crate) fn end_barrier(&mut self, begun: Begun) -> Result<Fixed, Abort> {
        self.session.demand_same(checks::A2, BARRIER, &begun.digest)?; // [A2]
        // openings since the barrier began are left to the next one
        self.uncompared = self.openings != begun.openings;
        self.barriers += 1;
        Ok(self.fixed())
    }

    /// The proof of the latest barrier.
    pub(crate) fn fixed(&self) -> Fixed {
        Fixed(self.engine_id.strand(), self.barriers)
    }

    /// Demand, before an output leaves, that a barrier has compared everything opened so far.
    pub(crate) fn demand_compared(&self, step: Step) -> Result<(), Abort> {
        if self.uncompared {
            return Err(self.session.misuse(step, Misuse::NotCompared));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    /// A barrier settles what was opened before it began. An opening between its halves, which no digest
    /// covers yet, is left to the next one.
    #[test]
    fn a_barrier_settles_what_came_before_it_alone() {
        let compared = crate::local::run(|mut trio| {
            trio.absorb("before", &[1]);
            let begun = trio.begin_barrier()?;
            trio.absorb("between", &[2]);
            trio.end_barrier(begun)?;
            let first = trio.is_compared();
            trio.barrier()?;
            Ok([first, trio.is_compared()])
        });
        assert_eq!(compared, Ok(vec![[false, true]; 3]));
    }
}
