//! Jobs of a client: blocks of AES, messages of a hash or MAC, evaluations of a circuit, in as many strands
//! as threads run at the same time.
//!
//! Adversary: that of [`divisi_rep3`]. The client that deals is trusted with its own inputs and outputs, and
//! with nothing else.

use super::batch::segment;
use super::options::{choice, is_on_demand};
use super::{CHUNKS, OUTPUTS, aes_alone, facts, statistical};
use crate::strands::{INPUT, ONLINE, Ready, SETUP, Task, What, agree, schedule};
use divisi_core::{Abort, Counts, Direction, Misuse, PublicParameters, Session};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::job::{Between, JobSpec, Own};
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, EngineSettings, Moment, Prepared, Rows, SetupCounts, StartedParty,
    Unsupported, Watch, timed,
};
use divisi_net::{Machine, Permits, World};
use divisi_rep3::deal::{self, Part};
use divisi_rep3::open::Answer;
use divisi_rep3::{Passes, Rep3};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The number of blocks of AES whose inputs and outputs a party holds at once.
const BATCH: usize = 1 << 18;
/// The largest number of bytes of messages that a party holds at once.
const BATCH_BYTES: usize = 1 << 25;

/// Instances whose inputs a client deals.
pub(super) struct Dealt {
    job: JobSpec,
    task: Task,
    settings: EngineSettings,
}

impl Dealt {
    /// # Errors
    /// [`Unsupported`] if the engine cannot do the job.
    pub fn new(job: JobSpec, settings: &EngineSettings) -> Result<Self, Unsupported> {
        let what = match &job {
            JobSpec::Blocks(job) => {
                let size = job.cipher.aes().ok_or_else(aes_alone)?;
                What::Aes { rounds: size.rounds(), direction: job.direction }
            }
            JobSpec::Digests(job) => What::Function(job.using.clone()),
            JobSpec::Circuit(job) => match (&*job.circuit, &job.between) {
                (HeldCircuit::Program(_), Between::Client) => What::Circuit(Arc::clone(&job.circuit)),
                _ => return Err(Unsupported::new("a circuit whose inputs are not dealt by a client")),
            },
            JobSpec::Answers(_) | JobSpec::Lookups(_) | JobSpec::Own(_) => {
                return Err(Unsupported::new("a job whose instances have keys of their own"));
            }
        };
        let (protocol, rounds) = (choice(settings).protocol(), super::rounds(settings));
        let bits = statistical(settings).unwrap_or(0);
        let input_bytes = job.input_bytes(0);
        let task = Task {
            chunk: Task::at_once(&what, input_bytes, protocol, rounds),
            what,
            input_bytes,
            protocol,
            security: settings.security,
            rounds,
            on_demand: is_on_demand(settings),
            statistical: bits,
            passes: Passes::for_bits(bits).ok_or_else(|| Unsupported::new(super::TOO_MANY_BITS))?,
            threads: settings.threads,
        };
        Ok(Dealt { job, task, settings: settings.clone() })
    }

    /// The description of the work, in which all parties must agree.
    fn name(&self) -> Vec<u8> {
        match &self.task.what {
            What::Aes { .. } => b"aes".to_vec(),
            What::Function(using) => format!("{using:?}").into_bytes(),
            What::Circuit(circuit) => circuit.digest().to_vec(),
        }
    }

    fn batch(&self) -> usize {
        if matches!(self.task.what, What::Aes { .. }) {
            return BATCH;
        }
        (BATCH_BYTES / (self.task.input_bytes + 64) / self.task.chunk).max(1) * self.task.chunk
    }
}

/// Two components, one behind the other.
fn joined(part: &Part) -> Own {
    Own::new([&part.first[..], &part.second[..]].concat())
}

fn parted(own: &Own) -> Part {
    let (first, second) = own.split_at(own.len() / 2);
    Part { first: first.to_vec(), second: second.to_vec() }
}

#[expect(clippy::disallowed_methods, reason = "a client deals, before any session")]
fn split(data: &[u8]) -> Vec<Own> {
    deal::split(data, |out| Machine.entropy(out)).iter().map(joined).collect()
}

impl Prepared for Dealt {
    fn parties(&self) -> usize {
        super::PARTIES
    }

    fn parameters(&self, count: usize) -> PublicParameters {
        let task = &self.task;
        let (bits, decrypt) = match (&task.what, &self.job) {
            (What::Aes { direction, .. }, JobSpec::Blocks(job)) => {
                (8 * job.cipher.key_bytes(), *direction == Direction::Decrypt)
            }
            _ => (0, false),
        };
        PublicParameters::new("bench")
            .with("protocol", task.protocol.name().as_bytes())
            .with("security", task.security.name().as_bytes())
            .with("rounds", format!("{:?}", task.rounds).as_bytes())
            .with("work", &self.name())
            .with("message bytes", &(task.input_bytes as u64).to_le_bytes())
            .with("key bits", &(bits as u64).to_le_bytes())
            .with("decrypt", &[u8::from(decrypt)])
            .with("garbled on demand", &[u8::from(task.on_demand)])
            .with("chunk", &(task.chunk as u64).to_le_bytes())
            .with("statistical bits", &task.statistical.to_le_bytes())
            .with("strands", &(task.strands(count) as u64).to_le_bytes())
    }

