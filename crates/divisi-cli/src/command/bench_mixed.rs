//! `divisi bench mixed`.

use super::effort::Effort;
use super::engine::EngineChoice;
use super::options::possible;
use super::params::sizes;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use divisi::bench::BenchOptions;
use divisi::engine::{Engine, JobSpec};
use divisi::failure::Failure;
use divisi::images::LabelledImages;
use divisi::name::Name;
use divisi_program::NumberSize;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::adapter::manner::{INSECURE, Manner};
use divisi_program::operations::{Op, OperationJob};
use std::sync::Arc;

const BITS: usize = 32;
const ENTRIES: usize = 256;

/// What is measured.
#[derive(Clone, Copy)]
enum What {
    Op(Op),
    Mpgc,
    Program,
    Table4,
}

const GARBLED: &str = "mpgc";
/// The engine that is measured.
const ENGINE: &str = "mixed";

pub fn is_it(engine: &dyn Engine) -> bool {
    engine.name() == ENGINE
}

#[derive(Clone, Copy, ValueEnum)]
enum AdderName {
    /// 62 ANDs, one after the other (122 for numbers of 61 bits)
    FewestAnds,
    /// Eleven rounds of more ANDs, each opened in one (13 rounds)
    LowDepth,
}

/// The name of a value, as on the command line.
fn name_of(value: &impl ValueEnum) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_owned())
}

fn what(name: &str) -> Result<What, String> {
    match name {
        GARBLED => Ok(What::Mpgc),
        "program" => Ok(What::Program),
        "table4" => Ok(What::Table4),
        _ => {
            name.parse().map(What::Op).map_err(|known: String| format!("{known}, {GARBLED}, program, table4"))
        }
    }
}

impl BenchMixedArgs {
    /// Whether this is the whole Table 4 of the paper.
    pub fn is_table4(&self) -> bool {
        matches!(self.op, What::Table4)
    }
}

/// Measure operations on numbers and bits among semi-honest parties, as processes over TLS, phase by phase.
///
/// A further process deals random inputs, and checks every output. Numbers are modulo 2^32 - 2^30 + 1, or, of
/// 61 bits, modulo 2^62 - 2^46 + 1. A ciphertext makes as many random bits or triples of numbers as its ring
/// has slots: if --count is not a multiple of that, the surplus is made and counted too. In the JSON
/// `partial_decryptions` is how many a party made; that of `divisi params` is the most that a session may
/// make.
#[derive(Args)]
#[command(after_help = "Example: divisi bench mixed --op b2a --parties 4 --count 100000\n\
                        Products along a tree: divisi bench mixed --op dabit --parties 8 --count 65536 --form lean-tree\n\
                        A program: divisi bench mixed --op program --program biomatch --parties 4 --reps 3\n\
                        MNIST's own images: divisi bench mixed --op program --program mnist --images t10k-images-idx3-ubyte --labels t10k-labels-idx1-ubyte --count 20 --reps 1\n\
                        The paper's five applications by their counts: divisi bench mixed --op table4 --parties 4 --reps 3")]
pub struct BenchMixedArgs {
    /// The operation: dabit, b2a, a2b, e2a, a2e, lookup2, lookup, triple-arith, triple-bool, mpgc, program or
    /// table4
    #[arg(long, value_name = "OP", value_parser = what)]
    op: What,
    /// With mpgc: the circuit, as a file in Bristol Fashion or the old Bristol format, or the name of a
    /// built-in circuit
    #[arg(long, value_name = "FILE|NAME", required_if_eq("op", "mpgc"))]
    circuit: Option<Name>,
    /// The number of parties [default: 3]
    #[arg(long, value_name = "N")]
    parties: Option<usize>,
    /// The number of items, or of runs of a program [default: 10000; with mpgc, program and table4 1]
    #[arg(long, value_name = "K")]
    count: Option<u64>,
    /// With program: its file, or biomatch, kmeans, mnist, gauss or merge-db
    #[arg(long, value_name = "FILE|NAME")]
    program: Option<Name>,
    /// With the program mnist: images of 28x28 points in the format IDX, as MNIST has them, of which the
    /// first --count are read; the number of right answers is printed
    #[arg(long, value_name = "FILE", requires = "labels")]
    images: Option<Name>,
    /// With --images: the digits that they show, in the same format
    #[arg(long, value_name = "FILE", requires = "images")]
    labels: Option<Name>,
    /// How many bits numbers have, as in the head of a program: 31 or 61 [default: 31]
    #[arg(long, value_name = "BITS", value_parser = sizes())]
    numbers: Option<NumberSize>,
    /// With b2a: the number of bits of a number
    #[arg(long, default_value_t = BITS, value_name = "B")]
    bits: usize,
    /// With lookup: the number of entries of a table, 2 to 256
    #[arg(long, default_value_t = ENTRIES, value_name = "M")]
    entries: usize,
    /// With lookup: tables that no party knows, one for each item
    #[arg(long)]
    private: bool,
    /// How random bits are made [default: cot, from 21 parties on lean-tree]; with mpgc how keys are looked
    /// up [default: cot or lean-tree, whichever sends less: `divisi params --op mpgc`]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(possible(Manner::FORM, is_it)))]
    form: Option<String>,
    /// With a2b: what its adder minimises [default: fewest-ands]
    #[arg(long, value_enum, value_name = "NAME")]
    adder: Option<AdderName>,
    /// The parameter of SoftSpokenOT, 1 to 8 [default: 4]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
    /// Use lattices of dimension 1024, which protect nothing: for tests
    #[arg(long)]
    danger_insecure_parameters: bool,
    #[command(flatten)]
    effort: Effort,
}

