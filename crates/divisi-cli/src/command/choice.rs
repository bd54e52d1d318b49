//! Arguments that choose how S-boxes are computed, or what matters most.

use super::options::{MODE, OwnOptions, own_modes};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use divisi::mode::{Choice, Priority};
use divisi_rep3::Protocol;
use divisi_symmetric::gates::Adder;
use std::collections::BTreeMap;

/// The help of a choice among rep3's protocols.
fn about_sboxes() -> String {
    let names: Vec<&str> = Protocol::ALL.iter().map(|protocol| protocol.name()).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("How S-boxes are computed: {} or {last}", others.join(", "))
}

/// How S-boxes are computed.
#[derive(Args, Clone, Copy)]
pub(super) struct ProtocolChoice {
    #[arg(long, default_value = "gf4-circuit", value_name = "NAME", conflicts_with = "mode")]
    #[arg(help = about_sboxes())]
    protocol: Protocol,
    /// What matters most, instead of a protocol
    #[arg(long, value_name = "NAME", value_parser = modes())]
    mode: Option<Priority>,
}

impl ProtocolChoice {
    pub(super) fn get(self) -> Choice {
        self.mode.map_or(self.protocol.into(), Choice::from)
    }
}

/// What matters most, on any engine, where a protocol can be given instead.
#[derive(Args, Clone, Copy)]
pub(super) struct AnyMode {
    /// What matters most, instead of a protocol
    #[arg(long, value_name = "NAME", value_parser = aims())]
    mode: Option<Aim>,
}

impl AnyMode {
    /// How S-boxes are computed: by the protocol among the options, or as the mode says.
    pub(super) fn choice<S>(self, own: &OwnOptions<S>) -> Choice {
        let named = own.protocol().map_or_else(Choice::default, Choice::from);
        self.goal().mode().map_or(named, Choice::from)
    }

    /// Add the mode to an engine's own options, if it is one that a single engine has.
    pub(super) fn own(self, own: &mut BTreeMap<String, String>) {
        self.goal().own(own);
    }

    pub(super) fn is_given(self) -> bool {
        self.mode.is_some()
    }

    pub(super) fn goal(self) -> Goal {
        Goal { mode: self.mode }
    }
}

/// What matters most where words are added (SHA-2).
#[derive(Args, Clone, Copy)]
pub(super) struct Goal {
    /// What matters most where words are added (SHA-2): total-throughput takes the fewest ANDs, low-latency
    /// the fewest rounds
    #[arg(long, value_name = "NAME", value_parser = aims())]
    mode: Option<Aim>,
}

/// A mode: one that stands for a protocol, or one that a single engine has.
#[derive(Clone, Copy)]
pub(super) enum Aim {
    Mode(Priority),
    OfOne(&'static str),
}

impl Goal {
    /// The mode, if it is one that stands for a protocol.
    pub(super) fn mode(self) -> Option<Priority> {
        match self.mode {
            Some(Aim::Mode(mode)) => Some(mode),
            Some(Aim::OfOne(_)) | None => None,
        }
    }

    pub(super) fn choice(self) -> Choice {
        self.mode().map(Choice::from).unwrap_or_default()
    }

    /// Add the mode to an engine's own options, if it is one that a single engine has.
    pub(super) fn own(self, own: &mut BTreeMap<String, String>) {
        if let Some(mode) = self.of_one() {
            own.insert(MODE.into(), mode.into());
        }
    }

    /// The mode, if it is one that a single engine has.
    pub(super) fn of_one(self) -> Option<&'static str> {
        match self.mode {
            Some(Aim::OfOne(mode)) => Some(mode),
            Some(Aim::Mode(_)) | None => None,
        }
    }

    pub(super) fn adder(self) -> Adder {
        self.mode().map_or(Adder::FewestAnds, Priority::adder)
    }

    pub(super) fn name(self) -> Option<&'static str> {
        match self.mode {
            Some(Aim::OfOne(mode)) => Some(mode),
            Some(Aim::Mode(mode)) => Some(mode.name()),
            None => None,
        }
    }
}

/// The parser of modes, with an explanation of each for the help text.
fn modes() -> impl TypedValueParser<Value = Priority> {
    let mode = |mode: Priority| PossibleValue::new(mode.name()).help(mode.purpose());
    PossibleValuesParser::new(Priority::ALL.map(mode)).try_map(|name| name.parse::<Priority>())
}

/// The parser of modes, those of one engine included.
fn aims() -> impl TypedValueParser<Value = Aim> {
    let mode = |mode: Priority| PossibleValue::new(mode.name()).help(mode.purpose());
    let own = own_modes().into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
    let all = Priority::ALL.map(mode).into_iter().chain(own).collect::<Vec<_>>();
    PossibleValuesParser::new(all).try_map(|name| {
        match own_modes().into_iter().find(|(own, _)| *own == name) {
            Some((own, _)) => Ok(Aim::OfOne(own)),
            None => name.parse::<Priority>().map(Aim::Mode),
        }
    })
}
