//! The choice of an engine, and the arguments that all engines have.

use super::options::Scope;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use divisi::engine::{self, Engine, EngineSettings, OptionScope};
use divisi::failure::Failure;
use divisi::mode::{Choice, PRIORITY};
use divisi_core::Security;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::marker::PhantomData;
use std::ops::Deref;

/// An engine, by its name.
#[derive(Clone, Copy)]
pub struct NamedEngine(pub &'static dyn Engine);

/// The names of engines.
#[derive(Clone, Copy)]
pub struct Names {
    /// What a command computes: a help text shows the engines that have it. Others are refused later, with
    /// the reason.
    scope: Option<OptionScope>,
}

impl Names {
    /// All names.
    pub const ALL: Names = Names { scope: None };

    /// The names for commands of this scope.
    pub const fn of(scope: OptionScope) -> Names {
        Names { scope: Some(scope) }
    }
}

impl TypedValueParser for Names {
    type Value = NamedEngine;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<NamedEngine, Error> {
        let known = engine::named(&value.to_string_lossy()).map(NamedEngine);
        known.map_err(|error| Error::raw(ErrorKind::ValueValidation, error).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let has = |engine| self.scope.is_none_or(|scope| scope.has(engine));
        let value = move |engine: &'static dyn Engine| {
            PossibleValue::new(engine.name()).help(engine.profile().about).hide(!has(engine))
        };
        Some(Box::new(engine::all().into_iter().map(value)))
    }
}

/// The engine, and the number of parties.
#[derive(Clone, Copy)]
pub struct EngineChoice {
    engine: NamedEngine,
    pub parties: Option<usize>,
}

/// The arguments of the choice, in a command that computes what the scope says.
#[derive(Clone, Copy)]
pub struct EngineOf<S> {
    choice: EngineChoice,
    of: PhantomData<S>,
}

impl<S> Deref for EngineOf<S> {
    type Target = EngineChoice;

    fn deref(&self) -> &EngineChoice {
        &self.choice
    }
}

const ENGINE: &str = "engine";
const PARTIES: &str = "parties";

impl<S: Scope> Args for EngineOf<S> {
    fn augment_args(command: Command) -> Command {
        let default = engine::first_with(|engine| S::SCOPE.has(engine));
        command
            .arg(
                Arg::new(ENGINE)
                    .long(ENGINE)
                    .help("The engine that computes")
                    .value_name("NAME")
                    .default_value(default)
                    .value_parser(Names::of(S::SCOPE)),
            )
            .arg(
                Arg::new(PARTIES)
                    .long(PARTIES)
                    .help(about_parties(S::SCOPE))
                    .value_name("N")
                    .value_parser(value_parser!(usize)),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Scope> FromArgMatches for EngineOf<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let default = || NamedEngine(engine::by_default());
        let engine = matches.get_one::<NamedEngine>(ENGINE).copied().unwrap_or_else(default);
        let parties = matches.get_one::<usize>(PARTIES).copied();
        Ok(EngineOf { choice: EngineChoice { engine, parties }, of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The help of the number of parties: what each engine can have.
fn about_parties(scope: OptionScope) -> String {
    let range = |engine: &'static dyn Engine| match engine.profile().parties.into_inner() {
        (first, last) if first == last => format!("{first} with {}", engine.name()),
        (first, last) => format!("{first} to {last} with {}", engine.name()),
    };
    let all = engine::all().into_iter().filter(|engine| scope.has(*engine));
    format!("The number of parties: {} [default: 3]", all.map(range).collect::<Vec<_>>().join(", "))
}

impl EngineChoice {
    /// The choice of the engine with this name, for a command that chooses it by itself.
    pub fn of(name: &str, parties: Option<usize>) -> Result<Self, Failure> {
        Ok(EngineChoice { engine: NamedEngine(engine::named(name).map_err(Failure::usage)?), parties })
    }

    pub fn engine(self) -> &'static dyn Engine {
        self.engine.0
    }

    /// The security that was given, or the default of this engine.
    pub fn security(self, given: Option<Security>) -> Security {
        given.unwrap_or_else(|| self.engine.0.profile().security)
    }
}

/// The warning about triple-DES keys of which two consecutive ones are equal, in words that follow "have" or
/// "has".
pub const EQUAL_KEYS: &str =
    "K1 = K2 or K2 = K3 (parity bits ignored), which is no more than single DES: draw all keys anew";

/// Print a warning if the engine offers only semi-honest security.
pub fn caution(engine: &dyn Engine, security: Security) {
    if security == Security::SemiHonest && engine.profile().security == Security::SemiHonest {
        super::warn(format_args!(
            "{} is semi-honest: it protects against parties that follow the protocol, not against parties that deviate",
            engine.name()
        ));
    }
}

/// The settings of an engine, from its own options and those that all engines have.
///
/// # Errors
/// [`Failure`] if the engine does not support them, or an option belongs to another engine.
pub fn settings_with(
    choice: EngineChoice,
    security: Security,
    statistical: Option<u32>,
    mut own: BTreeMap<String, String>,
    sboxes: Choice,
) -> Result<EngineSettings, Failure> {
    if engine::has_option(choice.engine(), PRIORITY) {
        sboxes.put(&mut own);
    }
    let settings =
        EngineSettings { parties: choice.parties, security, statistical, own, ..EngineSettings::default() };
    engine::check(choice.engine(), &settings)?;
    Ok(settings)
}
