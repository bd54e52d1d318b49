//! Benchmarks: a protocol between processes on this machine, over TLS, measured phase by phase, every output checked.
//!
//! What each figure means: the parties are separate processes; this process makes their inputs, and checks every output after
//! the clock of its chunk has stopped, and is counted nowhere. A barrier opens each phase, and its seconds run to the last
//! party's end; figures are medians over the repetitions, and per-party figures the maximum over the parties. Connections are made
//! once, and everything is warmed up first. Repetitions of at most one chunk are requests to one session, whose setup is made once and
//! counted in each; longer ones have a session each. What a lookup protocol makes ahead, its verification included, is *preprocessing*;
//! it is made chunk by chunk before each goes through the cipher, so that memory does not grow with the number of blocks.

mod coordinate;
pub mod garble;
mod measure;
mod message;
pub(crate) mod ordinary;
mod party;
pub mod report;
pub mod servers;
mod work;

pub use coordinate::run;
pub use party::run as run_party;
pub use work::Work;

use crate::calibrate::{AES_BY, Calibration};
use crate::failure::Failure;
use crate::mode::Choice;
use divisi_core::Direction;
use divisi_net::PartyId;
use divisi_rep3::{Passes, Security};
use divisi_symmetric::aes::KeySize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The name by which a process learns that it is a party of a benchmark.
pub const ROLE: &str = "bench";
/// The parties of the engine.
pub(crate) const PARTIES: usize = 3;
/// How long the parties may take to connect.
pub const CONNECT: Duration = Duration::from_secs(5);
/// How much longer for each of many, who share few processors.
const CONNECT_EACH: Duration = Duration::from_millis(100);
/// Blocks of AES whose inputs and outputs a party holds at once.
pub(crate) const SEGMENT: usize = 1 << 18;

/// No longer messages are measured.
pub const LONGEST: usize = 1 << 20;

/// The bits that a verification reaches at least when nothing else is asked for: what one pass gives for any batch.
pub const STATISTICAL: u32 = 57;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// What computes.
    pub work: Work,
    /// How S-boxes are computed, or what matters most.
    pub choice: Choice,
    /// Against whom.
    pub security: Security,
    /// The key's size.
    pub key: KeySize,
    /// Which way.
    pub direction: Direction,
    /// How many blocks, or messages.
    pub blocks: u64,
    /// How many threads of a party run at once.
    pub threads: usize,
    /// How many times.
    pub reps: usize,
    /// How many chunks before the first time.
    pub warmup: usize,
    /// Emulated round-trip time, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// Emulated bandwidth, in 10^6 bits a second.
    pub rate_mbit: Option<f64>,
    /// A lie may pass a verification with probability at most 2 to the minus so many; [`STATISTICAL`] if nothing is said.
    pub statistical: Option<u32>,
    /// The time limit of a receive.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            work: Work::Aes,
            choice: Choice::default(),
            security: Security::Malicious,
            key: KeySize::Aes128,
            direction: Direction::Encrypt,
            blocks: 100_000,
            threads: 1,
            reps: 5,
            warmup: 4,
            rtt_ms: None,
            rate_mbit: None,
            statistical: None,
            timeout: Duration::from_secs(10),
        }
    }
}

impl Options {
    /// The bits that verifications have to reach; none where nothing is verified.
    #[must_use]
    pub fn statistical_bits(&self) -> Option<u32> {
        (self.security == Security::Malicious).then_some(self.statistical.unwrap_or(STATISTICAL))
    }

    /// Whether all repetitions are requests to one session: those of at most one chunk are, so that many of them do not pay for
    /// as many key schedules.
    fn one_session(&self) -> bool {
        self.blocks <= self.chunk() as u64
    }

