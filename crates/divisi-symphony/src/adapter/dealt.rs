//! Jobs of a client: blocks of AES, messages of a hash or MAC, evaluations of a circuit, in as many strands
//! as threads run at the same time.
//!
//! Adversary: that of [`divisi_rep3`]. The client that deals is trusted with its own inputs and outputs, and
//! with nothing else.

use super::choice::Choice;
use super::options::is_on_demand;
use super::strands::{Columns, INPUT, ONLINE, Ready, SETUP, Task, What, segment};
use super::{CHUNKS, OUTPUTS, aes_alone, facts, statistical};
use divisi_core::{Abort, Counts, Direction, PhaseCounts, PublicParameters, Session, settle};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::job::{Between, Job, Own};
use divisi_engine::{
    BenchSchedule, Differ, EngineParty, EngineSettings, Moment, Prepared, Rows, Unsupported, Watch, timed,
};
use divisi_net::{Machine, Permits, World};
use divisi_rep3::checks;
use divisi_rep3::deal::{self, Part};
use divisi_rep3::open::Answer;
use divisi_rep3::{Agreement, Passes, Rep3, Rounds, Trio};
use divisi_symmetric::batch::block::BlockKey;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The number of blocks of AES whose inputs and outputs a party holds at once.
const BATCH: usize = 1 << 18;
/// The largest number of bytes of calls that a strand of a party garbles ahead: enough for ten hashes of a
/// short message. A call that takes more, because it has many lanes, is not garbled ahead, so that a batch
/// takes no more memory than one of its groups of lanes.
const GARBLED_BYTES: usize = 1 << 23;
/// The largest number of bytes of messages that a party holds at once.
const BATCH_BYTES: usize = 1 << 25;

/// Instances whose inputs a client deals.
pub(super) struct Dealt {
    job: Job,
    task: Task,
    settings: EngineSettings,
}

impl Dealt {
    /// # Errors
    /// [`Unsupported`] if the engine cannot do the job.
    pub fn new(job: Job, settings: &EngineSettings) -> Result<Self, Unsupported> {
        let what = match &job {
            Job::Blocks(job) => {
                let size = job.cipher.aes().ok_or_else(aes_alone)?;
                What::Aes { rounds: size.rounds(), direction: job.direction }
            }
            Job::Digests(job) => What::Function(job.using.clone()),
            Job::Circuit(job) => match (&*job.circuit, &job.between) {
                (HeldCircuit::Program(_), Between::Client) => What::Circuit(Arc::clone(&job.circuit)),
                _ => return Err(Unsupported::new("a circuit whose inputs are not dealt by a client")),
            },
            Job::Texts(_)
            | Job::Messages(_)
            | Job::Chain(_)
            | Job::Large(_)
            | Job::Lookups(_)
            | Job::Own(_) => {
                return Err(Unsupported::new("a job whose instances have keys of their own"));
            }
        };
        let (protocol, rounds) = (Choice::of(settings).protocol(), super::rounds(settings));
        let garbled = if rounds == Rounds::Constant { super::GARBLED } else { usize::MAX };
        let bits = statistical(settings).unwrap_or(0);
        let task = Task {
            what,
            input_bytes: job.input_bytes(0),
            protocol,
            security: settings.security,
            rounds,
            on_demand: is_on_demand(settings),
            chunk: super::chunk(&job, protocol).min(garbled),
            statistical: bits,
            passes: Passes::for_bits(bits).ok_or_else(|| Unsupported::new(super::TOO_MANY_BITS))?,
            threads: settings.threads,
        };
        Ok(Dealt { job, task, settings: settings.clone() })
    }

