//! `divisi bench`.

use super::differences::{about_blocks, about_count, among, among_engines};
use super::effort::Effort;
use super::engine::{EngineChoice, EngineOf};
use super::options::{OfBlocks, OfCircuits, OfHashes, OfMacs, OfTripleDes, OwnOptions, Scope};
use super::{AdderChoice, CommandOutput, Context};
use super::{bench_lookup, bench_mixed, bench_servers};
use clap::{Args, Subcommand};
use comfy_table::{CellAlignment, Table, presets};
use divisi::bench::{self, BenchOptions, BenchReport, table4};
use divisi::calibrate::{AES_BY, Calibration, VARIABLE, calibrate, other_milliseconds};
use divisi::engine::job::{Cipher, DesKeys};
use divisi::engine::{OptionScope, Page};
use divisi::failure::Failure;
use divisi::local::this_program;
use divisi::name::Name;
use divisi_core::Direction;
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Algorithm;
use serde_json::json;

#[derive(Subcommand)]
pub enum BenchCommands {
    /// AES among processes over TLS, every output checked
    #[command(mut_args(among(OptionScope::Blocks)))]
    Aes(Aes),
    /// Triple DES among processes over TLS, every output checked
    #[command(mut_args(among(OptionScope::TripleDes)))]
    Des3(Des3),
    /// A hash of messages among three processes over TLS, every digest checked
    #[command(mut_args(among(OptionScope::Hashes)))]
    Hash(BenchHashArgs),
    /// A MAC of messages under one key among three processes over TLS, every tag checked
    #[command(mut_args(among(OptionScope::Macs)))]
    Mac(BenchMacArgs),
    /// A Boolean circuit with random inputs among processes over TLS, every output checked
    #[command(mut_args(among(OptionScope::Circuits)))]
    Circuit(Circuit),
    /// Operations on numbers and bits among semi-honest parties, every output checked
    #[command(mut_args(among_engines(bench_mixed::is_it)))]
    Mixed(bench_mixed::BenchMixedArgs),
    /// Lookups in a public table among processes over TLS, every entry checked
    #[command(mut_args(among(OptionScope::Lookups)))]
    Lookup(bench_lookup::BenchLookupArgs),
    /// Three servers encrypt and decrypt a file; the result is compared byte by byte
    File(bench_servers::File),
    /// Three servers with many clients at the same time, every result checked
    Serve(bench_servers::Serve),
    /// The speed of this machine: AES on one core, loopback, products in GF(2^64)
    #[command(after_help = "Example: divisi bench calibrate --json")]
    Calibrate,
    /// What is now the command reproduce
    #[command(hide = true)]
    Report(super::reproduce::FormerReportArgs),
}

/// Measure AES among processes over TLS, phase by phase.
///
/// Another process makes the inputs and checks every output. Each figure is the median over the
/// repetitions; where the parties differ, it is the largest of theirs.
#[derive(Args)]
#[command(
    after_help = "Example: divisi bench aes --protocol gf4-circuit --security semi-honest --blocks 100000 --reps 5\n\
                        A slow network: divisi bench aes --priority low-latency --blocks 1000 --rtt 20 --rate 100\n\
                        Nobody trusted: divisi bench aes --engine spdz --parties 2 --protocol aes-lt --blocks 512"
)]
pub struct Aes {
    #[command(flatten)]
    engine: EngineOf<OfBlocks>,
    #[command(flatten)]
    own: OwnOptions<OfBlocks>,
    /// The size of the key in bits: 128, 192 or 256
    #[arg(long, default_value = "128", value_name = "BITS", value_parser = key_size)]
    key_bits: KeySize,
    /// The direction: encrypt or decrypt
    #[arg(long, default_value = "encrypt", value_name = "WAY", value_parser = direction)]
    direction: Direction,
    #[arg(long, value_name = "N", help = about_blocks(Cipher::Aes(KeySize::Aes128)))]
    blocks: Option<u64>,
    #[command(flatten)]
    effort: Effort,
}

