//! The runs of a reproduction: each is this program with the arguments of the catalogue, and one that fails
//! stops no other.

use super::cell::PlannedRun;
use super::machine::available_mib;
use super::passes;
use super::resume::{KeptRun, RunStore};
use crate::calibrate::VARIABLE;
use crate::cleanup::{Cleanup, lock};
use crate::failure::Failure;
use crate::local::PartyProgram;
use divisi_net::{Machine, World};
use serde_json::Value;
use std::io::{self, Read, Seek};
use std::mem;
use std::ops::Range;
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
    /// Whether it was finished before this reproduction.
    pub resumed: bool,
    /// How many passes were made, and the command of each, if there are two.
    passes: u64,
    half: Option<String>,
}

/// The seconds that runs with this estimate take, at the pace of others beside their estimates.
fn left(seconds: f64, took: f64, expected: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds * took / expected).ok()
}

/// Make all runs that the store does not have, and keep them there: those with repetitions in two passes
/// ([`passes`]). `tell` is called before each.
pub fn run(
    runs: &[PlannedRun],
    store: &RunStore<'_>,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<Vec<RunRecord>, Failure> {
    let mut records: Vec<RunRecord> = runs.iter().map(|run| RunRecord::of(run, store)).collect();
    let passes = |record: &RunRecord| record.left().count();
    let mut of: usize = records.iter().map(passes).sum();
    let mut rest: f64 = records.iter().map(|of| of.each() * passes(of) as f64).sum();
    // as long as little has run, the estimates count: this many seconds of them
    let (mut took, mut expected, mut done) = (10.0, 10.0, 0);
    for pass in 0..2 {
        for record in records.iter_mut().filter(|record| record.left().contains(&pass)) {
            let now = format!("divisi {}", record.run.command);
            tell(&Progress { done, of, now, left: left(rest, took, expected) });
            let (each, before) = (record.each(), passes(record));
            let seconds = record.pass(program, cleanup);
            (took, expected) =
                if record.began { (took + seconds, expected + each) } else { (took, expected) };
            if let Ok(report) = &record.end {
                store.keep(&record.run.command, report, record.seconds, record.passes)?;
            }
            let lost = before.saturating_sub(1 + passes(record));
            (done, of) = (done + 1, of.saturating_sub(lost));
            rest -= each * (1 + lost) as f64;
        }
    }
    Ok(records)
}

impl RunRecord {
    /// The record of a run before this reproduction goes on with it.
    fn of(run: &PlannedRun, store: &RunStore<'_>) -> RunRecord {
        let half = passes::half(&run.command);
        let before = RunRecord {
            run: run.clone(),
            end: Err("it did not run".into()),
            began: false,
            seconds: 0.0,
            resumed: false,
            passes: 0,
            half,
        };
        match store.load(&run.command) {
            None => before,
            Some(KeptRun { report, seconds, passes, .. }) => {
                let known = RunRecord { end: Ok(report), began: true, seconds, passes, ..before };
                RunRecord { resumed: known.left().is_empty(), ..known }
            }
        }
    }

    /// The passes that are left.
    fn left(&self) -> Range<u64> {
        let all = if self.half.is_some() { 2 } else { 1 };
        // after one that failed there is no other
        if self.passes > 0 && self.end.is_err() { all..all } else { self.passes..all }
    }

    /// The estimate of the seconds of a pass.
    fn each(&self) -> f64 {
        if self.half.is_some() { self.run.seconds / 2.0 } else { self.run.seconds }
    }

    /// Make the next pass, which takes the seconds that are returned.
    fn pass(&mut self, program: ReportProgram<'_>, cleanup: &Cleanup) -> f64 {
        let start = Machine.now();
        let lacking = lacking(self.run.memory_mib, available_mib());
        self.began |= lacking.is_none();
        let command = self.half.as_ref().unwrap_or(&self.run.command);
        let end = lacking.map_or_else(|| one(command, program, cleanup), Err);
        self.end = match (end, mem::replace(&mut self.end, Err(String::new()))) {
            (Ok(report), Ok(first)) => passes::join(first, &report),
            (end, _) => end,
        };
        let seconds = start.elapsed().as_secs_f64();
        (self.seconds, self.passes) = (self.seconds + seconds, self.passes + 1);
        seconds
    }
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
