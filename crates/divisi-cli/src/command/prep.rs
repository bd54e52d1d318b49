//! `divisi prep`.

use super::engine::Names;
use super::options::{OfStocks, OwnOptions, possible};
use super::progress::ProgressDisplay;
use super::{CONNECTION, CommandOutput, Context, named};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use divisi::engine::{self, Engine, EngineSettings, OptionScope, first_with};
use divisi::failure::Failure;
use divisi::prep::{self, PrepOptions, StockPart};
use divisi::run::Membership;
use divisi_net::PartyId;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

#[derive(Subcommand)]
pub enum PrepCommands {
    /// Make preprocessing for a number of blocks, and store it on disk
    Make(Make),
    /// Print what a stock is for, and how much of it is left
    Info(PrepInfoArgs),
    /// Overwrite and remove a stock
    Drop(Drop),
}

/// Make preprocessing for a number of blocks, and store it on disk.
///
/// All parties are threads of this process; with --party, one of them is here and the others run the same
/// command elsewhere. Each party's part lies in a directory of its own, sealed under a key file. A run
/// removes the values that it takes: each value is used once. Do not copy stocks: if all parties restore them
/// together, masks are used twice, and no party can notice.
#[derive(Args)]
#[command(after_help = "Example: divisi prep make --protocol aes-lt --blocks 2048 --parties 2 --out stock\n\
                  Then: divisi bench aes --engine spdz --parties 2 --blocks 512 --prep-from stock --reps 1 --warmup 0\n\
                  One real party: divisi prep make --protocol aes-lt --blocks 2048 --out stock --party 1 --config mesh.toml --identity party-1.key")]
pub struct Make {
    /// The engine of the stock
    #[arg(long, default_value = with_stocks(), value_name = "NAME")]
    #[arg(value_parser = Names::of(OptionScope::Stocks))]
    pub(super) engine: super::engine::NamedEngine,
    /// The protocol of the stock; for circuits it is bit-products
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(possible("protocol", has_stocks)))]
    protocol: String,
    /// The number of blocks, which includes key schedules for some keys; for circuits the number of ANDs
    #[arg(long, value_name = "N")]
    pub(super) blocks: u64,
    /// The number of parties [default: 3, or as many as the configuration has]
    #[arg(long, value_name = "N")]
    parties: Option<usize>,
    /// The directory to write to, with a directory for each party
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    own: OwnOptions<OfStocks>,
    /// Statistical security in bits: a lie passes with probability at most 2^-BITS, 40 or 64 [default: 40]
    #[arg(long, value_name = "BITS")]
    statistical: Option<u32>,
    /// The key file to seal the stock with; it is made if it does not exist [default: seal.key in the
    /// directory]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Run only this party of a mesh
    #[arg(long, value_name = "I", requires_all = ["config", "identity"], help_heading = CONNECTION)]
    party: Option<u8>,
    /// The configuration of the mesh
    #[arg(long, value_name = "FILE", requires = "party", help_heading = CONNECTION)]
    config: Option<PathBuf>,
    /// This party's own identity
    #[arg(long, value_name = "FILE", requires = "party", help_heading = CONNECTION)]
    identity: Option<PathBuf>,
    /// The address on which this party listens, if others reach it at an address that is not this machine's
    /// own [default: the configuration's]
    #[arg(long, value_name = "ADDR:PORT", requires = "party", help_heading = CONNECTION)]
    listen: Option<String>,
}

/// The first engine that keeps preprocessing on disk.
fn with_stocks() -> &'static str {
    first_with(has_stocks)
}

fn has_stocks(engine: &dyn Engine) -> bool {
    OptionScope::Stocks.has(engine)
}