/// Measure triple DES among processes over TLS, phase by phase.
///
/// Another process makes the inputs and checks every output. Each figure is the median over the
/// repetitions; where the parties differ, it is the largest of theirs.
#[derive(Args)]
#[command(
    after_help = "Example: divisi bench des3 --engine spdz --parties 2 --protocol 3des-lt --blocks 512"
)]
pub struct Des3 {
    #[command(flatten)]
    engine: EngineOf<OfTripleDes>,
    #[command(flatten)]
    own: OwnOptions<OfTripleDes>,
    /// The number of keys: 2 or 3
    #[arg(long, default_value_t = 3, value_name = "N")]
    keys: u8,
    /// The direction: encrypt or decrypt
    #[arg(long, default_value = "encrypt", value_name = "WAY", value_parser = direction)]
    direction: Direction,
    #[arg(long, value_name = "N", help = about_blocks(Cipher::TripleDes(DesKeys::Three)))]
    blocks: Option<u64>,
    #[command(flatten)]
    effort: Effort,
}

/// Measure a hash of messages among three processes over TLS, phase by phase.
///
/// A fourth process makes the messages and checks every digest. Each figure is the median over the
/// repetitions; where the parties differ, it is the largest of theirs.
#[derive(Args)]
#[command(after_help = "Example: divisi bench hash --algorithm sha256 --message-bytes 55 --count 10000\n\
                        One alone: divisi bench hash --algorithm sha256 --message-bytes 55 --count 1 --adder low-depth --reps 50")]
pub struct BenchHashArgs {
    /// The algorithm: sha224 to sha512, sha512-256, sha3-224 to sha3-512, shake128, shake256, cshake128,
    /// cshake256
    #[arg(long, default_value = "sha256", value_name = "NAME", value_parser = hash)]
    algorithm: Algorithm,
    #[command(flatten)]
    messages: Messages,
    #[command(flatten)]
    engine: EngineOf<OfHashes>,
    #[command(flatten)]
    adder: AdderChoice,
    #[command(flatten)]
    own: OwnOptions<OfHashes>,
    #[command(flatten)]
    effort: Effort,
}

/// Measure a MAC of messages under one key among three processes over TLS, phase by phase.
///
/// What depends on the key alone (pad states, subkeys, powers of the hash key) is computed and verified once,
/// in the set-up. A fourth process makes the messages and checks every tag.
#[derive(Args)]
#[command(after_help = "Example: divisi bench mac --algorithm hmac-sha256 --message-bytes 32 --count 10000")]
pub struct BenchMacArgs {
    /// The algorithm: hmac-sha256 and the like, kmac128, kmac256, cmac-aes128, cmac-aes256, gmac-aes128,
    /// gmac-aes256
    #[arg(long, default_value = "hmac-sha256", value_name = "NAME", value_parser = mac)]
    algorithm: Algorithm,
    #[command(flatten)]
    messages: Messages,
    #[command(flatten)]
    engine: EngineOf<OfMacs>,
    #[command(flatten)]
    own: OwnOptions<OfMacs>,
    #[command(flatten)]
    effort: Effort,
}

/// Measure a Boolean circuit of random inputs among processes over TLS, phase by phase.
///
/// With garble: inputs belong to the parties in turn, party 1 learns the outputs, and each repetition is a
/// session of its own. Evaluations that do not fit the memory together are split into waves, which pass
/// through all phases but the set-up one after the other: seconds and bytes are sums over all waves, rounds
/// those of one wave. With --streamed the phases alternate, and are timed together.
#[derive(Args)]
#[command(after_help = "Example: divisi bench circuit --circuit keccak-f --count 1000\n\
                        Nobody trusted: divisi bench circuit --engine garble --circuit aes128 --parties 3 --count 1\n\
                        Curious parties (semi-honest): divisi bench circuit --engine mixed --circuit aes128 --parties 3 --count 1000")]
pub struct Circuit {
    /// A file in Bristol Fashion or the old Bristol format, or the name of a built-in circuit
    #[arg(long, value_name = "FILE|NAME")]
    circuit: Name,
    #[arg(long, value_name = "N", help = about_count())]
    count: Option<u64>,
    #[command(flatten)]
    engine: EngineOf<OfCircuits>,
    #[command(flatten)]
    adder: AdderChoice,
    #[command(flatten)]
    own: OwnOptions<OfCircuits>,
    #[command(flatten)]
    effort: Effort,
}

