//! The choice of an engine, and the arguments that all engines have.

use super::options::{MODE, possible};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};
use divisi::engine::{self, Engine, EngineSettings};
use divisi::failure::Failure;
use divisi::mode::Choice;
use divisi_core::Security;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::OnceLock;

/// An engine, by its name.
#[derive(Clone, Copy)]
pub struct NamedEngine(pub &'static dyn Engine);

/// The names of all engines.
#[derive(Clone)]
pub struct Names;

impl TypedValueParser for Names {
    type Value = NamedEngine;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<NamedEngine, clap::Error> {
        let known = engine::named(&value.to_string_lossy()).map(NamedEngine);
        known.map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, error).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value =
            |engine: &'static dyn Engine| PossibleValue::new(engine.name()).help(engine.profile().about);
        Some(Box::new(engine::all().into_iter().map(value)))
    }
}

/// The engine, and the number of parties.
#[derive(Args, Clone, Copy)]
pub struct EngineChoice {
    /// The engine that computes
    #[arg(long, default_value = engine::usual().name(), value_name = "NAME", value_parser = Names)]
    engine: NamedEngine,
    #[arg(long, value_name = "N", help = about_parties())]
    pub parties: Option<usize>,
}

/// The help of the number of parties: what each engine can have.
fn about_parties() -> String {
    let range = |engine: &&'static dyn Engine| match engine.profile().parties.into_inner() {
        (first, last) if first == last => format!("{first} with {}", engine.name()),
        (first, last) => format!("{first} to {last} with {}", engine.name()),
    };
    let all = engine::all().iter().map(range).collect::<Vec<_>>().join(", ");
    format!("The number of parties: {all} [default: 3]")
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

/// A value of the option `form`, of garbled tables or of random bits, for a command that declares this option
/// by itself.
#[derive(Clone)]
pub struct FormName(PossibleValue);

impl ValueEnum for FormName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: OnceLock<Vec<FormName>> = OnceLock::new();
        ALL.get_or_init(|| possible("form").into_iter().map(FormName).collect())
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(self.0.clone())
    }
}

/// The name of a value, as on the command line.
pub fn own(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
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
    if engine::has_option(choice.engine(), MODE) {
        sboxes.put(&mut own);
    }
    let settings =
        EngineSettings { parties: choice.parties, security, statistical, own, ..EngineSettings::default() };
    engine::check(choice.engine(), &settings)?;
    Ok(settings)
}
