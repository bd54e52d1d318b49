//! The trait of an engine, and what it offers as data.

use crate::job::{AnswersJob, BlocksJob, CircuitJob, DigestsJob, EngineJob, JobSpec, LookupJob};
use crate::{
    Clock, Demonstration, EngineOption, EngineSettings, Failure, Measured, Page, PreparedJob, SecurityClaim,
    StockMaker, Unsupported, columns,
};
use divisi_core::Security;
use serde_json::{Map, Value, json};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The adversary against which an engine protects, with its default settings.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adversary {
    /// Nobody: it computes in the clear.
    Nobody,
    /// One of the parties.
    One,
    /// All parties but one.
    AllButOne,
}

/// What an engine is, as data.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name, in commands and JSON.
    pub name: &'static str,
    /// A description, for one line of a help text.
    pub about: &'static str,
    /// The possible numbers of parties.
    pub parties: RangeInclusive<usize>,
    /// The adversary against which it protects.
    pub adversary: Adversary,
    /// The default security: the strongest that it has.
    pub security: Security,
    /// What it claims, a row of SECURITY.md's first table for each kind of adversary; nothing for an engine
    /// that computes in the clear.
    pub claims: fn() -> Vec<SecurityClaim>,
    /// Its own options: the commands offer them, and their values are in [`EngineSettings::own`]. An option
    /// that no engine has is refused, as is one of another engine.
    pub options: Vec<EngineOption>,
    /// The statistical securities that can be chosen, for a help text (`40 or 64`); empty if there is no
    /// choice.
    pub statistical_choice: &'static str,
    /// The names of the block ciphers whose blocks it computes ([`JobSpec::Blocks`]).
    pub ciphers: &'static [&'static str],
    /// The default number of blocks of a cipher in a benchmark.
    pub blocks: usize,
    /// The default number of instances of a circuit in a benchmark.
    pub evaluations: usize,
    /// Whether a client deals the inputs in a benchmark of a circuit; otherwise the parties own them in turn.
    pub deals: bool,
    /// Whether all that is sent online is verified. A benchmark in which something was sent must then report
    /// a verification; otherwise only a verification that took place is compared with
    /// [`Engine::statistical_bits`].
    pub verifies_online: bool,
}

impl Profile {
    /// An engine among this number of parties, malicious, without options, with the usual defaults.
    #[must_use]
    pub fn new(name: &'static str, about: &'static str, parties: RangeInclusive<usize>) -> Profile {
        Profile {
            name,
            about,
            parties,
            adversary: Adversary::Nobody,
            security: Security::Malicious,
            claims: Vec::new,
            options: Vec::new(),
            statistical_choice: "",
            ciphers: &[],
            blocks: 100_000,
            evaluations: 1,
            deals: false,
            verifies_online: false,
        }
    }
}

/// What prepares a kind of job.
pub trait Prepares<J: ?Sized>: Sync {
    /// Prepare everything public about a job, before any secret exists.
    ///
    /// # Errors
    /// [`Unsupported`] with the reason, for the whole job or some of its instances.
    fn prepare<'j>(&self, job: &'j J, settings: &EngineSettings) -> PreparedJob<'j>;

    /// The number of instances of a job that are computed at once; `None` for all of them.
    fn at_once(&self, job: &J, settings: &EngineSettings) -> Option<usize> {
        let _ = (job, settings);
        None
    }
}

/// The jobs of one engine alone.
pub trait EngineJobs: Prepares<dyn EngineJob> {
    /// Read a job that another process has sent ([`EngineJob::message`]).
    ///
    /// # Errors
    /// [`Failure`] if the message is not one, or a file named in it cannot be read or has changed.
    fn read(&self, message: &[u8]) -> Result<Arc<dyn EngineJob>, Failure>;
}

/// What an engine can do: each kind of job that it has.
#[derive(Clone, Copy, Default)]
pub struct Jobs<'e> {
    /// Evaluations of circuits.
    pub circuits: Option<&'e dyn Prepares<CircuitJob>>,
    /// Blocks of the ciphers of [`Profile::ciphers`].
    pub blocks: Option<&'e dyn Prepares<BlocksJob>>,
    /// Hashes and MACs of messages of one length.
    pub digests: Option<&'e dyn Prepares<DigestsJob>>,
    /// Lookups in a public table.
    pub lookups: Option<&'e dyn Prepares<LookupJob>>,
    /// Known answers.
    pub answers: Option<&'e dyn Prepares<AnswersJob>>,
    /// Whether known answers include [`AnswersJob::Chain`] and [`AnswersJob::Large`].
    pub long_answers: bool,
    /// Jobs that only this engine has.
    pub own: Option<&'e dyn EngineJobs>,
}

