//! The whole matrix of benchmarks on one page: tables, plots and the papers' figures side by side, and the
//! same as JSON; and the figures that follow from times, with the spread of their repetitions, as CSV.
//!
//! Every run goes through [`super::run`], so that a figure has the same meaning in a report as in a single
//! benchmark ([`mod@super`]). [`matrix`] lists the runs; [`MatrixOutcome::to_json`] names the fields. The
//! page is one file with its style and plots, and fetches nothing.
//!
//! A CSV has a line for each such figure of each run (RFC 4180). Its columns:
//!
//! - `run`: the run's name;
//! - `figure`: the figure's name, which is that of the member of `spread` in the JSON;
//! - `unit`: `1/s`, `s` or `us`;
//! - `value`: the figure of the report. It is the median of the repetitions; a rate, or the processor time of
//!   a block, follows from the median of each phase, and so may lie outside of the spread;
//! - `least` and `greatest` of the repetitions;
//! - `repetitions`: their number.
//!
//! A cell is empty where there is no figure: a rate of a phase that takes no time. Bits, bytes, rounds and
//! memory do not follow from times, and are in the JSON alone.

mod cells;
mod escape;
mod figures;
mod files;
mod html;
mod machine;
pub mod matrix;
pub mod mixed;
mod outcome;
mod pages;
mod paper_page;
mod papers;
mod rounds;
mod run;
#[cfg(test)]
mod sample;
pub mod spdz;
mod svg;
mod tables;
#[cfg(test)]
mod width;

pub use machine::{Meanwhile, MeasuredOn};
pub use matrix::{MatrixPlan, Run, RunGroup};
pub use outcome::{MatrixOutcome, MeasuredRun, Point};
pub use pages::{EnginePage, PAGES};
pub use paper_page::{PageRequest, PaperPage};
pub use run::{Progress, ReportProgram};

use crate::cleanup::Cleanup;
use crate::failure::Failure;
use paper_page::Texts;
use std::path::{Path, PathBuf};

/// A report as it was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The measurements.
    pub outcome: MatrixOutcome,
    /// The page.
    pub html: PathBuf,
    /// The same as JSON.
    pub json: PathBuf,
    /// The figures that follow from times, with the spread of their repetitions, as CSV.
    pub csv: PathBuf,
}

/// Run the plan and write `report.html`, `report.json` and `report.csv` into `out`, which is made if it does
/// not exist. `tell` is called with the progress before each run.
///
/// # Errors
/// [`Failure`] if the plan makes no sense, the files cannot be written, a run fails, or an output is wrong;
/// then no file is left.
pub fn write(
    plan: &MatrixPlan,
    out: &Path,
    program: ReportProgram<'_>,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<Written, Failure> {
    plan.check()?;
    let measure = || run::measure(plan, program, cleanup, tell);
    let texts = |outcome: &MatrixOutcome| Texts {
        page: html::page(outcome),
        json: outcome.to_json(),
        csv: outcome.to_csv(),
    };
    let (outcome, [html, json, csv]) = paper_page::put("report", out, cleanup, measure, texts)?;
    Ok(Written { outcome, html, json, csv })
}
