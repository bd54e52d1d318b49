//! Benchmarks: a protocol among processes on this machine, over TLS, measured phase by phase, with every
//! output checked.
//!
//! The meaning of the figures: the parties are separate processes, which connect by TLS before the clock
//! starts. The coordinating process makes their inputs and checks every output after the clock has stopped;
//! it is part of no figure. A barrier, which is not timed, opens each phase, and the phase lasts until its
//! last party has finished. Figures are medians over the repetitions, and figures of a party are the maximum
//! over the parties. Warm-up runs come first. The engine determines the phases, the size of a batch and what
//! one session computes ([`crate::engine::Prepared::bench_schedule`]): rep3 computes in chunks, with the
//! preprocessing of each made just before it, so that memory does not grow with the number of chunks;
//! repetitions of at most one chunk share one session, whose set-up is counted in each of them. garble has a
//! session for each repetition, and splits its phases into waves if the instances exceed the memory.

mod coordinate;
mod expected;
mod inputs;
mod jobs;
pub mod lookups;
mod message;
pub(crate) mod ordinary;
mod party;
pub mod servers;
mod spread;
pub mod table4;

pub use coordinate::run;
pub use party::run as run_party;

use crate::calibrate::{AES_BY, Calibration, other_milliseconds};
use crate::engine::job::{BlocksJob, Cipher, JobSpec};
use crate::engine::{self, Engine, EngineSettings, Measured, Page, PhaseKind};
use crate::failure::Failure;
use crate::mode::Choice;
use divisi_core::Direction;
use divisi_core::Security;
use divisi_net::PartyId;
use divisi_symmetric::aes::KeySize;
use divisi_symphony::adapter::PRIORITY;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

pub use crate::engine::job::direction_name;
pub use crate::party::CONNECT;
pub use engine::Phase;

/// The role of a process that is a party of a benchmark.
pub const ROLE: &str = "bench";

/// The longest message that is measured, in bytes.
pub const LONGEST: usize = 1 << 20;

/// What to measure.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// The name of the engine.
    pub engine: &'static str,
    /// The number of parties, if given.
    pub parties: Option<usize>,
    /// The options of this engine alone ([`EngineSettings::own`]).
    pub own: BTreeMap<String, String>,
    /// What is computed.
    pub job: JobSpec,
    /// The protocol for S-boxes, or the performance mode that chooses it.
    pub choice: Choice,
    /// The adversary.
    pub security: Security,
    /// The number of threads of a party that run at the same time.
    pub threads: usize,
    /// The number of repetitions.
    pub reps: usize,
    /// The number of warm-up chunks.
    pub warmup: usize,
    /// Emulated round-trip time, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// Emulated bandwidth, in 10^6 bits a second.
    pub rate_mbit: Option<f64>,
    /// The statistical security in bits: a lie passes a verification with probability at most 2 to the minus
    /// this; `None` for the engine's default.
    pub statistical: Option<u32>,
    /// How long a receive waits for a message.
    pub timeout: Duration,
}

