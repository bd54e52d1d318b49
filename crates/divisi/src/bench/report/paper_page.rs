//! What the pages of single engines share: the runs, the conditions under which they were made, and the
//! files.

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

/// What was asked for of a page; by default its usual runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageRequest {
    /// Fewer runs, with fewer repetitions.
    pub quick: bool,
    /// Repetitions of each run.
    pub reps: Option<usize>,
    /// How long a receive waits for a message.
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
    /// Measures the machine. There will be `of` runs; `tell` is called with the progress before each.
    pub fn begin(
        program: &'a Path,
        cleanup: &'a Cleanup,
        tell: &'a dyn Fn(&Progress),
        of: usize,
    ) -> Result<Runs<'a>, Failure> {
        let began = Machine.now();
        Ok(Runs { program, cleanup, tell, began, calibration: calibrate()?, done: 0, of })
    }

    /// One run, whose error begins with its name.
    pub fn run(&mut self, now: &str, options: &BenchOptions) -> Result<BenchReport, Failure> {
        (self.tell)(&Progress { done: self.done, of: self.of, now: now.to_owned(), left: None });
        self.done += 1;
        bench::run(options, self.program, self.calibration, self.cleanup, &|_, _| {})
            .map_err(|failure| Failure { error: format!("{now}: {}", failure.error), ..failure })
    }

    /// After the last run.
    pub fn end(self) -> Conditions {
        let seconds = self.began.elapsed().as_secs_f64();
        Conditions { host: MeasuredOn::here(), calibration: self.calibration, runs: self.done, seconds }
    }
}

/// Under what conditions runs were made.
pub(super) struct Conditions {
    host: MeasuredOn,
    calibration: Calibration,
    runs: usize,
    seconds: f64,
}

impl Conditions {
    /// The line of a page that tells them; `how` says what the cores did.
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

/// What was measured for a page.
pub(super) trait Outcome {
    /// Where it was measured.
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

/// The same for any outcome, which is given back with the paths of its page and its JSON.
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
