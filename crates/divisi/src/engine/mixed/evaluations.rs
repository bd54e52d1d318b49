//! Evaluations of a circuit by GMW, all instances side by side: triples first, then a round a level.
//!
//! Adversary: that of [`divisi_mixed::gmw`]: all parties but one, semi-honest.

use super::super::Differ;
use super::super::job::{Between, Circuit, Own};
use super::super::{Course, Party, Prepared, Rows, Unsupported, Watch, members, timed};
use super::manner::Manner;
use super::{ONLINE, PREPROCESSING, SETUP};
use divisi_circuit::Program;
use divisi_core::{Abort, Boolean, Counts, Job, Parameters, PartyId, Session, Step, step};
use divisi_mixed::gmw::triples_for;
use divisi_mixed::{Bit, Gmw};
use divisi_rep3::Security;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

/// The most instances of a run.
const MOST: usize = 1 << 24;
/// How many triples are there at once, unless an instance takes more: three bits each.
const TRIPLES: usize = 1 << 28;

const INPUT: Step = step!("input");

/// A circuit with its owners and receivers.
pub(super) struct Evaluations<'j> {
    job: &'j Circuit,
    program: &'j Program,
    receivers: &'j [PartyId],
    /// The owner of each input wire.
    owners: Vec<PartyId>,
    manner: Manner,
}

impl<'j> Evaluations<'j> {
    /// # Errors
    /// Owners or receivers that do not fit.
    pub fn new(job: &'j Circuit, manner: Manner) -> Result<Self, Unsupported> {
        let Between::Parties { owners, receivers } = &job.between else {
            return Err(Unsupported::new("the engine mixed has no clients: inputs belong to its parties"));
        };
        if job.count > MOST {
            return Err(Unsupported::new(format!("--count is more than {MOST}: give less")));
        }
        let program = job.circuit.program().map_err(|failure| Unsupported::new(failure.to_string()))?;
        if owners.len() != program.inputs().len() {
            return Err(Unsupported::new("not as many owners as inputs: give each input one"));
        }
        if owners.iter().chain(receivers).any(|party| party.index() >= manner.parties) {
            return Err(Unsupported::new("an owner or receiver that is no party: give others"));
        }
        let owner = |(owner, width): (&PartyId, &usize)| std::iter::repeat_n(*owner, *width);
        let owners = owners.iter().zip(program.inputs()).flat_map(owner).collect();
        Ok(Evaluations { job, program, receivers, owners, manner })
    }

    /// What is computed, for whom: nothing of how.
    fn what(&self) -> Parameters {
        let numbers = |parties: &[PartyId]| parties.iter().map(|party| party.number()).collect::<Vec<u8>>();
        Parameters::new("mixed")
            .with("circuit", &self.job.circuit.digest())
            .with("owners", &numbers(&self.owners))
            .with("receivers", &numbers(self.receivers))
    }
}

impl Prepared for Evaluations<'_> {
    fn parties(&self) -> usize {
        self.manner.parties
    }

    fn parameters(&self, count: usize) -> Parameters {
        self.manner.describe(self.what().with("count", &(count as u64).to_le_bytes()))
    }

    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        let how = self.manner.describe(Parameters::new("run.mixed.how"));
        vec![
            ("another circuit, or the same with other owners or receivers", self.what().digest()),
            ("the circuit in another way (--k)", how.digest()),
        ]
    }

    fn course(&self, warmup: usize) -> Course {
        // whole words of lanes
        let batch = TRIPLES / self.program.and_count().max(1) / 64 * 64;
        let batch = batch.max(64).min(self.job.count.max(1));
        Course { batch, warmup: (warmup, self.job.count), one_session: false }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.job.owned(self.manner.parties, inputs)
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.job.learned(count, &outputs)
    }

    fn start<'p>(&'p self, mut session: Session, _: usize, _: &Own) -> Result<Box<dyn Party + 'p>, Abort> {
        session.phase(SETUP);
        let gmw = Gmw::new(session, self.manner.config)?;
        Ok(Box::new(Member { of: self, gmw }))
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({
            "protocol": "gmw",
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

/// Evaluations of a program side by side. `own` has this party's input wires, one to a byte, instance after
/// instance; so have the outputs at a receiver.
pub(super) fn evaluate(
    gmw: &mut Gmw,
    program: &Program,
    owners: &[PartyId],
    receivers: &[PartyId],
    count: usize,
    own: &[u8],
) -> Result<Own, Abort> {
    let me = gmw.session().me();
    let width = owners.iter().filter(|owner| **owner == me).count();
    if own.len() != width * count {
        return Err(gmw.session().misuse(INPUT, "inputs of another length than was said"));
    }
    let mut wire = 0;
    let mut inputs = Vec::with_capacity(owners.len());
    for owner in owners {
        let mut values = None;
        if *owner == me {
            let lane = |i: usize| u64::from(own.get(i * width + wire).copied().unwrap_or(0));
            values = Some(Bit::of((0..count).map(lane)));
            wire += 1;
        }
        inputs.push(gmw.input(*owner, count, values.as_ref())?);
    }
    let mut jobs = [Job::new(program, inputs)];
    gmw.run(&mut jobs)?;
    let [job] = jobs;
    let outputs = gmw.output(receivers, &job.wires)?.unwrap_or_default();
    let rows = (0..if outputs.is_empty() { 0 } else { count })
        .flat_map(|lane| outputs.iter().map(move |bit| bit.lane(lane) as u8));
    Ok(Zeroizing::new(rows.collect()))
}

impl Party for Member<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let Member { of, gmw } = self;
        timed(watch, PREPROCESSING, || {
            gmw.session().phase(PREPROCESSING);
            gmw.prepare(triples_for(of.program, count))
        })?;
        timed(watch, ONLINE, || {
            gmw.session().phase(ONLINE);
            evaluate(gmw, of.program, &of.owners, of.receivers, count, own)
        })
    }

    fn meter(&mut self) -> Counts {
        self.gmw.session().meter().read()
    }
}