    /// That they make sense.
    ///
    /// # Errors
    /// What to correct.
    pub fn check(&self) -> Result<(), Failure> {
        let wrong = |what: &str| Err(Failure::usage(format!("{what}: give at least 1")));
        match self {
            Options { blocks: 0, work: Work::Aes, .. } => wrong("--blocks is 0"),
            Options { blocks: 0, .. } => wrong("--count is 0"),
            Options { work: Work::Function { message_bytes, .. }, .. } if *message_bytes > LONGEST => {
                Err(Failure::usage(format!("--message-bytes is more than {LONGEST}: give less")))
            }
            Options { threads: 0, .. } => wrong("--threads is 0"),
            Options { reps: 0, .. } => wrong("--reps is 0"),
            Options { reps, .. } if *reps > 1_000_000 => {
                Err(Failure::usage("--reps is more than 1000000: give less"))
            }
            Options { threads, .. } if *threads > 1024 => {
                Err(Failure::usage("--threads is more than 1024: give less"))
            }
            Options { statistical: Some(0), .. } => wrong("--statistical is 0"),
            Options { statistical: Some(bits), .. } if Passes::for_bits(*bits).is_none() => {
                Err(Failure::usage(format!(
                    "--statistical is {bits}, and two passes over GF(2^64) reach 114: give at most that"
                )))
            }
            Options { statistical: Some(_), security: Security::SemiHonest, .. } => Err(Failure::usage(
                "--statistical says how well lies are found, and semi-honest looks for none: leave one of them out",
            )),
            _ => Ok(()),
        }
    }
}

/// The phases of this engine, in order.
pub(crate) const PHASES: [&str; 4] = ["setup", "preprocessing", "online", "verification"];

/// What a phase cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phase {
    /// Wall time.
    pub seconds: f64,
    /// User and system time of a party.
    pub cpu_seconds: f64,
    /// Payload that a party sent.
    pub bits: u64,
    /// Bytes that a party handed to TLS.
    pub bytes: u64,
    /// The longest chain of dependent messages of a chunk.
    pub rounds: u32,
}

/// What a benchmark measured.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub options: Options,
    /// How many chunks a repetition had.
    pub chunks: u64,
    /// How long the parties took to connect.
    pub connect_seconds: f64,
    /// Online and verification of a repetition, from shares of inputs to verified shares of outputs: the median.
    pub latency_seconds: f64,
    /// By name, in order.
    pub phases: [(&'static str, Phase); 4],
    /// The largest memory that a party ever had, if the system tells.
    pub peak_rss_bytes: Option<u64>,
    /// The error of the worst verification, in bits.
    pub verification_error_bits: Option<f64>,
    /// How often each check was executed, in one repetition by one party.
    pub checks: BTreeMap<String, u64>,
    /// The kernel that computed.
    pub kernel: String,
    /// What the machine allowed just before.
    pub calibration: Calibration,
}

impl Report {
    fn seconds(&self, phases: &[&str]) -> f64 {
        self.phases.iter().filter(|(name, _)| phases.contains(name)).map(|(_, phase)| phase.seconds).sum()
    }

    /// Blocks or messages a second, preprocessing not counted.
    #[must_use]
    pub fn online_per_second(&self) -> f64 {
        self.options.blocks as f64 / self.seconds(&["online", "verification"])
    }

    /// Blocks or messages a second, setup not counted.
    #[must_use]
    pub fn total_per_second(&self) -> f64 {
        self.options.blocks as f64 / self.seconds(&["preprocessing", "online", "verification"])
    }

    /// Microseconds of user and system time for a block or message and party, all phases but setup.
    #[must_use]
    pub fn cpu_us_per_block(&self) -> f64 {
        let cpu: f64 =
            self.phases.iter().filter(|(name, _)| *name != "setup").map(|(_, phase)| phase.cpu_seconds).sum();
        cpu * 1e6 / self.options.blocks as f64
    }

    /// The object that `--json` prints.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let o = &self.options;
        let is_aes = o.work == Work::Aes;
        let phase = |(name, p): &(&str, Phase)| {
            json!({
                "name": name,
                "seconds": p.seconds,
                "cpu_seconds_per_party": p.cpu_seconds,
                "bits_sent_per_party": p.bits,
                "bytes_sent_per_party": p.bytes,
                "rounds": p.rounds,
            })
        };
        json!({
            "schema": 1,
            "engine": "rep3",
            "protocol": o.work.has_sboxes().then(|| o.choice.protocol().name()),
            "mode": o.choice.mode_name(),
            "algorithm": if is_aes { Some("aes".into()) } else { o.work.algorithm().map(|algorithm| algorithm.name()) },
            "circuit": match &o.work {
                Work::Circuit { name, .. } => Some(name),
                _ => None,
            },
            "security": o.security.name(),
            "direction": is_aes.then(|| direction_name(o.direction)),
            "key_bits": Some(8 * o.key_bytes()).filter(|bits| *bits > 0),
            "message_bytes": o.work.algorithm().map(|_| o.work.input_bytes()),
            "parties": PARTIES,
            "count": o.blocks,
            "unit": o.work.unit(),
            "threads": o.threads,
            "reps": o.reps,
            "warmup": o.warmup,
            "chunks": self.chunks,
            "rtt_ms": o.rtt_ms,
            "rate_mbit": o.rate_mbit,
            "connect_seconds": self.connect_seconds,
            "phases": self.phases.iter().map(phase).collect::<Vec<_>>(),
            "online_per_second": self.online_per_second(),
            "total_per_second": self.total_per_second(),
            "peak_rss_bytes_per_party": self.peak_rss_bytes,
            "statistical_bits": o.statistical_bits(),
            "verification_error_bits": self.verification_error_bits,
            "checks": self.checks,
            "kernel": self.kernel,
            "calibration": calibration_json(&self.calibration),
            "checked": true,
        })
    }
}

