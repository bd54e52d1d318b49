//! The whole matrix of benchmarks in one page: tables, plots, the papers' figures beside them, and the same
//! as JSON.
//!
//! Every run goes through [`super::run`], so that a figure here means what it means there ([`mod@super`]).
//! [`matrix`] says what is run; [`MatrixOutcome::to_json`] names the fields. The page is one file: style and plots
//! stand in it, nothing is fetched.

mod escape;
mod html;
pub mod matrix;
pub mod mixed;
mod outcome;
mod papers;
mod run;
mod svg;
mod tables;

pub use matrix::{MatrixPlan, Run, RunGroup};
pub use outcome::{MatrixOutcome, MeasuredOn, MeasuredRun, Point};
pub use run::Progress;

use crate::cleanup::{Cleanup, Entry};
use crate::failure::Failure;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The files of a report in its directory.
const PAGE: &str = "report.html";
const DATA: &str = "report.json";

/// A report that is written.
#[derive(Clone, Debug)]
pub struct Written {
    /// What was measured.
    pub outcome: MatrixOutcome,
    /// The page.
    pub html: PathBuf,
    /// The same as JSON.
    pub json: PathBuf,
}

/// Measure all that the plan says and write `report.html` and `report.json` into `out`, which is made if it
/// is not there. `tell` learns how far it is before each run.
///
/// # Errors
/// If the plan makes no sense, the files cannot be written, a run fails, or an output is wrong; then nothing
/// is left.
pub fn write(
    plan: &MatrixPlan,
    out: &Path,
    program: &Path,
    cleanup: &Cleanup,
    tell: &dyn Fn(&Progress),
) -> Result<Written, Failure> {
    plan.check()?;
    let made = directory(out, cleanup)?;
    let outcome = run::measure(plan, program, cleanup, tell)?;
    let (html, json) = (out.join(PAGE), out.join(DATA));
    let failed = |e| no_files(out, &e);
    replace(&html, &html::page(&outcome)).map_err(failed)?;
    replace(&json, &format!("{:#}\n", outcome.to_json())).map_err(failed)?;
    if let Some(entry) = made {
        entry.keep();
    }
    Ok(Written { outcome, html, json })
}

fn no_files(out: &Path, e: &io::Error) -> Failure {
    Failure::usage(format!(
        "no file can be written into {} ({e}): give another directory with --out",
        out.display()
    ))
}

/// See that files can be written there, before hours of measuring. A directory that was not there goes if
/// nothing comes of it.
fn directory(out: &Path, cleanup: &Cleanup) -> Result<Option<Entry>, Failure> {
    let failed = |e| no_files(out, &e);
    let made = match std::fs::create_dir(out) {
        Ok(()) => Some(cleanup.path(out)),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => None,
        Err(e) => return Err(failed(e)),
    };
    tempfile::tempfile_in(out).map_err(failed)?;
    Ok(made)
}

/// A file appears whole, in place of the one of an earlier report.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let readable = std::fs::Permissions::from_mode(0o644);
    let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
