//! The options of the engine: protocols of S-boxes, and programs in a constant number of rounds.

use crate::Priority;
use crate::choice::{Choice, PROTOCOL};
use divisi_engine::{EngineOption, EngineSettings, OptionScope};
use divisi_rep3::Protocol;

pub use crate::choice::PRIORITY;

/// The name of the option for how programs run.
pub const ROUNDS: &str = "rounds";
/// Its value for programs that run level by level.
const LEVELS: &str = "levels";
/// Its value for programs in a constant number of rounds.
pub const CONSTANT: &str = "constant";
/// The option that [`PRIORITY`] and [`ROUNDS`] were until this version.
const FORMER: &str = "mode";
/// The name of programs in a constant number of rounds in the member `mode` of reports, and on the command
/// line until this version.
const CONSTANT_ROUND: &str = "constant-round";
/// The name of the option with which nothing is garbled ahead.
const ON_DEMAND: &str = "on-demand";

/// The options of this engine.
pub(super) fn options() -> Vec<EngineOption> {
    use OptionScope::{Blocks, Circuits, Demonstration, Hashes, KnownAnswers, Macs, Run};
    let protocols = Protocol::ALL.iter().map(|protocol| (protocol.name(), ""));
    let priorities = Priority::ALL.map(|priority| (priority.name(), priority.purpose()));
    let garbled = "two parties garble, the third evaluates, in two rounds for a circuit of any depth; GCM is \
                   refused, and GMAC takes the rounds of its levels";
    let ways = [(LEVELS, "a round for each level of a circuit, with the least bytes"), (CONSTANT, garbled)];
    let priority = EngineOption::one_of(PRIORITY, priorities, "what matters most, instead of a protocol");
    let former =
        |option: EngineOption, priority: Priority| option.formerly(FORMER, priority.name(), priority.name());
    vec![
        EngineOption::one_of(PROTOCOL, protocols, "how S-boxes are computed")
            .with_default(Choice::default().protocol().name())
            .without(PRIORITY)
            .common()
            .at(&[KnownAnswers, Demonstration, Blocks, Macs]),
        Priority::ALL.into_iter().fold(priority, former).common().at(&[
            KnownAnswers,
            Demonstration,
            Blocks,
            Macs,
        ]),
        EngineOption::one_of(ROUNDS, ways, "how programs run")
            .with_default(LEVELS)
            .formerly(FORMER, CONSTANT_ROUND, CONSTANT)
            .at(&[Run, KnownAnswers, Blocks, Hashes, Macs, Circuits]),
        EngineOption::switch(
            ON_DEMAND,
            "with --rounds constant, garble nothing ahead, so that the online phase has all the work of a job \
             that no idle time precedes",
        )
        .at(&[Blocks, Hashes, Macs, Circuits]),
    ]
}

/// The protocol for S-boxes.
pub(super) fn choice(settings: &EngineSettings) -> Choice {
    let option = |name| settings.own.get(name).map(String::as_str);
    Choice::named(option(PRIORITY), option(PROTOCOL))
}

/// Whether programs run in a constant number of rounds.
pub(super) fn is_constant_round(settings: &EngineSettings) -> bool {
    settings.own.get(ROUNDS).is_some_and(|rounds| rounds == CONSTANT)
}

/// The option whose value is none of the engine's, if there is one.
pub(super) fn unknown(settings: &EngineSettings) -> Option<&'static str> {
    let known: [(&str, fn(&str) -> bool); 3] = [
        (PRIORITY, |name| name.parse::<Priority>().is_ok()),
        (PROTOCOL, |name| name.parse::<Protocol>().is_ok()),
        (ROUNDS, |name| [LEVELS, CONSTANT].contains(&name)),
    ];
    let is_strange = |(option, is_known): &(&str, fn(&str) -> bool)| {
        settings.own.get(*option).is_some_and(|value| !is_known(value))
    };
    known.into_iter().find(is_strange).map(|(option, _)| option)
}

/// Whether it was chosen how S-boxes are computed or words are added, and not by default.
pub(super) fn is_chosen(settings: &EngineSettings) -> bool {
    choice(settings) != Choice::default()
}

/// Whether calls of programs in constant rounds are garbled when their inputs are there, and not ahead.
pub(super) fn is_on_demand(settings: &EngineSettings) -> bool {
    settings.own.contains_key(ON_DEMAND)
}

/// The member `mode` of JSON.
pub(super) fn mode_name(settings: &EngineSettings) -> Option<&'static str> {
    if is_constant_round(settings) { Some(CONSTANT_ROUND) } else { choice(settings).mode_name() }
}
