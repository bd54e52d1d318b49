//! `divisi engines`.

use super::CommandOutput;
use super::engine::{NamedEngine, Names};
use clap::Args;
use comfy_table::{Table, presets};
use divisi::engine::{self, Adversary, Engine, EngineOption, EngineSettings, OptionValue, Profile};
use divisi::failure::Failure;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Print the engines: parties, adversary, bits, kinds of jobs, options; of one engine what its options mean.
#[derive(Args)]
#[command(after_help = "Example: divisi engines\nThe options of one: divisi engines spdz")]
pub struct EnginesArgs {
    /// The engine whose options are printed, too
    #[arg(value_name = "NAME", value_parser = Names::ALL)]
    engine: Option<NamedEngine>,
}

/// The output of the command.
pub fn run(arguments: &EnginesArgs) -> Result<CommandOutput, Failure> {
    let chosen = arguments.engine.map(|NamedEngine(engine)| engine);
    let engines = chosen.map_or_else(engine::all, |engine| vec![engine]);
    let json: Vec<Value> = engines.iter().map(|engine| to_json(*engine)).collect();
    let mut text = table(&engines);
    match chosen {
        Some(engine) => options(engine, &mut text),
        None => names_of_options(&engines, &mut text),
    }
    Ok(CommandOutput::new(text, json!({ "schema": 1, "engines": json })))
}

fn adversary(profile: &Profile) -> String {
    match profile.adversary {
        Adversary::Nobody => "none: in the clear".into(),
        Adversary::One => format!("one {} party", profile.security.name()),
        Adversary::AllButOne => format!("all but one, {}", profile.security.name()),
    }
}

/// The kinds of jobs that an engine has.
fn jobs(engine: &dyn Engine) -> Vec<&'static str> {
    let jobs = engine.jobs();
    let kinds = [
        ("circuits", jobs.circuits.is_some()),
        ("blocks", jobs.blocks.is_some()),
        ("digests", jobs.digests.is_some()),
        ("lookups", jobs.lookups.is_some()),
        ("known answers", jobs.answers.is_some()),
        ("numbers and programs", jobs.own.is_some()),
    ];
    kinds.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}

fn bits(engine: &dyn Engine) -> Option<u32> {
    engine.statistical_bits(&EngineSettings {
        security: engine.profile().security,
        ..EngineSettings::default()
    })
}

fn table(engines: &[&dyn Engine]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["engine", "parties", "adversary", "statistical bits", "jobs"]);
    for engine in engines {
        let profile = engine.profile();
        let (first, last) = (profile.parties.start(), profile.parties.end());
        let parties = if first == last { first.to_string() } else { format!("{first} to {last}") };
        let bits = bits(*engine).map_or("-".into(), |bits| bits.to_string());
        table.add_row([
            profile.name.to_owned(),
            parties,
            adversary(&profile),
            bits,
            jobs(*engine).join(", "),
        ]);
    }
    table.trim_fmt()
}

/// The names of the options of each engine.
fn names_of_options(engines: &[&dyn Engine], text: &mut String) {
    text.push_str("\n\nOptions, which `divisi engines NAME` explains:");
    for engine in engines {
        let options = engine.profile().options;
        let names = options.iter().filter(|option| !option.help.is_empty());
        let names: Vec<String> = names.map(|option| format!("--{}", option.name)).collect();
        if !names.is_empty() {
            let _ = write!(text, "\n {} {}", engine.name(), names.join(" "));
        }
    }
}

/// The lines of an engine's options: those that commands offer.
fn options(engine: &dyn Engine, text: &mut String) {
    let profile = engine.profile();
    let _ = write!(text, "\n\n{}\n", profile.about);
    for option in profile.options.iter().filter(|option| !option.help.is_empty()) {
        let value = match &option.value {
            OptionValue::Number(name) | OptionValue::Path(name) => format!(" {name}"),
            OptionValue::OneOf(_) => format!(" {}", option.names().collect::<Vec<_>>().join("|")),
            _ => String::new(),
        };
        let default =
            if option.default.is_empty() { String::new() } else { format!(" [default: {}]", option.default) };
        let _ = write!(text, "\n--{}{value}\n    {}{default}\n", option.name, option.help);
    }
}

fn to_json(engine: &dyn Engine) -> Value {
    let profile = engine.profile();
    let option = |option: &EngineOption| {
        json!({
            "name": option.name,
            "values": option.names().collect::<Vec<_>>(),
            "default": (!option.default.is_empty()).then_some(option.default),
            "help": option.help,
        })
    };
    let adversary = match profile.adversary {
        Adversary::Nobody => "nobody",
        Adversary::One => "one",
        Adversary::AllButOne => "all-but-one",
    };
    json!({
        "name": profile.name,
        "about": profile.about,
        "least_parties": profile.parties.start(),
        "most_parties": profile.parties.end(),
        "adversary": adversary,
        "security": (profile.adversary != Adversary::Nobody).then(|| profile.security.name()),
        "statistical_bits": bits(engine),
        "jobs": jobs(engine),
        "ciphers": profile.ciphers,
        "options": profile.options.iter().filter(|option| !option.help.is_empty()).map(option).collect::<Vec<_>>(),
    })
}
