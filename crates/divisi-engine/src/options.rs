//! Options of one engine, as data: a command line is built from them, so that it names no engine's options
//! itself.

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
    /// Benchmarks of block ciphers: `divisi bench aes` and `des3`.
    Blocks,
    /// Benchmarks of hashes: `divisi bench hash`.
    Hashes,
    /// Benchmarks of MACs: `divisi bench mac`.
    Macs,
    /// Benchmarks of circuits: `divisi bench circuit`.
    Circuits,
    /// Preprocessing that is kept on disk: `divisi prep make`.
    Stocks,
}

impl OptionScope {
    /// The scopes of an option by default: all but benchmarks of hashes and MACs.
    pub const USUAL: &[OptionScope] = &[
        OptionScope::Run,
        OptionScope::KnownAnswers,
        OptionScope::Demonstration,
        OptionScope::Blocks,
        OptionScope::Circuits,
    ];
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
    pub usual: &'static str,
    /// The option without which this one has no meaning.
    pub needs: Option<&'static str>,
    /// An option that cannot be given beside this one.
    pub excludes: Option<&'static str>,
    /// Whether an engine that has no option of this name ignores it, instead of refusing it.
    pub is_common: bool,
    /// The scopes in which the command line offers it; empty if a command declares it by itself.
    pub scopes: &'static [OptionScope],
}

impl EngineOption {
    fn new(name: &'static str, value: OptionValue, help: &'static str) -> EngineOption {
        EngineOption {
            name,
            value,
            help,
            usual: "",
            needs: None,
            excludes: None,
            is_common: false,
            scopes: OptionScope::USUAL,
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
    pub fn usually(mut self, usual: &'static str) -> EngineOption {
        self.usual = usual;
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

    /// The names that it takes; empty if it takes something else.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let names = match &self.value {
            OptionValue::OneOf(names) => names.as_slice(),
            _ => &[],
        };
        names.iter().map(|(name, _)| *name)
    }
}
