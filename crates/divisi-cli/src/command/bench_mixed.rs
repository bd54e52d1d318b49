//! `divisi bench mixed`.

use super::effort::Effort;
use super::engine::{EngineChoice, FormName, own};
use clap::Args;
use divisi::bench::{Options, Work};
use divisi::engine::job::Op;
use divisi::engine::mixed::manner::{INSECURE, Manner};
use divisi::failure::Failure;
use divisi_symmetric::gates::Adder;

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
    /// What: dabit, b2a, a2b, e2a, a2e, lookup2, lookup, triple-arith, triple-bool or mpgc
    #[arg(long, value_name = "OP", value_parser = what)]
    op: What,
    /// Of mpgc: what is garbled: a file in Bristol Fashion or the format before it, or the name of a
    /// circuit of this program
    #[arg(long, value_name = "FILE|NAME", required_if_eq("op", "mpgc"))]
    circuit: Option<String>,
    /// How many parties [default: 3]
    #[arg(long, value_name = "N")]
    parties: Option<usize>,
    /// How many items [default: 10000, of mpgc 1]
    #[arg(long, value_name = "K")]
    count: Option<u64>,
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

/// An operation, or a circuit that is garbled.
#[derive(Clone, Copy)]
enum What {
    Op(Op),
    Mpgc,
}

fn what(name: &str) -> Result<What, String> {
    if name == GARBLED {
        return Ok(What::Mpgc);
    }
    name.parse().map(What::Op).map_err(|known: String| format!("{known}, {GARBLED}"))
}

const GARBLED: &str = "mpgc";

/// What is measured.
///
/// # Errors
/// What to correct.
pub fn options(context: &super::Context, arguments: &Mixed) -> Result<Options, Failure> {
    let Mixed { op, circuit, parties, count, bits, entries, private, form, k, effort, .. } = arguments;
    let insecure = arguments.danger_insecure_parameters;
    let choice = EngineChoice::of("mixed", *parties)?;
    let given = [
        (Manner::FORM, form.as_ref().map(own)),
        (Manner::K, k.map(|k| k.to_string())),
        (INSECURE, insecure.then(String::new)),
        (Manner::PROTOCOL, matches!(op, What::Mpgc).then(|| GARBLED.to_owned())),
    ];
    let own = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let (work, usual) = match (op, circuit) {
        (What::Op(_), Some(_)) => return Err(Failure::usage("--circuit belongs to --op mpgc: leave it out")),
        (What::Op(op), None) => {
            (Work::Operation { op: *op, bits: *bits, entries: *entries, private: *private }, 10_000)
        }
        (What::Mpgc, _) => {
            let name = circuit.clone().unwrap_or_default();
            let held = divisi::circuit::hold(&name, Adder::FewestAnds, false)?;
            (Work::Circuit { name, input_bits: held.inputs().iter().sum() }, 1)
        }
    };
    Ok(Options { own, work, blocks: count.unwrap_or(usual), ..effort.options(context, Some(choice)) })
}
