//! Known answers by an engine that evaluates circuits: messages of equal lengths are instances of
//! one circuit (`drawn`), side by side, and all parties learn all outputs.

use super::drawn::{Drawn, KNOWN, from_bits};
use crate::evaluations::Evaluates;
use crate::job::{AnswersJob, Between, CircuitJob};
use crate::{
    BenchSchedule, Differ, EngineParty, Own, Prepared, Rows, StartedParty, Unsupported, Unwatched, Watch,
    alike,
};
use divisi_core::{Abort, Counts, Misuse, PartyId, PublicParameters, Session};
use divisi_symmetric::gates::Adder;

/// Messages as circuits.
pub struct DrawnAnswers<'j, E> {
    job: &'j AnswersJob,
    engine: E,
    drawn: Drawn<'j>,
}

impl<'j, E: Evaluates> DrawnAnswers<'j, E> {
    /// The known answers of a job on this engine.
    ///
    /// # Errors
    /// [`Unsupported`] for a mode or a message for which there is no circuit.
    pub fn new(job: &'j AnswersJob, engine: E) -> Result<Self, Unsupported> {
        Ok(DrawnAnswers { job, engine, drawn: Drawn::new(job, E::ENGINE)? })
    }
}

impl<E: Evaluates> Prepared for DrawnAnswers<'_, E> {
    fn parties(&self) -> usize {
        self.engine.parties()
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("known answers").with("engine", E::ENGINE.as_bytes());
        let parameters = parameters.with("circuits", &self.drawn.digest());
        self.engine.describe(parameters.with("count", &(count as u64).to_le_bytes()))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule::together(self.job.count(), warmup)
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.drawn.deal(self.engine.parties(), inputs)
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> StartedParty<'p> {
        Ok(Box::new(Learner { of: self, party: self.engine.start(session, None)?, openings: 0 }))
    }
}

/// One party, which learns all outputs.
struct Learner<'p, 'j, E: Evaluates> {
    of: &'p DrawnAnswers<'j, E>,
    party: E::Party,
    /// The number of bytes that this party learned.
    openings: u64,
}

impl<E: Evaluates> EngineParty for Learner<'_, '_, E> {
    fn batch(&mut self, count: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let Learner { of: DrawnAnswers { engine, drawn, .. }, party, openings } = self;
        let parties: Vec<PartyId> = PartyId::all(engine.parties()).collect();
        let (mut rest, mut all) = (own.as_slice(), Vec::new());
        for number in 0..drawn.count() {
            let circuit = drawn.circuit(number)?;
            let owners = parties.iter().copied().cycle().take(circuit.inputs().len()).collect();
            let between = Between::with_all_to(owners, &parties, circuit.outputs().len());
            let count = drawn.places(number).len();
            let job = CircuitJob { circuit, adder: Adder::FewestAnds, between, count };
            let unfit = |_| Abort::Misuse { step: KNOWN, what: Misuse::CircuitUnfit };
            let plan = engine.plan(&job).map_err(unfit)?;
            let width = job.wires_of(E::session(party).me()).len();
            let outputs: usize = job.circuit.outputs().iter().sum();
            let together = (E::KNOWN_ANDS / job.circuit.and_count().max(1)).max(1);
            let mut learned = Vec::with_capacity(count);
            for first in (0..count).step_by(together) {
                let count = together.min(count - first);
                let misfit = || Abort::Misuse { step: KNOWN, what: Misuse::CircuitUnfit };
                let (now, later) = rest.split_at_checked(count * width).ok_or_else(misfit)?;
                rest = later;
                let bits = engine.evaluate(party, (&job, &plan), count, now, &mut Unwatched)?;
                learned.extend(bits.chunks(outputs.max(1)).map(from_bits));
            }
            *openings += learned.iter().map(|output| output.len() as u64).sum::<u64>();
            all.push(learned);
        }
        Ok(drawn.rows(count, all))
    }

    fn meter(&mut self) -> Counts {
        Counts { openings: self.openings, ..E::session(&mut self.party).meter().read() }
    }
}
