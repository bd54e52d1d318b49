//! Lookups at indices of one party in a public table of bytes, by OHVerture ([`divisi_rep3::ohverture`]).
//!
//! Party 1 has the indices, and all three parties learn the entries. Input and output have phases of their
//! own, which are not measured.
//!
//! Adversary: that of [`divisi_rep3`].

use super::options::is_constant_round;
use super::{CHUNKS, OUTPUTS, statistical};
use crate::lookups::{IndexPlan, LookupParty, WIDTH, way};
use crate::strands::{ONLINE, PREPROCESSING, SETUP, VERIFICATION};
use divisi_core::{Abort, Counts, Misuse, PartyId, PublicParameters, Session, Step, step};
use divisi_engine::job::{LookupJob, Own, given_to};
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, EngineSettings, Prepared, Rows, SetupCounts, StartedParty,
    Unsupported, Watch, alike, members, timed,
};
use divisi_rep3::Passes;
use divisi_rep3::ohverture::MAX_CUBE_BITS;
use serde_json::{Map, Value, json};

const INPUT: Step = step!("input");

/// The name of the lookup protocol in JSON.
pub(super) const OHVERTURE: &str = "ohverture";
/// The fact that says how many entries the table has.
pub(super) const ENTRIES: &str = "entries";
const INPUTS: &str = "inputs";
const DIMENSIONS: &str = "dimensions";
const PARTS: &str = "parts";

/// The number of lookups of a batch, whose indices a party holds at once.
const BATCH: usize = 1 << 16;
/// The largest number of inputs over which an index is split.
const MOST_INPUTS: usize = 3;
/// The largest number of lookups.
const MOST: usize = 1 << 28;

/// The JSON members of a benchmark of lookups, beside those of all benchmarks.
pub(super) fn told(facts: &Map<String, Value>) -> Map<String, Value> {
    let of = |name: &str| facts.get(name).map(|fact| (name.to_owned(), fact.clone()));
    [ENTRIES, INPUTS, DIMENSIONS, PARTS].into_iter().filter_map(of).collect()
}

/// What is measured, in words; `None` if these are not the facts of lookups.
pub(super) fn about(facts: &Map<String, Value>) -> Option<String> {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64);
    let (entries, inputs) = (number(ENTRIES)?, number(INPUTS)?);
    let inputs = if inputs == 1 { "1 input".to_owned() } else { format!("{inputs} inputs") };
    let factors = number(DIMENSIONS)?;
    let plural = if factors == 1 { "" } else { "s" };
    Some(format!("lookups in {entries} entries of {WIDTH} bits, {inputs}, {factors} factor{plural}"))
}

/// Lookups, with everything public about them.
pub(super) struct Looker<'j> {
    job: &'j LookupJob,
    plan: IndexPlan,
    statistical: u32,
}

impl<'j> Looker<'j> {
    /// # Errors
    /// [`Unsupported`] for parameters that the lookups do not support.
    pub fn new(job: &'j LookupJob, settings: &EngineSettings) -> Result<Self, Unsupported> {
        let refuse = |what: String| Err(Unsupported::new(what));
        if job.table.is_some() {
            return refuse("--table belongs to the engine spdz: give --engine spdz, or --entries".into());
        }
        let k = job.entries.trailing_zeros() as usize;
        if !job.entries.is_power_of_two() || !(1..=MAX_CUBE_BITS).contains(&k) {
            let most = 1_usize << MAX_CUBE_BITS;
            return refuse(format!("--entries is {}: give a power of two from 2 to {most}", job.entries));
        }
        if !(1..=MOST_INPUTS).contains(&job.inputs) || job.inputs > k {
            let most = MOST_INPUTS.min(k);
            return refuse(format!(
                "--inputs is {}: give 1 to {most} for {} entries",
                job.inputs, job.entries
            ));
        }
        Unsupported::above("count", job.count, MOST)?;
        if settings.threads != 1 {
            return refuse("lookups run in one thread a party: leave --threads out".into());
        }
        if is_constant_round(settings) {
            return refuse(super::PROGRAMS_ALONE.into());
        }
        if let Some(n) = job.dimensions.filter(|n| !(1..=3).contains(n)) {
            return refuse(format!("--dimensions is {n}: give 1, 2, 3 or auto"));
        }
        let Some(way) = way(k, job.dimensions) else {
            let (n, entries) = (job.dimensions.unwrap_or_default(), job.entries);
            return refuse(format!(
                "lookups in {entries} entries cannot use {n} factors: give --dimensions auto"
            ));
        };
        let bits = statistical(settings).unwrap_or(0);
        let passes = Passes::for_bits(bits).ok_or_else(|| Unsupported::new(super::TOO_MANY_BITS))?;
        let plan = IndexPlan { k, inputs: job.inputs, way, security: settings.security, passes };
        Ok(Looker { job, plan, statistical: bits })
    }
}

impl Prepared for Looker<'_> {
    fn parties(&self) -> usize {
        super::PARTIES
    }

    fn parameters(&self, _: usize) -> PublicParameters {
        PublicParameters::new("bench lookups")
            .with("entries", &(self.job.entries as u64).to_le_bytes())
            .with("inputs", &(self.job.inputs as u64).to_le_bytes())
            .with("way", format!("{:?}", self.plan.way).as_bytes())
            .with("security", self.plan.security.name().as_bytes())
            .with("statistical bits", &self.statistical.to_le_bytes())
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        let count = self.job.count;
        let before = warmup.saturating_mul(self.plan.chunk()).min(count.max(1));
        BenchSchedule { batch: BATCH, warmup: (warmup.min(1), before), one_session: true }
    }

    /// Party 1 has all indices.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        given_to(0, super::PARTIES, inputs.bytes())
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, _: usize, _: &Own) -> StartedParty<'p> {
        let mut party = LookupParty::start(&self.plan, session, LookupJob::entry)?;
        // as in the other jobs, the counts of the set-up are added to those of each repetition
        let setup = SetupCounts::take(party.session().meter(), SETUP);
        Ok(Box::new(Member { chunk: self.plan.chunk(), party, setup }))
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({
            "security": self.plan.security.name(),
            ENTRIES: self.job.entries,
            INPUTS: self.job.inputs,
            DIMENSIONS: self.plan.way.number(),
            PARTS: self.plan.parts(),
            CHUNKS: self.job.count.div_ceil(self.plan.chunk()),
        }))
    }
}

/// One party.
struct Member<'p> {
    chunk: usize,
    party: LookupParty<'p>,
    setup: SetupCounts,
}

impl EngineParty for Member<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let (party, owner) = (&mut self.party, PartyId::P1);
        if own.len() != if party.session().me() == owner { 4 * count } else { 0 } {
            return Err(party.session().misuse(INPUT, Misuse::LengthDiffers));
        }
        let mut out = Own::new(Vec::with_capacity(count));
        for start in (0..count).step_by(self.chunk) {
            let lanes = self.chunk.min(count - start);
            party.session().phase("places");
            let places = own.get(4 * start..4 * (start + lanes)).unwrap_or_default();
            let digits = party.indices(owner, places, lanes)?;
            let vectors = timed(watch, PREPROCESSING, || party.vectors(lanes))?;
            let y = timed(watch, ONLINE, || party.look_up(&digits, vectors))?;
            timed(watch, VERIFICATION, || party.verify())?;
            party.session().phase(OUTPUTS);
            out.extend(party.entries(&y)?);
        }
        Ok(out)
    }

    fn meter(&mut self) -> Counts {
        self.party.session().meter().read()
    }

    fn counts(&mut self) -> Counts {
        self.setup.with(self.party.session().meter())
    }
}
