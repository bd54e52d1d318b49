//! Known answers by an engine that evaluates circuits: texts or messages of equal lengths are instances of
//! one circuit ([`super::drawn`]), side by side, and all parties learn all outputs.

use super::drawn::{Drawn, KNOWN, from_bits};
use crate::{BenchSchedule, Differ, EngineParty, Job, Own, Prepared, Rows, Unsupported, Watch, alike};
use divisi_circuit::Program;
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};

/// An engine that evaluates circuits among its parties, with its settings.
pub trait Evaluates: Sync {
    /// One party, with its session and set-up.
    type Evaluator: Evaluator;

    /// The engine's name.
    const ENGINE: &'static str;

    /// The number of parties.
    fn parties(&self) -> usize;

    /// Add the settings to the parameters that the parties compare at the start of a session \[M0.4\].
    fn describe(&self, parameters: PublicParameters) -> PublicParameters;

    /// Start one party.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn start(&self, session: Session) -> Result<Self::Evaluator, Abort>;
}

/// One party of an engine that evaluates circuits.
pub trait Evaluator {
    /// The session.
    fn session(&mut self) -> &mut Session;

    /// Evaluate `count` instances of a circuit. `owners` has the owner of each input value, `own` this
    /// party's input wires, one to a byte, instance after instance. The outputs, which all parties learn, have
    /// the same form.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn evaluate(
        &mut self,
        program: &Program,
        owners: &[PartyId],
        count: usize,
        own: &[u8],
    ) -> Result<Own, Abort>;
}

/// Texts or messages as circuits.
pub struct DrawnAnswers<'j, E> {
    job: &'j Job,
    engine: E,
    drawn: Drawn<'j>,
}

impl<'j, E: Evaluates> DrawnAnswers<'j, E> {
    /// The known answers of a job on this engine.
    ///
    /// # Errors
    /// [`Unsupported`] for a mode or a message for which there is no circuit.
    pub fn new(job: &'j Job, engine: E) -> Result<Self, Unsupported> {
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
        BenchSchedule { batch: self.job.count(), warmup: (warmup, self.job.count()), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.drawn.deal(self.engine.parties(), inputs)
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        Ok(Box::new(Learner { of: self, party: self.engine.start(session)?, openings: 0 }))
    }
}

/// One party, which learns all outputs.
struct Learner<'p, 'j, E: Evaluates> {
    of: &'p DrawnAnswers<'j, E>,
    party: E::Evaluator,
    /// The number of bytes that this party learned.
    openings: u64,
}

impl<E: Evaluates> EngineParty for Learner<'_, '_, E> {
    fn batch(&mut self, count: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let Learner { of: DrawnAnswers { engine, drawn, .. }, party, openings } = self;
        let parties: Vec<PartyId> = PartyId::all(engine.parties()).collect();
        let me = party.session().me();
        let (mut rest, mut all) = (own.as_slice(), Vec::new());
        for number in 0..drawn.count() {
            let program = drawn.program(number)?;
            let instances = drawn.places(number).len();
            let owners: Vec<PartyId> = parties.iter().copied().cycle().take(program.inputs().len()).collect();
            let mine = program.inputs().iter().zip(&owners).filter(|(_, owner)| **owner == me);
            let width: usize = mine.map(|(width, _)| width).sum();
            let misfit = || Abort::Misuse { step: KNOWN, what: "values that fit no circuit" };
            let (now, later) = rest.split_at_checked(instances * width).ok_or_else(misfit)?;
            rest = later;
            let learned = party.evaluate(&program, &owners, instances, now)?;
            let outputs: Vec<Vec<u8>> = learned.chunks(program.output_bits().max(1)).map(from_bits).collect();
            *openings += outputs.iter().map(|output| output.len() as u64).sum::<u64>();
            all.push(outputs);
        }
        Ok(drawn.rows(count, all))
    }

    fn meter(&mut self) -> Counts {
        Counts { openings: self.openings, ..self.party.session().meter().read() }
    }
}
