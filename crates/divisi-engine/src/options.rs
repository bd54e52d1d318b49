//! Options of one engine, as data: a command line is built from them, so that it names no engine's options
//! itself.

use crate::Engine;
use crate::job::{Cipher, DesKeys};
use divisi_symmetric::aes::KeySize;

/// Where options of engines can be given: commands that take an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionScope {
    /// A circuit or a program among parties: `divisi run`.
    Run,
    /// Known answers: `divisi kat`.
    KnownAnswers,
    /// `divisi demo`.
    Demonstration,
    /// Benchmarks of AES: `divisi bench aes`.
    Blocks,
    /// Benchmarks of triple DES: `divisi bench des3`.
    TripleDes,
    /// Benchmarks of hashes: `divisi bench hash`.
    Hashes,
    /// Benchmarks of MACs: `divisi bench mac`.
    Macs,
    /// Benchmarks of circuits: `divisi bench circuit`.
    Circuits,
    /// Benchmarks of lookups: `divisi bench lookup`.
    Lookups,
    /// Preprocessing that is kept on disk: `divisi prep make`.
    Stocks,
}

impl OptionScope {
    /// The scopes of an option by default: all that compute ciphers, circuits or known answers.
    pub const DEFAULT: &[OptionScope] = &[
        OptionScope::Run,
        OptionScope::KnownAnswers,
        OptionScope::Demonstration,
        OptionScope::Blocks,
        OptionScope::TripleDes,
        OptionScope::Circuits,
    ];

    /// Whether an engine has what the commands of this scope compute. They show no other engine, and no
    /// option that only others have.
    #[must_use]
    pub fn has(self, engine: &dyn Engine) -> bool {
        let jobs = engine.jobs();
        let cipher = |cipher: Cipher| engine.profile().ciphers.contains(&cipher.name());
        match self {
            OptionScope::Run => jobs.circuits.is_some() || jobs.own.is_some(),
            OptionScope::KnownAnswers => jobs.answers.is_some(),
            OptionScope::Demonstration => engine.demonstration().is_some(),
            OptionScope::Blocks => cipher(Cipher::Aes(KeySize::Aes128)),
            OptionScope::TripleDes => cipher(Cipher::TripleDes(DesKeys::Three)),
            OptionScope::Hashes | OptionScope::Macs => jobs.digests.is_some(),
            OptionScope::Circuits => jobs.circuits.is_some(),
            OptionScope::Lookups => jobs.lookups.is_some(),
            OptionScope::Stocks => engine.stock_maker().is_some(),
        }
    }
}

/// What follows an option's name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionValue {
    /// Nothing.
    Switch,
    /// A number, with its name for help texts.
    Number(&'static str),
    /// The name of a file or directory, with its name for help texts.
    Path(&'static str),
    /// One of several names, each with an explanation, which may be empty.
    OneOf(Vec<(&'static str, &'static str)>),
}

/// An older spelling of an option with a value: commands take it for one version, and do not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormerSpelling {
    /// The option that was given, without dashes.
    pub option: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The value of the option of today that means the same.
    pub now: &'static str,
}

/// An option of an engine: the value that was given is in [`super::EngineSettings::own`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineOption {
    /// The name, without dashes.
    pub name: &'static str,
    /// What follows the name.
    pub value: OptionValue,
    /// A phrase for a help text, which follows "with the engine: ".
    pub help: &'static str,
    /// The default value, for a help text; empty if there is nothing to say.
    pub default: &'static str,
    /// The option without which this one has no meaning.
    pub needs: Option<&'static str>,
    /// An option that cannot be given beside this one.
    pub excludes: Option<&'static str>,
    /// Whether an engine that has no option of this name ignores it, instead of refusing it.
    pub is_common: bool,
    /// The scopes in which the command line offers it; empty if a command declares it by itself.
    pub scopes: &'static [OptionScope],
    /// The names among its values that are taken in some of its scopes only.
    pub limits: Vec<(&'static str, &'static [OptionScope])>,
    /// Older spellings.
    pub formerly: Vec<FormerSpelling>,
}

impl EngineOption {
    fn new(name: &'static str, value: OptionValue, help: &'static str) -> EngineOption {
        EngineOption {
            name,
            value,
            help,
            default: "",
            needs: None,
            excludes: None,
            is_common: false,
            scopes: OptionScope::DEFAULT,
            limits: Vec::new(),
            formerly: Vec::new(),
        }
    }

    /// An option without a value.
    #[must_use]
    pub fn switch(name: &'static str, help: &'static str) -> EngineOption {
        EngineOption::new(name, OptionValue::Switch, help)
    }

    /// An option that takes a number.
    #[must_use]
    pub fn number(name: &'static str, value_name: &'static str, help: &'static str) -> EngineOption {
        EngineOption::new(name, OptionValue::Number(value_name), help)
    }

    /// An option that takes the name of a file or directory.
    #[must_use]
    pub fn path(name: &'static str, value_name: &'static str, help: &'static str) -> EngineOption {
        EngineOption::new(name, OptionValue::Path(value_name), help)
    }

    /// An option that takes one of these names, each with an explanation.
    #[must_use]
    pub fn one_of(
        name: &'static str,
        names: impl IntoIterator<Item = (&'static str, &'static str)>,
        help: &'static str,
    ) -> EngineOption {
        EngineOption::new(name, OptionValue::OneOf(names.into_iter().collect()), help)
    }

    /// An option that this engine takes, and that a command declares by itself or every engine's settings
    /// have: it is offered in no scope.
    #[must_use]
    pub fn declared(name: &'static str) -> EngineOption {
        EngineOption::new(name, OptionValue::Switch, "").at(&[])
    }

    /// This option with its default value, for a help text.
    #[must_use]
    pub fn with_default(mut self, default: &'static str) -> EngineOption {
        self.default = default;
        self
    }

    /// This option, which has no meaning without the option `needs`.
    #[must_use]
    pub fn with(mut self, needs: &'static str) -> EngineOption {
        self.needs = Some(needs);
        self
    }

    /// This option, which cannot be given beside the option `excludes`.
    #[must_use]
    pub fn without(mut self, excludes: &'static str) -> EngineOption {
        self.excludes = Some(excludes);
        self
    }

    /// This option, which other engines ignore.
    #[must_use]
    pub fn common(mut self) -> EngineOption {
        self.is_common = true;
        self
    }

    /// This option, offered in these scopes only.
    #[must_use]
    pub fn at(mut self, scopes: &'static [OptionScope]) -> EngineOption {
        self.scopes = scopes;
        self
    }

    /// This option, which takes the name `value` in these of its scopes only.
    #[must_use]
    pub fn limited(mut self, value: &'static str, scopes: &'static [OptionScope]) -> EngineOption {
        self.limits.push((value, scopes));
        self
    }

    /// This option, of which the name `now` was given as `--option value` before.
    #[must_use]
    pub fn formerly(mut self, option: &'static str, value: &'static str, now: &'static str) -> EngineOption {
        self.formerly.push(FormerSpelling { option, value, now });
        self
    }

    /// Whether the name `value` can be given in this scope.
    #[must_use]
    pub fn takes(&self, value: &str, scope: OptionScope) -> bool {
        let limit = self.limits.iter().find(|(name, _)| *name == value);
        limit.is_none_or(|(_, scopes)| scopes.contains(&scope))
    }

    /// The names that it takes; empty if it takes something else.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let names = match &self.value {
            OptionValue::OneOf(names) => names.as_slice(),
            _ => &[],
        };
        names.iter().map(|(name, _)| *name)
    }
}
