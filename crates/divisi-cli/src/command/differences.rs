//! Help texts that say in what the engines differ, made from the engines themselves.

use clap::Arg;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use divisi::engine::job::Cipher;
use divisi::engine::{self, Engine, EngineSettings, OptionScope};
use divisi_core::Security;

/// Names as a list: `garble, mixed and spdz`.
pub(super) fn listed(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The texts of engines, each once, with the names of its engines; empty texts are left out.
fn grouped<'t>(by: &[(&'static str, &'t str)]) -> Vec<(&'t str, Vec<&'static str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, text) in by.iter().copied().filter(|(_, text)| !text.is_empty()) {
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => groups.push((text, vec![name])),
        }
    }
    groups
}

/// The texts of engines in one: `with garble and spdz this; with mixed that`.
pub(super) fn told(by: &[(&'static str, &str)], join: &str) -> String {
    let one = |(text, names): (&str, Vec<&str>)| format!("with {}{join}{text}", listed(&names));
    grouped(by).into_iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The default value of a setting that these engines have: one that they have alike; else that of the default
/// engine, then the others' where they differ: `100000; with spdz 2048`.
fn defaults(has: impl Fn(&dyn Engine) -> bool, value: impl Fn(&dyn Engine) -> String) -> String {
    let engines: Vec<&dyn Engine> = engine::all().into_iter().filter(|engine| has(*engine)).collect();
    let values: Vec<(&'static str, String)> =
        engines.iter().map(|engine| (engine.name(), value(*engine))).collect();
    if let Some((_, first)) = values.first()
        && values.iter().all(|(_, value)| value == first)
    {
        return first.clone();
    }
    let default = values.iter().find(|(name, _)| *name == engine::by_default().name());
    let default = default.map_or("", |(_, value)| value.as_str());
    let others: Vec<(&'static str, &str)> = values
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .filter(|(_, value)| *value != default)
        .collect();
    let all_others = grouped(&others).len() == 1 && others.len() + 1 == engine::all().len();
    let told = match others.first() {
        Some((_, value)) if all_others => format!("with other engines {value}"),
        _ => told(&others, " "),
    };
    [default, &told].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The help of the number of evaluations of a circuit.
pub(super) fn about_count() -> String {
    let default = defaults(|_| true, |engine| engine.profile().evaluations.to_string());
    format!("The number of evaluations [default: {default}]")
}

/// The help of the number of blocks of a cipher.
pub(super) fn about_blocks(cipher: Cipher) -> String {
    let has = |engine: &dyn Engine| engine.profile().ciphers.contains(&cipher.name());
    format!("The number of blocks [default: {}]", defaults(has, |engine| engine.profile().blocks.to_string()))
}

/// The help of the adversary.
pub(super) fn about_security() -> String {
    about_security_of(|_| true)
}

fn about_security_of(has: impl Fn(&dyn Engine) -> bool) -> String {
    let default = defaults(has, |engine| engine.profile().security.name().to_owned());
    format!("The adversary to protect against [default: {default}]")
}

/// The parser of the adversary. It shows those against which one of these engines protects; the others are
/// refused by the engine, with the reason.
pub(super) fn securities(has: impl Fn(&dyn Engine) -> bool) -> ValueParser {
    let protects = |engine: &dyn Engine, security: Security| {
        let settings = EngineSettings { security, ..EngineSettings::default() };
        has(engine) && engine::check(engine, &settings).is_ok()
    };
    let value = |security: Security| {
        let is_shown = engine::all().into_iter().any(|engine| protects(engine, security));
        PossibleValue::new(security.name()).hide(!is_shown)
    };
    let values = [Security::Malicious, Security::SemiHonest].map(value);
    ValueParser::new(PossibleValuesParser::new(values).try_map(|name| name.parse::<Security>()))
}

/// An argument of a benchmark, whose help says of no engine anything that has not what is measured.
pub(super) fn among(scope: OptionScope) -> impl Fn(Arg) -> Arg {
    among_engines(move |engine| scope.has(engine))
}

/// An argument of a benchmark of these engines, whose help says nothing of others.
pub(super) fn among_engines(has: impl Fn(&dyn Engine) -> bool) -> impl Fn(Arg) -> Arg {
    move |argument| match argument.get_id().as_str() {
        "security" => argument.help(about_security_of(&has)).value_parser(securities(&has)),
        "statistical" => {
            let can_choose = engine::all().into_iter().any(|engine| has(engine) && has_choice(engine));
            argument.help(about_statistical(&has)).hide(!can_choose)
        }
        _ => argument,
    }
}

/// Whether an engine has a choice of its statistical security.
fn has_choice(engine: &dyn Engine) -> bool {
    !engine.profile().statistical_choice.is_empty()
}

/// The help of the statistical security that engines have a choice of, and the default bits.
fn about_statistical(has: impl Fn(&dyn Engine) -> bool) -> String {
    let choice = |engine: &dyn Engine| has(engine) && has_choice(engine);
    let engines = engine::all().into_iter().filter(|engine| choice(*engine));
    let choices: Vec<_> =
        engines.map(|engine| (engine.name(), engine.profile().statistical_choice)).collect();
    let bits = |engine: &dyn Engine| {
        engine.statistical_bits(&EngineSettings::default()).map_or(String::new(), |bits| bits.to_string())
    };
    format!(
        "Statistical security in bits: a lie passes with probability at most 2^-BITS: {} [default: {}]",
        told(&choices, " "),
        defaults(choice, bits)
    )
}

/// The help of the statistical security in a benchmark.
pub(super) fn about_statistical_of_all() -> String {
    about_statistical(|_| true)
}

/// The help of the statistical security where only engines with an option of this name take it.
pub(super) fn about_statistical_option() -> String {
    about_statistical(|engine| engine::belongs(engine, "statistical").is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use divisi::engine::job::DesKeys;
    use divisi_symmetric::aes::KeySize;

    #[test]
    fn helps_are_those_of_the_engines() {
        assert_eq!(about_count(), "The number of evaluations [default: 10000; with other engines 1]");
        let blocks = about_blocks(Cipher::Aes(KeySize::Aes128));
        assert_eq!(blocks, "The number of blocks [default: 100000; with spdz 2048]");
        let blocks = about_blocks(Cipher::TripleDes(DesKeys::Three));
        assert_eq!(blocks, "The number of blocks [default: 2048]");
        assert!(about_security().ends_with("[default: malicious; with mixed semi-honest]"));
        let statistical = about_statistical_of_all();
        assert!(statistical.contains(": with rep3 up to 114"), "{statistical}");
        assert!(
            statistical.ends_with("; with garble and spdz 40 or 64 [default: 57; with garble and spdz 40]")
        );
        let option = about_statistical_option();
        assert!(option.ends_with("2^-BITS: with garble and spdz 40 or 64 [default: 40]"), "{option}");
    }

    #[test]
    fn a_benchmark_tells_of_no_other_engines() {
        let help = |name: &'static str, scope| among(scope)(Arg::new(name)).get_help().unwrap().to_string();
        assert!(help("security", OptionScope::Blocks).ends_with("[default: malicious]"));
        assert!(help("statistical", OptionScope::Hashes).ends_with("verified twice [default: 57]"));
        assert!(help("statistical", OptionScope::Blocks).ends_with("[default: 57; with spdz 40]"));
        assert!(help("security", OptionScope::TripleDes).ends_with("against [default: malicious]"));
        assert!(help("statistical", OptionScope::TripleDes).ends_with("with spdz 40 or 64 [default: 40]"));
    }

    #[test]
    fn adversaries_are_those_against_which_an_engine_protects() {
        let shown = |argument: Arg| -> Vec<String> {
            let values = argument.get_possible_values();
            values.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name().into()).collect()
        };
        let security = || Arg::new("security");
        assert_eq!(shown(among(OptionScope::TripleDes)(security())), ["malicious"]);
        for scope in [OptionScope::Blocks, OptionScope::Circuits, OptionScope::Lookups] {
            assert_eq!(shown(among(scope)(security())), ["malicious", "semi-honest"], "{scope:?}");
        }
        let mixed = among_engines(|engine| engine.name() == "mixed");
        assert_eq!(shown(mixed(security())), ["semi-honest"]);
        let help = mixed(security()).get_help().unwrap().to_string();
        assert!(help.ends_with("against [default: semi-honest]"), "{help}");
        assert!(mixed(Arg::new("statistical")).is_hide_set());
    }

    #[test]
    fn equal_texts_are_told_once() {
        let by = [("a", "this"), ("b", "that"), ("c", ""), ("d", "this"), ("e", "this")];
        assert_eq!(told(&by, ": "), "with a, d and e: this; with b: that");
    }
}
