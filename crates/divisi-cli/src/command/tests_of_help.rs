//! What help texts show is taken.
#![allow(clippy::unwrap_used)]

use super::{Cli, Command, bench::BenchCommands, prep::PrepCommands};
use super::{Context, bench_lookup, bench_mixed, demo, kat, params, prep, run};
use clap::{Arg, CommandFactory, FromArgMatches};
use divisi::bench::BenchOptions;
use divisi::cleanup::Cleanup;
use divisi::engine::job::{Cipher, CipherMode, DesKeys, ModeMessage, ModesJob};
use divisi::engine::{self, Between, Demonstration, Engine, EngineSettings, JobSpec, job};
use divisi::failure::Failure;
use divisi::name::Name;
use divisi::reproduce::{self, Thoroughness};
use divisi::{circuit, prep as stocks};
use divisi_core::{Direction, PartyId};
use divisi_program::adapter::jobs::ProgramJob;
use divisi_symmetric::aes::KeySize;
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
    ("params", &["--op dabit", "--op mpgc", "--op linear", ""]),
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
        "NAME" => &["sha256", "hmac-sha256", "aes-128-cbc"],
        "OP" => &["dabit"],
        "OUT" => &["@/out"],
        "WAY" => &["decrypt"],
        "ADDR:PORT" => &["127.0.0.1:0"],
        _ => &["2", "1", "3", "256"],
    }
}

pub(super) fn context() -> Context {
    Context { json: false, verbose: false, timeout: None, cleanup: Cleanup::new() }
}

/// The command line of these words.
pub(super) fn parse(command: &mut clap::Command, words: &str, dir: &str) -> Result<Cli, String> {
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

/// A vector of a cipher alone.
fn one_message(cipher: Cipher) -> JobSpec {
    let (iv, aad) = (Vec::new(), Vec::new());
    let direction = Direction::Encrypt;
    let message = ModeMessage { direction, iv, aad, bytes: 16, spare_bits: 0, tag_bytes: 0, sealed: None };
    ModesJob { mode: CipherMode::Ecb, cipher, messages: vec![message] }.into()
}

/// The options of a benchmark of one job of an engine.
pub(super) fn benchmark(command: &BenchCommands) -> Result<BenchOptions, Failure> {
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
pub(super) fn check(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Run(arguments) => {
            let (engine, settings) = (arguments.engine.engine(), run::settings(arguments)?);
            if let Some(name) = &arguments.program {
                let job = JobSpec::Own(Arc::new(ProgramJob::load(name, None, 1)?));
                engine::prepare(engine, &job, &settings)?;
            }
            arguments.circuit.as_ref().map_or(Ok(()), |name| prepare(name, engine, &settings))
        }
        Command::Kat(arguments) => {
            let (engine, settings) = (arguments.engine.engine(), kat::settings(arguments)?);
            // vectors that an engine with these settings does not support are counted: one suffices
            let takes = |cipher| engine::prepare(engine, &one_message(cipher), &settings).map(drop);
            takes(Cipher::Aes(KeySize::Aes128)).or_else(|_| takes(Cipher::TripleDes(DesKeys::Three)))?;
            Ok(())
        }
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

/// Every command of the catalogue of reproductions is taken, up to the point at which a process would start.
#[test]
fn every_command_of_the_catalogue_is_taken() {
    let mut command = crate::help::arranged(Cli::command());
    let mut commands: Vec<String> = [Thoroughness::Quick, Thoroughness::Full]
        .into_iter()
        .flat_map(|thoroughness| reproduce::commands(thoroughness).unwrap())
        .collect();
    commands.sort();
    commands.dedup();
    let taken = |words: &String| parse(&mut command, words, "").map(drop);
    let refused: Vec<String> = commands.iter().map(taken).filter_map(Result::err).collect();
    assert!(refused.is_empty() && !commands.is_empty(), "{refused:#?}");
}
