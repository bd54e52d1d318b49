//! The options of engines as arguments, made from each engine's description of its own options. The options
//! of an engine that is added appear here and are passed to it, and no other code names them.

use super::differences::told;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use divisi::engine::{self, Engine, EngineOption, OptionScope, OptionValue};
use divisi::failure::Failure;
use divisi::name::text_of;
use divisi_rep3::Protocol;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::PathBuf;

/// A command, or several, that takes options of engines.
pub trait Scope {
    const SCOPE: OptionScope;
}

macro_rules! scopes {
    ($($name:ident = $scope:ident),* $(,)?) => {
        $(
            #[derive(Clone)]
            pub struct $name;

            impl Scope for $name {
                const SCOPE: OptionScope = OptionScope::$scope;
            }
        )*
    };
}

scopes!(
    OfRun = Run,
    OfKat = KnownAnswers,
    OfDemo = Demonstration,
    OfBlocks = Blocks,
    OfHashes = Hashes,
    OfMacs = Macs,
    OfCircuits = Circuits,
    OfStocks = Stocks,
);

/// The options of engines that were given to a command, by their names.
#[derive(Clone)]
pub struct OwnOptions<S> {
    given: BTreeMap<&'static str, String>,
    of: PhantomData<S>,
}

/// An option of one engine or of several.
struct Offer {
    name: &'static str,
    /// Each engine's description of it, under the engine's name.
    by: Vec<(&'static str, EngineOption)>,
}

/// The options of all engines that a command takes, in order.
fn offered(scope: OptionScope) -> Vec<Offer> {
    let mut all: Vec<Offer> = Vec::new();
    for engine in engine::all() {
        for option in engine.profile().options.into_iter().filter(|option| option.scopes.contains(&scope)) {
            match all.iter_mut().find(|offer| offer.name == option.name) {
                Some(offer) => offer.by.push((engine.name(), option)),
                None => all.push(Offer { name: option.name, by: vec![(engine.name(), option)] }),
            }
        }
    }
    all
}

/// The same text with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

impl Offer {
    fn all<'o>(
        &'o self,
        say: impl Fn(&'o EngineOption) -> &'static str,
    ) -> Vec<(&'static str, &'static str)> {
        self.by.iter().map(|(engine, option)| (*engine, say(option))).collect()
    }

    fn help(&self) -> String {
        let help = capital(&told(&self.all(|option| option.help), ": "));
        let usual = self.all(|option| option.usual);
        let usual = match usual.as_slice() {
            [(_, one)] => (*one).to_owned(),
            _ => told(&usual, " "),
        };
        if usual.is_empty() { help } else { format!("{help} [default: {usual}]") }
    }

