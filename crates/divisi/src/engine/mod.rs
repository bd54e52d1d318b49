//! Engines: ways to compute among n parties, each a folder of its own behind one trait.
//!
//! The commands know an engine only through [`Engine`]: its name, its parties, the adversary against which it
//! protects, its phases, and how it prepares a [`Job`] before there is a session ([`Engine::prepare`]). This
//! covers everything public, so that an impossible job is refused before a secret is used. Each party then
//! starts the prepared job on its session ([`Prepared::start`]) and runs batches of instances
//! ([`EngineParty::batch`]). A benchmark observes it through a [`Watch`].
//!
//! | job | who gives inputs | rep3 | garble | mixed | spdz | plain |
//! |---|---|---|---|---|---|---|
//! | [`Job::Circuit`] between parties | its owners | one evaluation | any number, ahead or streamed | any number | any number | |
//! | [`Job::Circuit`] of a client | dealt | in strands | | | | |
//! | [`Job::Blocks`] | dealt | AES, in strands | | | AES, 3DES; inputs of the parties | |
//! | [`Job::Digests`] | dealt | in strands | | | | |
//! | [`Job::Texts`] | known answers | all | all, short texts | all, short texts | all but those with GF(2^128) | all |
//! | [`Job::Messages`] | known answers | all | all, short messages | all, short messages | CMAC | all |
//! | [`Job::Chain`], [`Job::Large`] | known answers | all | | | | all |
//! | [`Job::Lookups`] | party 1 | all | | | up to ten bits in | |
//! | [`Job::Operation`] | dealt | | | all | | |
//! | [`Job::Program`] | its owners | | | all | | |
//!
//! **A new engine** is a folder that implements the three traits, and one line in `ENGINES`; or, outside of
//! this crate, a call of [`add`].

mod agree;
mod claim;
mod clock;
mod demonstration;
mod drawn;
pub mod garble;
mod gcm;
mod groups;
mod hashes;
pub mod job;
mod measured;
pub mod mixed;
mod options;
pub mod plain;
mod prepared;
pub mod rep3;
mod rows;
pub mod settings;
pub mod spdz;
pub mod stock;
mod taken;
mod together;
mod watch;
mod whole;

pub use crate::differ::Differ;
pub use crate::disagreement::Disagreement;
pub use crate::unsupported::Unsupported;
pub use agree::start;
pub use claim::{SecurityClaim, lattice_json};
pub use clock::{Clock, PhaseKind};
pub use demonstration::{Demonstration, FileCipher, FileResults, PreparedFile};
#[cfg(test)]
pub(crate) use drawn::in_the_clear;
pub use job::{Between, Job, Own, alike};
pub use measured::{Measured, Moment, Page, Phase, Took};
pub use options::{EngineOption, OptionScope, OptionValue};
pub use prepared::{BenchSchedule, EngineParty, Prepared};
pub use rows::Rows;
pub use settings::EngineSettings;
pub use stock::{PreparedStock, StockMaker};
pub use together::{Ended, ProgressReport, together, together_seen};
pub use watch::{Unwatched, Watch, timed};

use divisi_core::Security;
use serde_json::{Map, Value, json};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{PoisonError, RwLock};

/// The default engine.
const USUAL: &dyn Engine = &rep3::Replicated;

/// Every engine of this crate: a line for each.
static ENGINES: &[&dyn Engine] =
    &[USUAL, &garble::GarbleEngine, &mixed::MixedEngine, &spdz::Authenticated, &plain::InTheClear];

/// The engines that other crates have added.
static ADDED: RwLock<Vec<&'static dyn Engine>> = RwLock::new(Vec::new());

/// Add an engine to all commands of this process, under a name that no other engine has.
pub fn add(engine: &'static dyn Engine) {
    ADDED.write().unwrap_or_else(PoisonError::into_inner).push(engine);
}

/// Every engine, in order.
#[must_use]
pub fn all() -> Vec<&'static dyn Engine> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    ENGINES.iter().copied().chain(added.iter().copied()).collect()
}