/// How many messages, and how long.
#[derive(Args)]
struct Messages {
    /// The length of a message in bytes
    #[arg(long, default_value_t = 32, value_name = "N")]
    message_bytes: usize,
    /// The number of messages
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    count: u64,
}

/// The size of an AES key, from its number of bits.
pub fn key_size(text: &str) -> Result<KeySize, String> {
    text.parse().ok().and_then(KeySize::from_bits).ok_or_else(|| "AES keys have 128, 192 or 256 bits".into())
}

fn direction(text: &str) -> Result<Direction, String> {
    [Direction::Encrypt, Direction::Decrypt]
        .into_iter()
        .find(|direction| bench::direction_name(*direction) == text)
        .ok_or_else(|| "the directions are encrypt and decrypt".into())
}

pub fn run(context: &Context, command: &BenchCommands) -> Result<CommandOutput, Failure> {
    let done = outcome(context, command)?;
    if let Some(milliseconds) = other_milliseconds() {
        super::warn(format_args!(
            "{VARIABLE} is set, and this machine was calibrated in {milliseconds} ms: compare no figures with others"
        ));
    }
    Ok(done)
}

fn outcome(context: &Context, command: &BenchCommands) -> Result<CommandOutput, Failure> {
    match command {
        BenchCommands::Calibrate => {
            let calibration = calibrate()?;
            let mut json = bench::calibration_json(&calibration);
            json["schema"] = json!(1);
            json["kernel"] = json!(divisi_field::kernel::active().name());
            Ok(CommandOutput::new(calibration_text(&calibration), json))
        }
        BenchCommands::Report(_) => Err(super::reproduce::former()),
        BenchCommands::File(arguments) => bench_servers::measure_file(context, arguments),
        BenchCommands::Serve(arguments) => bench_servers::measure_serving(context, arguments),
        BenchCommands::Aes(arguments) => measure(context, arguments.options(context)?),
        BenchCommands::Des3(arguments) => measure(context, arguments.options(context)?),
        BenchCommands::Hash(arguments) => measure(context, arguments.options(context)?),
        BenchCommands::Mac(arguments) => measure(context, arguments.options(context)?),
        BenchCommands::Circuit(arguments) => measure(context, arguments.options(context)?),
        BenchCommands::Mixed(arguments) if arguments.is_table4() => {
            let options = bench_mixed::options(context, arguments)?;
            options.check()?;
            let (program, calibration) = (this_program()?, calibrate()?);
            let table = table4::run(&options, &program, calibration, &context.cleanup, &|_| {})?;
            Ok(CommandOutput::new(text(&table.whole.page), table.to_json()))
        }
        BenchCommands::Lookup(arguments) => {
            let (options, two) = bench_lookup::options(context, arguments)?;
            let report = measured(context, &options)?;
            let (mut out, mut json) = (text(&report.page), report.to_json());
            if let Some(two) = two {
                let (more, lines) = bench::lookups::beside(&report, &measured(context, &two)?);
                out = format!("{out}\n\n{lines}");
                if let Some(object) = json.as_object_mut() {
                    object.extend(more);
                }
            }
            Ok(CommandOutput::new(out, json))
        }
        BenchCommands::Mixed(arguments) => measure(context, bench_mixed::options(context, arguments)?),
    }
}

impl Aes {
    pub(super) fn options(&self, context: &Context) -> Result<BenchOptions, Failure> {
        let Aes { engine, own, key_bits, direction, blocks, effort } = self;
        ciphered(context, (Cipher::Aes(*key_bits), *direction), **engine, own, *blocks, effort)
    }
}