/// The options of the benchmark.
///
/// # Errors
/// [`Failure`] if the options make no sense, with a sentence that says what to correct.
pub fn options(context: &super::Context, arguments: &BenchMixedArgs) -> Result<BenchOptions, Failure> {
    let BenchMixedArgs { op, circuit, parties, count, program, form, adder, k, effort, .. } = arguments;
    let insecure = arguments.danger_insecure_parameters;
    let choice = EngineChoice::of(ENGINE, *parties)?;
    let given = [
        (Manner::FORM, form.clone()),
        (Manner::ADDER, adder.as_ref().and_then(name_of)),
        (Manner::K, k.map(|k| k.to_string())),
        (INSECURE, insecure.then(String::new)),
        (Manner::PROTOCOL, matches!(op, What::Mpgc).then(|| GARBLED.to_owned())),
    ];
    let own = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    if circuit.is_some() && !matches!(op, What::Mpgc) {
        return Err(Failure::usage("--circuit belongs to --op mpgc: leave it out"));
    }
    let (bits, entries, private) = (arguments.bits, arguments.entries, arguments.private);
    let numbers = arguments.numbers.unwrap_or_default();
    let images = match (&arguments.images, &arguments.labels) {
        (Some(images), Some(labels)) => Some(Arc::new(LabelledImages::read(images, labels)?)),
        _ => None,
    };
    if images.is_some() && !matches!((op, program), (What::Program, Some(_))) {
        return Err(Failure::usage(
            "--images and --labels belong to --op program --program mnist: leave them out",
        ));
    }
    let base = BenchOptions { own, ..effort.options(context, Some(choice)) };
    let of = |job| BenchOptions { job: JobSpec::Own(job), ..base.clone() };
    let options = match (op, program) {
        (What::Op(op), None) => {
            let operation = OperationJob { op: *op, numbers, bits, entries, private, count: 1 };
            of(Arc::new(operation)).counted(count.unwrap_or(10_000))
        }
        (What::Mpgc, None) => {
            let name = circuit.clone().unwrap_or_else(|| "".into());
            base.clone().of_circuit(&name, count.unwrap_or(1))?
        }
        (What::Program, Some(name)) => {
            let runs = usize::try_from(count.unwrap_or(1)).unwrap_or(usize::MAX);
            of(Arc::new(ProgramJob::load(name, images, runs)?))
        }
        // one of the table's rows, for the checks before the run
        (What::Table4, None) => {
            let row = ProgramJob::load(&"table4-gauss".into(), None, 1)?;
            of(Arc::new(row)).counted(count.unwrap_or(1))
        }
        (What::Program, None) => {
            let error =
                "--program is missing: give a program's file, or biomatch, kmeans, mnist, gauss or merge-db";
            return Err(Failure::usage(error));
        }
        (What::Op(_) | What::Mpgc | What::Table4, Some(_)) => {
            return Err(Failure::usage(
                "--program belongs to --op program: leave it out, or give --op program",
            ));
        }
    };
    if !matches!(op, What::Op(_)) && (private || bits != BITS || entries != ENTRIES) {
        return Err(Failure::usage(
            "--bits, --entries and --private belong to other operations: leave them out",
        ));
    }
    if !matches!(op, What::Op(_)) && arguments.numbers.is_some() {
        return Err(Failure::usage(
            "--numbers belongs to single operations: leave it out, and write it in the head of a program",
        ));
    }
    Ok(options)
}