/// The name of a direction on the command line.
#[must_use]
pub fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Encrypt => "encrypt",
        Direction::Decrypt => "decrypt",
    }
}

/// A calibration within a larger object.
#[must_use]
pub fn calibration_json(calibration: &Calibration) -> Value {
    json!({
        "aes_ctr_gb_s": calibration.aes_ctr_gb_s,
        "aes_ctr_by": AES_BY,
        "loopback_gbit_s": calibration.loopback_gbit_s,
        "clmul_ns": calibration.clmul_ns,
    })
}

/// Whom a running benchmark tells which process is which party, before anything is measured: for tests of faults.
pub type OnStart<'a> = &'a dyn Fn(PartyId, u32);

/// The middle of some figures, the mean of the two in the middle for an even number.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let half = figures.len() / 2;
    match (figures.get(half), figures.len() % 2) {
        (Some(middle), 1) => *middle,
        (Some(upper), _) => (figures.get(half.wrapping_sub(1)).copied().unwrap_or(*upper) + upper) / 2.0,
        (None, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_figures() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!((median(vec![7.0]), median(Vec::new())), (7.0, 0.0));
    }

    #[test]
    fn rates_count_the_phases_that_they_name() {
        let phase = |seconds, cpu_seconds| Phase { seconds, cpu_seconds, ..Phase::default() };
        let report = Report {
            options: Options { blocks: 100, ..Options::default() },
            chunks: 1,
            connect_seconds: 0.0,
            latency_seconds: 2.0,
            phases: [
                ("setup", phase(9.0, 9.0)),
                ("preprocessing", phase(2.0, 1.0)),
                ("online", phase(1.0, 2.0)),
                ("verification", phase(1.0, 3.0)),
            ],
            peak_rss_bytes: None,
            verification_error_bits: None,
            checks: BTreeMap::new(),
            kernel: "portable".into(),
            calibration: Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 },
        };
        assert_eq!((report.online_per_second(), report.total_per_second()), (50.0, 25.0));
        assert!((report.cpu_us_per_block() - 60_000.0).abs() < 1e-6);
        let json = report.to_json();
        assert_eq!((json["count"].as_u64(), json["phases"][2]["name"].as_str()), (Some(100), Some("online")));
        assert!(json["mode"].is_null() && json["peak_rss_bytes_per_party"].is_null());
        assert_eq!(json["statistical_bits"], STATISTICAL);
    }
}
