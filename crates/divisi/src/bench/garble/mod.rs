//! Benchmarks of authenticated garbling: a circuit of random inputs, phase by phase, every output checked.
//!
//! What each figure means: the parties are separate processes, connected by TLS once, before the clock. Each repetition is a session of
//! its own, with four phases; before each of them all parties wait for each other, which is not timed, and its seconds are the
//! slowest party's. Instances beyond what fits the memory ([`divisi_garble::Options::wave`]) go in waves: the three phases after the set-up
//! come again for each wave, each time behind a barrier; seconds and bytes are sums over the waves, rounds those of the longest wave. In the
//! streamed mode the phases alternate batch by batch: what follows the set-up is one phase, behind one barrier. Input values belong to the parties in turn, and party 1 learns the outputs; the i-th instance is evaluated by
//! party i mod n. Figures are medians over the repetitions; bytes are those handed to TLS, of each party and of the one that
//! sends most; a round is a step that depends on a message.

mod coordinate;
mod party;

pub use coordinate::run;
pub use party::run as run_party;

use super::{Phase, calibration_json};
use crate::calibrate::Calibration;
use crate::circuit::Held;
use crate::failure::Failure;
use crate::garbling::{Garbling, Told, base_name};
use crate::local::seat::Seat;
use divisi_garble::{DEPENDENT_PHASE, INDEPENDENT_PHASE, ONLINE_PHASE, Plan, SETUP_PHASE};
use divisi_net::PartyId;
use divisi_symmetric::gates::Adder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The name by which a process learns that it is a party of such a benchmark.
pub const ROLE: &str = "bench-garble";
/// The most instances of a run.
pub const MOST: u64 = 1 << 20;

/// The phases, in order.
const PHASES: [&str; 4] = [SETUP_PHASE, INDEPENDENT_PHASE, DEPENDENT_PHASE, ONLINE_PHASE];
/// What follows the set-up in the streamed mode, as the clock sees it.
const STREAMED: &str = "streamed";

/// The parts of a session that are timed, and the phases of its meter that each of them has.
fn clocks(streamed: bool) -> Vec<(&'static str, &'static [&'static str])> {
    if streamed {
        return vec![(SETUP_PHASE, &PHASES[..1]), (STREAMED, &PHASES[1..])];
    }
    PHASES.iter().map(|name| (*name, std::slice::from_ref(name))).collect()
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of a circuit, or of its file.
    pub circuit: String,
    /// How its words are added, if it is one of this program's own.
    pub adder: Adder,
    /// How it is garbled, and by how many.
    pub garbling: Garbling,
    /// How many instances at once.
    pub count: u64,
    /// How many times.
    pub reps: usize,
    /// How many times before the first that counts.
    pub warmup: usize,
    /// Emulated round-trip time, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// Emulated bandwidth, in 10^6 bits a second.
    pub rate_mbit: Option<f64>,
    /// The time limit of a receive.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            circuit: "aes128".into(),
            adder: Adder::FewestAnds,
            garbling: Garbling::default(),
            count: 1,
            reps: 5,
            warmup: 1,
            rtt_ms: None,
            rate_mbit: None,
            timeout: Duration::from_secs(10),
        }
    }
}

impl Options {
    /// That they make sense.
    ///
    /// # Errors
    /// What to correct.
    pub fn check(&self) -> Result<(), Failure> {
        let usage = |error: String| Err(Failure::usage(error));
        match self {
            Options { count: 0, .. } => usage("--count is 0: give at least 1".into()),
            Options { count, .. } if *count > MOST => {
                usage(format!("--count is more than {MOST}: give less"))
            }
            Options { reps: 0, .. } => usage("--reps is 0: give at least 1".into()),
            Options { reps, .. } if *reps > 1_000_000 => {
                usage("--reps is more than 1000000: give less".into())
            }
            _ => self.garbling.check(),
        }
    }
}

/// The circuit for its parties: input values belong to them in turn, and party 1 learns the outputs.
fn plan<'c>(circuit: &'c Held, garbling: &Garbling, count: u64) -> Result<Plan<'c>, Failure> {
    let values = circuit.inputs().len();
    let parties: Vec<PartyId> = PartyId::all(garbling.parties).collect();
    let owners: Vec<PartyId> = parties.into_iter().cycle().take(values).collect();
    let receivers: Vec<PartyId> = PartyId::all(1).collect();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    // what one wave keeps of tables has to fit the budget
    let plan = garbling.plan_of(circuit, &owners, &receivers, 1)?;
    let wave = garbling.options.wave(&plan, garbling.config.rho, count);
    garbling.plan_of(circuit, &owners, &receivers, wave)
}

/// The waves of a run: how many instances each has. The streamed mode takes all together.
fn waves(plan: &Plan<'_>, garbling: &Garbling, count: usize) -> Vec<usize> {
    if garbling.streamed {
        return vec![count];
    }
    let most = garbling.options.wave(plan, garbling.config.rho, count).max(1);
    (0..count).step_by(most).map(|first| most.min(count - first)).collect()
}

/// What a party learns first.
#[derive(Serialize, Deserialize)]
struct Orders {
    seat: Seat,
    circuit: String,
    low_depth: bool,
    digest: [u8; 32],
    garbling: Told,
    count: u64,
    rtt_ms: Option<f64>,
    rate_mbit: Option<f64>,
    timeout_ms: u64,
}