impl Default for BenchOptions {
    fn default() -> Self {
        BenchOptions {
            engine: engine::by_default().name(),
            parties: None,
            own: BTreeMap::new(),
            job: JobSpec::Blocks(BlocksJob {
                cipher: Cipher::Aes(KeySize::Aes128),
                direction: Direction::Encrypt,
                count: 100_000,
            }),
            choice: Choice::default(),
            security: Security::Malicious,
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

impl BenchOptions {
    /// The engine.
    ///
    /// # Errors
    /// [`Failure`] if there is no engine of that name.
    pub fn engine(&self) -> Result<&'static dyn Engine, Failure> {
        engine::named(self.engine).map_err(Failure::usage)
    }

    /// The settings for the engine.
    #[must_use]
    pub fn settings(&self) -> EngineSettings {
        let mut own = self.own.clone();
        // another engine has no S-boxes to choose, and takes from a mode how words are added
        if self.engine().is_ok_and(|engine| engine::has_option(engine, PRIORITY)) {
            self.choice.put(&mut own);
        }
        EngineSettings {
            parties: self.parties,
            security: self.security,
            statistical: self.statistical,
            threads: self.threads,
            own,
        }
    }

    /// Check that the options make sense.
    ///
    /// # Errors
    /// [`Failure`] with a sentence that says what to correct.
    pub fn check(&self) -> Result<(), Failure> {
        let wrong = |what: &str| Err(Failure::usage(format!("{what}: give at least 1")));
        match (&self.job, self.job.count(), self.reps) {
            (JobSpec::Blocks(_), 0, _) => wrong("--blocks is 0"),
            (_, 0, _) => wrong("--count is 0"),
            (JobSpec::Digests(job), ..) if job.message_bytes > LONGEST => {
                Err(Failure::usage(format!("--message-bytes is more than {LONGEST}: give less")))
            }
            (_, _, 0) => wrong("--reps is 0"),
            (_, _, 1_000_001..) => Err(Failure::usage("--reps is more than 1000000: give less")),
            _ => {
                let engine = self.engine()?;
                engine::check(engine, &self.settings())?;
                // a circuit is prepared when it runs, because that may take long
                if !matches!(self.job, JobSpec::Circuit(_)) {
                    engine::prepare(engine, &self.job, &self.settings())?;
                }
                Ok(())
            }
        }
    }
}

/// The result of a benchmark.
#[derive(Clone, Debug)]
pub struct BenchReport {
    /// The options of the benchmark.
    pub options: BenchOptions,
    /// Times and costs.
    pub measured: Measured,
    /// The engine's own members of the JSON object, beside those of all benchmarks.
    json: Map<String, Value>,
    /// The text for people.
    pub page: Page,
}

impl BenchReport {
    /// Blocks or messages a second, without preprocessing.
    #[must_use]
    pub fn online_per_second(&self) -> f64 {
        self.options.count() as f64 / self.measured.online_seconds()
    }

    /// Blocks or messages a second, without set-up.
    #[must_use]
    pub fn total_per_second(&self) -> f64 {
        self.options.count() as f64 / self.measured.total_seconds()
    }

    /// Microseconds of user and system time for one block or message at one party, in all phases but set-up.
    #[must_use]
    pub fn cpu_us_per_block(&self) -> f64 {
        let phases = self.measured.clocks.iter().zip(&self.measured.phases);
        let counts = phases.filter(|(clock, _)| clock.kind != PhaseKind::Apart);
        let cpu: f64 = counts.map(|(_, (_, phase))| phase.cpu_seconds).sum();
        cpu * 1e6 / self.options.count() as f64
    }

    /// The median over the repetitions of online phase and verification: from shares of inputs to verified
    /// shares of outputs.
    #[must_use]
    pub fn latency_seconds(&self) -> f64 {
        let sum = |took: &Vec<engine::Took>| {
            let phases = self.measured.clocks.iter().zip(took);
            phases.filter(|(clock, _)| clock.kind == PhaseKind::Online).map(|(_, took)| took.seconds).sum()
        };
        median(self.measured.repetitions.iter().map(sum).collect())
    }

    /// The object that `--json` prints.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (o, m) = (&self.options, &self.measured);
        let mut object = json!({
            "schema": 1,
            "engine": o.engine,
            "circuit": m.about.get("circuit"),
            "security": o.security.name(),
            "parties": m.parties,
            "count": m.count,
            "unit": m.unit,
            "threads": o.threads,
            "reps": o.reps,
            "warmup": o.warmup,
            "rtt_ms": o.rtt_ms,
            "rate_mbit": o.rate_mbit,
            "connect_seconds": m.connect_seconds,
            "peak_rss_bytes_per_party": m.peak_rss_bytes,
            "verification_error_bits": m.verification_error_bits,
            "checks": m.checks,
            "kernel": m.kernel,
            "calibration": calibration_json(&m.calibration),
            "latency_seconds": self.latency_seconds(),
            "cpu_us_per_block_and_party": self.cpu_us_per_block(),
            "repetitions": self.by_repetition(),
            "checked": true,
        });
        if let Some(object) = object.as_object_mut() {
            object.extend(self.json.clone());
        }
        object
    }
}

/// A calibration, as a member of a larger object.
#[must_use]
pub fn calibration_json(calibration: &Calibration) -> Value {
    let mut json = json!({
        "aes_ctr_gb_s": calibration.aes_ctr_gb_s,
        "aes_ctr_by": AES_BY,
        "loopback_gbit_s": calibration.loopback_gbit_s,
        "clmul_ns": calibration.clmul_ns,
    });
    // figures that nobody should compare
    if let Some(milliseconds) = other_milliseconds() {
        json["measured_in_ms"] = json!(milliseconds);
    }
    json
}

/// A callback that gets each party and its process id before anything is measured: for tests of faults.
pub type OnStart<'a> = &'a dyn Fn(PartyId, u32);

/// The median of the figures: for an even number the mean of the two in the middle, for none 0.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
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

