//! What a run of an engine took and cost: as its parties tell it, and put together.

use super::EngineSettings;
use crate::calibrate::Calibration;
use crate::local::cpu_seconds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Instant;

/// How long something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// Wall time.
    pub seconds: f64,
    /// User and system time of the process.
    pub cpu_seconds: f64,
}

impl Took {
    /// One after the other.
    pub fn add(&mut self, other: Took) {
        self.seconds += other.seconds;
        self.cpu_seconds += other.cpu_seconds;
    }

    /// The larger of each: a phase runs to the last party's end.
    #[must_use]
    pub fn max(self, other: Took) -> Took {
        Took {
            seconds: self.seconds.max(other.seconds),
            cpu_seconds: self.cpu_seconds.max(other.cpu_seconds),
        }
    }
}

/// A moment: wall time and the process's user and system time.
#[derive(Clone, Copy)]
pub struct Moment {
    wall: Instant,
    cpu: f64,
}

impl Moment {
    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        Moment { wall: Instant::now(), cpu: cpu_seconds() }
    }

    /// From one to the other.
    #[must_use]
    pub fn until(self, end: Moment) -> Took {
        let seconds = end.wall.saturating_duration_since(self.wall).as_secs_f64();
        Took { seconds, cpu_seconds: end.cpu - self.cpu }
    }
}

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
    /// The longest chain of dependent messages.
    pub rounds: u32,
}

/// What was measured, for the engine to say what of it matters.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How the engine computed.
    pub settings: EngineSettings,
    /// What is computed, as JSON has it: `algorithm`, `circuit`, `key_bits` and the like.
    pub about: Map<String, Value>,
    /// How many instances.
    pub count: u64,
    /// What an instance is called.
    pub unit: &'static str,
    /// What the engine says of the job ([`super::Prepared::facts`]), and party 1 in the end
    /// ([`super::EngineParty::facts`]).
    pub facts: Map<String, Value>,
    /// How many parties.
    pub parties: usize,
    /// How many repetitions counted.
    pub reps: usize,
    /// How long the parties took to connect.
    pub connect_seconds: f64,
    /// By name, in order: medians over the repetitions, the slowest party, and the one that sends most.
    pub phases: Vec<(&'static str, Phase)>,
    /// What each repetition took, phase by phase.
    pub repetitions: Vec<Vec<Took>>,
    /// What each party handed to TLS, phase by phase.
    pub bytes_by_party: Vec<Vec<u64>>,
    /// The largest memory that a party ever had, if the system tells.
    pub peak_rss_bytes: Option<u64>,
    /// The error of the worst verification, in bits.
    pub verification_error_bits: Option<f64>,
    /// What the targets of a hash's keys left of 128 bits, at least.
    pub computational_bits: Option<f64>,
    /// How often each check was executed, in one repetition by one party.
    pub checks: BTreeMap<String, u64>,
    /// The kernel that computed.
    pub kernel: String,
    /// What the machine allowed just before.
    pub calibration: Calibration,
}

impl Measured {
    /// The seconds of some phases.
    #[must_use]
    pub fn seconds(&self, phases: &[&str]) -> f64 {
        self.phases.iter().filter(|(name, _)| phases.contains(name)).map(|(_, phase)| phase.seconds).sum()
    }

    /// A phase by its name; nothing was done in one that is not there.
    #[must_use]
    pub fn phase(&self, name: &str) -> Phase {
        self.phases.iter().find(|(n, _)| *n == name).map(|(_, phase)| *phase).unwrap_or_default()
    }

    /// A fact that is a number.
    #[must_use]
    pub fn number(&self, fact: &str) -> u64 {
        self.facts.get(fact).and_then(Value::as_u64).unwrap_or(0)
    }

    /// The largest memory of a party, for people.
    #[must_use]
    pub fn memory(&self) -> String {
        self.peak_rss_bytes
            .map_or("unknown".into(), |bytes| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20)))
    }

    /// What each phase has as JSON: an object of its name, seconds, bits, bytes and rounds.
    #[must_use]
    pub fn phases_json(&self) -> Vec<Value> {
        let phase = |(name, p): &(&str, Phase)| {
            serde_json::json!({
                "name": name,
                "seconds": p.seconds,
                "cpu_seconds_per_party": p.cpu_seconds,
                "bits_sent_per_party": p.bits,
                "bytes_sent_per_party": p.bytes,
                "rounds": p.rounds,
            })
        };
        self.phases.iter().map(phase).collect()
    }
}

/// What is printed for people: some text, a table whose first column is left-aligned, some text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What stands above.
    pub above: String,
    /// The heads of the columns.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// What stands below.
    pub below: String,
}
