//! What help texts show is taken; what they do not show, of former versions, means what it meant.
#![allow(clippy::unwrap_used)]

use super::{Cli, Command, bench::BenchCommands, circuit::CircuitCommands, prep::PrepCommands};
use super::{Context, bench_lookup, bench_mixed, demo, kat, params, prep, run};
use clap::{Arg, CommandFactory, FromArgMatches};
use divisi::bench::BenchOptions;
use divisi::cleanup::Cleanup;
use divisi::engine::{self, Between, Demonstration, Engine, EngineSettings, JobSpec, job};
use divisi::failure::Failure;
use divisi::name::Name;
use divisi::{circuit, prep as stocks};
use divisi_core::PartyId;
use divisi_symmetric::gates::Adder;
use std::path::Path;
use std::sync::Arc;

/// The commands with options of engines, each with arguments for each of its forms. `@` is a directory with a
/// mesh of two in `m`, stocks, and files.
const FORMS: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "--circuit aes128",
            "--circuit aes128 --engine garble",
            "--circuit aes128 --engine mixed",
            "--circuit aes128 --engine mixed --protocol mpgc",
            "--circuit aes128 --engine spdz --parties 2",
            "--circuit aes128 --engine spdz --parties 2 --prep-from @/and",
            "--circuit aes128 --engine spdz --party 1 --config @/m/mesh.toml --identity @/m/party-1.key",
            "--program gauss --engine mixed",
        ],
    ),
    (
        "kat",
        &[
            "@/v.json",
            "@/v.json --engine garble",
            "@/v.json --engine mixed",
            "@/v.json --engine plain",
            "@/v.json --engine spdz --parties 2",
            "@/v.json --engine spdz --parties 2 --prep-from @/aes",
            "@/v.json --engine spdz --protocol 3des-lt",
        ],
    ),
    (
        "demo",
        &[
            "",
            "--engine spdz --parties 2",
            "--engine spdz --parties 2 --cipher 3des-cbc",
            "--engine spdz --parties 2 --prep-from @/aes",
        ],
    ),
    (
        "bench aes",
        &[
            "",
            "--rounds constant",
            "--engine spdz --parties 2",
            "--engine spdz --parties 2 --prep-from @/aes --blocks 1 --reps 1 --warmup 0",
        ],
    ),
    (
        "bench des3",
        &[
            "--parties 2",
            "--parties 2 --field 42",
            "--parties 2 --prep-from @/des --blocks 1 --reps 1 --warmup 0",
        ],
    ),
    ("bench hash", &["", "--rounds constant"]),
    ("bench mac", &["", "--rounds constant"]),
    (
        "bench circuit",
        &[
            "--circuit aes128",
            "--circuit aes128 --rounds constant",
            "--circuit aes128 --engine garble",
            "--circuit aes128 --engine mixed",
            "--circuit aes128 --engine mixed --protocol mpgc",
            "--circuit aes128 --engine spdz --parties 2",
            "--circuit aes128 --engine spdz --parties 2 --prep-from @/and",
        ],
    ),
    ("bench lookup", &["--entries 256", "--engine spdz --parties 2 --entries 256", "--engine spdz"]),
    (
        "bench mixed",
        &[
            "",
            "--op dabit",
            "--op a2b",
            "--op lookup",
            "--op mpgc --circuit aes128",
            "--op mpgc",
            "--op program",
            "--op program --program gauss",
            "--op program --program mnist --images @/images",
            "--op program --program mnist --labels @/labels",
        ],
    ),
    (
        "prep make",
        &[
            "--protocol aes-lt --blocks 1 --out @/new",
            "--protocol 3des-lt --blocks 1 --out @/new",
            "--blocks 1 --out @/new",
            "--protocol aes-lt --blocks 1 --out @/new --party 1 --config @/m/mesh.toml --identity @/m/party-1.key",
            "--protocol aes-lt --out @/new",
            "--protocol aes-lt --blocks 1",
        ],
    ),
    ("params", &["--op dabit", "--op mpgc", ""]),
];

