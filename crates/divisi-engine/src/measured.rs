//! The times and costs of a run, as its parties report them and combined.

use super::{Clock, EngineSettings, PhaseKind};

use crate::usage::cpu_seconds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The speed of the machine on which something was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// AES-128-CTR on one core, in 10^9 bytes a second.
    pub aes_ctr_gb_s: f64,
    /// TCP over loopback, in 10^9 bits a second.
    pub loopback_gbit_s: f64,
    /// One product in GF(2^64), in nanoseconds.
    pub clmul_ns: f64,
}

impl Calibration {
    /// The figures, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        format!(
            "this machine: AES-CTR {:.1} GB/s, loopback {:.1} Gbit/s, product in GF(2^64) {:.2} ns",
            self.aes_ctr_gb_s, self.loopback_gbit_s, self.clmul_ns
        )
    }
}

/// A duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// Wall-clock time, in seconds.
    pub seconds: f64,
    /// User and system time of the process, in seconds.
    pub cpu_seconds: f64,
}

impl Took {
    /// Add the duration of a later part.
    pub fn add(&mut self, other: Took) {
        self.seconds += other.seconds;
        self.cpu_seconds += other.cpu_seconds;
    }

    /// Take wall-clock time out of this duration, as the duration of another phase.
    pub fn split(&mut self, other: Duration) -> Took {
        let seconds = other.as_secs_f64().min(self.seconds);
        self.seconds -= seconds;
        Took { seconds, cpu_seconds: 0.0 }
    }

    /// The larger wall-clock time and the larger CPU time: a phase lasts until its last party has finished.
    #[must_use]
    pub fn max(self, other: Took) -> Took {
        Took {
            seconds: self.seconds.max(other.seconds),
            cpu_seconds: self.cpu_seconds.max(other.cpu_seconds),
        }
    }
}

/// A moment: wall-clock time, and the process's user and system time.
#[derive(Clone, Copy)]
pub struct Moment {
    wall: Instant,
    cpu: f64,
}

impl Moment {
    /// The present moment.
    #[must_use]
    pub fn now() -> Self {
        Moment { wall: Instant::now(), cpu: cpu_seconds() }
    }

    /// The duration from this moment to `end`.
    #[must_use]
    pub fn until(self, end: Moment) -> Took {
        let seconds = end.wall.saturating_duration_since(self.wall).as_secs_f64();
        Took { seconds, cpu_seconds: end.cpu - self.cpu }
    }
}

/// The costs of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phase {
    /// Wall-clock time, in seconds.
    pub seconds: f64,
    /// User and system time of a party, in seconds.
    pub cpu_seconds: f64,
    /// Payload that a party sent, in bits.
    pub bits: u64,
    /// Bytes that a party handed to TLS.
    pub bytes: u64,
    /// The longest chain of dependent messages, over all batches and chunks that follow each other.
    pub rounds: u32,
}

/// The measurements of a benchmark, from which the engine makes its report.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The engine's settings.
    pub settings: EngineSettings,
    /// The description of the job for JSON: `algorithm`, `circuit`, `key_bits` and the like.
    pub about: Map<String, Value>,
    /// The number of instances.
    pub count: u64,
    /// The unit of an instance.
    pub unit: &'static str,
    /// The engine's facts about the job ([`super::Prepared::facts`]), and those of party 1 at the end
    /// ([`super::EngineParty::facts`]).
    pub facts: Map<String, Value>,
    /// The number of parties.
    pub parties: usize,
    /// The number of measured repetitions.
    pub reps: usize,
    /// The time that the parties took to connect, in seconds.
    pub connect_seconds: f64,
    /// The phases as the engine declares them, each with the rates in which it counts.
    pub clocks: &'static [Clock],
    /// The same phases by name, in order. Each figure is the median over the repetitions; times are those of
    /// the slowest party, bytes those of the party that sends most.
    pub phases: Vec<(&'static str, Phase)>,
    /// The times of each repetition, phase by phase.
    pub repetitions: Vec<Vec<Took>>,
    /// The bytes that each party handed to TLS, phase by phase.
    pub bytes_by_party: Vec<Vec<u64>>,
    /// The largest memory of any party in bytes, if the system tells.
    pub peak_rss_bytes: Option<u64>,
    /// The error of the worst verification, as minus its binary logarithm; `None` if nothing was verified.
    pub verification_error_bits: Option<f64>,
    /// The computational security in bits that remains for labels of 128 bits, for the hash key with the most
    /// targets; `None` if nothing was hashed.
    pub computational_bits: Option<f64>,
    /// How many times each check was executed, in one repetition by one party.
    pub checks: BTreeMap<String, u64>,
    /// The field kernel that was used.
    pub kernel: String,
    /// The calibration of the machine just before the benchmark.
    pub calibration: Calibration,
}

