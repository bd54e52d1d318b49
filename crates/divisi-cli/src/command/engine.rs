//! The choice of an engine: arguments that all engines have, and those of one of them.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};
use divisi::engine::mixed::manner::Manner;
use divisi::engine::settings::STREAMED;
use divisi::engine::{self, Engine, EngineSettings, first_with};
use divisi::failure::Failure;
use divisi::mode::Choice;
use divisi::name::text_of;
use divisi_rep3::Security;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;

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
        let value = |engine: &'static dyn Engine| PossibleValue::new(engine.name()).help(engine.about());
        Some(Box::new(engine::all().into_iter().map(value)))
    }
}

/// The engine, and the number of parties.
#[derive(Args, Clone, Copy)]
pub struct EngineChoice {
    /// The engine that computes
    #[arg(long, default_value = "rep3", value_name = "NAME", value_parser = Names)]
    engine: NamedEngine,
    /// The number of parties: 3 with rep3, 2 to 128 with garble, 2 to 255 with mixed, 2 to 32 with spdz, 1
    /// with plain [default: 3]
    #[arg(long, value_name = "N")]
    pub parties: Option<usize>,
}

impl EngineChoice {
    /// This engine, chosen by the command itself.
    pub fn of(name: &str, parties: Option<usize>) -> Result<Self, Failure> {
        Ok(EngineChoice { engine: NamedEngine(engine::named(name).map_err(Failure::usage)?), parties })
    }

    pub fn engine(self) -> &'static dyn Engine {
        self.engine.0
    }

    /// The security that was given, or the default of this engine.
    pub fn security(self, given: Option<Security>) -> Security {
        given.unwrap_or_else(|| self.engine.0.usual_security())
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum FormName {
    /// With garble: half-gates, and smaller leaky triples
    Improved,
    /// With garble: as in the paper's figures
    Paper,
    /// With mixed: random bits by correlated transfers
    Cot,
    /// With mixed: random bits by products of ciphertexts along a tree
    LeanTree,
    /// With mixed: random bits by a ciphertext that is passed from party to party
    LeanRing,
}

/// The name of a value, as on the command line.
pub fn own(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

#[derive(Clone, Copy, ValueEnum)]
enum CircuitsName {
    /// One round for each level
    Gmw,
    /// Garbled ahead: three rounds at any depth, and a number of bytes a party that does not grow with the
    /// parties
    Mpgc,
}

/// How the engine mixed evaluates circuits.
#[derive(Args, Clone, Copy)]
pub struct CircuitsChoice {
    /// With mixed: how circuits are evaluated [default: gmw]
    #[arg(long, value_enum, value_name = "NAME")]
    protocol: Option<CircuitsName>,
}

impl CircuitsChoice {
    /// Add it to the options of the engine.
    ///
    /// # Errors
    /// [`Failure`] if the option belongs to another engine.
    pub fn own(self, engine: &dyn Engine, own: &mut BTreeMap<String, String>) -> Result<(), Failure> {
        let Some(name) = self.protocol.as_ref().map(self::own) else { return Ok(()) };
        if !engine.protocols().contains(&name.as_str()) {
            let other = first_with(|engine| engine.protocols().contains(&name.as_str()));
            return Err(Failure::usage(format!(
                "the protocol {name} belongs to the engine {other}: give --engine {other}, or leave --protocol out"
            )));
        }
        own.insert(Manner::PROTOCOL.into(), name);
        Ok(())
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum BaseName {
    /// Public-key base OTs in one direction of each pair; those of the other direction from a small OT
    /// extension
    Half,
    /// Public-key base OTs in both directions: fewer rounds
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum PrepName {
    /// Products of bits and vectors, combined in buckets
    Bucketed,
    /// MASCOT, which the paper measures
    Mascot,
}

/// What is wrong with triple-DES keys of which two consecutive ones are equal.
pub const EQUAL_KEYS: &str =
    "K1 = K2 or K2 = K3 (parity bits ignored), which is no more than single DES: draw all keys anew";

/// Print a warning if the engine offers only semi-honest security.
pub fn caution(engine: &dyn Engine, security: Security) {
    if security == Security::SemiHonest && engine.usual_security() == Security::SemiHonest {
        eprintln!(
            "divisi: {} is semi-honest: it protects against parties that follow the protocol, not against parties that deviate",
            engine.name()
        );
    }
}

/// The settings of engines that have a choice.
#[derive(Args, Clone)]
pub struct EngineArgs {
    /// With garble: the form of the tables [default: improved]
    #[arg(long, value_enum, value_name = "NAME")]
    form: Option<FormName>,
    /// With garble, mixed and spdz: the parameter of SoftSpokenOT, 1 to 8; a larger one sends less and
    /// computes more [default: 4; with garble 5 from 262144 ANDs on]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
    /// With garble: how base OTs are made [default: half]
    #[arg(long, value_enum, value_name = "NAME")]
    base_ot: Option<BaseName>,
    /// With garble: the limit of memory for tables, in MiB; a run that needs more is refused [default: 1024]
    #[arg(long, value_name = "MIB")]
    budget: Option<u32>,
    /// With spdz: the bits of the MACs' field, 40 or 48, for triple DES also 42 [default: 48; with
    /// --statistical 64 it is 72]
    #[arg(long, value_name = "BITS")]
    field: Option<u32>,
    /// With spdz: how preprocessing is made [default: bucketed]
    #[arg(long, value_enum, value_name = "NAME")]
    prep: Option<PrepName>,
    /// With spdz: the stock to take preprocessing from, which `prep make` wrote
    #[arg(long, value_name = "DIR")]
    prep_from: Option<PathBuf>,
    /// With spdz: the key file of the stock [default: seal.key in its directory]
    #[arg(long, value_name = "FILE", requires = "prep_from")]
    key_file: Option<PathBuf>,
}

impl EngineArgs {
    /// The options that were given, by their names.
    pub fn own(&self, streamed: bool) -> BTreeMap<String, String> {
        let given = [
            ("form", self.form.as_ref().map(own)),
            ("k", self.k.map(|k| k.to_string())),
            ("base-ot", self.base_ot.as_ref().map(own)),
            ("budget", self.budget.map(|budget| budget.to_string())),
            ("field", self.field.map(|bits| bits.to_string())),
            ("prep", self.prep.as_ref().map(own)),
            ("prep-from", self.prep_from.as_deref().map(text_of)),
            ("key-file", self.key_file.as_deref().map(text_of)),
            (STREAMED, streamed.then(String::new)),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// The engine's settings: these options, and the ones given beside them.
    ///
    /// # Errors
    /// [`Failure`] if the engine does not support them, or an option belongs to another engine.
    pub fn settings_with(
        &self,
        choice: EngineChoice,
        security: Security,
        statistical: Option<u32>,
        own: BTreeMap<String, String>,
        sboxes: Choice,
    ) -> Result<EngineSettings, Failure> {
        let settings = EngineSettings {
            parties: choice.parties,
            security,
            choice: sboxes,
            statistical,
            own,
            ..EngineSettings::default()
        };
        engine::check(choice.engine(), &settings)?;
        Ok(settings)
    }
}
