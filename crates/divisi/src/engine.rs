//! The registry of engines: every engine of this program, and those that other crates have added.
//!
//! What an engine is stands in [`divisi_engine`], whose items are here, too.
//!
//! | job | who gives inputs | rep3 | garble | mixed | spdz | plain |
//! |---|---|---|---|---|---|---|
//! | [`JobSpec::Circuit`] between parties | its owners | one evaluation | any number, ahead or streamed | any number | any number | |
//! | [`JobSpec::Circuit`] of a client | dealt | in strands | | | | |
//! | [`JobSpec::Blocks`] | dealt | AES, in strands | | | AES, 3DES; inputs of the parties | |
//! | [`JobSpec::Digests`] | dealt | in strands | | | | |
//! | [`job::AnswersJob::Modes`] | known answers | all | all, short texts | all, short texts | all but those with GF(2^128) | all |
//! | [`job::AnswersJob::Messages`] | known answers | all | all, short messages | all, short messages | CMAC | all |
//! | [`job::AnswersJob::Chain`], [`job::AnswersJob::Large`] | known answers | all | | | | all |
//! | [`JobSpec::Lookups`] | party 1 | all | | | up to ten bits in | |
//! | [`JobSpec::Own`]: operations on numbers and bits, programs of them | dealt; its owners | | | all | | |
//!
//! **A new engine** is a crate that implements [`Engine`], and one line in `ENGINES`; or, for a program of
//! your own, a call of [`add`].

pub use divisi_engine::*;

use std::sync::{PoisonError, RwLock};

/// Every engine of this program, the default one first: a line for each.
static ENGINES: &[&dyn Engine] = &[
    &divisi_symphony::adapter::Replicated,
    &divisi_garble::adapter::GarbleEngine,
    &divisi_program::adapter::MixedEngine,
    &divisi_spdz::adapter::Authenticated,
    &plain::InTheClear,
];

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
pub fn by_default() -> &'static dyn Engine {
    ENGINES.first().copied().unwrap_or(&plain::InTheClear)
}

/// The engine of that name.
///
/// # Errors
/// A sentence that lists the engines, if none has this name.
pub fn named(name: &str) -> Result<&'static dyn Engine, String> {
    let all = all();
    all.iter().copied().find(|engine| engine.profile().name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|engine| engine.profile().name).collect();
        let names = match names.split_last() {
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        format!("the engine {name:?} is not in this version: choose {names}")
    })
}

/// Check that the engine can have this number of parties, and that no option belongs to another engine.
///
/// # Errors
/// If not: the sentence says what to correct.
pub fn check(engine: &dyn Engine, settings: &EngineSettings) -> Result<(), Unsupported> {
    settings.own.keys().try_for_each(|name| belongs(engine, name))?;
    divisi_engine::check(engine, settings)
}

/// Prepare everything public about a job, before any secret exists.
///
/// # Errors
/// [`Unsupported`] if the settings make no sense, or with what the engine does not have and which one has it.
pub fn prepare<'j>(
    engine: &dyn Engine,
    job: &'j JobSpec,
    settings: &EngineSettings,
) -> Result<Box<dyn Prepared + 'j>, Unsupported> {
    check(engine, settings)?;
    let prepared = divisi_engine::prepare(engine, job, settings);
    if has(engine, job) {
        return prepared;
    }
    prepared.map_err(|lacks| match first_with(|engine| has(engine, job)) {
        "none" => lacks,
        other => Unsupported { reason: format!("{lacks}: give --engine {other}"), ..lacks },
    })
}

/// Check that an option belongs to this engine.
///
/// # Errors
/// If it does not: [`Unsupported`] names the engine to which it belongs, if there is one.
pub fn belongs(engine: &dyn Engine, option: &str) -> Result<(), Unsupported> {
    if has_option(engine, option) {
        return Ok(());
    }
    Err(Unsupported::new(match all().into_iter().find(|other| has_option(*other, option)) {
        Some(other) => {
            let other = other.profile().name;
            format!("--{option} belongs to the engine {other}: give --engine {other}, or leave it out")
        }
        None => format!("no engine has an option --{option}: leave it out"),
    }))
}

