//! Evaluations of a circuit by authenticated garbling: all instances garbled ahead, in waves if there are
//! many, or streamed.
//!
//! Adversary: that of [`divisi_garble`]: all parties but one, malicious, security with abort. Parties that
//! were started separately compare what they are about to run before anything secret exists, in an earlier
//! session ([`Prepared::agreement`]), so that an error shows both digests. The session that computes has the
//! same digests among its parameters \[M0.4\], so that it detects a party that lied in the first one.

use super::garbling::{Garbling, base_name};
use crate::{DEPENDENT_PHASE, Garble, INDEPENDENT_PHASE, ONLINE_PHASE, Plan, SETUP_PHASE};
use divisi_core::{Abort, Counts, PublicParameters, Session, Step, step};
use divisi_engine::job::{Between, CircuitJob, Own};
use divisi_engine::settings::STREAMED;
use divisi_engine::{BenchSchedule, Differ, EngineParty, Prepared, Rows, Unsupported, Watch, members, timed};
use divisi_ot::Setup;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

/// The largest number of instances of a run.
const MOST: usize = 1 << 20;

const INPUT: Step = step!("input");

/// A circuit with its owners and receivers, and how it is garbled.
pub(super) struct Evaluations<'j> {
    job: &'j CircuitJob,
    garbling: Garbling,
    plan: Plan<'j>,
    /// The number of instances of a wave, which go through the phases after the set-up together.
    wave: usize,
}

impl<'j> Evaluations<'j> {
    /// # Errors
    /// [`Unsupported`] for wrong owners or receivers, or if the tables of one wave exceed the budget.
    pub fn new(job: &'j CircuitJob, garbling: Garbling) -> Result<Self, Unsupported> {
        let Between::Parties { owners, receivers } = &job.between else {
            return Err(Unsupported::new("the engine garble has no clients: inputs belong to its parties"));
        };
        if job.count > MOST {
            return Err(Unsupported::new(format!("--count is more than {MOST}: give less")));
        }
        let garbling = garbling.settled(job.circuit.and_count().saturating_mul(job.count));
        let plan = garbling.plan_of(&job.circuit, owners, receivers, 1)?;
        // the streamed mode takes all instances together
        let wave = if garbling.streamed {
            job.count
        } else {
            garbling.options.wave(&plan, garbling.config.rho, job.count).max(1)
        };
        let plan = garbling.plan_of(&job.circuit, owners, receivers, wave)?;
        Ok(Evaluations { job, garbling, plan, wave })
    }
}

impl Prepared for Evaluations<'_> {
    fn parties(&self) -> usize {
        self.garbling.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let parameters = PublicParameters::new("garble").with("plan", &self.plan.digest());
        self.garbling.describe(parameters.with("count", &(count as u64).to_le_bytes()))
    }

    /// Whether the circuit is streamed, what is computed, and with which settings. Whether it is streamed
    /// comes first, because a circuit that stays in its file has another digest than the same one in memory.
    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        let streamed = PublicParameters::new("run.garble.streamed")
            .with("streamed", &[u8::from(self.garbling.streamed)]);
        let how = self.garbling.describe(PublicParameters::new("run.garble.how"));
        vec![
            ("the circuit in another mode (--streamed)", streamed.digest()),
            ("another circuit, or the same with other owners or receivers", self.plan.digest()),
            ("the circuit with other settings (--form, --k, --base-ot or --statistical)", how.digest()),
        ]
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: self.wave, warmup: (warmup, self.job.count), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(self.garbling.parties, inputs)
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.job.learned(count, &outputs)
    }

    fn start<'p>(
        &'p self,
        mut session: Session,
        _: usize,
        _: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        session.phase(SETUP_PHASE);
        let setup = Setup::new(&mut session, self.garbling.config)?;
        let garble = Garble::new(&session, setup, self.garbling.options);
        Ok(Box::new(Garbler { of: self, session, garble }))
    }

    fn facts(&self) -> Map<String, Value> {
        let Garbling { options, config, streamed, .. } = &self.garbling;
        members(json!({
            "form": options.form.name(),
            "k": config.k,
            "base_ot": base_name(config.base),
            "statistical_bits": config.rho,
            "computational_bits": divisi_ot::hash::COMPUTATIONAL_BITS,
            "streamed": streamed,
            "waves": self.job.count.div_ceil(self.wave.max(1)),
            "and_gates": self.plan.and_count(),
        }))
    }
}

/// One party, with its set-up.
struct Garbler<'p> {
    of: &'p Evaluations<'p>,
    session: Session,
    garble: Garble,
}

impl EngineParty for Garbler<'_> {
    /// Run the phases after the set-up. `own` has this party's input wires, one to a byte, instance after
    /// instance; the outputs have in the same form the output wires that it learns.
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let Garbler { of, session, garble, .. } = self;
        let (plan, streamed) = (&of.plan, of.garbling.streamed);
        let width = plan.wires_of(session.me()).count();
        if own.len() != width * count {
            return Err(session.misuse(INPUT, "inputs of another length than declared"));
        }
        let inputs = (0..count).map(|i| own.get(i * width..(i + 1) * width).unwrap_or_default().to_vec());
        let inputs: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(inputs.collect());
        let outputs = if streamed {
            timed(watch, STREAMED, || garble.streamed(session, plan, &inputs))?
        } else {
            let (ands, wires) = (count * plan.and_count(), count * plan.wires());
            let mut made =
                timed(watch, INDEPENDENT_PHASE, || garble.function_independent(session, ands, wires))?;
            let garbled =
                timed(watch, DEPENDENT_PHASE, || garble.function_dependent(session, &mut made, plan, count))?;
            timed(watch, ONLINE_PHASE, || garble.online(session, garbled, &inputs))?
        };
        Ok(Zeroizing::new(outputs.iter().flat_map(|bits| bits.iter().copied()).collect()))
    }

    fn meter(&mut self) -> Counts {
        self.session.meter().read()
    }

    fn facts(&self) -> Map<String, Value> {
        let made = self.garble.made().into_iter();
        let batches: Vec<Value> =
            made.map(|(triples, bucket)| json!({ "triples": triples, "bucket": bucket })).collect();
        members(json!({ "batches": batches }))
    }
}
