//! `divisi bench lookup`.

use super::effort::Effort;
use clap::Args;
use divisi::bench::{BenchOptions, Work};
use divisi::failure::Failure;

/// Measure lookups in a public table among three processes over TLS, phase by phase.
///
/// The entries of the table are bytes. Party 1 holds random indices, and another process checks every entry
/// that is looked up. If the vectors have three factors, two factors are measured as well, and both results
/// are printed.
#[derive(Args)]
#[command(after_help = "Example: divisi bench lookup --entries 65536 --count 65536\n\
                        Of two inputs: divisi bench lookup --entries 65536 --inputs 2 --security semi-honest\n\
                        A large table: divisi bench lookup --entries 16777216 --count 4096")]
pub struct BenchLookupArgs {
    /// The number of entries of the table: a power of two from 2 to 16777216
    #[arg(long, value_name = "N")]
    entries: usize,
    /// The number of inputs that together form an index: 1, 2 or 3
    #[arg(long, default_value_t = 1, value_name = "K")]
    inputs: usize,
    /// The number of factors of the one-hot vectors: 1, 2, 3, or auto for the one that sends least
    #[arg(long, default_value = "auto", value_name = "D", value_parser = dimensions)]
    dimensions: Factors,
    /// The number of lookups
    #[arg(long, default_value_t = 65_536, value_name = "C")]
    count: u64,
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
    let BenchLookupArgs { entries, inputs, dimensions: Factors(dimensions), count, effort } = arguments;
    let of = |dimensions| {
        let work = Work::Lookups { entries: *entries, inputs: *inputs, dimensions };
        BenchOptions { work, blocks: *count, ..effort.options(context, None) }
    };
    let options = of(*dimensions);
    options.check()?;
    let two = of(Some(2));
    let three = options.factors() == Some(3) && two.check().is_ok();
    Ok((options, three.then_some(two)))
}
