//! The code that the pages of single engines share: the runs, their conditions, and the files.

use super::files::{directory, no_files, replace};
use super::outcome::MeasuredOn;
use super::run::Progress;
use crate::bench::{self, BenchOptions, BenchReport, calibration_json};
use crate::calibrate::{Calibration, calibrate};
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use divisi_net::{Machine, World};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A request for a page; by default for its usual runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageRequest {
    /// Whether to make fewer runs, with fewer repetitions.
    pub quick: bool,
    /// Repetitions of each run; `None` for the page's usual number.
    pub reps: Option<usize>,
    /// How long a receive waits for a message; `None` for the page's usual limit.
    pub timeout: Option<Duration>,
}

/// The page of one engine, as it was written.
#[derive(Clone, Debug)]
pub struct PaperPage {
    /// The page.
    pub html: PathBuf,
    /// The same as JSON.
    pub json: PathBuf,
    /// The number of runs.
    pub runs: usize,
    /// How long the runs took.
    pub seconds: f64,
}

/// The runs of a page, one after the other.
pub(super) struct Runs<'a> {
    program: &'a Path,
    cleanup: &'a Cleanup,
    tell: &'a dyn Fn(&Progress),
    began: Instant,
    calibration: Calibration,
    done: usize,
    of: usize,
}

impl<'a> Runs<'a> {
    /// Calibrate the machine for `of` runs; `tell` is called with the progress before each.
    pub fn begin(
        program: &'a Path,
        cleanup: &'a Cleanup,
        tell: &'a dyn Fn(&Progress),
        of: usize,
    ) -> Result<Runs<'a>, Failure> {
        let began = Machine.now();
        Ok(Runs { program, cleanup, tell, began, calibration: calibrate()?, done: 0, of })
    }

    /// Make a run; its error begins with the name `now`.
    pub fn run(&mut self, now: &str, options: &BenchOptions) -> Result<BenchReport, Failure> {
        (self.tell)(&Progress { done: self.done, of: self.of, now: now.to_owned(), left: None });
        self.done += 1;
        bench::run(options, self.program, self.calibration, self.cleanup, &|_, _| {})
            .map_err(|failure| Failure { error: format!("{now}: {}", failure.error), ..failure })
    }

    /// The conditions, after the last run.
    pub fn end(self) -> Conditions {
        let seconds = self.began.elapsed().as_secs_f64();
        Conditions { host: MeasuredOn::here(), calibration: self.calibration, runs: self.done, seconds }
    }
}

/// The conditions under which the runs were made.
pub(super) struct Conditions {
    host: MeasuredOn,
    calibration: Calibration,
    runs: usize,
    seconds: f64,
}

impl Conditions {
    /// The line of a page that states the conditions; `how` says what the cores did.
    pub fn line(&self, how: &str) -> String {
        let Conditions { host, calibration, seconds, .. } = self;
        format!(
            "here: {}, {} cores for {how}; AES-128-CTR {:.1} GB/s, loopback {:.1} Gbit/s; all in {seconds:.0} s",
            host.processor, host.cores, calibration.aes_ctr_gb_s, calibration.loopback_gbit_s,
        )
    }

    /// Fields: `schema`, `engine`, `security`, `version`, `seconds`, `machine`, `calibration`.
    pub fn to_json(&self, engine: &str, security: &str) -> Value {
        let Conditions { host, calibration, seconds, .. } = self;
        json!({
            "schema": 1,
            "engine": engine,
            "security": security,
            "version": env!("CARGO_PKG_VERSION"),
            "seconds": seconds,
            "machine": { "processor": host.processor, "cores": host.cores, "system": host.system },
            "calibration": calibration_json(calibration),
        })
    }
}

/// The measurements for a page.
pub(super) trait Outcome {
    /// The conditions of the measurements.
    fn conditions(&self) -> &Conditions;
    /// The page, as HTML.
    fn page(&self) -> String;
    /// The same as JSON.
    fn to_json(&self) -> Value;
}

/// Measure, and write `NAME.html` and `NAME.json` into `out`, which is made if it does not exist.
pub(super) fn write<O: Outcome>(
    name: &str,
    out: &Path,
    cleanup: &Cleanup,
    measure: impl FnOnce() -> Result<O, Failure>,
) -> Result<PaperPage, Failure> {
    let (outcome, [html, json]) = put(name, out, cleanup, measure, O::page, O::to_json)?;
    let Conditions { runs, seconds, .. } = outcome.conditions();
    Ok(PaperPage { html, json, runs: *runs, seconds: *seconds })
}

/// The same for an outcome of any type. Returns the outcome, and the paths of its page and of its JSON.
pub(super) fn put<O>(
    name: &str,
    out: &Path,
    cleanup: &Cleanup,
    measure: impl FnOnce() -> Result<O, Failure>,
    page: impl FnOnce(&O) -> String,
    to_json: impl FnOnce(&O) -> Value,
) -> Result<(O, [PathBuf; 2]), Failure> {
    let made = directory(out, cleanup)?;
    let outcome = measure()?;
    let files = ["html", "json"].map(|extension| out.join(name).with_extension(extension));
    let failed = |e| no_files(out, &e);
    replace(&files[0], &page(&outcome)).map_err(failed)?;
    replace(&files[1], &format!("{:#}\n", to_json(&outcome))).map_err(failed)?;
    if let Some(entry) = made {
        entry.keep();
    }
    Ok((outcome, files))
}
