//! Evaluations of a circuit between parties, written once for all engines that evaluate circuits
//! ([`Evaluates`]): the parties own the inputs, and each output value goes to its own receivers. Known
//! answers stand on the same trait ([`crate::known::circuits`]).

use crate::job::{Between, CircuitJob, Own};
use crate::{BenchSchedule, Differ, EngineParty, Prepared, Rows, StartedParty, Unsupported, Watch};
use divisi_core::{Abort, Counts, Misuse, PublicParameters, Session, Step, step};
use serde_json::{Map, Value};

const INPUT: Step = step!("input");

/// An engine that evaluates circuits among its parties, with its settings.
pub trait Evaluates: Sync {
    /// What the engine derives from a circuit, its owners and receivers, before there is a session.
    type Plan<'c>: Sync;

    /// One party, with its session and set-up.
    type Party;

    /// The engine's name.
    const ENGINE: &'static str;

    /// The largest number of evaluations of a run.
    const MOST: usize = usize::MAX;

    /// The largest number of ANDs of known answers that are evaluated together, unless one instance has more.
    const KNOWN_ANDS: usize = usize::MAX;

    /// The number of parties.
    fn parties(&self) -> usize;

    /// Prepare everything public about a circuit.
    ///
    /// # Errors
    /// [`Unsupported`] with what the engine cannot evaluate.
    fn plan<'c>(&self, job: &'c CircuitJob) -> Result<Self::Plan<'c>, Unsupported>;

    /// Add the settings to the parameters that the parties compare at the start of a session \[M0.4\].
    fn describe(&self, parameters: PublicParameters) -> PublicParameters;

    /// The parameters that say what is computed and for whom, without the settings.
    fn subject(&self, job: &CircuitJob, plan: &Self::Plan<'_>) -> PublicParameters;

    /// The parameters of a session for `count` evaluations: see [`Prepared::parameters`].
    fn parameters(&self, job: &CircuitJob, plan: &Self::Plan<'_>, count: usize) -> PublicParameters {
        self.describe(self.subject(job, plan).with("count", &(count as u64).to_le_bytes()))
    }

    /// What separately started parties compare first: see [`Prepared::agreement`].
    fn agreement(&self, job: &CircuitJob, plan: &Self::Plan<'_>) -> Vec<(&'static str, [u8; 32])> {
        let _ = (job, plan);
        Vec::new()
    }

    /// The number of evaluations that go through the phases after the set-up together, of those of the job.
    fn batch(&self, job: &CircuitJob, plan: &Self::Plan<'_>) -> usize;

    /// The number of warm-up runs of a benchmark, of `asked`, and of the evaluations in each.
    fn warmup(&self, job: &CircuitJob, batch: usize, asked: usize) -> (usize, usize) {
        let _ = batch;
        (asked, job.count)
    }

    /// The JSON members of the job.
    fn facts(&self, job: &CircuitJob, plan: &Self::Plan<'_>) -> Map<String, Value> {
        let _ = (job, plan);
        Map::new()
    }

    /// Start one party, for this number of evaluations of a circuit; for any circuits if it is `None`.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn start(&self, session: Session, first: Option<(&CircuitJob, usize)>) -> Result<Self::Party, Abort>;

    /// A party's session.
    fn session(party: &mut Self::Party) -> &mut Session;

    /// Run the phases after the set-up. `own` has the party's input wires, one to a byte, evaluation after
    /// evaluation ([`CircuitJob::wires_of`]); the outputs have in the same form the output wires that it
    /// learns ([`CircuitJob::results_of`]).
    ///
    /// # Errors
    /// The abort that ends the session.
    fn evaluate(
        &self,
        party: &mut Self::Party,
        circuit: (&CircuitJob, &Self::Plan<'_>),
        count: usize,
        own: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<Own, Abort>;

    /// The JSON members about a party's run.
    fn party_facts(party: &Self::Party) -> Map<String, Value> {
        let _ = party;
        Map::new()
    }
}

/// A circuit with its owners and receivers, on an engine.
pub struct Evaluations<'j, E: Evaluates> {
    job: &'j CircuitJob,
    engine: E,
    plan: E::Plan<'j>,
}

impl<'j, E: Evaluates> Evaluations<'j, E> {
    /// # Errors
    /// [`Unsupported`] for inputs that a client deals, for too many evaluations, for an owner or a receiver
    /// that is not a party, or with what the engine cannot evaluate.
    pub fn new(job: &'j CircuitJob, engine: E) -> Result<Self, Unsupported> {
        if job.between == Between::Client {
            let name = E::ENGINE;
            let error = format!("the engine {name} has no clients: inputs belong to its parties");
            return Err(Unsupported::new(error));
        }
        Unsupported::above("count", job.count, E::MOST)?;
        let plan = engine.plan(job)?;
        job.check_parties(engine.parties())?;
        Ok(Evaluations { job, engine, plan })
    }
}

impl<E: Evaluates> Prepared for Evaluations<'_, E> {
    fn parties(&self) -> usize {
        self.engine.parties()
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        self.engine.parameters(self.job, &self.plan, count)
    }

    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        self.engine.agreement(self.job, &self.plan)
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        let batch = self.engine.batch(self.job, &self.plan);
        BenchSchedule { batch, warmup: self.engine.warmup(self.job, batch, warmup), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(self.engine.parties(), inputs)
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.job.learned(count, &outputs)
    }

    fn start<'p>(&'p self, session: Session, count: usize, _: &Own) -> StartedParty<'p> {
        let party = self.engine.start(session, Some((self.job, count)))?;
        Ok(Box::new(Evaluator { of: self, party }))
    }

    fn facts(&self) -> Map<String, Value> {
        self.engine.facts(self.job, &self.plan)
    }
}

/// One party, whose inputs are its own.
struct Evaluator<'p, 'j, E: Evaluates> {
    of: &'p Evaluations<'j, E>,
    party: E::Party,
}

impl<E: Evaluates> EngineParty for Evaluator<'_, '_, E> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let Evaluator { of: Evaluations { job, engine, plan }, party } = self;
        let session = E::session(party);
        if own.len() != job.wires_of(session.me()).len() * count {
            return Err(session.misuse(INPUT, Misuse::LengthDiffers));
        }
        engine.evaluate(party, (job, plan), count, own, watch)
    }

    fn meter(&mut self) -> Counts {
        E::session(&mut self.party).meter().read()
    }

    fn facts(&self) -> Map<String, Value> {
        E::party_facts(&self.party)
    }
}
