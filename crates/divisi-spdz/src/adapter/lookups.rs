//! Lookups at indices of one party in any public table of up to ten bits in and sixteen out (KOR+17, Fig. 3):
//! Table 1's sizes, 128 to 1,024 entries, among them.
//!
//! Party 1 has the indices, and all parties learn the entries. Input and output have phases of their own.
//!
//! Adversary: that of [`divisi_spdz`].

use super::begin::{engine, phase};
use super::how::How;
use crate::ciphers::SETUP;
use crate::ciphers::joint::OUTPUTS;
use crate::ciphers::run::ONLINE;
use crate::protocol::by_field;
use crate::stock::StockPlan;
use crate::{Host, PREPROCESSING_PHASE, PublicTable, Spdz, SpdzProtocol, VERIFICATION_PHASE};
use divisi_core::{Abort, Counts, Misuse, PartyId, PublicParameters, Session, Settles, Step, step};
use divisi_engine::job::{LookupJob, Own, given_to};
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, Prepared, Rows, StartedParty, Unsupported, Watch, alike, members,
};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

const INPUT: Step = step!("lookup.input");
/// The JSON members of a benchmark of lookups, beside those of all benchmarks.
pub(super) const FACTS: [&str; 2] = ["entries", "entry_bits"];
/// The number of lookups that go through all phases together.
const BATCH: usize = 1024;
/// The largest number of lookups.
const MOST: usize = 1 << 24;

/// Lookups, with everything public about them.
pub(super) struct Looker<'j> {
    job: &'j LookupJob,
    table: PublicTable,
    how: How,
}

impl<'j> Looker<'j> {
    /// # Errors
    /// [`Unsupported`] for a table of another size, and for options of another engine.
    pub fn new(job: &'j LookupJob, how: How) -> Result<Self, Unsupported> {
        let most = 1_usize << PublicTable::MOST_INDEX;
        let entries = job.entries;
        if !entries.is_power_of_two() || !(2..=most).contains(&entries) {
            return Err(Unsupported::new(format!(
                "--entries is {entries}: the engine spdz looks up tables of a power of two from 2 to {most} entries"
            )));
        }
        if job.inputs != 1 || job.dimensions.is_some() {
            return Err(Unsupported::new(
                "--inputs and --dimensions belong to the engine rep3: leave them out",
            ));
        }
        Unsupported::above("count", job.count, MOST)?;
        let table = match &job.table {
            Some(table) => PublicTable::new(table.width(), table.entries().to_vec()),
            None => PublicTable::new(8, (0..entries).map(|at| LookupJob::entry(at).into()).collect()),
        };
        let table = table.filter(|table| 1 << table.index() == entries);
        let table = table.ok_or_else(|| Unsupported::new("a table that is not one of so many entries"))?;
        Ok(Looker { job, table, how })
    }

    /// The number of bytes of an entry in an output row.
    fn bytes(&self) -> usize {
        1 + usize::from(self.job.table.is_some())
    }

    fn begin<'p, F: Host + 'p>(&'p self, session: Session, count: usize) -> StartedParty<'p> {
        let mut engine = engine::<F>(session, &self.how, SpdzProtocol::Lookup, &StockPlan::default())?;
        // one-time work is done once for all batches
        engine.announce(self.table.index(), count);
        Ok(Box::new(Member { of: self, engine, openings: 0, bucket: None }))
    }
}

impl Prepared for Looker<'_> {
    fn parties(&self) -> usize {
        self.how.parties
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 spdz lookup table v1");
        hasher.update(&[self.table.index() as u8, self.table.width() as u8]);
        (0..self.job.entries).for_each(|at| _ = hasher.update(&self.table.entry(at).to_le_bytes()));
        let parameters = PublicParameters::new("spdz lookups")
            .with("table", hasher.finalize().as_bytes())
            .with("count", &(count as u64).to_le_bytes());
        self.how.describe(parameters)
    }

    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        BenchSchedule::of_batches(BATCH, self.job.count, warmup)
    }

    /// Party 1 has all indices.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        given_to(0, self.how.parties, inputs.bytes())
    }

    fn collect(&self, _: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        alike(outputs)
    }

    fn start<'p>(&'p self, session: Session, count: usize, _: &Own) -> StartedParty<'p> {
        by_field!(self.how.field, F => self.begin::<F>(session, count))
    }

    fn facts(&self) -> Map<String, Value> {
        members(
            json!({ "protocol": "lookup", "entries": self.job.entries, "entry_bits": self.table.width() }),
        )
    }
}

/// One party.
struct Member<'p, F: Host> {
    of: &'p Looker<'p>,
    engine: Spdz<F>,
    openings: u64,
    bucket: Option<usize>,
}

impl<F: Host> EngineParty for Member<'_, F> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let (of, e) = (self.of, &mut self.engine);
        let index = of.table.index();
        let x = phase(e, watch, SETUP, |e| {
            let owner = PartyId::P1;
            let mine = e.session().me() == owner;
            if own.len() != if mine { 4 * count } else { 0 } {
                return Err(e.session().misuse(INPUT, Misuse::CountsDiffer));
            }
            let places = own.as_chunks::<4>().0.iter().map(|row| u32::from_le_bytes(*row));
            let mask = of.job.entries - 1;
            let places =
                Zeroizing::new(places.map(|place| (place as usize & mask) as u16).collect::<Vec<_>>());
            e.input_values(owner, mine.then_some(&places[..]), index, count)
        })?;
        phase(e, watch, PREPROCESSING_PHASE, |e| e.preprocess_values(index, count))?;
        let before = e.session().meter().read().openings;
        let y = phase(e, watch, ONLINE, |e| e.look_up_value(&of.table, &x))?;
        self.openings += e.session().meter().read().openings - before;
        let y = phase(e, watch, VERIFICATION_PHASE, |e| e.settled(y))?;
        watch.meet(OUTPUTS)?;
        e.session().phase(OUTPUTS);
        let opened = e.output_values(&y)?;
        self.bucket = e.bucket();
        let bytes = of.bytes();
        Ok(Own::new(opened.iter().flat_map(|entry| entry.to_le_bytes().into_iter().take(bytes)).collect()))
    }

    fn meter(&mut self) -> Counts {
        self.engine.session().meter().read()
    }

    fn facts(&self) -> Map<String, Value> {
        members(json!({ "openings": self.openings, "bucket": self.bucket }))
    }
}
