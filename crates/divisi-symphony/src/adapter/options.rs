//! The options of the engine: protocols of S-boxes, and programs in a constant number of rounds.

use crate::choice::{Choice, PROTOCOL};
use divisi_engine::{EngineOption, EngineSettings, OptionScope};
use divisi_rep3::Protocol;

pub use crate::choice::MODE;

/// The value of [`MODE`] for programs in a constant number of rounds.
pub const CONSTANT_ROUND: &str = "constant-round";
/// The name of the option with which nothing is garbled ahead.
const ON_DEMAND: &str = "on-demand";

/// The options of this engine.
pub(super) fn options() -> Vec<EngineOption> {
    use OptionScope::{Blocks, Circuits, Demonstration, Hashes, KnownAnswers, Macs};
    let protocols = Protocol::ALL.iter().map(|protocol| (protocol.name(), ""));
    let garbled = "of rep3: two parties garble, the third evaluates, in two rounds for a circuit of any depth; \
                   GCM is refused, and GMAC takes the rounds of its levels";
    vec![
        EngineOption::one_of(PROTOCOL, protocols, "how S-boxes are computed")
            .usually(Choice::default().protocol().name())
            .without(MODE)
            .common()
            .at(&[KnownAnswers, Demonstration, Blocks, Macs]),
        // one more value of --mode, an option that all engines have
        EngineOption::one_of(MODE, [(CONSTANT_ROUND, garbled)], "").at(&[]),
        EngineOption::switch(
            ON_DEMAND,
            "with --mode constant-round, garble nothing ahead, so that the online phase has all the work of a \
             job that no idle time precedes",
        )
        .at(&[Blocks, Hashes, Macs, Circuits]),
    ]
}

/// The protocol for S-boxes.
pub(super) fn choice(settings: &EngineSettings) -> Choice {
    let option = |name| settings.own.get(name).map(String::as_str);
    Choice::named(option(MODE), option(PROTOCOL))
}

/// Whether programs run in a constant number of rounds. Other values of `--mode` stand for a protocol for
/// S-boxes: see [`Choice`].
pub(super) fn is_constant_round(settings: &EngineSettings) -> bool {
    settings.own.get(MODE).is_some_and(|mode| mode == CONSTANT_ROUND)
}

/// Whether the mode is none of the engine's.
pub(super) fn is_unknown_mode(settings: &EngineSettings) -> bool {
    let known = |mode: &String| mode == CONSTANT_ROUND || mode.parse::<crate::Priority>().is_ok();
    settings.own.get(MODE).is_some_and(|mode| !known(mode))
}

/// Whether the protocol is none of the engine's.
pub(super) fn is_unknown_protocol(settings: &EngineSettings) -> bool {
    settings.own.get(PROTOCOL).is_some_and(|name| name.parse::<Protocol>().is_err())
}

/// Whether calls of the constant-round mode are garbled when their inputs are there, and not ahead.
pub(super) fn is_on_demand(settings: &EngineSettings) -> bool {
    settings.own.contains_key(ON_DEMAND)
}

/// The mode's name, for JSON.
pub(super) fn mode_name(settings: &EngineSettings) -> Option<&'static str> {
    if is_constant_round(settings) { Some(CONSTANT_ROUND) } else { choice(settings).mode_name() }
}
