//! The code that the pages of single engines share: the runs, their conditions, and the files.

use super::escape::escape;
use super::files::{directory, no_files, replace};
use super::machine::{Counters, Meanwhile, MeasuredOn};
use super::run::{Progress, ReportProgram};
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
    /// The figures that follow from times, with the spread of their repetitions, as CSV.
    pub csv: PathBuf,
    /// The number of runs.
    pub runs: usize,
    /// How long the runs took.
    pub seconds: f64,
    /// The machine.
    pub host: MeasuredOn,
    /// What it did beside the runs.
    pub meanwhile: Meanwhile,
}

/// The runs of a page, one after the other.
pub(super) struct Runs<'a> {
    program: ReportProgram<'a>,
    cleanup: &'a Cleanup,
    tell: &'a dyn Fn(&Progress),
    began: Instant,
    counters: Counters,
    calibration: Calibration,
    done: usize,
    of: usize,
}

impl<'a> Runs<'a> {
    /// Calibrate the machine for `of` runs; `tell` is called with the progress before each.
    pub fn begin(
        program: ReportProgram<'a>,
        cleanup: &'a Cleanup,
        tell: &'a dyn Fn(&Progress),
        of: usize,
    ) -> Result<Runs<'a>, Failure> {
        let (began, counters) = (Machine.now(), Counters::now());
        Ok(Runs { program, cleanup, tell, began, counters, calibration: calibrate()?, done: 0, of })
    }

    /// Make a run; its error begins with the name `now`.
    pub fn run(&mut self, now: &str, options: &BenchOptions) -> Result<BenchReport, Failure> {
        (self.tell)(&Progress { done: self.done, of: self.of, now: now.to_owned(), left: None });
        self.done += 1;
        bench::run(options, self.program.party, self.calibration, self.cleanup, &|_, _| {})
            .map_err(|failure| Failure { error: format!("{now}: {}", failure.error), ..failure })
    }

    /// The conditions, after the last run.
    pub fn end(self) -> Conditions {
        let seconds = self.began.elapsed().as_secs_f64();
        Conditions {
            commit: self.program.commit.to_owned(),
            host: MeasuredOn::here(),
            meanwhile: self.counters.until(&Counters::now()),
            calibration: self.calibration,
            runs: self.done,
            seconds,
        }
    }
}

/// The conditions under which the runs were made.
pub(super) struct Conditions {
    pub(super) commit: String,
    pub(super) host: MeasuredOn,
    pub(super) meanwhile: Meanwhile,
    pub(super) calibration: Calibration,
    pub(super) runs: usize,
    pub(super) seconds: f64,
}

impl Conditions {
    /// The lines of a page that state the conditions; `how` says what the cores did.
    pub fn lines(&self, how: &str) -> [String; 2] {
        let Conditions { commit, host, meanwhile, calibration, seconds, .. } = self;
        [
            format!(
                "here: {}, {} cores for {how}; AES-128-CTR {:.1} GB/s, loopback {:.1} Gbit/s; all in {seconds:.0} s",
                host.processor, host.cores, calibration.aes_ctr_gb_s, calibration.loopback_gbit_s,
            ),
            format!("commit {commit}; {}", meanwhile.line()),
        ]
    }

    /// Fields: `schema`, `engine`, `security`, `version`, `commit`, `seconds`, `machine`, `calibration`; and
    /// `load`, `others_share` and `disturbed`, what the machine did meanwhile.
    pub fn to_json(&self, engine: &str, security: &str) -> Value {
        let Conditions { commit, host, meanwhile, calibration, seconds, .. } = self;
        let mut json = json!({
            "schema": 1,
            "engine": engine,
            "security": security,
            "version": env!("CARGO_PKG_VERSION"),
            "commit": commit,
            "seconds": seconds,
            "machine": { "processor": host.processor, "cores": host.cores, "system": host.system },
            "calibration": calibration_json(calibration),
        });
        meanwhile.add_to(&mut json);
        json
    }
}

/// The warning of a page whose measurements other processes disturbed; nothing for others.
pub(super) fn warning(meanwhile: &Meanwhile) -> String {
    let paragraph = |text: String| format!("<p class=\"warning\">Warning: {}.</p>\n", escape(&text));
    meanwhile.warning().map_or(String::new(), paragraph)
}

/// The measurements for a page.
pub(super) trait Outcome {
    /// The conditions of the measurements.
    fn conditions(&self) -> &Conditions;
    /// The page, as HTML.
    fn page(&self) -> String;
    /// The same as JSON.
    fn to_json(&self) -> Value;
    /// The figures that follow from times, as CSV.
    fn to_csv(&self) -> String;
}

/// Measure, and write `NAME.html`, `NAME.json` and `NAME.csv` into `out`, which is made if it does not exist.
pub(super) fn write<O: Outcome>(
    name: &str,
    out: &Path,
    cleanup: &Cleanup,
    measure: impl FnOnce() -> Result<O, Failure>,
) -> Result<PaperPage, Failure> {
    let texts = |outcome: &O| Texts { page: outcome.page(), json: outcome.to_json(), csv: outcome.to_csv() };
    let (outcome, [html, json, csv]) = put(name, out, cleanup, measure, texts)?;
    let Conditions { host, meanwhile, runs, seconds, .. } = outcome.conditions();
    let (host, meanwhile) = (host.clone(), *meanwhile);
    Ok(PaperPage { html, json, csv, runs: *runs, seconds: *seconds, host, meanwhile })
}

/// What is written of an outcome.
pub(super) struct Texts {
    /// The page, as HTML.
    pub page: String,
    /// The same as JSON.
    pub json: Value,
    /// The figures that follow from times, as CSV.
    pub csv: String,
}

/// The same for an outcome of any type. Returns the outcome, and the paths of its page, JSON and CSV.
pub(super) fn put<O>(
    name: &str,
    out: &Path,
    cleanup: &Cleanup,
    measure: impl FnOnce() -> Result<O, Failure>,
    texts: impl FnOnce(&O) -> Texts,
) -> Result<(O, [PathBuf; 3]), Failure> {
    let made = directory(out, cleanup)?;
    let outcome = measure()?;
    let Texts { page, json, csv } = texts(&outcome);
    let files = ["html", "json", "csv"].map(|extension| out.join(name).with_extension(extension));
    let failed = |e| no_files(out, &e);
    for (file, text) in files.iter().zip([page, format!("{json:#}\n"), csv]) {
        replace(file, &text).map_err(failed)?;
    }
    if let Some(entry) = made {
        entry.keep();
    }
    Ok((outcome, files))
}
