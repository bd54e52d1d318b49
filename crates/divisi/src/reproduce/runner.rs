//! The runs of a reproduction: each is this program with the arguments of the catalogue, and one that fails
//! stops no other.

use super::plan::{PlannedRun, ReproductionPlan};
use super::resume::RunStore;
use crate::calibrate::VARIABLE;
use crate::cleanup::{Cleanup, lock};
use crate::failure::Failure;
use crate::local::PartyProgram;
use divisi_net::{Machine, World};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The program whose processes are measured.
#[derive(Clone, Copy, Debug)]
pub struct ReportProgram<'a> {
    /// The program.
    pub program: &'a PartyProgram,
    /// The commit that it was built from, or "unknown".
    pub commit: &'a str,
    /// How long a receive waits for a message, if it is not the command's usual limit.
    pub timeout: Option<Duration>,
}

/// The progress of a reproduction.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Runs that are done.
    pub done: usize,
    /// All runs.
    pub of: usize,
    /// The current run.
    pub now: String,
    /// An estimate of the time left.
    pub left: Option<Duration>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// With this report.
    Done(Value),
    /// Without one: why.
    Failed(String),
    /// It did not begin: why.
    Skipped(String),
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// What was planned.
    pub run: PlannedRun,
    /// How it ended.
    pub end: RunEnd,
    /// The seconds that it took, when it ran.
    pub seconds: f64,
    /// Whether it ran before.
    pub resumed: bool,
}

impl RunRecord {
    /// The report, if there is one.
    #[must_use]
    pub fn report(&self) -> Option<&Value> {
        match &self.end {
            RunEnd::Done(report) => Some(report),
            RunEnd::Failed(_) | RunEnd::Skipped(_) => None,
        }
    }
}

/// The pace of this machine: the seconds that finished runs took, beside the estimates.
struct Pace {
    took: f64,
    expected: f64,
}

impl Pace {
    /// As long as little has run, the estimates count: this many seconds of them.
    const BEFORE: Pace = Pace { took: 10.0, expected: 10.0 };

    fn left(&self, runs: &[PlannedRun]) -> Option<Duration> {
        let expected: f64 = runs.iter().map(|run| run.seconds).sum();
        Duration::try_from_secs_f64(expected * self.took / self.expected).ok()
    }
}

/// Make all runs that the store does not have, and keep them there. `tell` is called before each.
///
/// # Errors
/// [`Failure`] if a report cannot be kept.
pub fn run(
    plan: &ReproductionPlan,
    store: &RunStore,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<Vec<RunRecord>, Failure> {
    let mut loaded: BTreeMap<&str, RunRecord> = BTreeMap::new();
    let mut rest: Vec<PlannedRun> = Vec::new();
    for run in &plan.runs {
        match store.load(&run.command) {
            Some((report, seconds)) => {
                let record =
                    RunRecord { run: run.clone(), end: RunEnd::Done(report), seconds, resumed: true };
                loaded.insert(&run.command, record);
            }
            None => rest.push(run.clone()),
        }
    }
    let (of, before) = (plan.runs.len(), loaded.len());
    let mut pace = Pace::BEFORE;
    let mut fresh = BTreeMap::new();
    for (number, run) in rest.iter().enumerate() {
        let left = pace.left(rest.get(number..).unwrap_or_default());
        tell(&Progress { done: before + number, of, now: format!("divisi {}", run.command), left });
        let start = Machine.now();
        let end = match lacking(run.memory_mib, available()) {
            Some(why) => RunEnd::Skipped(why),
            None => one(&run.command, program, cleanup),
        };
        let seconds = start.elapsed().as_secs_f64();
        if !matches!(end, RunEnd::Skipped(_)) {
            pace.took += seconds;
            pace.expected += run.seconds;
        }
        if let RunEnd::Done(report) = &end {
            store.keep(&run.command, report, seconds)?;
        }
        fresh.insert(run.command.as_str(), RunRecord { run: run.clone(), end, seconds, resumed: false });
    }
    let record =
        |run: &PlannedRun| loaded.remove(run.command.as_str()).or_else(|| fresh.remove(run.command.as_str()));
    Ok(plan.runs.iter().filter_map(record).collect())
}

/// The free memory of this machine in MiB, if the system tells.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib >> 10)
}

