//! Circuits by authenticated garbling: all instances garbled ahead, in waves if there are many, or streamed.
//!
//! Adversary: that of [`crate`]: all parties but one, malicious, security with abort. Parties that were
//! started separately compare what they are about to run before anything secret exists, in an earlier session
//! ([`Evaluates::agreement`]), so that an error shows both digests. The session that computes has the same
//! digests among its parameters \[M0.4\], so that it detects a party that lied in the first one.

use super::settings::Garbling;
use crate::{DEPENDENT_PHASE, Garble, INDEPENDENT_PHASE, ONLINE_PHASE, Plan, SETUP_PHASE, Unfit};
use divisi_core::{Abort, PublicParameters, Session};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::evaluations::Evaluates;
use divisi_engine::job::{CircuitJob, Own};
use divisi_engine::settings::STREAMED;
use divisi_engine::{Unsupported, Watch, members, timed};
use divisi_ot::Setup;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

impl Evaluates for Garbling {
    /// With the number of instances that go through the phases after the set-up together.
    type Plan<'c> = (Plan<'c>, usize);
    type Party = (Session, Garble);

    const ENGINE: &'static str = "garble";
    const MOST: usize = 1 << 20;
    const KNOWN_ANDS: usize = 1 << 19;

    fn parties(&self) -> usize {
        self.parties
    }

    /// # Errors
    /// [`Unsupported`] for wrong owners or receivers; if the tables of one wave exceed the budget; and for a
    /// circuit that stays in its file without the streamed mode.
    fn plan<'c>(&self, job: &'c CircuitJob) -> Result<(Plan<'c>, usize), Unsupported> {
        let unfit = |unfit: Unfit| Unsupported::new(unfit.to_string());
        let (owners, receivers) = (job.owners(), job.receivers());
        let plan = match &*job.circuit {
            HeldCircuit::Program(circuit) => Plan::new(&circuit.program, self.parties, owners, receivers),
            HeldCircuit::File { stream, .. } => Plan::streamed(stream, self.parties, owners, receivers),
        };
        let plan = plan.map_err(unfit)?;
        // the streamed mode takes all instances together
        let wave = match self.streamed || self.streams_large {
            true => job.count,
            false => self.options.admitted_wave(&plan, self.config.rho, job.count).map_err(unfit)?,
        };
        Ok((plan, wave))
    }

    fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        let parameters = parameters.with("streamed", &[u8::from(self.streamed)]);
        self.options.describe(self.config.describe(parameters))
    }

    fn subject(&self, _: &CircuitJob, (plan, _): &(Plan<'_>, usize)) -> PublicParameters {
        PublicParameters::new("garble").with("plan", &plan.digest())
    }

    /// Whether the circuit is streamed, what is computed, and with which settings. Whether it is streamed
    /// comes first, because a circuit that stays in its file has another digest than the same one in memory.
    fn agreement(&self, _: &CircuitJob, (plan, _): &(Plan<'_>, usize)) -> Vec<(&'static str, [u8; 32])> {
        let streamed =
            PublicParameters::new("run.garble.streamed").with("streamed", &[u8::from(self.streamed)]);
        let how = self.describe(PublicParameters::new("run.garble.how"));
        vec![
            ("the circuit in another mode (--streamed)", streamed.digest()),
            ("another circuit, or the same with other owners or receivers", plan.digest()),
            ("the circuit with other settings (--form, --k, --base-ot or --statistical)", how.digest()),
        ]
    }

    fn batch(&self, _: &CircuitJob, (_, wave): &(Plan<'_>, usize)) -> usize {
        *wave
    }

    fn facts(&self, job: &CircuitJob, (plan, wave): &(Plan<'_>, usize)) -> Map<String, Value> {
        members(json!({
            "form": self.options.form.name(),
            "k": self.config.k,
            "base_ot": self.config.base.name(),
            "statistical_bits": self.config.rho,
            "computational_bits": divisi_ot::hash::COMPUTATIONAL_BITS,
            "streamed": self.streamed,
            "waves": job.count.div_ceil(*wave.max(&1)),
            "and_gates": plan.and_count(),
        }))
    }

    fn start(&self, mut session: Session, _: Option<(&CircuitJob, usize)>) -> Result<Self::Party, Abort> {
        session.phase(SETUP_PHASE);
        let setup = Setup::new(&mut session, self.config)?;
        let garble = Garble::new(&session, setup, self.options);
        Ok((session, garble))
    }

    fn session(party: &mut Self::Party) -> &mut Session {
        &mut party.0
    }

    fn evaluate(
        &self,
        (session, garble): &mut Self::Party,
        (_, (plan, _)): (&CircuitJob, &(Plan<'_>, usize)),
        count: usize,
        own: &[u8],
        watch: &mut dyn Watch,
    ) -> Result<Own, Abort> {
        let width = plan.wires_of(session.me()).count();
        let inputs = (0..count).map(|i| own.get(i * width..(i + 1) * width).unwrap_or_default().to_vec());
        let inputs: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(inputs.collect());
        let outputs = if self.streamed || self.options.admit(plan, self.config.rho, count).is_err() {
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

    fn party_facts((_, garble): &Self::Party) -> Map<String, Value> {
        let made = garble.made().into_iter();
        let batches: Vec<Value> =
            made.map(|(triples, bucket)| json!({ "triples": triples, "bucket": bucket })).collect();
        members(json!({ "batches": batches }))
    }
}
