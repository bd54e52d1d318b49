//! Engines: ways to compute among n parties, each a folder of its own behind one trait.
//!
//! What the commands know of an engine is [`Engine`]: its name, its parties, against whom it protects, its
//! phases, and what it makes of a [`Job`] before there is a session ([`Engine::prepare`]): everything public,
//! so that what cannot be done is refused before a secret is touched. What is prepared starts at each party
//! on a session of its own ([`Prepared::start`]) and goes through batches of instances
//! ([`EngineParty::batch`]). Whoever measures looks on through a [`Watch`].
//!
//! | job | who gives inputs | rep3 | garble | mixed | spdz | plain |
//! |---|---|---|---|---|---|---|
//! | [`Job::Circuit`] between parties | its owners | one evaluation | any number, ahead or streamed | any number | any number | |
//! | [`Job::Circuit`] of a client | dealt | in strands | | | | |
//! | [`Job::Blocks`] | dealt | AES, in strands | | | AES, 3DES, of parties | |
//! | [`Job::Digests`] | dealt | in strands | | | | |
//! | [`Job::Texts`] | known answers | all | ECB, CTR of AES | the same | ECB to CMAC, no wholes | all |
//! | [`Job::Messages`] | known answers | all | all | all | CMAC | all |
//! | [`Job::Chain`], [`Job::Large`] | known answers | all | | | | all |
//!
//! **A new engine** is a folder that implements the three traits, and one line in `ENGINES`; or, outside of
//! this crate, a call of [`add`].

mod differ;
mod drawn;
pub mod garble;
mod groups;
mod hashes;
pub mod job;
mod measured;
pub mod mixed;
pub mod plain;
pub mod rep3;
mod rows;
pub mod settings;
pub mod spdz;
mod together;
pub(crate) mod told;
mod whole;

pub use differ::Differ;
pub use job::{Between, Job, Own, alike};
pub use measured::{Measured, Moment, Page, Phase, Took};
pub use rows::Rows;
pub use settings::EngineSettings;
pub use together::{Ended, ProgressReport, together, together_seen};

use divisi_core::{Abort, Counts, PublicParameters, Session};
use divisi_rep3::Security;
use serde_json::{Map, Value, json};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{PoisonError, RwLock};

/// Every engine of this crate: a line for each.
static ENGINES: &[&dyn Engine] = &[
    &rep3::Replicated,
    &garble::GarbleEngine,
    &mixed::MixedEngine,
    &spdz::Authenticated,
    &plain::InTheClear,
];

/// Those of others.
static ADDED: RwLock<Vec<&'static dyn Engine>> = RwLock::new(Vec::new());

/// Make an engine known to all commands of this process, under a name that no other has.
pub fn add(engine: &'static dyn Engine) {
    ADDED.write().unwrap_or_else(PoisonError::into_inner).push(engine);
}

/// Every engine, in order.
#[must_use]
pub fn all() -> Vec<&'static dyn Engine> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    ENGINES.iter().copied().chain(added.iter().copied()).collect()
}

/// The engine of that name.
///
/// # Errors
/// Which there are, in one sentence.
pub fn named(name: &str) -> Result<&'static dyn Engine, String> {
    let all = all();
    all.iter().copied().find(|engine| engine.name() == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|engine| engine.name()).collect();
        let names = match names.split_last() {
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        format!("the engine {name:?} is not in this version: choose {names}")
    })
}

/// Against whom an engine protects, whatever else is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Adversary {
    /// Nobody: it computes in the clear.
    Nobody,
    /// One of the parties.
    One,
    /// All parties but one.
    AllButOne,
}

/// What an engine cannot do, and why: one sentence, or a reason that is counted where many are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Why.
    pub reason: String,
    /// Which instances of the job it is about; all of them if this is empty.
    pub instances: Vec<usize>,
}