    fn measured(options: &BenchOptions) -> Measured {
        let phase = |seconds, cpu_seconds| Phase { seconds, cpu_seconds, ..Phase::default() };
        let took = |seconds| engine::Took { seconds, cpu_seconds: 0.0 };
        Measured {
            settings: options.settings(),
            about: options.job.about(),
            count: 100,
            unit: "block",
            facts: Map::new(),
            parties: 3,
            reps: 1,
            connect_seconds: 0.0,
            clocks: options.engine().unwrap().phases(&options.settings()),
            phases: vec![
                ("setup", phase(9.0, 9.0)),
                ("preprocessing", phase(2.0, 1.0)),
                ("online", phase(1.0, 2.0)),
                ("verification", phase(1.0, 3.0)),
            ],
            repetitions: vec![[9.0, 2.0, 1.0, 1.0].map(took).into(), [9.0, 2.0, 2.0, 3.0].map(took).into()],
            bytes_by_party: Vec::new(),
            peak_rss_bytes: None,
            verification_error_bits: None,
            computational_bits: None,
            checks: BTreeMap::new(),
            kernel: "portable".into(),
            calibration: Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 },
        }
    }

    #[test]
    fn rates_count_the_phases_that_they_name() {
        let options = BenchOptions::default().counted(100);
        let measured = measured(&options);
        let engine = options.engine().unwrap();
        let (json, page) = (engine.report(&measured), engine.page(&measured));
        let report = BenchReport { options, measured, json, page };
        assert_eq!((report.online_per_second(), report.total_per_second()), (50.0, 25.0));
        assert_eq!(report.latency_seconds(), 3.5);
        assert!((report.cpu_us_per_block() - 60_000.0).abs() < 1e-6);
        assert!(report.page.below.contains("CPU 60000.00 us"), "{}", report.page.below);
        let json = report.to_json();
        assert_eq!((json["count"].as_u64(), json["phases"][2]["name"].as_str()), (Some(100), Some("online")));
        assert!(json["mode"].is_null() && json["peak_rss_bytes_per_party"].is_null());
        assert_eq!(json["statistical_bits"], divisi_symphony::adapter::STATISTICAL);
        assert_eq!(
            (json["latency_seconds"].as_f64(), json["cpu_us_per_block_and_party"].is_f64()),
            (Some(3.5), true)
        );
        for (figure, of_each) in [
            ("online_per_second", [50.0, 20.0]),
            ("total_per_second", [25.0, 100.0 / 7.0]),
            ("latency_seconds", [2.0, 5.0]),
            ("cpu_us_per_block_and_party", [0.0, 0.0]),
            ("preprocessing_seconds", [2.0, 2.0]),
            ("verification_cpu_seconds_per_party", [0.0, 0.0]),
        ] {
            assert_eq!(json["repetitions"][figure], serde_json::json!(of_each), "{figure}");
        }
        assert_eq!(json["repetitions"].as_object().unwrap().len(), 4 + 2 * 4);
    }

    /// Set-up counts in no rate, preprocessing and the loading of tables only in the total one. Of garbling
    /// every phase counts in the total rate, and only the last one in the online rate.
    #[test]
    fn each_engine_says_which_phases_count() {
        for (name, seconds, online, total) in [
            ("rep3", &[16.0, 8.0, 4.0, 1.0][..], 5.0, 13.0),
            ("mixed", &[16.0, 8.0, 4.0, 0.0], 4.0, 12.0),
            ("spdz", &[16.0, 8.0, 4.0, 2.0, 1.0], 3.0, 15.0),
            ("garble", &[8.0, 4.0, 2.0, 1.0], 1.0, 15.0),
        ] {
            let engine = engine::named(name).unwrap();
            let clocks = engine.phases(&EngineSettings::default());
            let phase = |seconds: &f64| Phase { seconds: *seconds, ..Phase::default() };
            let phases = clocks.iter().map(|clock| clock.name).zip(seconds.iter().map(phase)).collect();
            let measured = Measured { clocks, phases, ..measured(&BenchOptions::default()) };
            assert_eq!((measured.online_seconds(), measured.total_seconds()), (online, total), "{name}");
        }
    }

    #[test]
    fn options_that_make_no_sense_are_refused_in_one_sentence() {
        let good = BenchOptions::default();
        assert!(good.check().is_ok());
        for bad in [
            good.clone().counted(0),
            BenchOptions { threads: 0, ..good.clone() },
            BenchOptions { reps: 0, ..good.clone() },
            BenchOptions { threads: 5000, ..good.clone() },
            BenchOptions { statistical: Some(0), ..good.clone() },
            BenchOptions { statistical: Some(115), ..good.clone() },
            BenchOptions { statistical: Some(57), security: Security::SemiHonest, ..good.clone() },
            BenchOptions { engine: "abacus", ..good.clone() },
            BenchOptions { parties: Some(4), ..good },
        ] {
            assert_eq!(bad.check().unwrap_err().kind.exit_code(), 2);
        }
    }
}
