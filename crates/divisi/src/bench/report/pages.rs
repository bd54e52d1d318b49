//! The list of the pages that are about one engine, each with the figures of its paper for comparison.

use super::mixed::{self, MixedPlan};
use super::paper_page::{PageRequest, PaperPage};
use super::run::{Progress, ReportProgram};
use super::spdz::{self, SpdzPlan};
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use std::path::Path;

type Write =
    fn(PageRequest, &Path, ReportProgram<'_>, &Cleanup, &dyn Fn(&Progress)) -> Result<PaperPage, Failure>;

/// The page of one engine.
pub struct EnginePage {
    /// The name of the engine, and of the page's files.
    pub engine: &'static str,
    /// A description, for a help text.
    pub about: &'static str,
    /// The subject of its runs, in words that follow "runs of".
    pub what: &'static str,
    write: Write,
}

/// All pages, in the order in which they are written.
pub static PAGES: [EnginePage; 2] = [
    EnginePage {
        engine: "mixed",
        about: "Numbers and bits among many semi-honest parties: mixed.html",
        what: "numbers and bits",
        write: |request, out, program, cleanup, tell| {
            mixed::write(&MixedPlan::of(request), out, program, cleanup, tell)
        },
    },
    EnginePage {
        engine: "spdz",
        about: "Masked tables among parties that trust nobody: spdz.html",
        what: "masked tables",
        write: |request, out, program, cleanup, tell| {
            spdz::write(&SpdzPlan::of(request), out, program, cleanup, tell)
        },
    },
];

impl EnginePage {
    /// Measure the figures of the page, and write it into `out`, which is made if it does not exist. `tell`
    /// is called with the progress before each run.
    ///
    /// # Errors
    /// [`Failure`] if the request makes no sense, the files cannot be written, a run fails, or an output is
    /// wrong; then no file is left.
    pub fn write(
        &self,
        request: PageRequest,
        out: &Path,
        program: ReportProgram<'_>,
        cleanup: &Cleanup,
        tell: &dyn Fn(&Progress),
    ) -> Result<PaperPage, Failure> {
        (self.write)(request, out, program, cleanup, tell)
    }
}