/// A way to compute among n parties.
pub trait Engine: Sync {
    /// What it is, as data.
    fn profile(&self) -> Profile;

    /// The kinds of job that it can do.
    fn jobs(&self) -> Jobs<'_>;

    /// Check that it supports these settings (not that its number of parties is right: see [`check`]).
    ///
    /// # Errors
    /// If it does not: the sentence says what to correct.
    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported>;

    /// The phases that a benchmark reports, in order: those of the meter, and "setup", in which a session
    /// begins. Each says in which rates it counts.
    fn phases(&self, settings: &EngineSettings) -> &'static [Clock];

    /// The statistical security in bits: a lie passes with probability at most 2 to the minus this; `None` if
    /// the engine does not detect lies.
    fn statistical_bits(&self, settings: &EngineSettings) -> Option<u32>;

    /// The JSON members of these settings, beside name and parties.
    fn facts(&self, settings: &EngineSettings) -> Map<String, Value> {
        let _ = settings;
        Map::new()
    }

    /// The JSON members of a benchmark, beside those that all benchmarks have.
    fn report(&self, measured: &Measured) -> Map<String, Value> {
        members(json!({
            "phases": measured.phases_json(),
            "statistical_bits": self.statistical_bits(&measured.settings),
        }))
    }

    /// The text of a benchmark for people.
    fn page(&self, measured: &Measured) -> Page {
        let about = format!(
            "{} {}s, {}, {} parties",
            measured.count,
            measured.unit,
            self.profile().name,
            measured.parties
        );
        Page { above: about, below: "all outputs checked".into(), ..phases_page(measured) }
    }

    /// What `divisi demo` shows of it, if it shows something.
    fn demonstration(&self) -> Option<Demonstration> {
        None
    }

    /// How it makes preprocessing that is kept on disk (`divisi prep`), if it does.
    fn stock_maker(&self) -> Option<&'static dyn StockMaker> {
        None
    }
}

/// The table of a benchmark's phases, without lines above and below.
#[must_use]
pub fn phases_page(measured: &Measured) -> Page {
    let columns = [columns::MS, columns::CPU_MS, columns::BITS, columns::BYTES, columns::ROUNDS];
    measured.table(&columns)
}

/// A function that gives the expected output row of an instance, from its number in the batch and its input
/// row; `None` if the bytes are not an input row of the job.
pub type ExpectedOutput = Box<dyn Fn(u64, &[u8]) -> Option<Vec<u8>>>;

impl dyn Engine + '_ {
    /// The name, in commands and JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.profile().name
    }
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine {}", self.profile().name)
    }
}

/// The number of parties with these settings: the one asked for, else three, or the number nearest to three
/// that the engine allows.
#[must_use]
pub fn parties(engine: &dyn Engine, settings: &EngineSettings) -> usize {
    let range = engine.profile().parties;
    settings.parties.unwrap_or_else(|| 3.clamp(*range.start(), *range.end()))
}

/// Whether an engine has an option of its own with this name.
pub fn has_option(engine: &dyn Engine, option: &str) -> bool {
    engine.profile().options.iter().any(|known| known.name == option)
}

/// Check that the engine can have this number of parties, and that all options are its own.
///
/// # Errors
/// If not: the sentence says what to correct.
pub fn check(engine: &dyn Engine, settings: &EngineSettings) -> Result<(), Unsupported> {
    let Profile { name, parties: range, options, .. } = engine.profile();
    if let Some(other) = settings.own.keys().find(|own| options.iter().all(|option| option.name != **own)) {
        return Err(Unsupported::new(format!("the engine {name} has no option --{other}: leave it out")));
    }
    let asked = parties(engine, settings);
    if !range.contains(&asked) {
        return Err(Unsupported::new(match (range.start(), range.end()) {
            (1, 1) => format!("the engine {name} has 1 party, not {asked}: leave --parties out"),
            (first, last) if first == last => {
                format!("the engine {name} has {first} parties, not {asked}: leave --parties out")
            }
            (first, last) => {
                format!(
                    "the engine {name} has {first} to {last} parties, not {asked}: give another --parties"
                )
            }
        }));
    }
    engine.check(settings)
}