/// Values to try for an argument without names.
fn candidates(argument: &Arg) -> &'static [&'static str] {
    let name = argument.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match name {
        "BITS" => &["64", "40", "128"],
        "P" => &["65537", "3221225473"],
        "DIR" => &["@/aes", "@/des", "@/and", "@/new"],
        "FILE" => &[
            "@/t.txt",
            "@/aes/seal.key",
            "@/des/seal.key",
            "@/and/seal.key",
            "@/m/mesh.toml",
            "@/m/party-1.key",
            "@/images",
            "@/labels",
        ],
        "FILE|NAME" => &["aes128", "gauss"],
        "NAME" => &["malicious", "semi-honest", "sha256", "hmac-sha256", "aes-128-cbc"],
        "OP" => &["dabit"],
        "OUT" => &["@/out"],
        "WAY" => &["decrypt"],
        "ADDR:PORT" => &["127.0.0.1:0"],
        _ => &["2", "1", "3", "256"],
    }
}

fn context() -> Context {
    Context { json: false, verbose: false, timeout: None, cleanup: Cleanup::new() }
}

/// The command line of these words.
fn parse(command: &mut clap::Command, words: &str, dir: &str) -> Result<Cli, String> {
    let words = words.split_whitespace().map(|word| word.replace('@', dir));
    let matches = command.try_get_matches_from_mut(std::iter::once("divisi".to_owned()).chain(words));
    let cli = matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    cli.map_err(|error| error.to_string())
}

/// Prepare a circuit on an engine, up to the point at which a party would start.
fn prepare(name: &Name, engine: &dyn Engine, settings: &EngineSettings) -> Result<(), Failure> {
    let held = circuit::hold(name, Adder::FewestAnds, settings.is_streamed())?;
    let between = if engine.profile().deals {
        Between::Client
    } else {
        let first: Vec<PartyId> = PartyId::all(1).collect();
        Between::with_all_to(PartyId::all(2).collect(), &first, held.outputs().len())
    };
    let circuit = job::CircuitJob { circuit: Arc::new(held), adder: Adder::FewestAnds, between, count: 1 };
    engine::prepare(engine, &JobSpec::Circuit(circuit), settings)?;
    Ok(())
}

/// The options of a benchmark of one job of an engine.
fn benchmark(command: &BenchCommands) -> Result<BenchOptions, Failure> {
    let context = context();
    match command {
        BenchCommands::Aes(arguments) => arguments.options(&context),
        BenchCommands::Des3(arguments) => arguments.options(&context),
        BenchCommands::Hash(arguments) => arguments.options(&context),
        BenchCommands::Mac(arguments) => arguments.options(&context),
        BenchCommands::Circuit(arguments) => arguments.options(&context),
        BenchCommands::Mixed(arguments) => bench_mixed::options(&context, arguments),
        BenchCommands::Lookup(arguments) => Ok(bench_lookup::options(&context, arguments)?.0),
        _ => Err(Failure::usage("a benchmark without a job")),
    }
}

/// Check everything that a command checks before it starts a process or reads its input.
fn check(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Run(arguments) => {
            let (engine, settings) = (arguments.engine.engine(), run::settings(arguments)?);
            arguments.circuit.as_ref().map_or(Ok(()), |name| prepare(name, engine, &settings))
        }
        Command::Kat(arguments) => kat::settings(arguments).map(drop),
        Command::Demo(arguments) => match demo::plan(&context(), arguments)? {
            demo::Plan::Servers(_) => Ok(()),
            demo::Plan::Parties(joint) => {
                engine::check(joint.engine, &joint.settings)?;
                let Some(Demonstration::Parties(parties)) = joint.engine.demonstration() else {
                    return Err(Failure::usage("no parties"));
                };
                Ok(parties.prepare_file(&joint.settings, joint.cipher).map(drop)?)
            }
        },
        Command::Bench(command) => {
            let options = benchmark(command)?;
            options.check()?;
            match &options.job {
                JobSpec::Circuit(job) => prepare(job.circuit.name(), options.engine()?, &options.settings()),
                _ => Ok(()),
            }
        }
        Command::Prep(PrepCommands::Make(arguments)) => {
            let settings = prep::settings(arguments)?;
            let maker = stocks::maker(arguments.engine.0)?;
            Ok(maker.prepare_stock(&settings, arguments.blocks, [0; 32]).map(drop)?)
        }
        Command::Params(arguments) => params::run(arguments).map(drop),
        _ => Ok(()),
    }
}

