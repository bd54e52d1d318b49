//! Operations on numbers and bits with random inputs, for benchmarks ([`crate::operations`]). The process
//! that dealt the inputs adds the parties' shares of the outputs, and compares the results.

use super::manner::Manner;
use super::{ONLINE, PREPROCESSING, SETUP, lattice_json};
use crate::form::BitForm;
use crate::operations::{Op, OperationBatch, OperationJob, OperationParty, Operations};
use crate::size::NumberSize;
use divisi_bgv::parameters::Parameters as Lattice;
use divisi_core::{Abort, Counts, PartyId, PublicParameters, Security, Session};
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, Own, Prepared, Rows, StartedParty, Unsupported, Watch, members, timed,
};
use divisi_mixed::adders::NumberAdder;
use divisi_ot::hash::COMPUTATIONAL_BITS;
use serde_json::{Map, Value, json};

/// The largest number of items of a run.
const MOST: usize = 1 << 30;

/// An operation with its settings.
pub(super) struct Operation {
    of: Operations,
    manner: Manner,
}

impl Operation {
    /// # Errors
    /// [`Unsupported`] for parameters that the operation does not support.
    pub fn new(job: OperationJob, manner: Manner) -> Result<Self, Unsupported> {
        let OperationJob { op, numbers, bits, entries, private, count } = job;
        let wrong = |what: String| Err(Unsupported::new(what));
        Unsupported::above("count", count, MOST)?;
        let most = numbers.width();
        if !(1..=most).contains(&bits) {
            return wrong(format!("--bits is {bits}: give 1 to {most}"));
        }
        if op == Op::Lookup && !(entries.is_power_of_two() && (2..=256).contains(&entries)) {
            return wrong(format!("--entries is {entries}: give a power of two from 2 to 256"));
        }
        if private && op != Op::Lookup {
            return wrong(format!("{} has no tables of its own: leave --private out", op.name()));
        }
        if manner.form.is_some() && !op.has_bits() {
            return wrong(format!("{} has no forms: leave --form out", op.name()));
        }
        let manner = if op == Op::A2b { manner } else { manner.without_adder()? };
        let adder = (op == Op::A2b).then(|| manner.adder.unwrap_or_default());
        let form = op.has_bits().then(|| manner.form.unwrap_or(BitForm::by_default(manner.parties)));
        let of = Operations::new(job, manner.parties, manner.config, (form, adder), manner.insecure);
        Ok(Operation { of: of.map_err(Unsupported::new)?, manner })
    }
}

impl Prepared for Operation {
    fn parties(&self) -> usize {
        self.manner.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let Operations { job, form, adder, .. } = &self.of;
        let parameters = PublicParameters::new("mixed operations")
            .with("op", job.op.name().as_bytes())
            .with("bits", &(job.bits as u64).to_le_bytes())
            .with("entries", &(job.entries as u64).to_le_bytes())
            .with("private", &[u8::from(job.private)])
            .with("form", form.map_or("", BitForm::name).as_bytes())
            .with("adder", adder.map_or("", NumberAdder::name).as_bytes())
            .with("count", &(count as u64).to_le_bytes());
        // numbers have 31 bits unless this says more
        let parameters = match job.numbers {
            NumberSize::Bits31 => parameters,
            wide => parameters.with("numbers", &wide.modulus().to_le_bytes()),
        };
        self.manner.describe(self.of.rings().fold(parameters, |all, ring| ring.parameters().describe(all)))
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: self.of.batch(), ..BenchSchedule::together(self.of.job.count, warmup) }
    }

    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        self.of.shares(inputs.iter().map(|row| self.of.job.input(row).unwrap_or_default()))
    }

    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        self.of.sums(count, &outputs).map_err(|wrong| Differ {
            party: PartyId::all(wrong + 1).last(),
            what: "gave outputs of a wrong form",
        })
    }

    fn start<'p>(&'p self, mut session: Session, _: usize, _: &Own) -> StartedParty<'p> {
        session.phase(SETUP);
        Ok(Box::new(Member { of: &self.of, party: OperationParty::start(&self.of, session)? }))
    }

    fn facts(&self) -> Map<String, Value> {
        let OperationJob { op, numbers, bits, entries, private, .. } = self.of.job;
        // if there are two rings, that of the random bits, which the form chooses
        let ring = self.of.rings().next().map(|ring| ring.parameters());
        members(json!({
            "op": op.name(),
            "form": self.of.form.map(BitForm::name),
            "adder": self.of.adder.map(NumberAdder::name),
            "numbers": numbers.bits(),
            "bits": (op == Op::B2a).then_some(bits),
            "entries": (op == Op::Lookup).then_some(entries),
            "private": (op == Op::Lookup).then_some(private),
            "security": Security::SemiHonest.name(),
            "k": self.manner.config.k,
            "ring_dimension": ring.map(Lattice::dimension),
            "log2_q": ring.map(Lattice::log2_q),
            "log2_whole": ring.map(Lattice::log2_whole),
            "lattice": lattice_json(ring.and_then(Lattice::hardness)),
            "computational_bits": COMPUTATIONAL_BITS,
            "insecure": self.manner.insecure,
        }))
    }
}

/// One party, with its set-up.
struct Member<'p> {
    of: &'p Operations,
    party: OperationParty,
}

impl EngineParty for Member<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let op = self.of.job.op;
        let mut batch = OperationBatch::new(self.of, &mut self.party, count, own)?;
        if !op.is_online_alone() {
            timed(watch, PREPROCESSING, || batch.preprocess())?;
        }
        batch.ready();
        if !op.is_random() {
            timed(watch, ONLINE, || batch.online())?;
        }
        batch.end()
    }

    fn meter(&mut self) -> Counts {
        self.party.session().meter().read()
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({ "partial_decryptions": self.party.decryptions() }))
    }
}
