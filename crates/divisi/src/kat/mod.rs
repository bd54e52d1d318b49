//! Known answers: published test vectors, in the formats of Wycheproof, Rooterberg, ACVP and NIST's CAVP, run
//! on an engine. A file of ACVP is an internalProjection.json, with questions and answers, or a prompt.json
//! and an expectedResults.json, which are combined; one of CAVP is a .rsp.
//!
//! A test group of a file becomes one call of the engine. A vector passes if every direction that the file
//! asks for gives the right answer; an invalid one passes if it was computed and rejected. What an engine
//! cannot compute is no rejection: such vectors are counted as unsupported, by reason, and so are those that
//! contradict the lengths that their file declares.
//!
//! Trust: the parties of an engine are threads of this process, over links in memory. This protects nothing
//! and need not: the vectors are public, and so are the keys in them.

pub mod chains;
mod content;
pub mod functions;
pub mod large;
mod modes;
pub mod monte;
mod progress;
mod read;
mod report;
mod vector;

pub use content::Content;
pub use read::{parse, read};
pub use report::{KatReport, Tally};
pub use vector::{Expected, Group, Vector, VectorAlgorithm, Ways};

use crate::engine::{Ended, Engine, EngineSettings, JobSpec, ProgressReport, Rows, together_seen};
use crate::failure::Failure;
use progress::Progress;
use report::Account;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The options of a run.
#[derive(Clone, Debug)]
pub struct KatOptions {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The settings of the engine.
    pub settings: EngineSettings,
    /// Whether to run tests that take long.
    pub long: bool,
}

/// Run the vectors of files on an engine.
///
/// # Errors
/// If a file cannot be read, or the engine aborts.
pub fn run(files: &[PathBuf], options: &KatOptions) -> Result<KatReport, Failure> {
    // All files are read before any vector runs, so that a mistyped name does not cost a run.
    run_contents(&read(files)?, options)
}

/// Run vectors on an engine, each list with the name of its origin.
///
/// # Errors
/// If the engine aborts.
pub fn run_contents(contents: &[(String, Content)], options: &KatOptions) -> Result<KatReport, Failure> {
    let mut account = Account::default();
    for (name, content) in contents {
        for ((algorithm, reason), n) in &content.unsupported {
            account.lacks(*algorithm, reason, *n);
        }
        for group in content.groups.iter().filter(|group| !group.vectors.is_empty()) {
            run_call(&mut account, name, group, options)?;
        }
        for chain in &content.chains {
            run_call(&mut account, name, chain, options)?;
        }
        for monte in &content.monte {
            run_monte(&mut account, name, monte, options)?;
        }
        for group in &content.large {
            run_large(&mut account, name, group, options)?;
        }
        for group in content.functions.iter().filter(|group| !group.vectors.is_empty()) {
            run_call(&mut account, name, group, options)?;
        }
    }
    Ok(account.report(contents.iter().map(|(_, content)| content)))
}

/// Vectors that an engine computes in one call.
trait OneCall {
    /// The job, and its inputs.
    fn ask(&self) -> Asked;

    /// For each vector that has outputs: its number, and whether they are right. `of` has the index of the
    /// vector to which each row belongs.
    fn judge(&self, outputs: &Rows, of: &[usize]) -> Vec<(u64, bool)>;
}

/// A job, and for each of its instances the index of the vector that it belongs to.
struct Asked {
    algorithm: VectorAlgorithm,
    job: JobSpec,
    inputs: Rows,
    of: Vec<usize>,
}

impl Asked {
    /// The job without these instances.
    fn without(&self, gone: &[usize]) -> Asked {
        let mut inputs = Rows::default();
        let kept: Vec<usize> = (0..self.of.len()).filter(|i| !gone.contains(i)).collect();
        kept.iter().for_each(|i| inputs.push(&[self.inputs.row(*i)]));
        let of = kept.iter().filter_map(|i| self.of.get(*i).copied()).collect();
        Asked { algorithm: self.algorithm, job: self.job.without(gone), inputs, of }
    }

