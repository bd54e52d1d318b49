//! The runs of a reproduction: each is this program with the arguments of the catalogue, and one that fails
//! stops no other.

use super::cell::PlannedRun;
use super::machine::available_mib;
use super::resume::RunStore;
use crate::calibrate::VARIABLE;
use crate::cleanup::{Cleanup, lock};
use crate::failure::Failure;
use crate::local::PartyProgram;
use divisi_net::{Machine, World};
use serde_json::Value;
use std::io::{self, Read, Seek};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The program whose processes are measured.
#[derive(Clone, Copy, Debug)]
pub struct ReportProgram<'a> {
    /// The program.
    pub party: &'a PartyProgram,
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

/// A run that is over.
#[derive(Clone, Debug)]
pub struct RunRecord {
    pub run: PlannedRun,
    /// Its report, or why there is none.
    pub end: Result<Value, String>,
    /// Whether it began at all, now or before.
    pub began: bool,
    pub seconds: f64,
    pub resumed: bool,
}

/// The seconds that runs with this estimate take, at the pace of others beside their estimates.
fn left(seconds: f64, took: f64, expected: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds * took / expected).ok()
}

/// Make all runs that the store does not have, and keep them there. `tell` is called before each.
pub fn run(
    runs: &[PlannedRun],
    store: &RunStore<'_>,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<Vec<RunRecord>, Failure> {
    let loaded: Vec<_> = runs.iter().map(|run| (run, store.load(&run.command))).collect();
    let mut done = loaded.iter().filter(|(_, found)| found.is_some()).count();
    let mut rest: f64 = loaded.iter().filter(|(_, found)| found.is_none()).map(|(run, _)| run.seconds).sum();
    // as long as little has run, the estimates count: this many seconds of them
    let (mut took, mut expected) = (10.0, 10.0);
    let mut records = Vec::with_capacity(loaded.len());
    for (run, found) in loaded {
        let run = run.clone();
        if let Some((report, seconds)) = found {
            records.push(RunRecord { run, end: Ok(report), began: true, seconds, resumed: true });
            continue;
        }
        let now = format!("divisi {}", run.command);
        tell(&Progress { done, of: runs.len(), now, left: left(rest, took, expected) });
        let start = Machine.now();
        let lacking = lacking(run.memory_mib, available_mib());
        let began = lacking.is_none();
        let end = lacking.map_or_else(|| one(&run.command, program, cleanup), Err);
        let seconds = start.elapsed().as_secs_f64();
        (took, expected) = if began { (took + seconds, expected + run.seconds) } else { (took, expected) };
        if let Ok(report) = &end {
            store.keep(&run.command, report, seconds)?;
        }
        done += 1;
        rest -= run.seconds;
        records.push(RunRecord { run, end, began, seconds, resumed: false });
    }
    Ok(records)
}

/// Why there is no room for the processes of a run, if there is none.
fn lacking(needed: Option<u64>, available: Option<u64>) -> Option<String> {
    let (needed, available) = needed.zip(available)?;
    (needed > available).then(|| {
        format!("its processes need {needed} MiB of memory, and {available} are free: give this machine more, or take another")
    })
}

/// How much of what a run prints is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// Run the program once.
fn one(command: &str, program: ReportProgram<'_>, cleanup: &Cleanup) -> Result<Value, String> {
    let output = || -> io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
        let mut errors = tempfile::tempfile()?;
        let mut process = program.party.command([]);
        process.args(command.split_whitespace()).arg("--json");
        // a run that needs a time limit of its own keeps it
        if let Some(timeout) = program.timeout.filter(|_| !command.contains("--timeout")) {
            process.arg("--timeout").arg(timeout.as_secs_f64().to_string());
        }
        // this report has a calibration of its own, and needs none of each run
        if std::env::var_os(VARIABLE).is_none() {
            process.env(VARIABLE, "50");
        }
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
        let child = Arc::new(Mutex::new(process.spawn()?));
        let entry = cleanup.process(Arc::clone(&child));
        let stdout = lock(&child).stdout.take();
        let (mut out, mut said) = (Vec::new(), Vec::new());
        if let Some(stdout) = stdout {
            stdout.take(LONGEST).read_to_end(&mut out)?;
        }
        let status = lock(&child).wait()?;
        entry.keep();
        errors.rewind()?;
        errors.take(LONGEST).read_to_end(&mut said)?;
        Ok((status, out, said))
    };
    let (status, out, said) =
        output().map_err(|e| format!("{} cannot be run ({e})", program.party.path().display()))?;
    ended(status, &out, &String::from_utf8_lossy(&said))
}

fn ended(status: ExitStatus, out: &[u8], said: &str) -> Result<Value, String> {
    let report: Option<Value> = serde_json::from_slice(out).ok();
    let error = match report {
        Some(report) if status.success() => return Ok(report),
        // tips of the parser below a sentence are for those who type
        report => report.and_then(|of| Some(of.get("error")?.as_str()?.lines().next()?.to_owned())),
    };
    let last = || said.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
    Err(error.or_else(last).unwrap_or_else(|| format!("the command ended with {status} and said nothing")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_run_ends_with_its_report_or_with_its_sentence() {
        let [well, badly] = [0, 256].map(ExitStatus::from_raw);
        assert_eq!(ended(well, b"{\"count\": 3}", ""), Ok(serde_json::json!({ "count": 3 })));
        let failed = |status, out: &[u8], said| ended(status, out, said).unwrap_err();
        assert_eq!(failed(badly, b"{\"error\": \"no room\\n  tip: more\"}", "divisi: no room\n"), "no room");
        assert_eq!(failed(badly, b"", "a line\nthe last line\n\n"), "the last line");
        assert!(failed(badly, b"", "").contains("exit status: 1"));
        assert!(failed(ExitStatus::from_raw(9), b"{", "").contains("signal: 9"));
    }

    #[test]
    fn what_is_left_follows_the_estimates_and_then_the_pace() {
        assert_eq!(left(10.0, 10.0, 10.0), Some(Duration::from_secs(10)));
        assert_eq!(left(10.0, 30.0, 15.0), Some(Duration::from_secs(20)));
        assert_eq!(left(0.0, 30.0, 15.0), Some(Duration::ZERO));
    }

    #[test]
    fn a_run_that_memory_has_no_room_for_is_not_begun() {
        assert!(lacking(Some(2048), Some(1024)).unwrap().contains("2048 MiB of memory, and 1024 are free"));
        assert_eq!(
            (lacking(None, Some(1)), lacking(Some(1), None), lacking(Some(1), Some(1))),
            (None, None, None)
        );
        assert!(available_mib().unwrap() > 0);
    }
}
