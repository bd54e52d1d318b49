//! Known answers: published test vectors, in the formats of Wycheproof (v1) and ACVP, through an engine: of ACVP internalProjection.json,
//! which has questions and answers, or prompt.json and expectedResults.json, which are put together.
//!
//! A test group of a file becomes one call of the engine. A vector passes if every direction that the file tells gives the
//! right answer, and an invalid one if it is refused. What the engine cannot do is counted, with the reason.
//!
//! Trust: the parties of an engine are threads of this process, over links in memory. That protects nothing and is not meant
//! to: the vectors are public, and so are the keys in them.

mod acvp;
mod batch;
pub mod chains;
pub mod functions;
mod garble;
mod lab;
mod plain;
mod read;
mod report;
mod tags;
mod vector;
mod wycheproof;

pub use read::{parse, read};
pub use report::{Report, Tally};
pub use vector::{Algorithm, Content, Expected, Group, Vector, Ways};

use crate::failure::Failure;
use crate::garbling::Garbling;
use crate::mode::Choice;
use chains::Chain;
use divisi_rep3::Security;
use report::Account;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Replicated sharing among three.
    Rep3,
    /// Authenticated garbling.
    Garble,
    /// One party, in the clear.
    Plain,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Rep3 => "rep3",
            Engine::Garble => "garble",
            Engine::Plain => "plain",
        })
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "rep3" => Ok(Engine::Rep3),
            "garble" => Ok(Engine::Garble),
            "plain" => Ok(Engine::Plain),
            "spdz" => Err(format!("the engine {name} is not in this version: choose rep3, garble or plain")),
            _ => Err(format!("unknown engine {name:?}: choose rep3, garble or plain")),
        }
    }
}

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The engine.
    pub engine: Engine,
    /// How it computes S-boxes.
    pub choice: Choice,
    /// Against whom.
    pub security: Security,
    /// How the engine garble garbles, and among how many.
    pub garbling: Garbling,
}

/// Run files through an engine.
///
/// # Errors
/// If a file cannot be read, or the engine aborts.
pub fn run(files: &[PathBuf], options: &Options) -> Result<Report, Failure> {
    // All are read before any runs: a mistyped name does not cost a run.
    run_contents(&read(files)?, options)
}

/// Run vectors, of named origin, through an engine.
///
/// # Errors
/// If the engine aborts.
pub fn run_contents(contents: &[(String, Content)], options: &Options) -> Result<Report, Failure> {
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
        for group in content.functions.iter().filter(|group| !group.vectors.is_empty()) {
            run_functions(&mut account, name, group, options)?;
        }
    }
    Ok(account.report(contents.iter().map(|(_, content)| content)))
}

/// Run vectors of a mode of AES from the file of this name.
fn run_blocks(account: &mut Account, name: &str, group: &Group, options: &Options) -> Result<(), Failure> {
    if let Some(reason) = garble::lacks(group.algorithm).filter(|_| options.engine == Engine::Garble) {
        account.lacks(group.algorithm, reason, group.vectors.len() as u64);
        return Ok(());
    }
    let answers = match options.engine {
        Engine::Garble => garble::blocks(group, &options.garbling)?,
        Engine::Rep3 => lab::run(group, options)?,
        Engine::Plain => plain::run(group)?,
    };
    account.called(answers.openings);
    for (i, vector) in group.vectors.iter().enumerate() {
        let right = match (answers.encrypted.get(i), answers.decrypted.get(i)) {
            (Some(encrypted), Some(decrypted)) => vector.is_right(encrypted, decrypted),
            _ => false,
        };
        account.answered(group.algorithm, right, name, vector.id);
    }
    Ok(())
}

/// Run a digest of digests.
fn run_chain(account: &mut Account, name: &str, chain: &Chain, options: &Options) -> Result<(), Failure> {
    let algorithm = Algorithm::Function(chain.settings.algorithm);
    if options.engine == Engine::Garble {
        account.lacks(algorithm, garble::CHAIN, 1);
        return Ok(());
    }
    let (right, opened) = chains::run(chain, options)?;
    account.called(opened);
    account.answered(algorithm, right, name, chain.id);
    Ok(())
}

/// Run vectors of a hash or MAC.
fn run_functions(
    account: &mut Account,
    name: &str,
    group: &functions::Group,
    options: &Options,
) -> Result<(), Failure> {
    let algorithm = Algorithm::Function(group.settings.algorithm);
    let (short, gone) = garble::shorten(group);
    let group = if options.engine == Engine::Garble { &short } else { group };
    if let Some((reason, n)) = gone.filter(|_| options.engine == Engine::Garble) {
        account.lacks(algorithm, &reason, n);
    }
    if group.vectors.is_empty() {
        return Ok(());
    }
    let (answers, opened) = tags::run(group, options)?;
    account.called(opened);
    for (i, vector) in group.vectors.iter().enumerate() {
        let right = answers.get(i).is_some_and(|answer| vector.is_right(answer));
        account.answered(algorithm, right, name, vector.id);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_acvp;
#[cfg(test)]
mod tests_of_functions;
#[cfg(test)]
mod tests_of_garbling;
