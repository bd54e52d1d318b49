//! A kind of job that one engine alone has.

use crate::{ExpectedOutput, Failure, Rows};
use serde_json::{Map, Value};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A job that one engine alone has, for instance operations on its own kind of shares, or programs of them.
/// Its instances have rows of one width.
pub trait EngineJob: Any + Send + Sync {
    /// The number of instances.
    fn count(&self) -> usize;

    /// The length of an input row, in bytes.
    fn input_bytes(&self) -> usize;

    /// The length of an output row, in bytes.
    fn output_bytes(&self) -> usize;

    /// The expected outputs, computed in the clear.
    fn expected(&self) -> ExpectedOutput;

    /// The input rows of `count` instances for a benchmark, which has run the instances before `first`
    /// already; `None` if random bytes serve.
    ///
    /// # Errors
    /// [`Failure`] if no inputs are found.
    fn inputs(&self, first: usize, count: usize) -> Result<Option<Rows>, Failure> {
        let _ = (first, count);
        Ok(None)
    }

    /// How many of these outputs, the first of which is that of instance `first`, answer rightly what the
    /// instances ask; `None` if they ask nothing. (That outputs are those of [`EngineJob::expected`] is
    /// checked apart: a trained model may classify an image wrongly.)
    fn right(&self, first: usize, outputs: &Rows) -> Option<usize> {
        let _ = (first, outputs);
        None
    }

    /// The JSON members of a benchmark that ran `count` instances, of which `right` answered rightly.
    fn facts(&self, count: usize, right: usize) -> Map<String, Value> {
        let _ = (count, right);
        Map::new()
    }

    /// The job as one process sends it to another ([`crate::EngineJobs::read`]).
    fn message(&self) -> Vec<u8>;

    /// The same job for this many instances.
    fn counted(&self, count: usize) -> Arc<dyn EngineJob>;
}

impl fmt::Debug for dyn EngineJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a job of one engine, {} instances", self.count())
    }
}

impl dyn EngineJob {
    /// This job, if it is of this type.
    #[must_use]
    pub fn of<J: EngineJob>(&self) -> Option<&J> {
        (self as &dyn Any).downcast_ref()
    }
}
