//! Options that a help text does not show, of former versions, mean what they meant; and what an engine does
//! not have is refused by the name under which it was given.
#![allow(clippy::unwrap_used)]

use super::tests_of_help::{benchmark, check, context, parse};
use super::{Cli, Command, bench::BenchCommands, circuit::CircuitCommands, prep::PrepCommands};
use super::{demo, kat, prep, run};
use clap::CommandFactory;
use divisi::prep as stocks;

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
        ("circuit info sha256", "--mode total-throughput", "--adder fewest-ands"),
        ("circuit info sha256", "--mode constant-round", "--adder fewest-ands"),
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
        // nothing that it meant is there
        ("bench des3 --mode low-latency", "unexpected argument '--mode'"),
        ("bench lookup --entries 256 --mode low-latency", "unexpected argument '--mode'"),
        ("prep make --protocol aes-lt --blocks 1 --out o --mode low-latency", "unexpected argument '--mode'"),
        ("circuit info sha256 --adder low-latency", "invalid value"),
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

/// An engine that has not what an option is about refuses it, by the name that was given.
#[test]
fn what_an_engine_cannot_heed_is_refused_as_it_was_given() {
    let mut command = crate::help::arranged(Cli::command());
    let mut checked = |words: &str| check(&parse(&mut command, words, "").unwrap());
    for (words, refused) in [
        ("bench aes --engine spdz --priority low-latency", "--priority belongs"),
        ("bench aes --engine spdz --mode low-latency", "--mode low-latency belongs"),
        ("bench mac --engine spdz --priority low-latency", "--priority belongs"),
        ("kat v.json --engine garble --priority low-latency", "--priority belongs"),
        ("kat v.json --engine garble --mode low-latency", "--mode low-latency belongs"),
        ("demo --engine spdz --priority low-latency", "--priority belongs"),
        ("run --circuit aes128 --engine garble --mode constant-round", "--mode constant-round belongs"),
        ("run --circuit aes128 --engine garble --rounds constant", "--rounds belongs"),
        ("demo --engine spdz --mode constant-round", "--mode constant-round belongs"),
    ] {
        let failure = checked(words).unwrap_err();
        let refused = format!("{refused} to the engine rep3: give --engine rep3, or leave it out");
        assert!(failure.kind.exit_code() == 2 && failure.error == refused, "{words}: {failure}");
    }
    // here it chooses the adder, which every engine has
    for words in ["run --circuit aes128 --engine garble", "bench circuit --circuit aes128 --engine garble"] {
        checked(&format!("{words} --mode low-latency")).unwrap();
    }
}
