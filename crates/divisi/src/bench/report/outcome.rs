//! The measurements of a report: machine and date, the runs, the latencies with their bounds, and all of them
//! as JSON.

use super::matrix::{MatrixPlan, RunGroup};
use super::papers;
use crate::bench::{BenchReport, Phase, calibration_json};
use crate::calibrate::Calibration;
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};
use std::time::Duration;

/// The machine that ran the measurements.
#[derive(Clone, Debug)]
pub struct MeasuredOn {
    /// The processor's name.
    pub processor: String,
    /// The number of threads that run at the same time.
    pub cores: usize,
    /// Memory in bytes, if the system tells.
    pub memory_bytes: Option<u64>,
    /// The system and its version.
    pub system: String,
}

impl MeasuredOn {
    /// This machine, as far as the system tells.
    #[must_use]
    pub fn here() -> Self {
        let file = |path| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.map(|line| line.trim_start_matches([' ', '\t', ':']).trim().to_owned())
        };
        let kib =
            field(&file("/proc/meminfo"), "MemTotal").and_then(|kib| kib.split(' ').next()?.parse().ok());
        let release = file("/proc/sys/kernel/osrelease");
        MeasuredOn {
            processor: field(&file("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_bytes: kib.map(|kib: u64| kib.saturating_mul(1024)),
            system: format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned(),
        }
    }
}

/// One run and its result.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// Its purpose.
    pub group: RunGroup,
    /// Its result.
    pub report: BenchReport,
}

impl MeasuredRun {
    /// The figures of a phase.
    #[must_use]
    pub fn phase(&self, name: &str) -> Phase {
        self.report.measured.phase(name)
    }

    /// The protocol of the run.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.report.options.choice.protocol()
    }

    fn to_json(&self) -> Value {
        let mut json = self.report.to_json();
        json["group"] = json!(self.group.name());
        json["latency_seconds"] = json!(self.report.latency_seconds());
        json["cpu_us_per_block_and_party"] = json!(self.report.cpu_us_per_block());
        json
    }
}

/// One point of the latency figure.
#[derive(Clone, Debug)]
pub struct Point<'o> {
    /// The run.
    pub measured: &'o MeasuredRun,
    /// The emulated round-trip time, in milliseconds.
    pub rtt_ms: f64,
    /// The longest chain of dependent messages, verification included.
    pub rounds: u32,
    /// The time over loopback, in seconds.
    pub loopback_seconds: f64,
}

impl Point<'_> {
    /// The bound: 1.1 x rounds x RTT/2, plus the time over loopback.
    #[must_use]
    pub fn bound_seconds(&self) -> f64 {
        1.1 * f64::from(self.rounds) * self.rtt_ms / 2e3 + self.loopback_seconds
    }

    /// The measured time in seconds, verification included.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.measured.report.latency_seconds()
    }

    fn to_json(&self) -> Value {
        let options = &self.measured.report.options;
        json!({
            "mode": options.choice.mode_name(),
            "protocol": options.choice.protocol().name(),
            "security": options.security.name(),
            "rtt_ms": self.rtt_ms,
            "reps": options.reps,
            "rounds": self.rounds,
            "seconds": self.seconds(),
            "loopback_seconds": self.loopback_seconds,
            "bound_seconds": self.bound_seconds(),
            "within_bound": self.seconds() <= self.bound_seconds(),
        })
    }
}

/// All measurements of a report.
#[derive(Clone, Debug)]
pub struct MatrixOutcome {
    /// The plan.
    pub plan: MatrixPlan,
    /// When the first run began, since 1970.
    pub unix_time: Duration,
    /// How long all runs took.
    pub seconds: f64,
    /// The machine.
    pub host: MeasuredOn,
    /// The calibration before the first run.
    pub before: Calibration,
    /// The calibration after the last run.
    pub after: Calibration,
    /// The runs, in order.
    pub measured: Vec<MeasuredRun>,
}

impl MatrixOutcome {
    /// The runs of a group.
    pub fn of(&self, group: RunGroup) -> impl Iterator<Item = &MeasuredRun> {
        self.measured.iter().filter(move |measured| measured.group == group)
    }

    /// The run of encryption by this protocol.
    #[must_use]
    pub fn throughput(&self, protocol: Protocol, security: Security) -> Option<&MeasuredRun> {
        self.of(RunGroup::Throughput)
            .find(|m| m.protocol() == protocol && m.report.options.security == security)
    }

    /// The points of the latency figure: for each round-trip time one of each mode.
    #[must_use]
    pub fn points(&self) -> Vec<Point<'_>> {
        self.of(RunGroup::RoundTrip).filter_map(|measured| self.point(measured)).collect()
    }

    fn point<'o>(&'o self, measured: &'o MeasuredRun) -> Option<Point<'o>> {
        let security = measured.report.options.security;
        let near = self
            .of(RunGroup::OneBlock)
            .find(|m| m.protocol() == measured.protocol() && m.report.options.security == security)?;
        Some(Point {
            measured,
            rtt_ms: measured.report.options.rtt_ms?,
            rounds: measured.phase("online").rounds + measured.phase("verification").rounds,
            loopback_seconds: near.report.latency_seconds(),
        })
    }

    /// When the first run began, in the format of RFC 3339.
    #[must_use]
    pub fn date(&self) -> String {
        date(self.unix_time)
    }

    /// The field kernel that was used.
    #[must_use]
    pub fn kernel(&self) -> &str {
        self.measured.first().map_or("", |measured| &measured.report.measured.kernel)
    }

    /// The report as one object. Fields: `schema`, `engine`, `version`, `date`, `seconds`, `machine`
    /// {`processor`, `cores`, `memory_bytes`, `system`}, `kernel`, `calibration` and `calibration_after` as
    /// `bench calibrate` prints them, `quick`, `figure`, `count`; `runs`, each as `bench aes` prints it, with
    /// `group`, `latency_seconds` and `cpu_us_per_block_and_party` added; `latency`, the points of that
    /// figure; `papers`, the papers' figures with their machines.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "schema": 1,
            "engine": "rep3",
            "version": env!("CARGO_PKG_VERSION"),
            "date": self.date(),
            "seconds": self.seconds,
            "machine": {
                "processor": self.host.processor,
                "cores": self.host.cores,
                "memory_bytes": self.host.memory_bytes,
                "system": self.host.system,
            },
            "kernel": self.kernel(),
            "calibration": calibration_json(&self.before),
            "calibration_after": calibration_json(&self.after),
            "quick": self.plan.quick,
            "figure": self.plan.latency_only.then_some("latency"),
            "count": self.plan.blocks(),
            "runs": self.measured.iter().map(MeasuredRun::to_json).collect::<Vec<_>>(),
            "latency": self.points().iter().map(Point::to_json).collect::<Vec<_>>(),
            "papers": papers::to_json(),
        })
    }
}

/// Date and time in UTC, as RFC 3339 writes them. The date is found by counting days in years that begin with
/// March, in which a leap day is the last day.
fn date(unix_time: Duration) -> String {
    let (days, rest) = (unix_time.as_secs() / 86_400, unix_time.as_secs() % 86_400);
    let since = days + 719_468; // days from 0000-03-01 to 1970-01-01
    let (era, day) = (since / 146_097, since % 146_097); // 400 years have as many days
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // from March
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = 400 * era + year + next;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn the_machine_has_a_name_and_a_core() {
        let here = MeasuredOn::here();
        assert!(!here.processor.is_empty() && here.cores > 0 && !here.system.is_empty());
    }
}