impl Measured {
    /// The seconds of some phases together.
    #[must_use]
    pub fn seconds(&self, phases: &[&str]) -> f64 {
        self.phases.iter().filter(|(name, _)| phases.contains(name)).map(|(_, phase)| phase.seconds).sum()
    }

    /// The seconds of the phases that count as online.
    #[must_use]
    pub fn online_seconds(&self) -> f64 {
        self.counted(|kind| kind == PhaseKind::Online)
    }

    /// The seconds of the phases that count in the total.
    #[must_use]
    pub fn total_seconds(&self) -> f64 {
        self.counted(|kind| kind != PhaseKind::Apart)
    }

    fn counted(&self, counts: impl Fn(PhaseKind) -> bool) -> f64 {
        let phases = self.clocks.iter().zip(&self.phases).filter(|(clock, _)| counts(clock.kind));
        phases.map(|(_, (_, phase))| phase.seconds).sum()
    }

    /// A phase by its name; zeros if there is none of that name.
    #[must_use]
    pub fn phase(&self, name: &str) -> Phase {
        self.phases.iter().find(|(n, _)| *n == name).map(|(_, phase)| *phase).unwrap_or_default()
    }

    /// A fact; null if there is none of that name.
    #[must_use]
    pub fn fact(&self, name: &str) -> Value {
        self.facts.get(name).cloned().unwrap_or_default()
    }

    /// A fact that is text; empty if there is none of that name.
    #[must_use]
    pub fn text(&self, fact: &str) -> &str {
        self.facts.get(fact).and_then(Value::as_str).unwrap_or_default()
    }

    /// JSON members from the facts, null where there is none.
    pub fn members_of_facts<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> impl Iterator<Item = (String, Value)> {
        names.into_iter().map(|name| (name.to_owned(), self.fact(name)))
    }

    /// JSON members from the description of the job, null where there is none.
    pub fn members_of_job<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> impl Iterator<Item = (String, Value)> {
        names.into_iter().map(|name| (name.to_owned(), self.about.get(name).cloned().unwrap_or_default()))
    }

    /// The description of the job in a member that is text, if it has it.
    #[must_use]
    pub fn about_text(&self, name: &str) -> Option<&str> {
        self.about.get(name).and_then(Value::as_str)
    }

    /// Instances a second: preprocessing not counted, and set-up not counted.
    #[must_use]
    pub fn rates(&self) -> [f64; 2] {
        [self.online_seconds(), self.total_seconds()].map(|seconds| self.count as f64 / seconds)
    }

    /// The kernel, the connection and the machine's speed, as a page of results ends.
    #[must_use]
    pub fn machine(&self) -> String {
        let calibration = self.calibration.summary();
        format!("kernel {}; connected in {:.3} s\n{calibration}", self.kernel, self.connect_seconds)
    }

    /// The table of the phases with these columns.
    #[must_use]
    pub fn table(&self, columns: &[Column]) -> Page {
        let row = |(name, phase): &(&'static str, Phase)| {
            std::iter::once((*name).to_owned()).chain(columns.iter().map(|(_, of)| of(phase))).collect()
        };
        let head = std::iter::once("phase").chain(columns.iter().map(|(name, _)| *name));
        Page {
            head: head.map(str::to_owned).collect(),
            rows: self.phases.iter().map(row).collect(),
            ..Page::default()
        }
    }

    /// The bytes that each party handed to TLS in all phases.
    #[must_use]
    pub fn all_bytes_by_party(&self) -> Vec<u64> {
        self.bytes_by_party.iter().map(|phases| phases.iter().sum()).collect()
    }

