//! What observes a run: where it waits for the other parties, and how long each phase takes.

use super::{Moment, Took};
use divisi_core::Abort;

/// An observer of a run, for instance a benchmark.
pub trait Watch {
    /// The next phase, or a part of it, begins: a benchmark waits here until all parties have reached this
    /// point.
    ///
    /// # Errors
    /// An abort if the benchmark ends here.
    fn meet(&mut self, next: &'static str) -> Result<(), Abort>;

    /// Add this time to the time of a phase.
    fn took(&mut self, phase: &'static str, took: Took);

    /// Report progress: `done` of `all` steps of a long job are done.
    fn at(&mut self, done: u64, all: u64) {
        let _ = (done, all);
    }
}

/// An observer that does nothing.
pub struct Unwatched;

impl Watch for Unwatched {
    fn meet(&mut self, _: &'static str) -> Result<(), Abort> {
        Ok(())
    }

    fn took(&mut self, _: &'static str, _: Took) {}
}

/// Run `f` as a phase: wait for all parties, run it, report the time that it took.
///
/// # Errors
/// The error of `step`, or of an observer that ends the run.
pub fn timed<R>(
    watch: &mut dyn Watch,
    phase: &'static str,
    step: impl FnOnce() -> Result<R, Abort>,
) -> Result<R, Abort> {
    watch.meet(phase)?;
    let start = Moment::now();
    let result = step()?;
    watch.took(phase, start.until(Moment::now()));
    Ok(result)
}
