//! The options of engines as arguments, made from each engine's description of its own options. The options
//! of an engine that is added appear here and are passed to it, and no other code names them.

use super::differences::{listed, told};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use divisi::engine::{self, Engine, EngineOption, OptionScope, OptionValue};
use divisi::failure::Failure;
use divisi::mode::{Choice, PRIORITY, PROTOCOL, Priority};
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
            #[derive(Clone, Copy)]
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
    OfTripleDes = TripleDes,
    OfHashes = Hashes,
    OfMacs = Macs,
    OfCircuits = Circuits,
    OfLookups = Lookups,
    OfStocks = Stocks,
);

/// The options of engines that were given to a command, by their names.
#[derive(Clone)]
pub struct OwnOptions<S> {
    given: BTreeMap<&'static str, String>,
    /// Those that were given as an option of former versions, as they were given.
    spelt: BTreeMap<&'static str, String>,
    of: PhantomData<S>,
}

/// An option of one engine or of several.
struct Offer {
    name: &'static str,
    /// Where it is given, if only some of its values can be given there.
    scope: Option<OptionScope>,
    /// Each engine's description of it, under the engine's name.
    by: Vec<(&'static str, EngineOption)>,
    /// Whether a help text shows it.
    is_shown: bool,
}

/// The options of all engines that a command takes, in order. Those of engines that have nothing of what the
/// command computes are refused by the names of these engines, and not shown.
fn offered(scope: OptionScope) -> Vec<Offer> {
    let mut all: Vec<Offer> = Vec::new();
    let mut engines = engine::all();
    engines.sort_by_key(|engine| !scope.has(*engine));
    for engine in engines {
        let is_shown = scope.has(engine);
        for option in engine.profile().options.into_iter().filter(|option| option.scopes.contains(&scope)) {
            let (name, scope) = (option.name, Some(scope));
            match all.iter_mut().find(|offer| offer.name == name) {
                Some(offer) if offer.is_shown && !is_shown => {}
                Some(offer) => offer.by.push((engine.name(), option)),
                None => all.push(Offer { name, scope, by: vec![(engine.name(), option)], is_shown }),
            }
        }
    }
    all
}

/// An option of former versions, whose values are now values of other options: it is taken, and not shown.
struct FormerOption {
    name: &'static str,
    /// Each value, and the option and its value that mean the same.
    values: Vec<(&'static str, (&'static str, &'static str))>,
}

/// The options of former versions of which a meaning is offered. Where words are added, all meanings count:
/// what mattered most chose the adder.
fn former(offers: &[Offer]) -> Vec<FormerOption> {
    let mut all: Vec<FormerOption> = Vec::new();
    for option in engine::all().into_iter().flat_map(|engine| engine.profile().options) {
        for old in option.formerly.iter().filter(|old| old.option != option.name) {
            let value = (old.value, (option.name, old.now));
            match all.iter_mut().find(|known| known.name == old.option) {
                Some(known) => known.values.push(value),
                None => all.push(FormerOption { name: old.option, values: vec![value] }),
            }
        }
    }
    all.retain(|old| offers.iter().any(|offer| old.means(offer.name)));
    all
}

impl FormerOption {
    /// Whether a value of it means one of this option.
    fn means(&self, name: &str) -> bool {
        self.values.iter().any(|(_, (option, _))| *option == name)
    }

    /// The argument, beside the options that a command offers: it excludes those that it means, and what
    /// these exclude.
    fn arg(&self, offers: &[Offer]) -> Arg {
        let means = |name: &str| self.means(name);
        let is_excluded = |offer: &&Offer| {
            means(offer.name) || offer.by.iter().any(|(_, option)| option.excludes.is_some_and(means))
        };
        let names = self.values.iter().map(|(name, _)| *name);
        Arg::new(self.name)
            .long(self.name)
            .hide(true)
            .value_name("NAME")
            .value_parser(PossibleValuesParser::new(names))
            .conflicts_with_all(offers.iter().filter(is_excluded).map(|offer| offer.name))
    }

    /// If it was given: its value, and the option and the value that were meant.
    fn meant(&self, matches: &ArgMatches) -> Option<(&'static str, (&'static str, &'static str))> {
        let given = matches.get_one::<String>(self.name)?;
        self.values.iter().copied().find(|(name, _)| name == given)
    }
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

    /// The heading above it in a help text: the engines that have it.
    fn heading(&self) -> &'static str {
        let names: Vec<&str> = self.by.iter().map(|(engine, _)| *engine).collect();
        let word = if names.len() == 1 { "Engine" } else { "Engines" };
        // a parser is made once in a process, and keeps no owned headings
        format!("{word} {}", listed(&names)).leak()
    }

    /// What the engines say. The heading names an engine that alone says something.
    fn said(&self, by: &[(&'static str, &'static str)]) -> String {
        match (self.by.as_slice(), by) {
            ([_], [(_, one)]) => capital(one),
            _ => capital(&told(by, ": ")),
        }
    }

    fn help(&self) -> String {
        let help = self.said(&self.all(|option| option.help));
        let default = self.all(|option| option.default);
        let default = match default.as_slice() {
            [(_, one)] => (*one).to_owned(),
            _ => told(&default, " "),
        };
        if default.is_empty() { help } else { format!("{help} [default: {default}]") }
    }