/// The engine that commands use by default: the first.
#[must_use]
pub fn usual() -> &'static dyn Engine {
    USUAL
}

/// The engine of that name.
///
/// # Errors
/// A sentence that lists the engines, if none has this name.
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

/// The adversary against which an engine protects, with its default settings.
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

/// A way to compute among n parties.
pub trait Engine: Sync {
    /// The name, in commands and JSON.
    fn name(&self) -> &'static str;

    /// A description, for one line of a help text.
    fn about(&self) -> &'static str;

    /// The possible numbers of parties.
    fn parties(&self) -> RangeInclusive<usize>;

    /// The adversary against which it protects.
    fn adversary(&self) -> Adversary;

    /// What it claims, a row of SECURITY.md's first table for each kind of adversary; nothing for an engine
    /// that computes in the clear.
    fn claims(&self) -> Vec<SecurityClaim> {
        Vec::new()
    }

    /// The default security: the strongest that it has.
    fn usual_security(&self) -> Security {
        Security::Malicious
    }

    /// The phases that a benchmark reports, in order: those of the meter, and "setup", in which a session
    /// begins. Each says in which rates it counts.
    fn phases(&self, settings: &EngineSettings) -> &'static [Clock];

    /// Its own options: the commands offer them, and their values are in [`EngineSettings::own`]. An option
    /// that no engine has is refused, as is one of another engine.
    fn options(&self) -> Vec<EngineOption> {
        Vec::new()
    }

    /// What `divisi demo` shows of it, if it shows something.
    fn demonstration(&self) -> Option<Demonstration> {
        None
    }

    /// How it makes preprocessing that is kept on disk (`divisi prep`), if it does.
    fn stock_maker(&self) -> Option<&'static dyn StockMaker> {
        None
    }

    /// Whether it runs programs on numbers and bits (`divisi run --program`).
    fn has_programs(&self) -> bool {
        false
    }

    /// Whether it computes blocks of this cipher ([`Job::Blocks`]).
    fn has_blocks(&self, cipher: job::Cipher) -> bool {
        let _ = cipher;
        false
    }

    /// The number of instances of a job that it computes at once.
    fn at_once(&self, job: &Job, settings: &EngineSettings) -> usize {
        let _ = settings;
        job.count()
    }

    /// The expected outputs of a kind of job that only this engine has, computed in the clear; `None` for
    /// other jobs, whose outputs benchmarks compare with ordinary libraries, or with the circuit or table in
    /// the clear.
    fn expected(&self, job: &Job) -> Option<ExpectedOutput> {
        let _ = job;
        None
    }

    /// Whether there was something to verify in a benchmark, so that a verification must have reached
    /// [`Engine::statistical_bits`].
    fn has_verified(&self, measured: &Measured) -> bool {
        measured.verification_error_bits.is_some()
    }

    /// Whether a client deals the inputs in a benchmark of a circuit; otherwise the parties own them in turn.
    fn is_dealt(&self) -> bool {
        false
    }

    /// The default number of blocks of a cipher in a benchmark.
    fn usual_blocks(&self) -> usize {
        100_000
    }

    /// The default number of instances of a circuit in a benchmark.
    fn usual_count(&self) -> usize {
        1
    }

    /// The statistical security in bits: a lie passes with probability at most 2 to the minus this; `None` if
    /// the engine does not detect lies.
    fn statistical_bits(&self, settings: &EngineSettings) -> Option<u32>;

    /// The statistical securities that can be chosen, for a help text (`40 or 64`); empty if there is no
    /// choice.
    fn statistical_choice(&self) -> &'static str {
        ""
    }

    /// Check that it supports these settings (not that its number of parties is right: see [`check`]).
    ///
    /// # Errors
    /// If it does not: the sentence says what to correct.
    fn check(&self, settings: &EngineSettings) -> Result<(), Unsupported>;

    /// Prepare everything public about a job, before any secret exists.
    ///
    /// # Errors
    /// [`Unsupported`] with the reason, for the whole job or some of its instances.
    fn prepare<'j>(
        &self,
        job: &'j Job,
        settings: &EngineSettings,
    ) -> Result<Box<dyn Prepared + 'j>, Unsupported>;

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

