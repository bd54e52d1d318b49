//! Circuits among the parties ([`crate::circuit`]).

use super::begin::{engine, phase};
use super::how::How;
use crate::ciphers::SETUP;
use crate::ciphers::joint::OUTPUTS;
use crate::ciphers::run::ONLINE;
use crate::circuit::{Group, deliver, enter, told_to};
use crate::protocol::Task;
use crate::stock::Needs;
use crate::{Host, Spdz, SpdzProtocol, VERIFICATION_PHASE};
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, PartyId, ProgramRun, PublicParameters, Session, Settles};
use divisi_engine::evaluations::Evaluates;
use divisi_engine::job::{CircuitJob, OutputGroup, Own};
use divisi_engine::{Unsupported, Watch, members};
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, Value, json};
use std::marker::PhantomData;

/// The largest number of products of bits that a party holds at once, unless one evaluation has more.
const BATCH_ANDS: usize = 1 << 20;

/// The settings, with the field of MACs.
pub(super) struct Circuits<F> {
    pub how: How,
    pub field: PhantomData<fn() -> F>,
}

/// One party.
pub(super) struct Party<F: Host> {
    engine: Spdz<F>,
    openings: u64,
    bucket: Option<usize>,
}

fn groups(job: &CircuitJob) -> Vec<Group> {
    job.output_groups().into_iter().map(|OutputGroup { receivers, wires }| (receivers, wires)).collect()
}

impl<F: Host> Evaluates for Circuits<F> {
    type Plan<'c> = &'c Program;
    type Party = Party<F>;

    const ENGINE: &'static str = "spdz";

    fn parties(&self) -> usize {
        self.how.parties
    }

    /// # Errors
    /// [`Unsupported`] for a circuit that stays in its file, and a protocol of another task.
    fn plan<'c>(&self, job: &'c CircuitJob) -> Result<&'c Program, Unsupported> {
        if self.how.named().is_some() {
            self.how.protocol_for(Task::Circuits)?;
        }
        job.circuit.program()
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        self.how.describe(parameters)
    }

    fn subject(&self, job: &CircuitJob, _: &&Program) -> PublicParameters {
        job.describe(PublicParameters::new("spdz circuit"))
    }

    fn agreement(&self, job: &CircuitJob, _: &&Program) -> Vec<(&'static str, [u8; 32])> {
        let parties = format!("{:?} {:?}", job.owners(), job.receivers());
        let how = blake3::hash(format!("{} {parties}", self.how.common()).as_bytes());
        vec![("another circuit", job.circuit.digest()), ("with other options", *how.as_bytes())]
    }

    fn batch(&self, _: &CircuitJob, program: &&Program) -> usize {
        (BATCH_ANDS / program.and_count().max(1)).max(1)
    }

    fn warmup(&self, job: &CircuitJob, batch: usize, asked: usize) -> (usize, usize) {
        (asked.min(1), job.count.min(batch))
    }

    fn facts(&self, _: &CircuitJob, _: &&Program) -> Map<String, Value> {
        members(json!({
            "k": self.how.config.k,
            "statistical_bits": self.how.statistical_bits(),
            "computational_bits": COMPUTATIONAL_BITS,
        }))
    }

    fn start(&self, session: Session, first: Option<(&CircuitJob, usize)>) -> Result<Party<F>, Abort> {
        let mut needs = Needs::default();
        if let Some((job, count)) = first {
            let groups = groups(job);
            needs = needs.ands(job.circuit.and_count() * count);
            for party in PartyId::all(self.how.parties) {
                let bits = job.wires_of(party).len() + told_to(&groups, self.how.parties, party);
                needs = needs.known_bits(party, bits * count);
            }
        }
        let engine = engine::<F>(session, &self.how, SpdzProtocol::Lookup, &needs.plan())?;
        Ok(Party { engine, openings: 0, bucket: None })
    }

    fn session(party: &mut Party<F>) -> &mut Session {
        party.engine.session()
    }

    fn evaluate(
        &self,
        Party { engine: e, openings, bucket }: &mut Party<F>,
        (job, program): (&CircuitJob, &&Program),
        count: usize,
        own: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<Own, Abort> {
        let wires = phase(e, watch, SETUP, |e| {
            let places: Vec<_> =
                PartyId::all(self.how.parties).map(|owner| (owner, job.wires_of(owner))).collect();
            enter(e, &places, count, own)
        })?;
        phase(e, watch, self.how.ahead(), |e| e.preprocess_ands(program.and_count() * count))?;
        let before = e.session().meter().read().openings;
        let out = phase(e, watch, ONLINE, |e| {
            let mut jobs = [ProgramRun::new(program, wires)];
            e.run(&mut jobs)?;
            let [job] = jobs;
            Ok(job.wires)
        })?;
        *openings += e.session().meter().read().openings - before;
        let verified = phase(e, watch, VERIFICATION_PHASE, |e| e.settled(out))?;
        watch.meet(OUTPUTS)?;
        e.session().phase(OUTPUTS);
        let learned = deliver(e, groups(job), count, &verified)?;
        e.rest()?;
        *bucket = e.bucket();
        let learned =
            learned.into_iter().map(|((receivers, wires), bits)| (OutputGroup { receivers, wires }, bits));
        Ok(job.join_groups(e.session().me(), count, learned.collect()))
    }

    fn party_facts(party: &Party<F>) -> Map<String, Value> {
        members(json!({ "openings": party.openings, "bucket": party.bucket }))
    }
}
