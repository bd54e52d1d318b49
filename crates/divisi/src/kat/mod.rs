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
pub mod monte;
mod progress;
mod read;
mod report;
mod texts;
mod vector;

pub use content::Content;
pub use read::{parse, read};
pub use report::{KatReport, Tally};
pub use vector::{Expected, Group, Vector, VectorAlgorithm, Ways};

use crate::engine::{Ended, Engine, EngineSettings, JobSpec, Rows, together, together_seen};
use crate::failure::Failure;
use chains::Chain;
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
            run_blocks(&mut account, name, group, options)?;
        }
        for chain in &content.chains {
            run_chain(&mut account, name, chain, options)?;
        }
        for monte in &content.monte {
            run_monte(&mut account, name, monte, options)?;
        }
        for group in &content.large {
            run_large(&mut account, name, group, options)?;
        }
        for group in content.functions.iter().filter(|group| !group.vectors.is_empty()) {
            run_functions(&mut account, name, group, options)?;
        }
    }
    Ok(account.report(contents.iter().map(|(_, content)| content)))
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
    /// that the engine does not support are left out and counted.
    fn run(mut self, account: &mut Account, options: &KatOptions) -> Result<(Rows, Vec<usize>), Failure> {
        while !self.of.is_empty() {
            let lacks = match crate::engine::prepare(options.engine, &self.job, &options.settings) {
                Ok(prepared) => {
                    let (outputs, counts) = together(&*prepared, &[], &self.inputs).map_err(ended)?;
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

/// Run vectors of a mode of AES from the file of this name.
fn run_blocks(account: &mut Account, name: &str, group: &Group, options: &KatOptions) -> Result<(), Failure> {
    let asked = texts::ask(group);
    let (outputs, of) = asked.run(account, options)?;
    for (vector, right) in texts::right(group, &outputs, &of) {
        account.answered(group.algorithm, right, name, vector);
    }
    Ok(())
}

/// Run chains of digests. They count as one vector, whatever their number.
fn run_chain(account: &mut Account, name: &str, chain: &Chain, options: &KatOptions) -> Result<(), Failure> {
    let asked = chain.ask();
    let algorithm = asked.algorithm;
    let (outputs, of) = asked.run(account, options)?;
    if !of.is_empty() {
        account.answered(algorithm, chain.is_right(&outputs), name, chain.id);
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
    let count = group.vectors.len() as u64;
    if !options.long {
        account.lacks(algorithm, monte::NEEDS_LONG, count);
        return Ok(());
    }
    let (job, inputs) = group.job();
    let prepared = match crate::engine::prepare(options.engine, &job, &options.settings) {
        Ok(prepared) => prepared,
        Err(lacks) => {
            account.lacks(algorithm, &lacks.reason, count);
            return Ok(());
        }
    };
    let first = group.vectors.first().map_or(0, |vector| vector.id);
    let progress = Mutex::new(Progress::new(format!("{algorithm} #{first} and on"), "bytes"));
    let tell = |done, all| progress.lock().unwrap_or_else(PoisonError::into_inner).at(done, all);
    let (outputs, counts) = together_seen(&*prepared, &[], &inputs, &tell).map_err(ended)?;
    account.called(counts.openings);
    let outputs = job.outputs(outputs, group.vectors.len());
    for (vector, output) in group.vectors.iter().zip(outputs.iter()) {
        account.answered(algorithm, output == vector.output, name, vector.id);
    }
    Ok(())
}

/// Run vectors of a hash or MAC.
fn run_functions(
    account: &mut Account,
    name: &str,
    group: &functions::MessageGroup,
    options: &KatOptions,
) -> Result<(), Failure> {
    let asked = group.ask();
    let algorithm = asked.algorithm;
    let (outputs, of) = asked.run(account, options)?;
    for (i, place) in of.iter().enumerate() {
        if let Some(vector) = group.vectors.get(*place) {
            account.answered(algorithm, vector.is_right(outputs.row(i)), name, vector.id);
        }
    }
    Ok(())
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_acvp;
#[cfg(test)]
mod tests_of_circuits;
#[cfg(test)]
mod tests_of_constant_rounds;
#[cfg(test)]
mod tests_of_formats;
#[cfg(test)]
mod tests_of_functions;
#[cfg(test)]
mod tests_of_garbling;
#[cfg(test)]
mod tests_of_ivs;
#[cfg(test)]
mod tests_of_lengths;
#[cfg(test)]
mod tests_of_long;
#[cfg(test)]
mod tests_of_mixed;
#[cfg(test)]
mod tests_of_wholes;