impl Des3 {
    pub(super) fn options(&self, context: &Context) -> Result<BenchOptions, Failure> {
        let Des3 { engine, own, keys, direction, blocks, effort } = self;
        let cipher = Cipher::TripleDes(match keys {
            2 => DesKeys::Two,
            3 => DesKeys::Three,
            _ => return Err(Failure::usage(format!("--keys is {keys}: triple DES has 2 or 3"))),
        });
        ciphered(context, (cipher, *direction), **engine, own, *blocks, effort)
    }
}

impl BenchHashArgs {
    pub(super) fn options(&self, context: &Context) -> Result<BenchOptions, Failure> {
        let BenchHashArgs { algorithm, messages, engine, adder, own: given, effort } = self;
        let (own, choice) = (given.own(engine.engine())?, adder.choice(given));
        let options = BenchOptions { choice, own, ..effort.options(context, Some(**engine)) };
        Ok(options.of_messages(*algorithm, messages.message_bytes, messages.count))
    }
}

impl BenchMacArgs {
    pub(super) fn options(&self, context: &Context) -> Result<BenchOptions, Failure> {
        let BenchMacArgs { algorithm, messages, engine, own: given, effort } = self;
        let (own, choice) = (given.own(engine.engine())?, given.choice());
        let options = BenchOptions { choice, own, ..effort.options(context, Some(**engine)) };
        Ok(options.of_messages(*algorithm, messages.message_bytes, messages.count))
    }
}

impl Circuit {
    pub(super) fn options(&self, context: &Context) -> Result<BenchOptions, Failure> {
        let Circuit { circuit, count, engine, own: given, adder, effort } = self;
        let (own, choice) = (given.own(engine.engine())?, adder.choice(given));
        let count = count.unwrap_or(engine.engine().profile().evaluations as u64);
        let options = BenchOptions { choice, own, ..effort.options(context, Some(**engine)) };
        options.of_circuit(circuit, count)
    }
}

/// The options of a benchmark of blocks.
fn ciphered<S: Scope>(
    context: &Context,
    (cipher, direction): (Cipher, Direction),
    engine: EngineChoice,
    given: &OwnOptions<S>,
    blocks: Option<u64>,
    effort: &Effort,
) -> Result<BenchOptions, Failure> {
    let (own, choice) = (given.own(engine.engine())?, given.choice());
    let blocks = blocks.unwrap_or(engine.engine().profile().blocks as u64);
    let options = BenchOptions { choice, own, ..effort.options(context, Some(engine)) };
    Ok(options.of_blocks(cipher, direction, blocks))
}

fn measure(context: &Context, options: BenchOptions) -> Result<CommandOutput, Failure> {
    let report = measured(context, &options)?;
    Ok(CommandOutput::new(text(&report.page), report.to_json()))
}

fn measured(context: &Context, options: &BenchOptions) -> Result<BenchReport, Failure> {
    options.check()?;
    let program = this_program()?;
    let calibration = calibrate()?;
    bench::run(options, &program, calibration, &context.cleanup, &|_, _| {})
}

/// A hash by its name.
pub fn hash(name: &str) -> Result<Algorithm, String> {
    known(name, Algorithm::hashes().collect())
}

/// A MAC by its name.
pub fn mac(name: &str) -> Result<Algorithm, String> {
    known(name, Algorithm::macs().collect())
}

fn known(name: &str, all: Vec<Algorithm>) -> Result<Algorithm, String> {
    let names = || all.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ");
    all.iter()
        .copied()
        .find(|algorithm| algorithm.name() == name)
        .ok_or_else(|| format!("choose one of {}", names()))
}

fn calibration_text(calibration: &Calibration) -> String {
    format!(
        "AES-128-CTR on one core, 16 KiB a call ({AES_BY}): {:.1} GB/s\n\
         TCP over loopback, one stream:                    {:.1} Gbit/s\n\
         a product in GF(2^64):                            {:.2} ns",
        calibration.aes_ctr_gb_s, calibration.loopback_gbit_s, calibration.clmul_ns
    )
}

/// A page as text: its table between the texts above and below it.
fn text(page: &Page) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(&page.head);
    page.rows.iter().for_each(|row| {
        table.add_row(row);
    });
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    format!("{}\n\n{table}\n\n{}", page.above, page.below)
}