    /// Repetitions of at most one chunk share one session, so that the key schedule is made once for all of
    /// them. All warm-up runs together are one repetition, with a chunk for each.
    fn bench_schedule(&self, warmup: usize) -> BenchSchedule {
        let count = self.job.count();
        let before = warmup.saturating_mul(self.task.chunk).min(count.max(1));
        BenchSchedule {
            batch: self.batch(),
            warmup: (warmup.min(1), before),
            one_session: count <= self.task.chunk,
        }
    }

    fn deal_key(&self, key: &[u8]) -> Vec<Own> {
        split(key)
    }

    /// The three components of all inputs, two to each party: a column for each byte of an input, chunk by
    /// chunk.
    fn deal(&self, inputs: &Rows) -> Vec<Own> {
        let columns = |lanes| inputs.columns(lanes, self.task.input_bytes);
        let all: Own = Own::new(self.task.chunks(inputs.count()).flat_map(columns).collect());
        split(&all)
    }

    /// The outputs of each chunk: each party gives one of the three components, and the digest of another
    /// one, which is compared with that component.
    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        let wrong = || Differ { party: None, what: "a party gave outputs of a wrong form" };
        let width = self.job.output_bytes(0);
        let mut rest: Vec<&[u8]> = outputs.iter().map(|output| output.as_slice()).collect();
        let mut rows = Vec::with_capacity(count * width);
        for (number, lanes) in self.task.chunks(count).enumerate() {
            let lanes = lanes.len();
            let mut answer = |rest: &mut &[u8]| {
                let (component, after) = rest.split_at_checked(lanes * width)?;
                let (digest, after) = after.split_at_checked(32)?;
                *rest = after;
                Some(Answer { component: component.to_vec(), digest: digest.try_into().ok()? })
            };
            let answers: Option<Vec<Answer>> = rest.iter_mut().map(&mut answer).collect();
            let answers: [Answer; 3] = answers.and_then(|a| a.try_into().ok()).ok_or_else(wrong)?;
            let columns = deal::combine(&(number as u64).to_le_bytes(), &answers)
                .map_err(|disagree| Differ { party: Some(disagree.holder), what: DISAGREE })?;
            rows.extend((0..lanes).flat_map(|lane| columns.iter().skip(lane).step_by(lanes.max(1))));
        }
        Ok(rows)
    }

    fn start<'p>(&'p self, session: Session, count: usize, own: &Own) -> StartedParty<'p> {
        let (task, permits) = (&self.task, session.permits());
        let others = (1..task.strands(count)).map(|_| session.strand()).collect::<Result<Vec<_>, _>>()?;
        let engines = std::iter::once(session).chain(others).map(|session| task.engine(session));
        let mut engines = engines.collect::<Result<Vec<_>, _>>()?;
        let Some(first) = engines.first_mut() else {
            return Err(Abort::Misuse { step: INPUT, what: Misuse::Empty });
        };
        let ready = schedule(first, task, &parted(own))?;
        let setup = SetupCounts::take(first.trio().session().meter(), SETUP);
        Ok(Box::new(Holder { dealt: self, engines, ready, setup, permits }))
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = facts(&self.settings);
        facts.insert(CHUNKS.into(), self.job.count().div_ceil(self.task.chunk).into());
        facts
    }
}

const DISAGREE: &str = "gave other outputs than the other holder of its component";

/// One party, which holds two components of everything.
struct Holder<'p> {
    dealt: &'p Dealt,
    engines: Vec<Rep3>,
    ready: Ready,
    setup: SetupCounts,
    permits: Permits,
}

impl EngineParty for Holder<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let dealt = self.dealt;
        let chunks = timed(watch, SETUP, || agree(&mut self.engines, &dealt.task, &parted(own), count))?;
        watch.meet(ONLINE)?;
        let start = Moment::now();
        let outputs =
            segment(&mut self.engines, &dealt.task, &self.ready, &chunks, start, &self.permits, watch)?;
        watch.meet(OUTPUTS)?;
        let mut given = Own::default();
        for (number, output) in outputs.iter().enumerate() {
            let Some(engine) = self.engines.first_mut() else { break };
            let answer = engine.trio().answer(&(number as u64).to_le_bytes(), output)?;
            given.extend_from_slice(&answer.component);
            given.extend_from_slice(&answer.digest);
        }
        Ok(given)
    }

    fn meter(&mut self) -> Counts {
        self.engines.first_mut().map_or_else(Counts::default, |rep| rep.trio().session().meter().read())
    }

    fn counts(&mut self) -> Counts {
        let first = self.engines.first_mut();
        first.map_or_else(Counts::default, |rep| self.setup.with(rep.trio().session().meter()))
    }
}
