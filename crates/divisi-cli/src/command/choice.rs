//! Arguments that choose how S-boxes are computed, or what matters most.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use divisi::engine::settings::{CONSTANT_ROUND, MODE, ON_DEMAND};
use divisi::engine::{Engine, first_with};
use divisi::failure::Failure;
use divisi::mode::{Choice, Priority};
use divisi_rep3::Protocol;
use divisi_symmetric::gates::Adder;
use std::collections::BTreeMap;

/// A protocol of rep3 or of spdz.
#[derive(Clone, Copy)]
enum Sboxes {
    Rep3(Protocol),
    Spdz(&'static str),
}

fn sboxes(name: &str) -> Result<Sboxes, String> {
    match divisi::engine::spdz::protocols().find(|known| *known == name) {
        Some(known) => Ok(Sboxes::Spdz(known)),
        None => name.parse().map(Sboxes::Rep3),
    }
}

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

/// The rest of the help where the engine may be spdz.
const OF_SPDZ: &str = "; with spdz aes-lt, aes-tinytable, aes-rp, aes-bd, 3des-lt, 3des-tinytable, 3des-pv or \
                       3des-raw [default: gf4-circuit; with spdz aes-lt and 3des-lt]";

/// How S-boxes are computed, on any engine.
#[derive(Args, Clone, Copy)]
pub(super) struct AnyProtocol {
    #[arg(long, value_name = "NAME", conflicts_with = "mode", value_parser = sboxes)]
    #[arg(help = format!("{}{OF_SPDZ}", about_sboxes()))]
    protocol: Option<Sboxes>,
    /// What matters most, instead of a protocol; constant-round, of rep3, garbles hashes, MACs and the modes
    /// of AES without GHASH
    #[arg(long, value_name = "NAME", value_parser = aims())]
    pub(super) mode: Option<Aim>,
}

impl AnyProtocol {
    pub(super) fn get(self) -> Choice {
        let named = match self.protocol {
            Some(Sboxes::Rep3(protocol)) => protocol.into(),
            Some(Sboxes::Spdz(_)) | None => Choice::default(),
        };
        Goal { mode: self.mode }.mode().map_or(named, Choice::from)
    }

    /// The name that is among the options of one engine.
    ///
    /// # Errors
    /// A protocol of another engine.
    pub(super) fn own(self, engine: &dyn Engine, own: &mut BTreeMap<String, String>) -> Result<(), Failure> {
        Goal { mode: self.mode }.own(own);
        let (name, of_one) = match self.protocol {
            None => return Ok(()),
            Some(Sboxes::Spdz(name)) => (name, true),
            Some(Sboxes::Rep3(protocol)) => (protocol.name(), false),
        };
        let names = engine.protocols();
        if of_one && !names.contains(&name) {
            let other = first_with(|engine| engine.protocols().contains(&name));
            return Err(Failure::usage(format!(
                "the protocol {name} belongs to the engine {other}: give --engine {other}, or another --protocol"
            )));
        }
        // an engine that has names of its own refuses those of another by itself
        if !names.is_empty() {
            own.insert("protocol".into(), name.into());
        }
        Ok(())
    }
}

/// What matters most where words are added (SHA-2).
#[derive(Args, Clone, Copy)]
pub(super) struct Goal {
    /// What matters most where words are added (SHA-2): total-throughput takes the fewest ANDs, low-latency
    /// the fewest rounds; constant-round, of rep3, garbles: two messages whatever the circuit
    #[arg(long, value_name = "NAME", value_parser = aims())]
    mode: Option<Aim>,
}

/// Whether circuits are garbled ahead of the inputs.
#[derive(Args, Clone, Copy)]
pub(super) struct Garbling {
    /// With --mode constant-round: garble nothing ahead, so that the online phase has all the work of a job
    /// that no idle time precedes
    #[arg(long)]
    on_demand: bool,
}

impl Garbling {
    /// Add it to the options of the engine.
    pub(super) fn own(self, own: &mut BTreeMap<String, String>) {
        if self.on_demand {
            own.insert(ON_DEMAND.into(), String::new());
        }
    }
}

/// How a circuit is run: a mode of a protocol, or constant rounds.
#[derive(Clone, Copy)]
pub(super) enum Aim {
    Mode(Priority),
    ConstantRound,
}

impl Goal {
    /// The mode that stands for a protocol.
    pub(super) fn mode(self) -> Option<Priority> {
        match self.mode {
            Some(Aim::Mode(mode)) => Some(mode),
            Some(Aim::ConstantRound) | None => None,
        }
    }

    pub(super) fn choice(self) -> Choice {
        self.mode().map(Choice::from).unwrap_or_default()
    }

    /// Add the choice of constant rounds, which is an option of one engine.
    pub(super) fn own(self, own: &mut BTreeMap<String, String>) {
        if let Some(Aim::ConstantRound) = self.mode {
            own.insert(MODE.into(), CONSTANT_ROUND.into());
        }
    }

    pub(super) fn adder(self) -> Adder {
        self.mode().map_or(Adder::FewestAnds, Priority::adder)
    }

    pub(super) fn name(self) -> Option<&'static str> {
        match self.mode {
            Some(Aim::ConstantRound) => Some(CONSTANT_ROUND),
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

/// The parser of modes and of constant rounds.
fn aims() -> impl TypedValueParser<Value = Aim> {
    let mode = |mode: Priority| PossibleValue::new(mode.name()).help(mode.purpose());
    let garbled = PossibleValue::new(CONSTANT_ROUND)
        .help("of rep3: two parties garble, the third evaluates, in two rounds for a circuit of any depth");
    let all = Priority::ALL.map(mode).into_iter().chain([garbled]).collect::<Vec<_>>();
    PossibleValuesParser::new(all).try_map(|name| {
        if name == CONSTANT_ROUND { Ok(Aim::ConstantRound) } else { name.parse::<Priority>().map(Aim::Mode) }
    })
}