impl Unsupported {
    /// About all of a job.
    pub fn new(reason: impl Into<String>) -> Self {
        Unsupported { reason: reason.into(), instances: Vec::new() }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unsupported {}

/// A way to compute among n parties.
pub trait Engine: Sync {
    /// Its name, in commands and JSON.
    fn name(&self) -> &'static str;

    /// What it is, in one line of a help text.
    fn about(&self) -> &'static str;

    /// How many parties it can have.
    fn parties(&self) -> RangeInclusive<usize>;

    /// Against whom it protects.
    fn adversary(&self) -> Adversary;

    /// Against whom it is used if nothing is said: the strongest that it has.
    fn usual_security(&self) -> Security {
        Security::Malicious
    }

    /// The phases that a benchmark tells, in order: those of the meter, and "setup", in which a session
    /// begins.
    fn phases(&self, settings: &EngineSettings) -> &'static [Clock];

    /// The options of [`EngineSettings::own`] and of the commands that belong to it.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether its inputs are dealt by a client in a benchmark of a circuit; else the parties own them in
    /// turn.
    fn is_dealt(&self) -> bool {
        false
    }

    /// How many blocks of a cipher a benchmark has if nothing is said.
    fn usual_blocks(&self) -> usize {
        100_000
    }

    /// How many instances of a circuit a benchmark evaluates if nothing is said.
    fn usual_count(&self) -> usize {
        1
    }

    /// The bits of statistical security: a lie passes with probability at most 2 to the minus so many.
    /// Nothing where none is looked for.
    fn statistical_bits(&self, settings: &EngineSettings) -> Option<u32>;

    /// That it can compute so.
    ///
    /// # Errors
    /// A sentence that says what to correct.
    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported>;

    /// Everything public about a job, before any secret is there.
    ///
    /// # Errors
    /// What cannot be done.
    fn prepare<'j>(
        &self,
        job: &'j Job,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported>;

    /// What JSON says of these settings beside their name and parties.
    fn facts(&self, settings: &EngineSettings) -> Map<String, Value> {
        let _ = settings;
        Map::new()
    }

    /// What JSON says of a benchmark: these members stand beside those that all benchmarks have.
    fn report(&self, measured: &Measured) -> Map<String, Value> {
        members(json!({
            "phases": measured.phases_json(),
            "statistical_bits": self.statistical_bits(&measured.settings),
        }))
    }

    /// What people are told of a benchmark.
    fn page(&self, measured: &Measured) -> Page {
        let head = ["phase", "ms", "CPU ms", "bits", "bytes", "rounds"].map(str::to_owned).to_vec();
        let row = |(name, phase): &(&'static str, Phase)| {
            vec![
                (*name).to_owned(),
                format!("{:.2}", phase.seconds * 1e3),
                format!("{:.2}", phase.cpu_seconds * 1e3),
                phase.bits.to_string(),
                phase.bytes.to_string(),
                phase.rounds.to_string(),
            ]
        };
        Page {
            above: format!(
                "{} {}s, {}, {} parties",
                measured.count,
                measured.unit,
                self.name(),
                measured.parties
            ),
            head,
            rows: measured.phases.iter().map(row).collect(),
            below: "all outputs checked".into(),
        }
    }
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine {}", self.name())
    }
}

/// A phase that a benchmark tells, and the phases of the session's meter that belong to it.
pub type Clock = (&'static str, &'static [&'static str]);

/// How many parties there are with these settings: as many as are asked for, else three, or as near to three
/// as the engine allows.
#[must_use]
pub fn parties(engine: &dyn Engine, settings: &EngineSettings) -> usize {
    settings.parties.unwrap_or_else(|| 3.clamp(*engine.parties().start(), *engine.parties().end()))
}

/// That an engine has as many parties as are asked for, and that no option is another engine's.
///
/// # Errors
/// A sentence that says what to correct.
pub fn check(engine: &dyn Engine, settings: &EngineSettings) -> Result<(), Unsupported> {
    for name in settings.own.keys() {
        belongs(engine, name)?;
    }
    let (name, range, asked) = (engine.name(), engine.parties(), parties(engine, settings));
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

/// That an option is this engine's, or nobody's in particular.
///
/// # Errors
/// Whose it is.
pub fn belongs(engine: &dyn Engine, option: &str) -> Result<(), Unsupported> {
    let whose = all().into_iter().find(|other| other.options().contains(&option));
    match whose {
        Some(other) if !engine.options().contains(&option) => Err(Unsupported::new(format!(
            "--{option} belongs to the engine {0}: give --engine {0}, or leave it out",
            other.name()
        ))),
        _ => Ok(()),
    }
}

/// How a benchmark goes through a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// How many instances go in at once.
    pub batch: usize,
    /// How many repetitions come before those that count, of how many instances each, for a `--warmup` of one
    /// or more.
    pub warmup: (usize, usize),
    /// Whether all repetitions are requests to one session, whose set-up is made once and counted in each.
    pub one_session: bool,
}

/// A job that an engine can do, with everything public about it. The same at all parties.
pub trait Prepared: Sync {
    /// How many parties.
    fn parties(&self) -> usize;

    /// What the parties compare at the start of a session for so many instances \[M0.4\].
    fn parameters(&self, count: usize) -> PublicParameters;

    /// What parties that were started apart compare before: in words that follow "party 2 runs", with a
    /// digest each. None: the session's own comparison is enough.
    fn agreement(&self) -> Vec<(&'static str, [u8; 32])> {
        Vec::new()
    }

    /// How a benchmark goes through it, with so many runs before the first that counts.
    fn course(&self, warmup: usize) -> Course;

    /// What each party brings to the set-up, from the key that all have together.
    fn deal_key(&self, key: &[u8]) -> Vec<Own> {
        let _ = key;
        vec![Own::default(); self.parties()]
    }

    /// What each party brings to a batch, from the rows of all its instances: dealt, or its own values.
    fn deal(&self, inputs: &Rows) -> Vec<Own>;

    /// The rows of outputs, one behind the other, from what each party had of them in the end.
    ///
    /// # Errors
    /// If they do not fit each other.
    fn collect(&self, count: usize, outputs: Vec<Own>) -> Result<Vec<u8>, Differ>;

    /// One party of it, with what it brings to the set-up: everything until the first input, for repetitions
    /// of so many instances.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn start<'p>(
        &'p self,
        session: Session,
        count: usize,
        own: &Own,
    ) -> Result<Box<dyn EngineParty + 'p>, Abort>;

    /// What JSON says of the job on this engine.
    fn facts(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// One party of a job, on a session.
pub trait EngineParty {
    /// A batch of so many instances, with what this party brings to it; what this party has of the outputs.
    ///
    /// # Errors
    /// The abort that ends the session.
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort>;

    /// What the session counted.
    fn meter(&mut self) -> Counts;

    /// What the last repetition of a benchmark cost, the session's set-up included; from here on the next one
    /// is counted.
    fn counts(&mut self) -> Counts {
        self.meter()
    }

    /// What JSON says of how it went.
    fn facts(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// Whoever looks on.
pub trait Watch {
    /// The next phase begins, or a part of it: a benchmark waits here until all parties have come so far.
    ///
    /// # Errors
    /// If the benchmark ends here.
    fn meet(&mut self, next: &'static str) -> Result<(), Abort>;

    /// A phase took so long, in addition to what it took before.
    fn took(&mut self, phase: &'static str, took: Took);

    /// So much of something long is done, of so much in all.
    fn at(&mut self, done: u64, all: u64) {
        let _ = (done, all);
    }
}

/// Nobody looks on.
pub struct Unwatched;

impl Watch for Unwatched {
    fn meet(&mut self, _: &'static str) -> Result<(), Abort> {
        Ok(())
    }

    fn took(&mut self, _: &'static str, _: Took) {}
}

/// A phase of its own: meet, do it, tell how long it took.
///
/// # Errors
/// The errors of the phase.
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

/// The members of a JSON object.
#[must_use]
pub fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_a_name_of_its_own_and_no_option_has_two_homes() {
        let engines = all();
        for (i, engine) in engines.iter().enumerate() {
            assert!(engines[..i].iter().all(|other| other.name() != engine.name()));
            assert_eq!(named(engine.name()).unwrap().name(), engine.name());
            let usual = EngineSettings { security: engine.usual_security(), ..EngineSettings::default() };
            assert!(check(*engine, &usual).is_ok(), "{}", engine.name());
            for option in engine.options() {
                assert!(belongs(*engine, option).is_ok());
            }
        }
        assert!(named("abacus").err().unwrap().contains("rep3, garble, mixed, spdz or plain"));
        assert!(belongs(engines[0], "form").unwrap_err().reason.contains("--engine garble"));
        assert!(belongs(engines[1], "nobody's").is_ok());
    }

    #[test]
    fn parties_are_as_many_as_an_engine_can_have() {
        for (name, usual, wrong, why) in [
            ("spdz", 3, 33, "has 2 to 32 parties, not 33: give another"),
            ("rep3", 3, 4, "has 3 parties, not 4: leave"),
            ("garble", 3, 129, "has 2 to 128 parties, not 129: give another"),
            ("mixed", 3, 256, "has 2 to 255 parties, not 256: give another"),
            ("plain", 1, 3, "has 1 party, not 3: leave"),
        ] {
            let engine = named(name).unwrap();
            assert_eq!(parties(engine, &EngineSettings::default()), usual);
            assert!(check(engine, &EngineSettings::default().among(wrong)).unwrap_err().reason.contains(why));
        }
    }
}