/// What a party is told to do.
#[derive(Serialize, Deserialize)]
enum Order {
    /// Begin a session of that number: a frame follows, our input bits of each instance, one to a byte.
    Begin(u32),
    /// All stand at the barrier: do the next phase, with the clock running.
    Go,
    /// The clock stands: a frame of what we learned, then what it cost.
    Outputs,
}

/// How the ANDs of a run are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Triples that come out.
    pub triples: usize,
    /// The size of their buckets.
    pub bucket: usize,
}

/// What a benchmark measured.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub options: Options,
    /// ANDs of the circuit.
    pub and_gates: usize,
    /// How long the parties took to connect.
    pub connect_seconds: f64,
    /// How often the phases after the set-up were gone through.
    pub waves: usize,
    /// By name, in order.
    pub phases: Vec<(&'static str, Phase)>,
    /// What each party handed to TLS, phase by phase.
    pub bytes_by_party: Vec<Vec<u64>>,
    /// How the ANDs were made.
    pub batches: Vec<Batch>,
    /// The largest memory that a party ever had, if the system tells.
    pub peak_rss_bytes: Option<u64>,
    /// The error of the worst batch, in bits.
    pub verification_error_bits: Option<f64>,
    /// What the targets of the hash's keys left of 128 bits, at least.
    pub computational_bits: Option<f64>,
    /// How often each check was executed, in one repetition by one party.
    pub checks: BTreeMap<String, u64>,
    /// The kernel that computed.
    pub kernel: String,
    /// What the machine allowed just before.
    pub calibration: Calibration,
}

impl Report {
    /// All four phases.
    #[must_use]
    pub fn total_seconds(&self) -> f64 {
        self.phases.iter().map(|(_, phase)| phase.seconds).sum()
    }

    /// User and system time of a party, all four phases.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        self.phases.iter().map(|(_, phase)| phase.cpu_seconds).sum()
    }

    /// What each party handed to TLS in all four phases.
    #[must_use]
    pub fn total_bytes_by_party(&self) -> Vec<u64> {
        self.bytes_by_party.iter().map(|phases| phases.iter().sum()).collect()
    }

    /// What the party that sends most handed to TLS in all four phases.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes_by_party().into_iter().max().unwrap_or(0)
    }

    /// A figure for each AND of all instances; nothing for a circuit without.
    #[must_use]
    pub fn per_and(&self, figure: f64) -> Option<f64> {
        let ands = self.and_gates as f64 * self.options.count as f64;
        (ands > 0.0).then(|| figure / ands)
    }

    /// The size of the largest buckets; nothing for a circuit without ANDs.
    #[must_use]
    pub fn bucket(&self) -> Option<usize> {
        self.batches.iter().map(|batch| batch.bucket).max()
    }

    /// The object that `--json` prints.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let o = &self.options;
        let config = &o.garbling.config;
        let phase = |(i, (name, p)): (usize, &(&str, Phase))| {
            let by_party: Vec<u64> = self.bytes_by_party.iter().filter_map(|b| b.get(i).copied()).collect();
            json!({
                "name": name,
                "seconds": p.seconds,
                "cpu_seconds_per_party": p.cpu_seconds,
                "bits_sent_per_party": p.bits,
                "bytes_sent_per_party": p.bytes,
                "bytes_sent_by_party": by_party,
                "bytes_per_and": self.per_and(p.bytes as f64),
                "rounds": p.rounds,
            })
        };
        let batch = |batch: &Batch| json!({ "triples": batch.triples, "bucket": batch.bucket });
        json!({
            "schema": 1,
            "engine": "garble",
            "circuit": o.circuit,
            "security": "malicious",
            "parties": o.garbling.parties,
            "form": o.garbling.options.form.name(),
            "k": config.k,
            "base_ot": base_name(config.base),
            "statistical_bits": config.rho,
            "streamed": o.garbling.streamed,
            "waves": self.waves,
            "bucket": self.bucket(),
            "batches": self.batches.iter().map(batch).collect::<Vec<_>>(),
            "and_gates": self.and_gates,
            "count": o.count,
            "unit": "evaluation",
            "threads": 1,
            "reps": o.reps,
            "warmup": o.warmup,
            "rtt_ms": o.rtt_ms,
            "rate_mbit": o.rate_mbit,
            "connect_seconds": self.connect_seconds,
            "phases": self.phases.iter().enumerate().map(phase).collect::<Vec<_>>(),
            "total_seconds": self.total_seconds(),
            "cpu_seconds_per_party": self.cpu_seconds(),
            "bytes_sent_per_party": self.total_bytes(),
            "bytes_sent_by_party": self.total_bytes_by_party(),
            "bytes_per_and": self.per_and(self.total_bytes() as f64),
            "cpu_us_per_and": self.per_and(self.cpu_seconds() * 1e6),
            "peak_rss_bytes_per_party": self.peak_rss_bytes,
            "verification_error_bits": self.verification_error_bits,
            "computational_bits": self.computational_bits,
            "checks": self.checks,
            "kernel": self.kernel,
            "calibration": calibration_json(&self.calibration),
            "checked": true,
        })
    }
}