    /// The number of strands that a party runs: one for each thread, and no more than there are chunks. More
    /// strands would hide waiting, but compete for the cache, which costs more.
    fn strands(&self, count: usize) -> usize {
        self.task.threads.min(count.div_ceil(self.task.chunk)).max(1)
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

    /// The range of lanes of each chunk of a batch.
    fn chunks(&self, count: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        let chunk = self.task.chunk;
        (0..count).step_by(chunk).map(move |first| first..count.min(first + chunk))
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
            (What::Aes { direction, .. }, Job::Blocks(job)) => {
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
            .with("strands", &(self.strands(count) as u64).to_le_bytes())
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
        let all: Own = Own::new(self.chunks(inputs.count()).flat_map(columns).collect());
        split(&all)
    }

    /// The outputs of each chunk: each party gives one of the three components, and the digest of another
    /// one, which is compared with that component.
    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
        let wrong = || Differ { party: None, what: "a party gave outputs of a wrong form" };
        let width = self.job.output_bytes(0);
        let mut rest: Vec<&[u8]> = outputs.iter().map(|output| output.as_slice()).collect();
        let mut rows = Vec::with_capacity(count * width);
        for (number, lanes) in self.chunks(count).enumerate() {
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

    fn start<'p>(
        &'p self,
        session: Session,
        count: usize,
        own: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort> {
        let others = (1..self.strands(count)).map(|_| session.strand()).collect::<Result<Vec<_>, _>>()?;
        let permits = session.permits();
        let engine = |session| {
            let mut trio = Trio::new(session)?;
            trio.set_passes(self.task.passes);
            let mut rep = Rep3::new(trio, self.task.protocol, self.task.security);
            rep.use_rounds(self.task.rounds);
            if self.task.rounds == Rounds::Constant && !self.task.on_demand {
                rep.stock_calls(GARBLED_BYTES);
            }
            Ok::<_, Abort>(rep)
        };
        let mut engines =
            std::iter::once(session).chain(others).map(engine).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = engines.first_mut() else {
            return Err(Abort::Misuse { step: INPUT, what: "no strands" });
        };
        let ready = schedule(first, &self.task, &parted(own))?;
        // From here on the meter counts one repetition at a time; the counts of the setup are added to each.
        let of_setup = as_setup(first.trio().session().meter().read());
        first.trio().session().meter().reset();
        Ok(Box::new(Holder { dealt: self, engines, ready, of_setup, permits }))
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
    of_setup: Counts,
    permits: Permits,
}

impl EngineParty for Holder<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let dealt = self.dealt;
        let chunks = timed(watch, SETUP, || agree(&mut self.engines, &parted(own), count, dealt))?;
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
        let Some(first) = self.engines.first_mut() else { return Counts::default() };
        let meter = first.trio().session().meter();
        let counts = with_setup(&self.of_setup, meter.read());
        meter.reset();
        counts
    }
}

/// Make, inside the computation, what is made once for a key, and verify it: a key schedule, states of pads,
/// powers of a hash key.
fn schedule(rep: &mut Rep3, task: &Task, key: &Part) -> Result<Ready, Abort> {
    let public = blake3::hash(b"a key of a benchmark");
    let agreed = rep.trio().agree_input(checks::A24, public.as_bytes(), Some(key))?; // [A24]
    same(rep, agreed)?;
    let mut bytes = Vec::with_capacity(key.first.len());
    for (first, second) in key.first.iter().zip(&key.second) {
        bytes.push(rep.trio().input(&Part { first: vec![*first], second: vec![*second] })?);
    }
    Ok(match &task.what {
        What::Aes { .. } if task.rounds == Rounds::Constant => {
            // the program of a block computes the key schedule itself
            let pending = rep.close_linear(BlockKey::new(bytes)?)?;
            Ready::Block(settle(rep, pending)?)
        }
        What::Aes { .. } => {
            let round_keys = crate::cipher::expand(rep, &bytes)?;
            let pending = rep.close(round_keys);
            Ready::Aes(settle(rep, pending)?)
        }
        What::Function(using) => Ready::Function(crate::tags::prepare(rep, using, &bytes)?),
        What::Circuit(_) => Ready::Circuit,
    })
}

/// Compare the inputs of a batch with the other parties, and cut them into chunks.
fn agree(engines: &mut [Rep3], inputs: &Part, count: usize, dealt: &Dealt) -> Result<Vec<Columns>, Abort> {
    let width = dealt.task.input_bytes;
    let Some(engine) = engines.first_mut() else { return Ok(Vec::new()) };
    if inputs.first.len() != width * count || inputs.second.len() != width * count {
        let what = "inputs of another length than declared";
        return Err(engine.trio().session().misuse(INPUT, what));
    }
    engine.trio().session().phase(SETUP); // also of a later batch, and of a later repetition
    let public = blake3::hash(&(count as u64).to_le_bytes());
    let agreed = engine.trio().agree_input(checks::A24, public.as_bytes(), Some(inputs))?; // [A24]
    same(engine, agreed)?;
    if dealt.task.rounds == Rounds::Constant {
        // settle the inputs: a call that begins with inputs that are not settled takes one more message
        engine.trio().barrier()?;
    }
    let chunk = |lanes: std::ops::Range<usize>| {
        let column = |j: usize| {
            let side = |side: &[u8]| {
                let start = width * lanes.start + j * lanes.len();
                side.get(start..start + lanes.len()).unwrap_or_default().to_vec()
            };
            Part { first: side(&inputs.first), second: side(&inputs.second) }
        };
        Columns { columns: (0..width).map(column).collect(), lanes: lanes.len(), first: lanes.start as u64 }
    };
    Ok(dealt.chunks(count).map(chunk).collect())
}

/// Check that the client dealt the same to all parties. The client of a benchmark is trusted, so a difference
/// is a misuse.
fn same(rep: &mut Rep3, agreement: Agreement) -> Result<(), Abort> {
    match agreement {
        Agreement::Agreed => Ok(()),
        _ => Err(rep.trio().session().misuse(INPUT, "the parties were not dealt the same inputs")),
    }
}

/// The counts before the first batch, all as *setup*: also those of preprocessing for the key schedule, whose
/// time is counted as *setup* too.
pub(super) fn as_setup(counts: Counts) -> Counts {
    let mut setup = PhaseCounts::default();
    for phase in counts.phases.values() {
        add(&mut setup, phase);
    }
    Counts { phases: [(SETUP, setup)].into(), ..counts }
}

fn add(sum: &mut PhaseCounts, phase: &PhaseCounts) {
    sum.bits += phase.bits;
    sum.bytes += phase.bytes;
    sum.rounds += phase.rounds;
}

/// The counts of a repetition, together with those of the setup of its session.
pub(super) fn with_setup(setup: &Counts, repetition: Counts) -> Counts {
    let mut all = setup.clone();
    for (name, phase) in &repetition.phases {
        add(all.phases.entry(name).or_default(), phase);
    }
    for (check, n) in &repetition.checks {
        *all.checks.entry(*check).or_default() += n;
    }
    let least = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).reduce(f64::min);
    all.verification_error_bits = least(all.verification_error_bits, repetition.verification_error_bits);
    all.computational_bits = least(all.computational_bits, repetition.computational_bits);
    all.openings += repetition.openings;
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_engine::job::{BlocksJob, Cipher};
    use divisi_symmetric::aes::KeySize;

    fn blocks(count: usize) -> Job {
        Job::Blocks(BlocksJob { cipher: Cipher::Aes(KeySize::Aes128), direction: Direction::Encrypt, count })
    }

    #[test]
    fn strands_are_as_many_as_there_are_chunks_for() {
        let job = blocks(100_000);
        let strands = |threads, count| {
            let settings = EngineSettings { threads, ..EngineSettings::default() };
            Dealt::new(job.clone(), &settings).unwrap().strands(count)
        };
        assert_eq!((strands(1, 100_000), strands(2, 100_000), strands(8, 1)), (1, 2, 1));
    }

    #[test]
    fn what_is_dealt_comes_together_again() {
        let job = blocks(3);
        let dealt = Dealt::new(job, &EngineSettings::default()).unwrap();
        let mut rows = Rows::default();
        (0..3u8).for_each(|i| rows.push(&[&[i; 15], &[7]]));
        let owns = dealt.deal(&rows);
        assert_eq!(owns.iter().map(|own| own.len()).collect::<Vec<_>>(), [96; 3]);
        let columns = parted(&owns[0])
            .first
            .iter()
            .zip(&parted(&owns[0]).second)
            .zip(&parted(&owns[1]).second)
            .map(|((a, b), c)| a ^ b ^ c)
            .collect::<Vec<u8>>();
        assert_eq!((&columns[..3], &columns[45..]), (&[0, 1, 2][..], &[7, 7, 7][..]));
        // outputs of no form
        assert!(dealt.collect(3, vec![Own::default(); 3]).is_err());
        assert!(dealt.collect(3, vec![Own::new(vec![0; 80]); 2]).is_err());
    }
}