    /// Each name that some engine takes, with the engines' explanations of it. Names that no engine takes in
    /// this scope are refused by the engine, and not shown.
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
        let takes = |name: &str| {
            let has = |option: &EngineOption| option.names().any(|known| known == name);
            let scope = |scope| self.by.iter().any(|(_, option)| has(option) && option.takes(name, scope));
            self.scope.is_none_or(scope)
        };
        let value = |(name, by): (&'static str, Vec<_>)| {
            let value = PossibleValue::new(name).aliases(self.former_names(name)).hide(!takes(name));
            let about = self.said(&by);
            if about.is_empty() { value } else { value.help(about) }
        };
        all.into_iter().map(value).collect()
    }

    /// The names that one of its names had before.
    fn former_names(&self, name: &str) -> Vec<&'static str> {
        let all = self.by.iter().flat_map(|(_, option)| &option.formerly);
        all.filter(|old| old.option == self.name && old.now == name).map(|old| old.value).collect()
    }

    /// The name of today for one that was given.
    fn now(&self, given: &str) -> String {
        let mut all = self.by.iter().flat_map(|(_, option)| &option.formerly);
        let old = all.find(|old| old.option == self.name && old.value == given);
        old.map_or(given, |old| old.now).to_owned()
    }

    fn arg(&self) -> Arg {
        let arg = Arg::new(self.name).long(self.name).help(self.help());
        let arg = arg.help_heading(self.heading()).hide(!self.is_shown);
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
            OptionValue::OneOf(_) => matches.get_one::<String>(self.name).map(|name| self.now(name)),
            _ => matches.get_flag(self.name).then(String::new),
        }
    }
}

impl<S: Scope> Args for OwnOptions<S> {
    fn augment_args(command: Command) -> Command {
        let offers = offered(S::SCOPE);
        let command = offers.iter().fold(command, |command, offer| command.arg(offer.arg()));
        former(&offers).iter().fold(command, |command, old| command.arg(old.arg(&offers)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Scope> FromArgMatches for OwnOptions<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let offers = offered(S::SCOPE);
        let given = offers.iter().filter_map(|offer| Some((offer.name, offer.given(matches)?)));
        let mut own = OwnOptions { given: given.collect(), spelt: BTreeMap::new(), of: PhantomData };
        for old in former(&offers) {
            if let Some((value, (option, now))) = old.meant(matches) {
                own.given.insert(option, now.to_owned());
                own.spelt.insert(option, format!("--{} {value}", old.name));
            }
        }
        Ok(own)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S> OwnOptions<S> {
    /// What matters most, if it was given.
    pub fn priority(&self) -> Option<Priority> {
        self.given.get(PRIORITY)?.parse().ok()
    }

    /// The value that an option of former versions had for what was given: a member of JSON keeps it.
    pub fn formerly(&self, option: &str) -> Option<&'static str> {
        let all = engine::all().into_iter().flat_map(|engine| engine.profile().options);
        let old = all.flat_map(|now| now.formerly.into_iter().map(move |old| (now.name, old)));
        let is_given = |name: &str, value: &str| self.given.get(name).is_some_and(|given| given == value);
        old.filter(|(_, old)| old.option == option)
            .find(|(name, old)| is_given(name, old.now))
            .map(|(_, old)| old.value)
    }

    /// An option as it was given: by its name, or as that of former versions with its value.
    pub fn as_given(&self, option: &str) -> String {
        self.spelt.get(option).cloned().unwrap_or_else(|| format!("--{option}"))
    }

    /// How S-boxes are computed: as what matters most says, or by the protocol that was given.
    pub fn choice(&self) -> Choice {
        let protocol = || self.given.get(PROTOCOL)?.parse::<Protocol>().ok();
        match self.priority() {
            Some(priority) => priority.into(),
            None => protocol().map(Choice::from).unwrap_or_default(),
        }
    }
}

impl<S: Scope> OwnOptions<S> {
    /// The options that were given, for this engine. An option that belongs to another engine is refused
    /// later, by its name; here are refused a value that belongs to another engine, what matters most to
    /// whoever chose an engine that has no choice of it, and what later code would not name as it was given.
    ///
    /// # Errors
    /// [`Failure`] if a value is a name, or an option one, that only another engine takes.
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
            // an option that engines ignore is ignored where it is not offered: there it chose the adder
            let has_meaning = |option: &EngineOption| !option.is_common || option.scopes.contains(&S::SCOPE);
            let is_named_here = *name == PRIORITY || self.spelt.contains_key(name);
            let passes = match owner {
                _ if is_mine => !mine.is_some_and(|option| option.is_common),
                Some((other, option)) if mine.is_none() && is_named_here && has_meaning(&option) => {
                    return Err(Failure::usage(format!(
                        "{} belongs to the engine {other}: give --engine {other}, or leave it out",
                        self.as_given(name)
                    )));
                }
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

/// The names of an option of some engines, for a command that declares the option by itself.
pub fn possible(option: &'static str, of: impl Fn(&dyn Engine) -> bool) -> Vec<PossibleValue> {
    let by = engine::all().into_iter().filter(|engine| of(*engine)).flat_map(|engine| {
        let mine = engine.profile().options.into_iter().filter(|known| known.name == option);
        mine.map(|option| (engine.name(), option)).collect::<Vec<_>>()
    });
    Offer { name: option, scope: None, by: by.collect(), is_shown: true }.names()
}