/// Prepare everything public about a job, before any secret exists.
///
/// # Errors
/// [`Unsupported`] if the settings make no sense, or with what the engine does not have.
pub fn prepare<'j>(engine: &dyn Engine, job: &'j JobSpec, settings: &EngineSettings) -> PreparedJob<'j> {
    check(engine, settings)?;
    let (jobs, name) = (engine.jobs(), engine.profile().name);
    let prepared = match job {
        JobSpec::Circuit(job) => jobs.circuits.map(|of| of.prepare(job, settings)),
        JobSpec::Blocks(job) => blocks(engine, job).map(|of| of.prepare(job, settings)),
        JobSpec::Digests(job) => jobs.digests.map(|of| of.prepare(job, settings)),
        JobSpec::Lookups(job) => jobs.lookups.map(|of| of.prepare(job, settings)),
        JobSpec::Own(job) => jobs.own.map(|of| of.prepare(&**job, settings)),
        JobSpec::Answers(job) => answers(engine, job).map(|of| of.prepare(job, settings)),
    };
    prepared.unwrap_or_else(|| {
        Err(Unsupported::new(match job {
            JobSpec::Circuit(_) => format!("the engine {name} evaluates no circuits"),
            JobSpec::Blocks(job) => format!("the engine {name} has no blocks of {}", job.cipher.name()),
            JobSpec::Digests(_) => format!("the engine {name} has no benchmark of hashes and MACs"),
            JobSpec::Lookups(_) => format!("the engine {name} has no lookups"),
            JobSpec::Own(_) => format!("the engine {name} has no numbers and no programs"),
            JobSpec::Answers(AnswersJob::Chain(_)) => {
                format!("a Monte Carlo test, for which the engine {name} has no circuit")
            }
            JobSpec::Answers(AnswersJob::Large(_)) => {
                format!("a test of large data, for which the engine {name} has no circuit")
            }
            JobSpec::Answers(_) => format!("the engine {name} has no known answers"),
        }))
    })
}

/// Whether an engine has this kind of job.
#[must_use]
pub fn has(engine: &dyn Engine, job: &JobSpec) -> bool {
    let jobs = engine.jobs();
    match job {
        JobSpec::Circuit(_) => jobs.circuits.is_some(),
        JobSpec::Blocks(job) => blocks(engine, job).is_some(),
        JobSpec::Digests(_) => jobs.digests.is_some(),
        JobSpec::Lookups(_) => jobs.lookups.is_some(),
        JobSpec::Own(_) => jobs.own.is_some(),
        JobSpec::Answers(job) => answers(engine, job).is_some(),
    }
}

fn blocks<'e>(engine: &'e dyn Engine, job: &BlocksJob) -> Option<&'e dyn Prepares<BlocksJob>> {
    engine.jobs().blocks.filter(|_| engine.profile().ciphers.contains(&job.cipher.name()))
}

fn answers<'e>(engine: &'e dyn Engine, job: &AnswersJob) -> Option<&'e dyn Prepares<AnswersJob>> {
    let jobs = engine.jobs();
    let long = matches!(job, AnswersJob::Chain(_) | AnswersJob::Large(_));
    jobs.answers.filter(|_| jobs.long_answers || !long)
}

/// The number of instances of a job that an engine computes at once.
#[must_use]
pub fn at_once(engine: &dyn Engine, job: &JobSpec, settings: &EngineSettings) -> usize {
    let jobs = engine.jobs();
    let own = match job {
        JobSpec::Circuit(job) => jobs.circuits.and_then(|of| of.at_once(job, settings)),
        JobSpec::Blocks(job) => jobs.blocks.and_then(|of| of.at_once(job, settings)),
        JobSpec::Digests(job) => jobs.digests.and_then(|of| of.at_once(job, settings)),
        JobSpec::Lookups(job) => jobs.lookups.and_then(|of| of.at_once(job, settings)),
        JobSpec::Answers(_) | JobSpec::Own(_) => None,
    };
    own.unwrap_or_else(|| job.count())
}

/// The members of a JSON object.
#[must_use]
pub fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests;
