//! Monte Carlo tests (ACVP, AES 6.2, TDES 6.2, SHA 6.2, SHA3 6.2, cSHAKE 6.2; SP 800-17, SP 800-20): a test
//! has a hundred chains of a thousand steps (ten thousand for triple DES), and the answer of each step is the
//! input of the next. The file gives the start and the end of each chain, so that the chains run side by
//! side, one in each lane: a step of all of them is one call of the engine, whose answers are public, because
//! the file is. Chains of cSHAKE continue with a customization that the file does not contain, and run one
//! after the other.
//!
//! These tests take long, so they run only with `--long`, with reports of progress on standard error.

mod digests;
mod modes;
mod outputs;

pub use digests::Digests;
pub use modes::{ModeChains, Thousand};
pub use outputs::{OutputChains, OutputLengths, XofOutput};

use super::progress::Progress;
use super::{KatOptions, VectorAlgorithm, ended};
use crate::engine::job::JobSpec;
use crate::engine::{Rows, Unsupported, together};
use crate::failure::Failure;

/// The reason under which these tests are counted without `--long`.
pub const NEEDS_LONG: &str = "needs --long";

/// The number of steps of a chain.
const STEPS: usize = 1000;

/// A Monte Carlo test.
#[derive(Clone, Debug)]
pub struct Monte {
    /// Its number in the file.
    pub id: u64,
    /// The algorithm.
    pub algorithm: VectorAlgorithm,
    /// The chains.
    pub kind: Fed,
    /// The number of steps of a chain: the standard's, but in tests that take fewer.
    pub(super) steps: usize,
}

/// The kind of the chains.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fed {
    /// Messages in a mode of a block cipher.
    Modes(ModeChains),
    /// Digests of digests.
    Digests(Digests),
    /// Outputs of SHAKE and cSHAKE, each of a length that the output before determines.
    Outputs(OutputChains),
}

/// Why a test was not completed.
enum Stopped {
    /// The engine does not support the test.
    Lacks(Unsupported),
    /// A call of the engine failed.
    Failed(Failure),
}

/// The calls of an engine that a test makes.
struct Calls<'o> {
    options: &'o KatOptions,
    /// The number of steps of a chain.
    chain: usize,
    progress: Progress,
    /// The number of steps done, and that of all steps.
    steps: (u64, u64),
    calls: u64,
    openings: u64,
}

impl Calls<'_> {
    /// Call the engine for a step of all lanes.
    fn call(&mut self, job: &JobSpec, inputs: &Rows) -> Result<Rows, Stopped> {
        let prepared = crate::engine::prepare(self.options.engine, job, &self.options.settings)
            .map_err(Stopped::Lacks)?;
        let (outputs, counts) =
            together(&*prepared, &[], inputs).map_err(|end| Stopped::Failed(ended(end)))?;
        self.calls += 1;
        self.openings += counts.openings;
        self.steps.0 += 1;
        self.progress.at(self.steps.0, self.steps.1);
        Ok(job.outputs(outputs, inputs.count()))
    }
}

impl Monte {
    /// A test with chains as long as the standard says.
    pub fn new(id: u64, algorithm: VectorAlgorithm, kind: Fed) -> Self {
        let steps = match &kind {
            Fed::Modes(messages) => messages.steps(),
            Fed::Digests(_) | Fed::Outputs(_) => STEPS,
        };
        Monte { id, algorithm, kind, steps }
    }

    /// Run the test. Returns whether all chains end as the file says, the number of calls of the engine and
    /// the number of opened values; or why the engine does not support the test.
    pub(super) fn run(&self, options: &KatOptions) -> Result<Result<(bool, u64, u64), Unsupported>, Failure> {
        let after_each_other = match &self.kind {
            Fed::Modes(_) | Fed::Digests(_) => 1,
            Fed::Outputs(outputs) => outputs.after_each_other(),
        };
        let mut calls = Calls {
            options,
            chain: self.steps,
            progress: Progress::new(format!("{} #{}", self.algorithm, self.id), "steps"),
            steps: (0, (self.steps * after_each_other) as u64),
            calls: 0,
            openings: 0,
        };
        let right = match &self.kind {
            Fed::Modes(messages) => messages.run(self.algorithm, &mut calls),
            Fed::Digests(digests) => digests.run(&mut calls),
            Fed::Outputs(outputs) => outputs.run(&mut calls),
        };
        match right {
            Ok(right) => Ok(Ok((right, calls.calls, calls.openings))),
            Err(Stopped::Lacks(lacks)) => Ok(Err(lacks)),
            Err(Stopped::Failed(failure)) => Err(failure),
        }
    }
}