/// A directory with what arguments name.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let images = [&[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28][..], &[7; 784]].concat();
    let files: [(&str, &[u8]); 4] = [
        ("v.json", b"{}"),
        ("t.txt", b"1 2 3 4"),
        ("images", &images),
        ("labels", &[0, 0, 8, 1, 0, 0, 0, 1, 3]),
    ];
    for (name, bytes) in files {
        std::fs::write(Path::new(path).join(name), bytes).unwrap();
    }
    let mut command = Cli::command();
    for words in [
        "mesh new --parties 2 --out @/m",
        "prep make --parties 2 --protocol aes-lt --blocks 1 --out @/aes",
        "prep make --parties 2 --protocol 3des-lt --blocks 1 --out @/des",
        "prep make --parties 2 --protocol bit-products --blocks 6400 --out @/and",
    ] {
        super::run(parse(&mut command, words, path).unwrap()).map(drop).unwrap();
    }
    dir
}

/// The arguments of a command that its help text shows.
fn shown(command: &clap::Command, path: &str) -> Vec<Arg> {
    let below = path.split(' ').fold(command, |command, name| command.find_subcommand(name).unwrap());
    let own = below.get_arguments().filter(|argument| !argument.is_hide_set() && !argument.is_global_set());
    own.filter(|argument| argument.get_long().is_some_and(|long| long != "help")).cloned().collect()
}

/// Each option that a command shows is taken in one of the command's forms, and each name of a value.
#[test]
fn every_option_that_is_shown_is_taken() {
    let (dir, mut command) = (folder(), crate::help::arranged(Cli::command()));
    command.build();
    let dir = dir.path().to_str().unwrap();
    let mut refused = Vec::new();
    for (path, forms) in FORMS {
        let is_complete = |form: &&str| {
            let cli = parse(&mut command, &format!("{path} {form}"), dir);
            cli.is_ok_and(|cli| check(&cli).is_ok())
        };
        let complete: Vec<&str> = forms.iter().copied().filter(is_complete).collect();
        for argument in shown(&command, path) {
            let long = format!("--{}", argument.get_long().unwrap_or_default());
            let has = |form: &&str| form.split(' ').any(|word| word == long);
            let mut takes = |value: &str| {
                forms.iter().filter(|form| !has(form)).any(|form| {
                    let words = format!("{path} {form} {long} {value}");
                    parse(&mut command, &words, dir).is_ok_and(|cli| check(&cli).is_ok())
                })
            };
            let names = argument.get_possible_values();
            let names: Vec<&str> =
                names.iter().filter(|name| !name.is_hide_set()).map(|name| name.get_name()).collect();
            if !argument.get_action().takes_values() {
                refused.extend((!takes("")).then(|| format!("{path} {long}")));
            } else if names.is_empty() {
                let any = complete.iter().any(has) || candidates(&argument).iter().any(|value| takes(value));
                refused.extend((!any).then(|| format!("{path} {long} VALUE")));
            } else {
                refused.extend(
                    names.iter().filter(|name| !takes(name)).map(|name| format!("{path} {long} {name}")),
                );
            }
        }
    }
    assert!(refused.is_empty(), "shown, and refused: {refused:#?}");
}

