//! `divisi demo`.

use super::{Context, Done, ProtocolChoice};
use clap::Args;
use divisi::demo::{self, Options};
use divisi::failure::Failure;
use divisi::local::this_program;
use divisi_symmetric::aes::KeySize;
use std::io::Write;
use std::path::PathBuf;

/// Start three servers on this machine, make a key that none of them holds, encrypt and decrypt a file.
#[derive(Args)]
#[command(after_help = "Example: divisi demo --file photo.jpg --key-bits 256")]
pub struct Arguments {
    /// The file to encrypt and decrypt [default: a text that comes with the program]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The key's size: 128, 192 or 256
    #[arg(long, default_value = "128", value_name = "BITS", value_parser = super::bench::key_size)]
    key_bits: KeySize,
    #[command(flatten)]
    choice: ProtocolChoice,
}

const NEXT: &str = "\
Nothing is left behind. On three machines of your own it goes like this:
  divisi mesh new --parties 3 --hosts A:4701,B:4701,C:4701 --clients me --out mesh
  divisi server --config mesh.toml --party I --identity party-I.key --data DIR        (on each)
  divisi key new --key files --type aes-256 --config mesh.toml --identity client-me.key
  divisi encrypt --key files --in F --out F.sealed --config mesh.toml --identity client-me.key
  divisi decrypt --key files --in F.sealed --out F --config mesh.toml --identity client-me.key";

pub fn run(context: &Context, arguments: &Arguments) -> Result<Done, Failure> {
    let options = Options {
        file: arguments.file.clone(),
        key: arguments.key_bits,
        choice: arguments.choice.get(),
        timeout: context.timeout,
    };
    // Told while it happens; whoever reads JSON gets the end alone.
    let mut say = |line: &str| {
        if !context.json {
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    };
    let report = demo::run(&options, &this_program()?, &context.cleanup, &mut say)?;
    Ok(Done::new(NEXT, report.to_json()))
}