/// Why there is no room for the processes of a run, if there is none.
fn lacking(needed: Option<u64>, available: Option<u64>) -> Option<String> {
    let (needed, available) = needed.zip(available)?;
    (needed > available).then(|| {
        format!("its processes need {needed} MiB of memory, and {available} are free: give this machine more, or take another")
    })
}

/// Run the program once.
fn one(command: &str, program: ReportProgram<'_>, cleanup: &Cleanup) -> RunEnd {
    match output(command, program, cleanup) {
        Ok((status, out, said)) => ended(status, &out, &said),
        Err(e) => RunEnd::Failed(format!("{} cannot be run ({e})", program.program.path().display())),
    }
}

/// The longest report that is read.
const LONGEST: u64 = 64 << 20;
/// How much of what a run says on standard error is read.
const SAID: u64 = 4096;

/// How a run ended, with the beginning of its output and the end of what it said.
fn output(
    command: &str,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
) -> io::Result<(ExitStatus, Vec<u8>, String)> {
    let mut said = tempfile::tempfile()?;
    let mut process = program.program.command([]);
    process.args(command.split_whitespace()).arg("--json");
    if let Some(timeout) = program.timeout {
        process.arg("--timeout").arg(timeout.as_secs_f64().to_string());
    }
    // this report has a calibration of its own, and needs none of each run
    if std::env::var_os(VARIABLE).is_none() {
        process.env(VARIABLE, "50");
    }
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(said.try_clone()?);
    let child = Arc::new(Mutex::new(process.spawn()?));
    let entry = cleanup.process(Arc::clone(&child));
    let stdout = lock(&child).stdout.take();
    let mut out = Vec::new();
    if let Some(stdout) = stdout {
        stdout.take(LONGEST).read_to_end(&mut out)?;
    }
    let status = lock(&child).wait()?;
    entry.keep();
    let end = said.seek(SeekFrom::End(0))?;
    said.seek(SeekFrom::Start(end.saturating_sub(SAID)))?;
    let mut text = Vec::new();
    said.take(SAID).read_to_end(&mut text)?;
    Ok((status, out, String::from_utf8_lossy(&text).into_owned()))
}

fn ended(status: ExitStatus, out: &[u8], said: &str) -> RunEnd {
    let report: Option<Value> = serde_json::from_slice(out).ok();
    if let Some(report) = report.as_ref().filter(|_| status.success()) {
        return RunEnd::Done(report.clone());
    }
    let error = report.as_ref().and_then(|report| report.get("error")).and_then(Value::as_str);
    let last = || said.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
    // tips of the parser below a sentence are for those who type
    let sentence = error.and_then(|error| error.lines().next()).map(str::to_owned);
    let why = sentence.or_else(last);
    RunEnd::Failed(why.unwrap_or_else(|| format!("the command ended with {status} and said nothing")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_run_ends_with_its_report_or_with_its_sentence() {
        let [well, badly] = [0, 256].map(ExitStatus::from_raw);
        assert_eq!(ended(well, b"{\"count\": 3}", ""), RunEnd::Done(serde_json::json!({ "count": 3 })));
        let failed = |status, out: &[u8], said| match ended(status, out, said) {
            RunEnd::Failed(why) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(failed(badly, b"{\"error\": \"no room\\n  tip: more\"}", "divisi: no room\n"), "no room");
        assert_eq!(failed(badly, b"", "a line\nthe last line\n\n"), "the last line");
        assert!(failed(badly, b"", "").contains("exit status: 1"));
        assert!(failed(ExitStatus::from_raw(9), b"{", "").contains("signal: 9"));
    }

    #[test]
    fn what_is_left_follows_the_estimates_and_then_the_pace() {
        let run = |seconds| PlannedRun { command: String::new(), seconds, memory_mib: None };
        let runs = [run(4.0), run(6.0)];
        assert_eq!(Pace::BEFORE.left(&runs), Some(Duration::from_secs(10)));
        let slow = Pace { took: 30.0, expected: 15.0 };
        assert_eq!((slow.left(&runs), slow.left(&[])), (Some(Duration::from_secs(20)), Some(Duration::ZERO)));
    }

    #[test]
    fn a_run_that_memory_has_no_room_for_is_not_begun() {
        assert!(lacking(Some(2048), Some(1024)).unwrap().contains("2048 MiB of memory, and 1024 are free"));
        assert_eq!(
            (lacking(None, Some(1)), lacking(Some(1), None), lacking(Some(1), Some(1))),
            (None, None, None)
        );
        assert!(available().unwrap() > 0);
    }
}
