//! The command-line grammar, and the output of each command.

mod associated;
mod bench;
mod bench_lookup;
mod bench_mixed;
mod bench_servers;
mod choice;
mod circuit;
mod context;
mod crypt;
mod demo;
mod differences;
mod digest;
mod effort;
mod engine;
mod engines;
mod given;
mod imported;
mod kat;
mod key;
mod mesh;
mod options;
mod params;
mod party;
mod places;
mod prep;
mod program;
mod progress;
mod reproduce;
mod run;
mod server;

pub use context::CommandOutput;

use choice::{AdderChoice, AdderOfCircuits, ProtocolChoice};
use clap::{Parser, Subcommand};
use context::{Context, Membership, list, named, positive, seconds, warn};
use divisi::cleanup::Cleanup;
use divisi::failure::Failure;
use places::Places;
use std::time::Duration;

/// The heading of a help text above the options of one real party of a mesh.
const CONNECTION: &str = "Connection";

/// What `--version` says: a build for tests says so, and is never for real secrets.
const VERSION: &str = if divisi_core::TEST_BUILD {
    concat!(env!("CARGO_PKG_VERSION"), ", a test build: never use it with real secrets")
} else {
    env!("CARGO_PKG_VERSION")
};

/// Three servers, one key: encrypt and decrypt with an AES key that no machine holds.
///
/// Three servers keep a key in parts. Together they encrypt and decrypt for their clients; no one of them
/// ever has the key, the data or anything in between, and if one of them cheats the others notice before
/// anything leaves. What they write is ordinary AES-GCM, which any other software opens with the key.
#[derive(Parser)]
#[command(
    name = "divisi",
    version = VERSION,
    after_help = "See it work on this machine:          divisi demo\n\
                  Three machines, from the beginning:   divisi mesh new --parties 3 --hosts A:4701,B:4701,C:4701 --clients me --out mesh\n\
                  Exit codes: 0 done; 1 aborted, refused or a wrong result; 2 wrong arguments, files or configuration."
)]
pub struct Cli {
    /// Print one JSON object on standard output, also for a failure
    #[arg(long, global = true)]
    json: bool,
    /// Report progress on standard error every ten seconds, if it is not a terminal
    #[arg(long, global = true)]
    verbose: bool,
    /// The time limit in seconds for waiting for a message [default: 10, or the configuration's]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start three servers on this machine, make a key that none of them holds, encrypt and decrypt a file
    Demo(demo::DemoArgs),
    /// Make and check the identities and the configuration of parties and clients
    #[command(subcommand)]
    Mesh(mesh::MeshCommands),
    /// Run one of the servers
    Server(server::ServerArgs),
    /// Make, import, list, export, give away and destroy keys
    #[command(subcommand)]
    Key(key::KeyCommands),
    /// Encrypt a file with a key of the servers
    Encrypt(crypt::CryptArgs),
    /// Decrypt a file with a key of the servers
    Decrypt(crypt::CryptArgs),
    /// Hash a file that no server sees
    Hash(digest::HashArgs),
    /// Make or verify a tag of a file with a key of the servers
    Mac(digest::MacArgs),
    /// Run published test vectors (Wycheproof, ACVP) through an engine
    Kat(kat::KatArgs),
    /// Measure a protocol or three servers, as processes on this machine
    #[command(subcommand)]
    Bench(bench::BenchCommands),
    /// Measure the tables of five papers, and put them on a page beside what the papers print
    Reproduce(reproduce::ReproduceArgs),
    /// Make, inspect and remove preprocessing on disk
    #[command(subcommand)]
    Prep(prep::PrepCommands),
    /// Print the engines, and the options of one
    Engines(engines::EnginesArgs),
    /// Print how the parameters of threshold BGV are derived
    Params(params::ParamsArgs),
    /// Run a circuit or a program among parties, each with secret inputs
    Run(run::RunArgs),
    /// Write, read and evaluate Boolean circuits
    #[command(subcommand)]
    Circuit(circuit::CircuitCommands),
    /// Inspect and evaluate programs on numbers and bits
    #[command(subcommand)]
    Program(program::ProgramCommands),
    /// One party's process, started by another command
    #[command(hide = true)]
    Party(party::PartyArgs),
}

impl Cli {
    /// Whether the command takes over its process: signals, standard input, its end.
    pub fn needs_a_process(&self) -> bool {
        matches!(self.command, Command::Party(_) | Command::Server(_))
    }
}

/// Run the command that the arguments describe, as a process of its own.
pub fn run(cli: Cli) -> Result<CommandOutput, Failure> {
    // Before a key, an input or a share is read: parties' processes come through here, too.
    divisi::dumps::forbid();
    // The parties of a command end with the command, and a server handles signals itself.
    let cleanup = if cli.needs_a_process() {
        Cleanup::new()
    } else {
        Cleanup::on_signals()
            .map_err(|e| Failure::unavailable(format!("signals cannot be handled ({e}): try again")))?
    };
    run_with(cli, cleanup)
}

/// Run the command with this register: a signal, and the memory of the process, are the caller's affair.
pub fn run_with(cli: Cli, cleanup: Cleanup) -> Result<CommandOutput, Failure> {
    let context = Context { json: cli.json, verbose: cli.verbose, timeout: cli.timeout, cleanup };
    match cli.command {
        Command::Demo(arguments) => demo::run(&context, &arguments),
        Command::Mesh(command) => mesh::run(&context, &command),
        Command::Server(arguments) => server::run(&context, &arguments),
        Command::Key(command) => key::run(&context, &command),
        Command::Encrypt(arguments) => crypt::encrypt(&context, &arguments),
        Command::Decrypt(arguments) => crypt::decrypt(&context, &arguments),
        Command::Hash(arguments) => digest::hash(&context, &arguments),
        Command::Mac(arguments) => digest::mac(&context, &arguments),
        Command::Kat(arguments) => kat::run(&context, &arguments),
        Command::Bench(command) => bench::run(&context, &command),
        Command::Reproduce(arguments) => reproduce::run(&context, &arguments),
        Command::Prep(command) => prep::run(&context, &command),
        Command::Engines(arguments) => engines::run(&arguments),
        Command::Params(arguments) => params::run(&arguments),
        Command::Run(arguments) => run::run(&context, &arguments),
        Command::Circuit(command) => circuit::run(&context, &command),
        Command::Program(command) => program::run(&command),
        Command::Party(arguments) => party::run(&context, &arguments),
    }
}

#[cfg(test)]
mod tests_of_help;
#[cfg(test)]
mod tests_of_spellings;

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound_and_every_command_explains_itself() {
        let command = Cli::command();
        command.clone().debug_assert();
        fn all(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} says nothing", command.get_name());
            for argument in command.get_arguments().filter(|a| !a.is_hide_set()) {
                assert!(
                    argument.get_help().is_some(),
                    "{} of {} says nothing",
                    argument.get_id(),
                    command.get_name()
                );
            }
            let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let leaf = command.get_subcommands().next().is_none();
            assert!(
                !leaf || command.is_hide_set() || example.contains("Example: divisi "),
                "{} shows no example",
                command.get_name()
            );
            command.get_subcommands().for_each(all);
        }
        all(&command);
    }
}