/// Print what a stock is for, and how much of it is left.
#[derive(Args)]
#[command(after_help = "Example: divisi prep info stock")]
pub struct PrepInfoArgs {
    /// The directory that `prep make` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The key file of the stock [default: seal.key in the directory]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// Overwrite and remove a stock, in whatever state it is; its key file stays.
#[derive(Args)]
#[command(after_help = "Example: divisi prep drop stock --yes")]
pub struct Drop {
    /// The directory that `prep make` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Confirm the destruction
    #[arg(long)]
    yes: bool,
}

pub fn run(context: &Context, command: &PrepCommands) -> Result<CommandOutput, Failure> {
    match command {
        PrepCommands::Make(arguments) => make(context, arguments),
        PrepCommands::Info(PrepInfoArgs { dir, key_file }) => {
            let parts = prep::info(dir, key_file.as_deref())?;
            Ok(done(dir, &parts))
        }
        PrepCommands::Drop(Drop { dir, yes }) => {
            let parts = prep::parts_in(dir)?;
            if !yes {
                return Err(Failure::usage(format!(
                    "this destroys everything that is left in {}, which has parts of {parts} parties: give --yes to confirm",
                    dir.display()
                )));
            }
            let dropped = prep::drop_all(dir)?;
            let text = format!("dropped the parts of {dropped} parties in {}", dir.display());
            Ok(CommandOutput::new(text, json!({ "schema": 1, "dir": named(dir), "dropped": dropped })))
        }
    }
}

pub(super) fn settings(arguments: &Make) -> Result<EngineSettings, Failure> {
    let Make { engine, protocol, parties, own, statistical, .. } = arguments;
    prep::maker(engine.0)?;
    let mut own = own.own(engine.0)?;
    own.insert("protocol".to_owned(), protocol.clone());
    let settings =
        EngineSettings { parties: *parties, statistical: *statistical, own, ..EngineSettings::default() };
    engine::check(engine.0, &settings)?;
    Ok(settings)
}

fn make(context: &Context, arguments: &Make) -> Result<CommandOutput, Failure> {
    let options = PrepOptions {
        engine: arguments.engine.0,
        settings: settings(arguments)?,
        blocks: arguments.blocks,
        out: arguments.out.clone(),
        key_file: arguments.key_file.clone(),
        timeout: context.timeout,
    };
    let bar = Mutex::new(ProgressDisplay::percent(context));
    let bar = || bar.lock().unwrap_or_else(PoisonError::into_inner);
    let at = |done: u64, of: u64| bar().at(done.saturating_mul(100).checked_div(of).unwrap_or(100));
    let parts = match (arguments.party, &arguments.config, &arguments.identity) {
        (Some(number), Some(config), Some(identity)) => {
            let party = PartyId::new(number)
                .ok_or_else(|| Failure::usage("there is no party 0: parties are numbered from 1"))?;
            let (config, identity, listen) = (config.clone(), identity.clone(), arguments.listen.clone());
            let membership = Membership { party, config, identity, listen };
            prep::make_one(&options, &membership, &mut |done, of| at(done, of)).map(|part| vec![part])
        }
        _ => prep::make(&options, &|done, of| at(done, of)),
    };
    bar().end();
    if parts.is_ok() && arguments.party.is_none() {
        super::warn(format_args!(
            "{} has the parts of all parties, for tests alone: a copy of it that is restored uses masks twice, which reveals what they hide, and no party can notice; give --party to make a real party's part",
            arguments.out.display()
        ));
    }
    Ok(done(&arguments.out, &parts?))
}

fn done(dir: &std::path::Path, parts: &[StockPart]) -> CommandOutput {
    let line = |part: &StockPart| {
        let StockPart { info, blocks_left, bytes, .. } = part;
        format!(
            "party {} of {}: {}, GF(2^{}), {}, k = {}: enough for {blocks_left} of {} blocks, {:.1} MB",
            info.party,
            info.parties,
            info.protocol,
            info.field_bits,
            info.prep,
            info.k,
            info.blocks,
            *bytes as f64 / 1e6
        )
    };
    let text = parts.iter().map(line).collect::<Vec<_>>().join("\n");
    let all: Vec<_> = parts.iter().map(StockPart::to_json).collect();
    CommandOutput::new(text, json!({ "schema": 1, "dir": named(dir), "parts": all }))
}
