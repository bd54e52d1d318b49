//! Evaluations of a circuit by GMW, all instances side by side: triples first, then one round for each level;
//! or garbled ([`super::garbled`]).
//!
//! Adversary: that of [`divisi_mixed::gmw`]: all parties but one, semi-honest.

use super::garbled::{self, Garbling};
use super::lattice_json;
use super::manner::{CircuitProtocol, Manner};
use super::values::{evaluate, learn};
use super::{ONLINE, PREPROCESSING, SETUP};
use divisi_bgv::parameters::Parameters as Lattice;
use divisi_circuit::Program;
use divisi_core::Security;
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Session};
use divisi_engine::Differ;
use divisi_engine::job::{Between, CircuitJob, OutputGroup, Own};
use divisi_engine::{BenchSchedule, EngineParty, Prepared, Rows, Unsupported, Watch, members, timed};
use divisi_mixed::Gmw;
use divisi_mixed::gmw::triples_for;
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, Value, json};

/// The most instances of a run.
const MOST: usize = 1 << 24;
/// The largest number of triples, of three bits each, that a party holds at once, unless 64 instances take
/// more.
const TRIPLES: usize = 1 << 28;

/// A circuit with its owners and receivers.
pub(super) struct Evaluations<'j> {
    job: &'j CircuitJob,
    program: &'j Program,
    /// The outputs by their receivers.
    groups: Vec<OutputGroup>,
    /// The owner of each input wire.
    owners: Vec<PartyId>,
    manner: Manner,
    /// The settings of garbling, if the circuit is garbled.
    garbling: Option<Garbling>,
}

impl<'j> Evaluations<'j> {
    /// # Errors
    /// [`Unsupported`] for wrong owners or receivers, too many instances, or a circuit that cannot be garbled
    /// if it is to be.
    pub fn new(job: &'j CircuitJob, manner: Manner) -> Result<Self, Unsupported> {
        let Between::Parties { owners, .. } = &job.between else {
            return Err(Unsupported::new("the engine mixed has no clients: inputs belong to its parties"));
        };
        if job.count > MOST {
            return Err(Unsupported::new(format!("--count is more than {MOST}: give less")));
        }
        let program = job.circuit.program()?;
        job.check_parties(manner.parties)?;
        let owner = |(owner, width): (&PartyId, &usize)| std::iter::repeat_n(*owner, *width);
        let owners = owners.iter().zip(program.inputs()).flat_map(owner).collect();
        let garbling = manner.is_garbled().then(|| Garbling::new(program, job.count, &manner)).transpose()?;
        Ok(Evaluations { job, program, groups: job.output_groups(), owners, manner, garbling })
    }

    /// The parameters that say what is computed and for whom, without the settings.
    fn what(&self) -> PublicParameters {
        let numbers = |parties: &[PartyId]| parties.iter().map(|party| party.number()).collect::<Vec<u8>>();
        let parameters = PublicParameters::new("mixed")
            .with("circuit", &self.job.circuit.digest())
            .with("owners", &numbers(&self.owners));
        self.job.describe_receivers(parameters)
    }

    /// Add the settings to these parameters.
    fn how(&self, parameters: PublicParameters) -> PublicParameters {
        let parameters = self.manner.describe(parameters);
        match &self.garbling {
            Some(garbling) => garbling.describe(parameters),
            None => parameters,
        }
    }
}

impl Prepared for Evaluations<'_> {
    fn parties(&self) -> usize {
        self.manner.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        self.how(self.what().with("count", &(count as u64).to_le_bytes()))
    }

    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        let how = self.how(PublicParameters::new("run.mixed.how"));
        vec![
            ("another circuit, or the same with other owners or receivers", self.what().digest()),
            ("the circuit with other settings (--k, --protocol, --form)", how.digest()),
        ]
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        if let Some(garbling) = &self.garbling {
            let batch = garbling.batch().min(self.job.count.max(1));
            return BenchSchedule { batch, warmup: (warmup, self.job.count), one_session: false };
        }
        // whole words of lanes
        let batch = TRIPLES / self.program.and_count().max(1) / 64 * 64;
        let batch = batch.max(64).min(self.job.count.max(1));
        BenchSchedule { batch, warmup: (warmup, self.job.count), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(self.manner.parties, inputs)
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
        session.phase(SETUP);
        let mut gmw = Gmw::deferred(session, self.manner.config);
        // a circuit without ANDs needs no transfers
        if self.garbling.is_some() || self.program.and_count() > 0 {
            gmw.set_up()?;
        }
        if let Some(garbling) = &self.garbling {
            let (owners, outputs) = (self.owners.as_slice(), (self.job, self.groups.as_slice()));
            return Ok(Box::new(garbled::Member::new(garbling, owners, outputs, gmw)?));
        }
        Ok(Box::new(Member { of: self, gmw }))
    }

    fn facts(&self) -> Map<String, Value> {
        let ring = self.garbling.as_ref().and_then(Garbling::lattice);
        members(json!({
            "protocol": self.manner.circuits.unwrap_or(CircuitProtocol::Gmw).name(),
            "op": self.garbling.is_some().then_some("mpgc"),
            "form": self.garbling.as_ref().map(Garbling::form),
            "insecure": self.garbling.is_some().then_some(self.manner.insecure),
            "ring_dimension": ring.map(Lattice::dimension),
            "log2_q": ring.map(Lattice::log2_q),
            "log2_whole": ring.map(Lattice::log2_whole),
            "lattice": lattice_json(ring.and_then(Lattice::hardness)),
            "computational_bits": COMPUTATIONAL_BITS,
            "security": Security::SemiHonest.name(),
            "k": self.manner.config.k,
            "and_gates": self.program.and_count(),
        }))
    }
}

/// One party, with its set-up.
struct Member<'p> {
    of: &'p Evaluations<'p>,
    gmw: Gmw,
}

impl EngineParty for Member<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let Member { of, gmw } = self;
        timed(watch, PREPROCESSING, || {
            gmw.session().phase(PREPROCESSING);
            gmw.prepare(triples_for(of.program, count))
        })?;
        timed(watch, ONLINE, || {
            gmw.session().phase(ONLINE);
            let outputs = evaluate(gmw, of.program, &of.owners, count, own)?;
            learn(gmw, of.job, &of.groups, count, &outputs)
        })
    }

    fn meter(&mut self) -> Counts {
        self.gmw.session().meter().read()
    }
}
