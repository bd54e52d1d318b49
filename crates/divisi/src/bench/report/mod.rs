//! The whole matrix of benchmarks on one page: tables, plots and the papers' figures side by side, and the
//! same as JSON.
//!
//! Every run goes through [`super::run`], so that a figure has the same meaning in a report as in a single
//! benchmark ([`mod@super`]). [`matrix`] lists the runs; [`MatrixOutcome::to_json`] names the fields. The
//! page is one file with its style and plots, and fetches nothing.

mod escape;
mod files;
mod html;
pub mod matrix;
pub mod mixed;
mod outcome;
mod pages;
mod paper_page;
mod papers;
mod run;
pub mod spdz;
mod svg;
mod tables;

pub use matrix::{MatrixPlan, Run, RunGroup};
pub use outcome::{MatrixOutcome, MeasuredOn, MeasuredRun, Point};
pub use pages::{EnginePage, PAGES};
pub use paper_page::{PageRequest, PaperPage};
pub use run::Progress;

use crate::cleanup::Cleanup;
use crate::failure::Failure;
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
}

/// Run the plan and write `report.html` and `report.json` into `out`, which is made if it does not exist.
/// `tell` is called with the progress before each run.
///
/// # Errors
/// [`Failure`] if the plan makes no sense, the files cannot be written, a run fails, or an output is wrong;
/// then no file is left.
pub fn write(
    plan: &MatrixPlan,
    out: &Path,
    program: &Path,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<Written, Failure> {
    plan.check()?;
    let measure = || run::measure(plan, program, cleanup, tell);
    let (outcome, [html, json]) =
        paper_page::put("report", out, cleanup, measure, html::page, MatrixOutcome::to_json)?;
    Ok(Written { outcome, html, json })
}
