//! `divisi bench lookup`.

use super::effort::Effort;
use super::engine::EngineOf;
use super::options::OfLookups;
use clap::Args;
use divisi::bench::BenchOptions;
use divisi::engine::job::{JobSpec, LookupJob, UserTable};
use divisi::failure::Failure;
use std::path::PathBuf;
use std::sync::Arc;

/// Measure lookups in a public table among processes over TLS, phase by phase.
///
/// The entries of the table are bytes, unless --table gives another one. Party 1 holds random indices, and
/// another process checks every entry that is looked up. With rep3, if the vectors have three factors, two
/// factors are measured as well, and both results are printed.
#[derive(Args)]
#[command(
    after_help = "Nobody trusted: divisi bench lookup --engine spdz --parties 2 --table cubes.txt --count 100\n\
                        Example: divisi bench lookup --entries 65536 --count 65536\n\
                        Of two inputs: divisi bench lookup --entries 65536 --inputs 2 --security semi-honest\n\
                        A large table: divisi bench lookup --entries 16777216 --count 4096"
)]
pub struct BenchLookupArgs {
    /// The number of entries of a table of bytes: a power of two from 2 to 16777216, with spdz to 1024
    #[arg(long, value_name = "N", required_unless_present = "table")]
    entries: Option<usize>,
    /// With spdz: a file with the table, whole numbers from 0 to 65535, decimal or with 0x, a power of two
    /// from 2 to 1024 of them
    #[arg(long, value_name = "FILE", conflicts_with = "entries")]
    table: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineOf<OfLookups>,
    /// The number of inputs that together form an index: 1, 2 or 3
    #[arg(long, default_value_t = 1, value_name = "K")]
    inputs: usize,
    /// The number of factors of the one-hot vectors: 1, 2, 3, or auto for the one that sends least
    #[arg(long, default_value = "auto", value_name = "D", value_parser = dimensions)]
    dimensions: Factors,
    /// The number of lookups [default: 65536, with spdz 1024]
    #[arg(long, value_name = "C")]
    count: Option<u64>,
    #[command(flatten)]
    effort: Effort,
}

/// A number of factors; `None` for the number that sends least.
#[derive(Clone, Copy)]
struct Factors(Option<usize>);

fn dimensions(text: &str) -> Result<Factors, String> {
    match text {
        "auto" => Ok(Factors(None)),
        "1" | "2" | "3" => Ok(Factors(text.parse().ok())),
        _ => Err("the choices are 1, 2, 3 and auto".into()),
    }
}

/// The options of the benchmark; and, if it has three factors, those of one with two factors to compare with.
///
/// # Errors
/// [`Failure`] if the options make no sense, with a sentence that says what to correct.
pub fn options(
    context: &super::Context,
    arguments: &BenchLookupArgs,
) -> Result<(BenchOptions, Option<BenchOptions>), Failure> {
    let BenchLookupArgs { entries, table, engine, inputs, dimensions: Factors(dimensions), count, effort } =
        arguments;
    let table = table.as_deref().map(UserTable::load).transpose()?.map(Arc::new);
    let entries = table.as_ref().map_or(entries.unwrap_or(0), |table| table.entries().len());
    let base = effort.options(context, Some(**engine));
    // among servers a lookup takes a fraction of what it takes among parties that trust nobody
    let blocks = count.unwrap_or(if engine.engine().profile().deals { 65_536 } else { 1024 });
    let of = |dimensions| {
        let job = LookupJob { entries, inputs: *inputs, dimensions, count: 1, table: table.clone() };
        BenchOptions { job: JobSpec::Lookups(job), ..base.clone() }.counted(blocks)
    };
    let options = of(*dimensions);
    options.check()?;
    let two = of(Some(2));
    let three = options.factors() == Some(3) && two.check().is_ok();
    Ok((options, three.then_some(two)))
}
