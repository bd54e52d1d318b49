//! The measurements of a report: machine and date, the runs, the latencies beside what is expected, and all
//! of them as JSON and CSV.

use super::figures::{self, spread_json};
use super::machine::{Meanwhile, MeasuredOn};
use super::matrix::{MatrixPlan, Run, RunGroup};
use super::papers;
use super::rounds::Rounds;
use crate::bench::{BenchReport, Phase, Spread, calibration_json};
use crate::calibrate::Calibration;
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};
use std::time::Duration;

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

    /// A title of a few words, which tells it from all other runs of the report.
    fn title(&self) -> String {
        let run = Run { group: self.group, options: self.report.options.clone() };
        format!("{}: {}", self.group.name(), run.title())
    }

    fn to_json(&self) -> Value {
        let mut json = self.report.to_json();
        json["group"] = json!(self.group.name());
        json["spread"] = spread_json(&figures::of(&self.report));
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
    /// The time that is expected at most: 1.1 x rounds x RTT/2, plus the time over loopback.
    #[must_use]
    pub fn expected_seconds(&self) -> f64 {
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
            "spread": self.measured.report.latency_spread().map(Spread::to_json),
            "loopback_seconds": self.loopback_seconds,
            "bound_seconds": self.expected_seconds(),
            "within_bound": self.seconds() <= self.expected_seconds(),
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
    /// The commit that the program was built from, or "unknown".
    pub commit: String,
    /// The machine.
    pub host: MeasuredOn,
    /// What it did beside the measurements.
    pub meanwhile: Meanwhile,
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

    /// The rounds of the runs of encryption, or, in a report without them, of one block.
    pub(super) fn rounds(&self) -> Vec<Rounds> {
        let of = |group| self.of(group).map(|run| Rounds::of(&run.report)).collect::<Vec<_>>();
        let throughput = of(RunGroup::Throughput);
        if throughput.is_empty() { of(RunGroup::OneBlock) } else { throughput }
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

    /// The figures that follow from times, as CSV; [`mod@super`] has its columns.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let runs = self.measured.iter();
        figures::csv(runs.map(|run| (run.title(), figures::of(&run.report), &run.report)))
    }

    /// The report as one object. Fields: `schema`, `engine`, `version`, `commit`, `date`, `seconds`,
    /// `machine` {`processor`, `cores`, `memory_bytes`, `system`}, `load`, `others_share` and `disturbed`
    /// (what the machine did meanwhile), `kernel`, `calibration` and `calibration_after` as `bench calibrate`
    /// prints them, `quick`, `figure`, `count`; `runs`, each as `bench aes` prints it, with `group`,
    /// `latency_seconds`, `cpu_us_per_block_and_party` and `spread` (for each figure that follows from times
    /// the `least` and `greatest` of the repetitions) added; `latency`, the points of that figure; `rounds`
    /// beside those of the papers; `papers`, the papers' figures with their machines.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut json = json!({
            "schema": 1,
            "engine": "rep3",
            "version": env!("CARGO_PKG_VERSION"),
            "commit": self.commit,
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
            "rounds": self.rounds().iter().map(Rounds::to_json).collect::<Vec<_>>(),
            "papers": papers::to_json(),
        });
        self.meanwhile.add_to(&mut json);
        json
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
}