    /// Seconds, CPU time and bytes of all phases together. The bytes are those of the party that sends most.
    #[must_use]
    pub fn all_phases(&self) -> Phase {
        Phase {
            seconds: self.phases.iter().map(|(_, phase)| phase.seconds).sum(),
            cpu_seconds: self.phases.iter().map(|(_, phase)| phase.cpu_seconds).sum(),
            bytes: self.all_bytes_by_party().into_iter().max().unwrap_or(0),
            ..Phase::default()
        }
    }

    /// A fact that is a number; 0 if there is none of that name.
    #[must_use]
    pub fn number(&self, fact: &str) -> u64 {
        self.facts.get(fact).and_then(Value::as_u64).unwrap_or(0)
    }

    /// The largest memory of a party, as text.
    #[must_use]
    pub fn memory(&self) -> String {
        self.peak_rss_bytes
            .map_or("unknown".into(), |bytes| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20)))
    }

    /// The phases as JSON: for each its name, seconds, bits, bytes and rounds.
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

/// A column of a table of phases: its heading, and what it says of a phase.
pub type Column = (&'static str, fn(&Phase) -> String);

/// The columns of tables of phases.
pub mod columns {
    use super::Column;

    /// Milliseconds.
    pub const MS: Column = ("ms", |phase| format!("{:.2}", phase.seconds * 1e3));
    /// User and system time of a party, in milliseconds.
    pub const CPU_MS: Column = ("CPU ms", |phase| format!("{:.2}", phase.cpu_seconds * 1e3));
    /// Payload of a party.
    pub const BITS: Column = ("bits", |phase| phase.bits.to_string());
    /// What a party handed to TLS.
    pub const BYTES: Column = ("bytes", |phase| phase.bytes.to_string());
    /// The longest chain of messages.
    pub const ROUNDS: Column = ("rounds", |phase| phase.rounds.to_string());
}

/// The text for people: some lines, a table whose first column is left-aligned, some lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The lines above the table.
    pub above: String,
    /// The headings of the columns.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The lines below the table.
    pub below: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Measured {
        let phase = |seconds, cpu_seconds, bytes| Phase { seconds, cpu_seconds, bits: 7, bytes, rounds: 3 };
        Measured {
            settings: EngineSettings::default(),
            about: Map::new(),
            count: 12,
            unit: "block",
            facts: Map::new(),
            parties: 3,
            reps: 1,
            connect_seconds: 0.0,
            clocks: &[],
            // in one phase the first party sends most, in the other one the last
            phases: vec![("one", phase(1.0, 0.25, 100)), ("two", phase(2.0, 0.5, 5000))],
            repetitions: Vec::new(),
            bytes_by_party: vec![vec![100, 1], vec![90, 4990], vec![5, 5000]],
            peak_rss_bytes: None,
            verification_error_bits: None,
            computational_bits: None,
            checks: BTreeMap::new(),
            kernel: String::new(),
            calibration: Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 },
        }
    }

    /// Of all phases together the bytes are those of the one party that sends most.
    #[test]
    fn bytes_are_those_of_the_party_that_sends_most() {
        let measured = measured();
        assert_eq!(measured.all_bytes_by_party(), [101, 5080, 5005]);
        let all = measured.all_phases();
        assert_eq!((all.bytes, all.seconds, all.cpu_seconds), (5080, 3.0, 0.75));
        assert_eq!((measured.seconds(&["two"]), measured.seconds(&["one", "two"])), (2.0, 3.0));
        assert_eq!((measured.phase("two").bytes, measured.phase("three").bytes), (5000, 0));
    }

    /// A phase lasts until its last party has finished it.
    #[test]
    fn the_slowest_party_counts() {
        let took = |seconds, cpu_seconds| Took { seconds, cpu_seconds };
        assert_eq!(took(1.0, 4.0).max(took(3.0, 2.0)), took(3.0, 4.0));
        let mut whole = took(3.0, 2.0);
        let part = whole.split(Duration::from_secs(1));
        assert_eq!((whole, part), (took(2.0, 2.0), took(1.0, 0.0)));
        let rest = whole.split(Duration::from_secs(9));
        assert_eq!((whole, rest), (took(0.0, 2.0), took(2.0, 0.0)));
        whole.add(took(0.5, 0.25));
        assert_eq!(whole, took(0.5, 2.25));
    }
}
