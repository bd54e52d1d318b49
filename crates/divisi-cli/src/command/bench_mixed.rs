//! `divisi bench mixed`.

use super::effort::Effort;
use super::engine::{EngineChoice, FormName, own};
use clap::Args;
use divisi::bench::{Options, Work};
use divisi::engine::job::Op;
use divisi::engine::mixed::manner::{INSECURE, Manner};
use divisi::failure::Failure;

/// Measure operations on numbers and bits among curious parties (semi-honest), as processes over TLS, phase
/// by phase.
///
/// A fourth kind of process deals random inputs, and checks every output. Numbers are modulo 2^32 - 2^30 + 1.
/// Random bits by ciphertexts, and triples of numbers, come a ring at once: those beyond the count are made,
/// and counted.
#[derive(Args)]
#[command(after_help = "Example: divisi bench mixed --op b2a --parties 4 --count 100000\n\
                        Products along a tree: divisi bench mixed --op dabit --parties 8 --count 65536 --form lean-tree")]
pub struct Mixed {
    /// What: dabit, b2a, a2b, e2a, a2e, lookup2, lookup, triple-arith or triple-bool
    #[arg(long, value_name = "OP")]
    op: Op,
    /// How many parties [default: 3]
    #[arg(long, value_name = "N")]
    parties: Option<usize>,
    /// How many items
    #[arg(long, default_value_t = 10_000, value_name = "K")]
    count: u64,
    /// Of b2a: how many bits a number has
    #[arg(long, default_value_t = 32, value_name = "B")]
    bits: usize,
    /// Of lookup: how many entries a table has, 2 to 256
    #[arg(long, default_value_t = 256, value_name = "M")]
    entries: usize,
    /// Of lookup: tables that nobody knows, one for each item
    #[arg(long)]
    private: bool,
    /// How random bits are made [default: cot, from 21 parties on lean-tree]
    #[arg(long, value_enum, value_name = "NAME")]
    form: Option<FormName>,
    /// The parameter of SoftSpokenOT, 1 to 8 [default: 4]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
    /// Take lattices of dimension 1024, which protect nothing: for tests
    #[arg(long)]
    danger_insecure_parameters: bool,
    #[command(flatten)]
    effort: Effort,
}

/// What is measured.
///
/// # Errors
/// What to correct.
pub fn options(context: &super::Context, arguments: &Mixed) -> Result<Options, Failure> {
    let Mixed { op, parties, count, bits, entries, private, form, k, danger_insecure_parameters, effort } =
        arguments;
    let choice = EngineChoice::of("mixed", *parties)?;
    let given = [
        (Manner::FORM, form.as_ref().map(own)),
        (Manner::K, k.map(|k| k.to_string())),
        (INSECURE, danger_insecure_parameters.then(String::new)),
    ];
    let own = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let work = Work::Operation { op: *op, bits: *bits, entries: *entries, private: *private };
    Ok(Options { own, work, blocks: *count, ..effort.options(context, Some(choice)) })
}