/// What a command does with what was chosen, as text.
fn meaning(cli: &Cli) -> String {
    match &cli.command {
        Command::Run(arguments) => {
            let priority = arguments.adder.priority(&arguments.own);
            format!("{:?} {priority:?}", run::settings(arguments).unwrap())
        }
        Command::Kat(arguments) => format!("{:?}", kat::settings(arguments).unwrap()),
        Command::Demo(arguments) => match demo::plan(&context(), arguments).unwrap() {
            demo::Plan::Servers(options) => format!("{:?}", options.choice),
            demo::Plan::Parties(joint) => format!("{:?}", joint.settings),
        },
        Command::Bench(BenchCommands::File(arguments)) => format!("{:?}", arguments.choice.get()),
        Command::Bench(command) => {
            let options = benchmark(command).unwrap();
            format!("{:?} {:?}", options.settings(), options.choice)
        }
        Command::Prep(PrepCommands::Make(arguments)) => {
            let settings = prep::settings(arguments).unwrap();
            let maker = stocks::maker(arguments.engine.0).unwrap();
            let made = maker.prepare_stock(&settings, arguments.blocks, [0; 32]).map_err(|e| e.reason);
            format!("{:?}", made.map(|made| made.parameters().digest()).unwrap())
        }
        Command::Circuit(CircuitCommands::Info(arguments)) => format!("{:?}", arguments.adder.get()),
        Command::Encrypt(arguments) => format!("{:?}", arguments.choice.get()),
        Command::Server(arguments) => format!("{:?}", divisi_rep3::RoundsChoice::from(arguments.rounds)),
        _ => String::new(),
    }
}

#[test]
fn former_spellings_mean_what_they_meant_and_exclude_what_they_mean() {
    let mut command = crate::help::arranged(Cli::command());
    let mut cli = |words: &str| parse(&mut command, words, "");
    let server = "server --party 1 --data d";
    for (before, old, new) in [
        ("run --circuit sha256", "--mode constant-round", "--rounds constant"),
        ("run --circuit sha256", "--mode low-latency", "--adder low-depth"),
        ("run --circuit sha256", "--mode total-throughput", "--adder fewest-ands"),
        ("kat v.json", "--mode constant-round", "--rounds constant"),
        ("kat v.json", "--mode low-latency", "--priority low-latency"),
        ("demo", "--mode online-throughput", "--priority online-throughput"),
        ("bench aes", "--mode low-latency", "--priority low-latency"),
        ("bench aes", "--mode constant-round", "--rounds constant"),
        ("bench hash", "--mode low-latency", "--adder low-depth"),
        ("bench hash", "--mode constant-round", "--rounds constant"),
        ("bench mac", "--mode low-latency", "--priority low-latency"),
        ("bench mac", "--mode constant-round", "--rounds constant"),
        ("bench circuit --circuit sha256", "--mode low-latency", "--adder low-depth"),
        ("bench file --bytes 1", "--mode low-latency", "--priority low-latency"),
        ("circuit info sha256", "--mode low-latency", "--adder low-depth"),
        ("encrypt --key k", "--mode online-throughput", "--priority online-throughput"),
        (server, "--mode constant-round", "--rounds constant"),
        (server, "--mode auto", "--rounds auto"),
        ("prep make --blocks 1 --out o", "--protocol and", "--protocol bit-products"),
    ] {
        let [former, today] = [old, new].map(|option| meaning(&cli(&format!("{before} {option}")).unwrap()));
        assert_eq!(former, today, "{before} {old}");
        let default = cli(before).map(|cli| meaning(&cli));
        let is_usual = new.ends_with("fewest-ands") || before.starts_with("prep");
        assert!(is_usual || default.is_ok_and(|default| default != today), "{before} {new} means nothing");
        let both = cli(&format!("{before} {old} {new}")).err().unwrap();
        assert!(both.contains("cannot be used"), "{before} {old} {new}: {both}");
    }
    for (words, why) in [
        ("bench aes --mode low-latency --protocol lut16", "cannot be used with"),
        ("bench aes --priority low-latency --protocol lut16", "cannot be used with"),
        ("encrypt --key k --mode low-latency --protocol lut16", "cannot be used with"),
        ("run --program gauss --mode low-latency", "cannot be used with"),
        ("run --program gauss --adder low-depth", "cannot be used with"),
    ] {
        let error = cli(words).err().unwrap();
        assert!(error.contains(why), "{words}: {error}");
    }
    for words in [
        "bench aes --rounds constant --priority low-latency",
        "bench aes --rounds constant --protocol lut16",
        "bench hash --rounds constant --adder low-depth",
        "kat v.json --rounds constant --priority low-latency",
        "run --circuit sha256 --rounds constant --adder low-depth",
    ] {
        let failure = check(&cli(words).unwrap()).unwrap_err();
        assert!(failure.kind.exit_code() == 2 && failure.error.contains("to choose"), "{words}: {failure}");
    }
}