/// A function that gives the expected output row of an instance, from its number in the batch and its input
/// row; `None` if the bytes are not an input row of the job.
pub type ExpectedOutput = Box<dyn Fn(u64, &[u8]) -> Option<Vec<u8>>>;

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine {}", self.name())
    }
}

/// The number of parties with these settings: the one asked for, else three, or the number nearest to three
/// that the engine allows.
#[must_use]
pub fn parties(engine: &dyn Engine, settings: &EngineSettings) -> usize {
    settings.parties.unwrap_or_else(|| 3.clamp(*engine.parties().start(), *engine.parties().end()))
}

/// Check that the engine can have this number of parties, and that no option belongs to another engine.
///
/// # Errors
/// If not: the sentence says what to correct.
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

/// Check that an option belongs to this engine.
///
/// # Errors
/// If it does not: [`Unsupported`] names the engine to which it belongs, if there is one.
pub fn belongs(engine: &dyn Engine, option: &str) -> Result<(), Unsupported> {
    let has = |engine: &dyn Engine| engine.options().iter().any(|known| known.name == option);
    if has(engine) {
        return Ok(());
    }
    Err(Unsupported::new(match all().into_iter().find(|other| has(*other)) {
        Some(other) => {
            format!("--{option} belongs to the engine {0}: give --engine {0}, or leave it out", other.name())
        }
        None => format!("no engine has an option --{option}: leave it out"),
    }))
}

/// The name of the first engine with a capability, for messages; `none` if no engine has it.
pub fn first_with(has: impl Fn(&dyn Engine) -> bool) -> &'static str {
    all().into_iter().find(|engine| has(*engine)).map_or("none", |engine| engine.name())
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
            let security = engine.usual_security().name();
            let protects = match engine.adversary() {
                Adversary::Nobody => "in the clear".to_owned(),
                Adversary::One => format!("secure against one {security} party"),
                Adversary::AllButOne => format!("secure against up to n - 1 {security} ones"),
            };
            assert!(engine.about().contains(&protects), "{} {protects}", engine.about());
            // what a help text says that can be chosen is what can be chosen
            let bits = |text: &str| text.parse().ok().filter(|bits: &u32| *bits > 1);
            let choice: Vec<u32> = engine.statistical_choice().split([' ', ',']).filter_map(bits).collect();
            for statistical in 0..=128 {
                let takes =
                    check(*engine, &EngineSettings { statistical: Some(statistical), ..usual.clone() });
                let is_offered = match choice[..] {
                    [largest, _] if engine.statistical_choice().starts_with("up to") => {
                        (1..=largest).contains(&statistical)
                    }
                    _ => choice.contains(&statistical),
                };
                let offers = !choice.is_empty() || belongs(*engine, "statistical").is_ok();
                assert!(!offers || is_offered == takes.is_ok(), "{} {statistical}", engine.name());
            }
            let options = engine.options();
            for (i, option) in options.iter().enumerate() {
                assert!(belongs(*engine, option.name).is_ok());
                assert!(options[..i].iter().all(|other| other.name != option.name), "{}", option.name);
                assert_eq!(option.scopes.is_empty(), option.help.is_empty(), "{}", option.name);
                let needs = option.needs.is_none_or(|name| options.iter().any(|other| other.name == name));
                assert!(needs, "{} needs what {} does not have", option.name, engine.name());
            }
        }
        assert!(named("abacus").err().unwrap().contains("rep3, garble, mixed, spdz or plain"));
        assert!(belongs(engines[0], "form").unwrap_err().reason.contains("--engine garble"));
        assert!(belongs(engines[1], "nobody's").unwrap_err().reason.contains("no engine has"));
        assert!(check(engines[1], &EngineSettings::default().with("nobody's", "")).is_err());
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
