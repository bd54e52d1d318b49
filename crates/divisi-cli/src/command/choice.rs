//! Arguments that choose how S-boxes are computed, and how words are added.

use super::options::OwnOptions;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use divisi::mode::{Choice, Priority};
use divisi_rep3::Protocol;
use divisi_symmetric::gates::Adder;

/// The help of a choice among rep3's protocols.
fn about_sboxes() -> String {
    let names: Vec<&str> = Protocol::ALL.iter().map(|protocol| protocol.name()).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("How S-boxes are computed: {} or {last}", others.join(", "))
}

/// How servers compute S-boxes.
#[derive(Args, Clone, Copy)]
pub(super) struct ProtocolChoice {
    #[arg(long, default_value = "gf4-circuit", value_name = "NAME", conflicts_with = "priority")]
    #[arg(help = about_sboxes())]
    protocol: Protocol,
    /// What matters most, instead of a protocol
    #[arg(long, alias = "mode", value_name = "NAME", value_parser = priorities())]
    priority: Option<Priority>,
}

impl ProtocolChoice {
    pub(super) fn get(self) -> Choice {
        self.priority.map_or(self.protocol.into(), Choice::from)
    }
}

/// The parser of priorities, with an explanation of each for the help text.
fn priorities() -> impl TypedValueParser<Value = Priority> {
    let value = |priority: Priority| PossibleValue::new(priority.name()).help(priority.purpose());
    PossibleValuesParser::new(Priority::ALL.map(value)).try_map(|name| name.parse::<Priority>())
}

/// What the additions of words in a circuit (SHA-2) minimise.
#[derive(Clone, Copy, ValueEnum)]
enum WordAdder {
    /// The number of ANDs
    FewestAnds,
    /// The number of levels, and with it of rounds, with more ANDs
    LowDepth,
}

impl WordAdder {
    /// What matters most to somebody who chooses it.
    fn priority(self) -> Priority {
        match self {
            WordAdder::FewestAnds => Priority::TotalThroughput,
            WordAdder::LowDepth => Priority::LowLatency,
        }
    }
}

fn adder_of(priority: Option<Priority>) -> Adder {
    priority.map_or(Adder::FewestAnds, Priority::adder)
}

/// How words are added, in commands without engines.
#[derive(Args, Clone, Copy)]
pub(super) struct AdderOfCircuits {
    /// What additions of words (SHA-2) minimise [default: fewest-ands]
    #[arg(long, value_name = "NAME", conflicts_with = "mode")]
    adder: Option<WordAdder>,
    #[arg(long, hide = true, value_name = "NAME")]
    mode: Option<FormerMode>,
}

/// What mattered most in former versions, which chose the adder: it is taken for one version.
#[derive(Clone, Copy, ValueEnum)]
enum FormerMode {
    OnlineThroughput,
    TotalThroughput,
    LowLatency,
    /// It chose nothing about circuits that run nowhere.
    ConstantRound,
}

impl AdderOfCircuits {
    pub(super) fn get(self) -> Adder {
        let former = self.mode.map(|mode| match mode {
            FormerMode::LowLatency => WordAdder::LowDepth,
            _ => WordAdder::FewestAnds,
        });
        adder_of(self.adder.or(former).map(WordAdder::priority))
    }
}

/// How words are added, beside options of engines.
#[derive(Args, Clone, Copy)]
pub(super) struct AdderChoice {
    /// What additions of words (SHA-2) minimise [default: fewest-ands]
    #[arg(long, value_name = "NAME", conflicts_with = "mode")]
    adder: Option<WordAdder>,
}

impl AdderChoice {
    /// What matters most, by the adder or by the spelling of former versions.
    pub(super) fn priority<S>(self, own: &OwnOptions<S>) -> Option<Priority> {
        self.adder.map(WordAdder::priority).or_else(|| own.priority())
    }

    pub(super) fn choice<S>(self, own: &OwnOptions<S>) -> Choice {
        self.priority(own).map(Choice::from).unwrap_or_default()
    }

    pub(super) fn get<S>(self, own: &OwnOptions<S>) -> Adder {
        adder_of(self.priority(own))
    }
}
