//! The hidden command by which this program runs one party of another command.

use super::{CommandOutput, Context};
use clap::Args;
use divisi::failure::Failure;

/// One party's process, which another command starts and controls.
#[derive(Args)]
pub struct PartyArgs {
    /// The purpose of the party
    role: String,
}

pub fn run(_: &Context, arguments: &PartyArgs) -> Result<CommandOutput, Failure> {
    match arguments.role.as_str() {
        divisi::bench::ROLE => divisi::bench::run_party()?,
        divisi::run::ROLE => divisi::run::run_party()?,
        divisi::server::ROLE => divisi::server::run_party()?,
        role => {
            return Err(Failure::usage(format!(
                "unknown role of a party {role:?}: use one version of the program everywhere"
            )));
        }
    }
    Ok(CommandOutput::new("", serde_json::Value::Null))
}