/// The name of the first engine with a capability, for messages; `none` if no engine has it.
pub fn first_with(has: impl Fn(&dyn Engine) -> bool) -> &'static str {
    all().into_iter().find(|engine| has(*engine)).map_or("none", |engine| engine.profile().name)
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
            let default = EngineSettings { security: engine.profile().security, ..EngineSettings::default() };
            assert!(check(*engine, &default).is_ok(), "{}", engine.name());
            let security = engine.profile().security.name();
            let protects = match engine.profile().adversary {
                Adversary::Nobody => "in the clear".to_owned(),
                Adversary::One => format!("secure against one {security} party"),
                Adversary::AllButOne => format!("secure against up to n - 1 {security} ones"),
            };
            assert!(engine.profile().about.contains(&protects), "{} {protects}", engine.profile().about);
            // what a help text says that can be chosen is what can be chosen
            let bits = |text: &str| text.parse().ok().filter(|bits: &u32| *bits > 1);
            let choice: Vec<u32> =
                engine.profile().statistical_choice.split([' ', ',']).filter_map(bits).collect();
            for statistical in 0..=128 {
                let takes =
                    check(*engine, &EngineSettings { statistical: Some(statistical), ..default.clone() });
                let is_offered = match choice[..] {
                    [largest, _] if engine.profile().statistical_choice.starts_with("up to") => {
                        (1..=largest).contains(&statistical)
                    }
                    _ => choice.contains(&statistical),
                };
                let offers = !choice.is_empty() || belongs(*engine, "statistical").is_ok();
                assert!(!offers || is_offered == takes.is_ok(), "{} {statistical}", engine.name());
            }
            let options = engine.profile().options;
            for (i, option) in options.iter().enumerate() {
                assert!(belongs(*engine, option.name).is_ok());
                assert!(options[..i].iter().all(|other| other.name != option.name), "{}", option.name);
                assert_eq!(option.scopes.is_empty(), option.help.is_empty(), "{}", option.name);
                let limited = option.limits.iter().map(|(name, _)| *name);
                let now = option.formerly.iter().map(|old| old.now);
                let is_taken = |name| option.names().any(|known| known == name);
                assert!(limited.chain(now).all(is_taken), "{} of no value", option.name);
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
        for (name, default, wrong, why) in [
            ("spdz", 3, 33, "has 2 to 32 parties, not 33: give another"),
            ("rep3", 3, 4, "has 3 parties, not 4: leave"),
            ("garble", 3, 129, "has 2 to 128 parties, not 129: give another"),
            ("mixed", 3, 256, "has 2 to 255 parties, not 256: give another"),
            ("plain", 1, 3, "has 1 party, not 3: leave"),
        ] {
            let engine = named(name).unwrap();
            assert_eq!(parties(engine, &EngineSettings::default()), default);
            assert!(check(engine, &EngineSettings::default().among(wrong)).unwrap_err().reason.contains(why));
        }
    }

    /// The cells of a row of a table.
    fn cells(line: &str) -> Vec<&str> {
        line.trim_matches('|').split('|').map(str::trim).collect()
    }

    /// Each row of the table is one claim of an engine, and each claim has its row.
    #[test]
    fn the_table_of_security_md_has_what_the_engines_claim() {
        let page = include_str!("../../../SECURITY.md");
        let mut rows = page.lines().skip_while(|line| !line.starts_with("| engine | parties |"));
        let head = cells(rows.next().unwrap());
        let [parties, statistical, computational] = ["parties", "statistical", "computational"]
            .map(|name| head.iter().position(|cell| *cell == name).unwrap());
        let rows: Vec<Vec<&str>> = rows.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
        let claims: Vec<_> = all().iter().flat_map(|engine| (engine.profile().claims)()).collect();
        assert_eq!(rows.len(), claims.len());
        for claim in &claims {
            let row = rows.iter().find(|row| row[0] == claim.engine).unwrap();
            assert_eq!(row[parties], claim.parties, "{}", claim.engine);
            assert_eq!(row[statistical], claim.statistical, "{}", claim.engine);
            assert_eq!(row[computational], claim.computational, "{}", claim.engine);
        }
    }
}