    /// Call the engine once. Returns the outputs, and the indices of the vectors that they belong to. Vectors
    /// that the engine does not support are left out and counted. `tell` is called with what is done of a
    /// large message, and its length.
    fn run(
        mut self,
        account: &mut Account,
        options: &KatOptions,
        tell: ProgressReport<'_>,
    ) -> Result<(Rows, Vec<usize>), Failure> {
        while !self.of.is_empty() {
            let lacks = match crate::engine::prepare(options.engine, &self.job, &options.settings) {
                Ok(prepared) => {
                    let (outputs, counts) =
                        together_seen(&*prepared, &[], &self.inputs, tell).map_err(ended)?;
                    account.called(counts.openings);
                    return Ok((self.job.outputs(outputs, self.of.len()), self.of.clone()));
                }
                Err(lacks) => lacks,
            };
            let all = || self.of.iter().copied().enumerate();
            let is_gone = |i: usize| lacks.instances.is_empty() || lacks.instances.contains(&i);
            // a vector is left out with all its instances
            let gone: BTreeSet<usize> =
                all().filter(|(i, _)| is_gone(*i)).map(|(_, vector)| vector).collect();
            account.lacks(self.algorithm, &lacks.reason, gone.len() as u64);
            let gone: Vec<usize> =
                all().filter(|(_, vector)| gone.contains(vector)).map(|(i, _)| i).collect();
            self = self.without(&gone);
        }
        Ok((Rows::default(), Vec::new()))
    }
}

fn ended(ended: Ended) -> Failure {
    match ended {
        Ended::Abort(abort) => abort.into(),
        Ended::Differ(_) => {
            Failure::mismatch("the parties gave different answers: report this with the file")
        }
    }
}

/// Run vectors from the file of this name in one call.
fn run_call(
    account: &mut Account,
    name: &str,
    call: &dyn OneCall,
    options: &KatOptions,
) -> Result<(), Failure> {
    run_told(account, name, call, options, &|_, _| {})
}

fn run_told(
    account: &mut Account,
    name: &str,
    call: &dyn OneCall,
    options: &KatOptions,
    tell: ProgressReport<'_>,
) -> Result<(), Failure> {
    let asked = call.ask();
    let algorithm = asked.algorithm;
    let (outputs, of) = asked.run(account, options, tell)?;
    for (vector, right) in call.judge(&outputs, &of) {
        account.answered(algorithm, right, name, vector);
    }
    Ok(())
}

/// Run a Monte Carlo test if long tests are asked for; otherwise count it as not run.
fn run_monte(
    account: &mut Account,
    name: &str,
    monte: &monte::Monte,
    options: &KatOptions,
) -> Result<(), Failure> {
    if !options.long {
        account.lacks(monte.algorithm, monte::NEEDS_LONG, 1);
        return Ok(());
    }
    match monte.run(options)? {
        Ok((right, calls, openings)) => {
            account.called_often(calls, openings);
            account.answered(monte.algorithm, right, name, monte.id);
        }
        Err(lacks) => account.lacks(monte.algorithm, &lacks.reason, 1),
    }
    Ok(())
}

/// Run large-data tests if long tests are asked for; otherwise count them as not run.
fn run_large(
    account: &mut Account,
    name: &str,
    group: &large::LargeGroup,
    options: &KatOptions,
) -> Result<(), Failure> {
    let algorithm = VectorAlgorithm::Function(group.settings.algorithm);
    if !options.long {
        account.lacks(algorithm, monte::NEEDS_LONG, group.vectors.len() as u64);
        return Ok(());
    }
    let first = group.vectors.first().map_or(0, |vector| vector.id);
    let progress = Mutex::new(Progress::new(format!("{algorithm} #{first} and on"), "bytes"));
    let tell = |done, all| progress.lock().unwrap_or_else(PoisonError::into_inner).at(done, all);
    run_told(account, name, group, options, &tell)
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod scaffold;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_acvp;
#[cfg(test)]
mod tests_of_circuits;
#[cfg(test)]
mod tests_of_engines;
#[cfg(test)]
mod tests_of_formats;
#[cfg(test)]
mod tests_of_functions;
#[cfg(test)]
mod tests_of_ivs;
#[cfg(test)]
mod tests_of_lengths;
#[cfg(test)]
mod tests_of_long;
#[cfg(test)]
mod tests_of_one_shot;