    /// Each name that some engine takes, with the engines' explanations of it.
    fn names(&self) -> Vec<PossibleValue> {
        let mut all: Vec<(&'static str, Vec<(&'static str, &'static str)>)> = Vec::new();
        for (engine, option) in &self.by {
            let OptionValue::OneOf(names) = &option.value else { continue };
            for (name, about) in names {
                match all.iter_mut().find(|(known, _)| known == name) {
                    Some((_, by)) => by.push((*engine, *about)),
                    None => all.push((*name, vec![(*engine, *about)])),
                }
            }
        }
        let value = |(name, by): (&'static str, Vec<_>)| {
            let value = PossibleValue::new(name);
            let about = capital(&told(&by, ": "));
            if about.is_empty() { value } else { value.help(about) }
        };
        all.into_iter().map(value).collect()
    }

    fn arg(&self) -> Arg {
        let arg = Arg::new(self.name).long(self.name).help(self.help());
        let kind = self.by.first().map_or(&OptionValue::Switch, |(_, option)| &option.value);
        let arg = match kind {
            OptionValue::Number(name) => arg.value_name(*name).value_parser(value_parser!(u32)),
            OptionValue::Path(name) => arg.value_name(*name).value_parser(value_parser!(PathBuf)),
            OptionValue::OneOf(_) => {
                arg.value_name("NAME").value_parser(PossibleValuesParser::new(self.names()))
            }
            _ => arg.action(ArgAction::SetTrue),
        };
        let options = || self.by.iter().map(|(_, option)| option);
        let arg = options().filter_map(|option| option.needs).fold(arg, |arg, other| arg.requires(other));
        options().filter_map(|option| option.excludes).fold(arg, |arg, other| arg.conflicts_with(other))
    }

    /// The value that was given, if one was.
    fn given(&self, matches: &ArgMatches) -> Option<String> {
        match self.by.first().map(|(_, option)| &option.value)? {
            OptionValue::Number(_) => matches.get_one::<u32>(self.name).map(u32::to_string),
            OptionValue::Path(_) => matches.get_one::<PathBuf>(self.name).map(|path| text_of(path)),
            OptionValue::OneOf(_) => matches.get_one::<String>(self.name).cloned(),
            _ => matches.get_flag(self.name).then(String::new),
        }
    }
}

impl<S: Scope> Args for OwnOptions<S> {
    fn augment_args(command: Command) -> Command {
        offered(S::SCOPE).iter().fold(command, |command, offer| command.arg(offer.arg()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Scope> FromArgMatches for OwnOptions<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |offer: Offer| Some((offer.name, offer.given(matches)?));
        Ok(OwnOptions { given: offered(S::SCOPE).into_iter().filter_map(given).collect(), of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S> OwnOptions<S> {
    /// The protocol for S-boxes that is a setting of all engines, if it was given.
    pub fn protocol(&self) -> Option<Protocol> {
        self.given.get("protocol")?.parse().ok()
    }

    /// The options that were given, for this engine. An option that belongs to another engine is refused
    /// later, by its name; a value that belongs to another engine is refused here.
    ///
    /// # Errors
    /// [`Failure`] if a value is a name that only another engine takes.
    pub fn own(&self, engine: &dyn Engine) -> Result<BTreeMap<String, String>, Failure> {
        let (mut all, own) = (BTreeMap::new(), engine.profile().options);
        for (name, value) in &self.given {
            let mine = own.iter().find(|option| option.name == *name);
            let has =
                |option: &EngineOption| option.name == *name && option.names().any(|known| known == value);
            let is_mine =
                mine.is_some_and(|option| !matches!(option.value, OptionValue::OneOf(_)) || has(option));
            let owner = engine::all().into_iter().find_map(|engine| {
                let option = engine.profile().options.into_iter().find(has)?;
                Some((engine.name(), option))
            });
            let is_common = |option: &EngineOption| option.name == *name && option.is_common;
            let exists_for_all =
                || engine::all().iter().any(|engine| engine.profile().options.iter().any(is_common));
            let passes = match owner {
                _ if is_mine => !mine.is_some_and(|option| option.is_common),
                // an engine with names of its own refuses this one in its own words; others ignore it
                Some((_, option)) if option.is_common => mine.is_some_and(|o| o.names().next().is_some()),
                Some((other, _)) if mine.is_some() || exists_for_all() => {
                    return Err(Failure::usage(format!(
                        "--{name} {value} belongs to the engine {other}: give --engine {other}, or leave --{name} out"
                    )));
                }
                _ => true,
            };
            if passes {
                all.insert((*name).to_owned(), value.clone());
            }
        }
        Ok(all)
    }
}

/// The names of an option that some engine has, for a command that declares the option by itself.
pub fn possible(option: &'static str) -> Vec<PossibleValue> {
    let by = engine::all().into_iter().flat_map(|engine| {
        let mine = engine.profile().options.into_iter().filter(|known| known.name == option);
        mine.map(|option| (engine.name(), option)).collect::<Vec<_>>()
    });
    Offer { name: option, by: by.collect() }.names()
}

/// The name of the option for what matters most: all engines have it, and some have values of it that no
/// other engine has.
pub const MODE: &str = "mode";

/// The names of modes that one engine alone has, with an explanation.
pub fn own_modes() -> Vec<(&'static str, &'static str)> {
    let modes = |engine: &'static dyn Engine| {
        let option = engine.profile().options.into_iter().find(|option| option.name == MODE)?;
        if let OptionValue::OneOf(names) = option.value { Some(names) } else { None }
    };
    engine::all().into_iter().filter_map(modes).flatten().collect()
}
