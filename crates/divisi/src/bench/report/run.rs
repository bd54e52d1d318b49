//! Running a report, with an estimate of the time left.

use super::machine::{Counters, MeasuredOn};
use super::matrix::{MatrixPlan, Run};
use super::outcome::{MatrixOutcome, MeasuredRun};
use crate::bench;
use crate::calibrate::calibrate;
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::local::PartyProgram;
use divisi_net::{Machine, World};
use std::time::Duration;

/// The program whose processes are measured.
#[derive(Clone, Copy, Debug)]
pub struct ReportProgram<'a> {
    /// Its file and arguments.
    pub party: &'a PartyProgram,
    /// The commit that it was built from, or "unknown".
    pub commit: &'a str,
}

/// The progress of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Runs that are done.
    pub done: usize,
    /// All runs.
    pub of: usize,
    /// The name of the current run.
    pub now: String,
    /// An estimate of the time left, once a run is done.
    pub left: Option<Duration>,
}

/// The pace of this machine so far: the effort of the runs that are done, and the seconds that they took
/// without waiting for emulated links.
#[derive(Clone, Copy, Default)]
struct Pace {
    effort: f64,
    seconds: f64,
}

impl Pace {
    fn add(&mut self, run: &Run, took: Duration) {
        self.effort += run.effort();
        self.seconds += (took.as_secs_f64() - run.waiting()).max(0.0);
    }

    fn left(self, runs: &[Run]) -> Option<Duration> {
        if self.effort <= 0.0 {
            return None;
        }
        let effort: f64 = runs.iter().map(Run::effort).sum();
        let waiting: f64 = runs.iter().map(Run::waiting).sum();
        Duration::try_from_secs_f64(effort * self.seconds / self.effort + waiting).ok()
    }
}

/// Measure everything in the plan. `tell` is called with the progress before each run.
///
/// # Errors
/// If the plan makes no sense, a run fails, or an output is wrong.
pub(super) fn measure(
    plan: &MatrixPlan,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<MatrixOutcome, Failure> {
    plan.check()?;
    let (began, unix_time) = (Machine.now(), Machine.unix_time());
    let (counters, before) = (Counters::now(), calibrate()?);
    let runs = plan.runs();
    let mut measured = Vec::with_capacity(runs.len());
    let mut pace = Pace::default();
    for (done, run) in runs.iter().enumerate() {
        let left = pace.left(runs.get(done..).unwrap_or_default());
        tell(&Progress { done, of: runs.len(), now: run.title(), left });
        let start = Machine.now();
        let report = bench::run(&run.options, program.party, before, cleanup, &|_, _| {})
            .map_err(|failure| Failure { error: format!("{}: {}", run.title(), failure.error), ..failure })?;
        pace.add(run, start.elapsed());
        measured.push(MeasuredRun { group: run.group, report });
    }
    let after = calibrate()?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(MatrixOutcome {
        plan: plan.clone(),
        unix_time,
        seconds,
        commit: program.commit.to_owned(),
        host: MeasuredOn::here(),
        meanwhile: counters.until(&Counters::now()),
        before,
        after,
        measured,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_the_pace_and_the_links() {
        let runs = MatrixPlan::default().runs();
        let mut pace = Pace::default();
        assert_eq!(pace.left(&runs), None);
        let (first, rest) = runs.split_first().unwrap();
        pace.add(first, Duration::from_secs(1));
        let left = pace.left(rest).unwrap().as_secs_f64();
        let mut slow = Pace::default();
        slow.add(first, Duration::from_secs(2));
        let waiting: f64 = rest.iter().map(Run::waiting).sum();
        assert!(waiting > 0.0);
        assert!((slow.left(rest).unwrap().as_secs_f64() - (2.0 * left - waiting)).abs() < 1e-3 * left);
        assert_eq!(pace.left(&[]), Some(Duration::ZERO));
    }
}
