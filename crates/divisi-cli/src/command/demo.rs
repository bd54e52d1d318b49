//! `divisi demo`.

use super::engine::EngineOf;
use super::options::{OfDemo, OwnOptions};
use super::{CommandOutput, Context};
use clap::Args;
use divisi::demo::{self, DemoOptions, Joint};
use divisi::engine::job::Cipher;
use divisi::engine::{self, Demonstration, EngineSettings, first_with};
use divisi::failure::Failure;
use divisi::local::this_program;
use divisi::output;
use divisi_symmetric::aes::KeySize;
use std::io::Write;
use std::path::PathBuf;

/// Start three servers on this machine, make a key that none of them holds, encrypt and decrypt a file.
///
/// With --engine spdz there are no servers: parties, of which all but one may be corrupt, draw a key together
/// and encrypt the file in CBC mode, with padding that the client adds.
#[derive(Args)]
#[command(after_help = "Example: divisi demo --file photo.jpg --key-bits 256\n\
                        Nobody trusted: divisi demo --engine spdz --parties 3 --cipher aes-256-cbc --file note.txt")]
pub struct DemoArgs {
    /// The file to encrypt and decrypt [default: a built-in text]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[arg(long, value_name = "OUT", help = about_out())]
    out: Option<PathBuf>,
    /// The size of the key in bits: 128, 192 or 256 [default: 128]; among parties, the cipher determines it
    #[arg(long, value_name = "BITS", value_parser = super::bench::key_size)]
    key_bits: Option<KeySize>,
    #[command(flatten)]
    engine: EngineOf<OfDemo>,
    #[arg(long, value_name = "NAME", value_parser = demo::cipher, help = about_cipher())]
    cipher: Option<Cipher>,
    #[command(flatten)]
    own: OwnOptions<OfDemo>,
}

/// The first engine whose demonstration is one of parties.
fn with_parties() -> &'static str {
    first_with(|engine| matches!(engine.demonstration(), Some(Demonstration::Parties(_))))
}

/// The help of the cipher.
fn about_cipher() -> String {
    format!(
        "With {}: aes-128-cbc, aes-192-cbc, aes-256-cbc or 3des-cbc [default: aes-128-cbc]",
        with_parties()
    )
}

/// The help of the file that is left.
fn about_out() -> String {
    format!("With {}: leave the encrypted file in OUT, and its key in OUT.key", with_parties())
}

const NEXT: &str = "\
Nothing is left behind. On three machines of your own it goes like this:
  divisi mesh new --parties 3 --hosts A:4701,B:4701,C:4701 --clients me --out mesh
  divisi server --config mesh.toml --party I --identity party-I.key --data DIR        (on each)
  divisi key new --key files --type aes-256 --config mesh.toml --identity client-me.key
  divisi encrypt --key files --in F --out F.sealed --config mesh.toml --identity client-me.key
  divisi decrypt --key files --in F.sealed --out F --config mesh.toml --identity client-me.key";

pub fn run(context: &Context, arguments: &DemoArgs) -> Result<CommandOutput, Failure> {
    // Lines are printed as the demonstration proceeds; with --json only the result is printed.
    let mut outcome = Ok(());
    let done = demonstrate(context, arguments, &mut |line| {
        if !context.json && outcome.is_ok() {
            outcome = writeln!(std::io::stdout(), "{line}");
        }
    })?;
    output::written(outcome)?;
    Ok(done)
}

/// A demonstration: by servers, or among parties that trust nobody.
pub(super) enum Plan {
    Servers(DemoOptions),
    Parties(Joint),
}

fn demonstrate(
    context: &Context,
    arguments: &DemoArgs,
    say: &mut dyn FnMut(&str),
) -> Result<CommandOutput, Failure> {
    match plan(context, arguments)? {
        Plan::Servers(options) => {
            let report = demo::run(&options, &this_program()?, &context.cleanup, say)?;
            Ok(CommandOutput::new(NEXT, report.to_json()))
        }
        Plan::Parties(joint) => {
            let nothing_else = joint.out.is_some();
            let left = if nothing_else { "Nothing else is left behind." } else { "Nothing is left behind." };
            Ok(CommandOutput::new(left, demo::joint(&joint, say)?))
        }
    }
}

/// What the arguments ask for.
pub(super) fn plan(context: &Context, arguments: &DemoArgs) -> Result<Plan, Failure> {
    let DemoArgs { file, out, key_bits, engine: chosen, cipher, own: given } = arguments;
    let (engine, own) = (chosen.engine(), given.own(chosen.engine())?);
    let settings = EngineSettings { parties: chosen.parties, own, ..EngineSettings::default() };
    let (file, timeout) = (file.clone(), context.timeout);
    match engine.demonstration() {
        Some(Demonstration::Servers) => {}
        Some(Demonstration::Parties(_)) => {
            if key_bits.is_some() {
                return Err(Failure::usage(
                    "--key-bits belongs to the demonstration of three servers: give --cipher",
                ));
            }
            let cipher = cipher.unwrap_or(Cipher::Aes(KeySize::Aes128));
            return Ok(Plan::Parties(Joint { engine, file, out: out.clone(), cipher, settings, timeout }));
        }
        _ => {
            return Err(Failure::usage(format!(
                "the engine {} has no demonstration: leave --engine out, or give --engine {}",
                engine.name(),
                with_parties()
            )));
        }
    }
    if cipher.is_some() {
        return Err(Failure::usage(format!(
            "--cipher belongs to the engine {0}: give --engine {0}, or --key-bits",
            with_parties()
        )));
    }
    if out.is_some() {
        return Err(Failure::usage(format!(
            "--out belongs to the engine {0}: give --engine {0}, or leave it out",
            with_parties()
        )));
    }
    engine::check(engine, &settings)?;
    if let Some(option) = settings.own.keys().next() {
        let option = given.as_given(option);
        let error = format!("the demonstration of three servers takes no {option}: leave it out");
        return Err(Failure::usage(error));
    }
    let key = key_bits.unwrap_or(KeySize::Aes128);
    Ok(Plan::Servers(DemoOptions { file, key, choice: given.choice(), timeout }))
}
