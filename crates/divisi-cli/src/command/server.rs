//! `divisi server`.

use super::{CommandOutput, Context, Places};
use clap::{Args, ValueEnum};
use divisi::failure::Failure;
use divisi::server::{self, Description};
use divisi_net::PartyId;
use divisi_rep3::RoundsChoice;
use serde_json::json;
use std::path::PathBuf;

/// Run one of the three servers, until SIGTERM or Ctrl-C. It logs one line a request to standard error, and
/// no secret.
///
/// SIGHUP makes it read its configuration again, and its log says what has changed. It listens on one port,
/// that of its party in the configuration. With --json each line of the log is a JSON object.
#[derive(Args)]
#[command(
    after_help = "Example: divisi server --config mesh.toml --party 1 --identity party-1.key --data /var/lib/divisi"
)]
pub struct ServerArgs {
    #[command(flatten)]
    places: Places,
    /// The number of this server, from 1
    #[arg(long, value_name = "I", value_parser = party)]
    party: PartyId,
    /// The address on which this server listens, if others reach it at an address that is not this machine's
    /// own [default: the configuration's]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// The directory in which this server keeps its shares of keys
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// How hashes, MACs and the modes CBC, SIV, KW and KWP run in the rounds that this server leads
    #[arg(long, alias = "mode", value_name = "NAME", value_enum, default_value_t = ServerRounds::Levels)]
    pub(super) rounds: ServerRounds,
    /// Serve with a store that has no keys while the two other servers have some. Without it such a server
    /// serves nothing, because its directory of data is probably the wrong one
    #[arg(long)]
    new_store: bool,
}

/// The ways to run programs, by their names on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ServerRounds {
    /// Level by level, with the least bytes
    Levels,
    /// Two of the servers garble: two messages whatever the algorithm
    #[value(alias = "constant-round")]
    Constant,
    /// Constant rounds if a round trip to the others takes a millisecond or more
    Auto,
}

impl From<ServerRounds> for RoundsChoice {
    fn from(rounds: ServerRounds) -> RoundsChoice {
        match rounds {
            ServerRounds::Levels => RoundsChoice::Levels,
            ServerRounds::Constant => RoundsChoice::Constant,
            ServerRounds::Auto => RoundsChoice::Auto,
        }
    }
}

pub(super) fn party(text: &str) -> Result<PartyId, String> {
    text.parse::<u8>()
        .map_err(|e| match e.kind() {
            std::num::IntErrorKind::PosOverflow => format!("{text} is not in 1..=255"),
            _ => e.to_string(),
        })
        .and_then(|number| PartyId::new(number).ok_or_else(|| format!("{text} is not in 1..=255")))
}

pub fn run(context: &Context, arguments: &ServerArgs) -> Result<CommandOutput, Failure> {
    let (config, identity) = arguments.places.find()?;
    server::run(&Description {
        config,
        party: arguments.party,
        identity,
        data: arguments.data.clone(),
        listen: arguments.listen.clone(),
        timeout: context.timeout,
        rounds: arguments.rounds.into(),
        new_store: arguments.new_store,
        json: context.json,
    })?;
    Ok(CommandOutput::new("", json!({ "schema": 1 })))
}
