//! A job that an engine has prepared, and one party of it.

use super::{Differ, Own, Rows, Unsupported, Watch};
use divisi_core::{Abort, Counts, PublicParameters, Session};
use serde_json::{Map, Value};

/// A job that an engine has prepared, or why it cannot do it.
pub type PreparedJob<'j> = Result<Box<dyn Prepared + 'j>, Unsupported>;

/// One party that has started, or the abort that ended its session.
pub type StartedParty<'p> = Result<Box<dyn EngineParty + 'p>, Abort>;

/// How a benchmark runs a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchSchedule {
    /// The number of instances in a batch.
    pub batch: usize,
    /// The number of warm-up repetitions, and the number of instances in each.
    pub warmup: (usize, usize),
    /// Whether all repetitions use one session, whose set-up is made once and counted in each.
    pub one_session: bool,
}

impl BenchSchedule {
    /// All instances in one batch, in a session of its own for each repetition.
    #[must_use]
    pub fn together(count: usize, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch: count, warmup: (warmup, count), one_session: false }
    }

    /// Batches of this size, in a session of its own for each repetition, and one batch to warm up.
    #[must_use]
    pub fn of_batches(batch: usize, count: usize, warmup: usize) -> BenchSchedule {
        BenchSchedule { batch, warmup: (warmup.min(1), count.min(batch)), one_session: false }
    }
}

/// A job that an engine can do, with everything public about it. The same at all parties.
pub trait Prepared: Sync {
    /// The number of parties.
    fn parties(&self) -> usize;

    /// The parameters that the parties compare at the start of a session for `count` instances \[M0.4\].
    fn parameters(&self, count: usize) -> PublicParameters;

    /// What separately started parties compare before the session ([`super::start`]), so that the error names
    /// the difference: phrases that follow "party 2 runs", each with a digest. Empty if the session's own
    /// comparison is enough.
    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        Vec::new()
    }

    /// How a benchmark runs the job, with `warmup` warm-up runs.
    fn bench_schedule(&self, warmup: usize) -> BenchSchedule;

    /// The inputs of each party to the set-up, from the key in the clear. The set-up has inputs of its own,
    /// because it is done once and the batches after it use the same key.
    fn deal_key(&self, key: &[u8]) -> Vec<Own> {
        let _ = key;
        vec![Own::default(); self.parties()]
    }

    /// The inputs of each party to a batch, from the rows of all its instances: shares from a dealer, or the
    /// party's own values.
    fn deal(&self, inputs: &Rows) -> Vec<Own>;

    /// The concatenated rows of outputs, from the outputs of each party.
    ///
    /// # Errors
    /// [`Differ`] if the outputs of the parties contradict each other.
    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ>;

    /// Start one party of the job, given its input to the set-up: everything before the first batch, for
    /// repetitions of `count` instances.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn start<'p>(&'p self, session: Session, count: usize, own: &Own) -> StartedParty<'p>;

    /// The JSON members of the job on this engine.
    fn facts(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// One party of a job, on a session.
pub trait EngineParty {
    /// Run a batch of `count` instances, given this party's input; returns this party's outputs.
    ///
    /// `own` is this party's element of [`Prepared::deal`], and nothing of another party's: shares that a
    /// client dealt, or the party's own values, in a form that only the engine knows. There are two points at
    /// which a party brings something, the set-up ([`Prepared::start`]) and the batch, and no more: an engine
    /// whose phases need inputs one after the other holds them until their phase.
    ///
    /// The engine announces phases to `watch` inside of the batch, and no caller runs them one by one: only
    /// the engine knows their number and order. A streamed circuit alternates between two phases, a batch
    /// that does not fit the memory goes through all of them several times, and strands are in different
    /// phases at the same time. A phase begins with [`Watch::meet`], where a benchmark waits for all parties,
    /// and ends with [`Watch::took`]; [`super::timed`] does both.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort>;

    /// The counts of the session's meter.
    fn meter(&mut self) -> Counts;

    /// The counts of the last repetition of a benchmark, the session's set-up included; resets the counts for
    /// the next one.
    fn counts(&mut self) -> Counts {
        self.meter()
    }

    /// The JSON members about the run.
    fn facts(&self) -> Map<String, Value> {
        Map::new()
    }
}
