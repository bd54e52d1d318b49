//! The inputs of a benchmark, and how many of its outputs answered rightly, for a job that asks something.

use crate::engine::Rows;
use crate::engine::job::JobSpec;
use crate::failure::Failure;
use divisi_net::{Machine, World};
use serde_json::{Map, Value};

/// The number of instances of a repetition that asked something, and of those that answered rightly.
#[derive(Clone, Copy, Default)]
pub(super) struct Answered {
    count: usize,
    right: usize,
}

/// The next `count` input rows of a repetition that has run the instances of `before` already.
pub(super) fn rows(job: &JobSpec, count: usize, before: Answered) -> Result<Rows, Failure> {
    if let JobSpec::Own(job) = job
        && let Some(rows) = job.inputs(before.count, count)?
    {
        return Ok(rows);
    }
    let widths = || (0..count).map(|i| job.input_bytes(i));
    let mut bytes = vec![0; widths().sum()];
    Machine.entropy(&mut bytes);
    Ok(Rows::cut(bytes, widths()))
}

impl Answered {
    /// Count these outputs.
    pub(super) fn count(&mut self, job: &JobSpec, outputs: &Rows) {
        let JobSpec::Own(job) = job else { return };
        if let Some(right) = job.right(self.count, outputs) {
            self.right += right;
        }
        self.count += outputs.count();
    }

    /// The counts as JSON members; none if the job asks nothing.
    pub(super) fn facts(self, job: &JobSpec) -> Map<String, Value> {
        match job {
            JobSpec::Own(job) => job.facts(self.count, self.right),
            _ => Map::new(),
        }
    }
}
