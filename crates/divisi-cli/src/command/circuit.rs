//! `divisi circuit`.

use super::{AdderOfCircuits, CommandOutput, Context, given};
use clap::{Args, Subcommand, ValueEnum};
use divisi::WireValue;
use divisi::circuit::{self, About, NamedCircuit};
use divisi::failure::Failure;
use divisi::file::Sink;
use divisi::name::Name;
use divisi::output::{self, OutputFile};
use divisi_circuit::bristol::{BitOrder, FileCounts, Format, Transcript};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Subcommand)]
pub enum CircuitCommands {
    /// Write a built-in circuit in Bristol Fashion
    #[command(after_help = "Example: divisi circuit emit sha256 --out sha256.txt")]
    Emit(Emit),
    /// Read a circuit, and print its counts of gates, inputs and outputs
    #[command(after_help = "Example: divisi circuit info sha256.txt")]
    Info(CircuitInfoArgs),
    /// Write a circuit in another format, or with the bits of its values in reverse order
    #[command(after_help = "Example: divisi circuit convert --to fashion old.txt --out new.txt\n\
                      Gates out of order: divisi circuit convert --sort found.txt --out sorted.txt\n\
                      In the output, the first wire of a value is its last bit, as in Bristol Fashion. Published files that have it the other\n\
                      way are known by their gates; for other files give --first-bit-first.")]
    Convert(ConvertArgs),
    /// Write a circuit with fewer gates where possible
    #[command(after_help = "Example: divisi circuit optimise adder.txt --out smaller.txt")]
    Optimise(Optimise),
    /// Evaluate a circuit in the clear
    #[command(
        after_help = "Example: divisi circuit eval aes128 --input 000102030405060708090a0b0c0d0e0f --input 00112233445566778899aabbccddeeff"
    )]
    Eval(CircuitEvalArgs),
}

/// Write a built-in circuit in Bristol Fashion: the circuit to standard output, its counts to standard error.
#[derive(Args)]
pub struct Emit {
    /// aes128, aes192, aes256 (key schedule inside), sha256, sha512, sha1-for-old-data (one compression),
    /// keccak-f; or a hash or MAC with the length of a message in bytes: sha256:55, hmac-sha256:32,
    /// gmac-aes128:16
    #[arg(value_name = "NAME")]
    name: String,
    /// The file to write; an existing file is replaced when the new one is complete [default: standard
    /// output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    adder: AdderOfCircuits,
}

/// Read a circuit, and print its counts of gates, inputs and outputs.
#[derive(Args)]
pub struct CircuitInfoArgs {
    /// A file in Bristol Fashion or the old Bristol format, or the name of a built-in circuit
    #[arg(value_name = "FILE")]
    circuit: Name,
    #[command(flatten)]
    pub(super) adder: AdderOfCircuits,
}

/// Write a circuit in another format: the circuit to standard output, its counts to standard error.
#[derive(Args)]
pub struct ConvertArgs {
    /// A file in Bristol Fashion or the old Bristol format, or the name of a built-in circuit
    #[arg(value_name = "FILE")]
    circuit: Name,
    /// The format: fashion, or bristol for the old Bristol format [default with --sort: that of the file]
    #[arg(long, value_name = "FORMAT", required_unless_present = "sort")]
    to: Option<CircuitFormat>,
    /// Put the gates in an order in which every wire is written before it is read
    #[arg(long)]
    sort: bool,
    /// In the input file wire 0 is the first bit of a value; write it as the last bit
    #[arg(long)]
    first_bit_first: bool,
    /// The file to write; an existing file is replaced when the new one is complete [default: standard
    /// output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    adder: AdderOfCircuits,
}

/// The format of a circuit file.
#[derive(Clone, Copy, ValueEnum)]
pub enum CircuitFormat {
    Fashion,
    Bristol,
}

/// Write a circuit with fewer gates: the circuit to standard output, counts before and after to standard
/// error.
#[derive(Args)]
pub struct Optimise {
    /// A file in Bristol Fashion or the old Bristol format, or the name of a built-in circuit
    #[arg(value_name = "FILE")]
    circuit: Name,
    /// The file to write, in Bristol Fashion; an existing file is replaced when the new one is complete
    /// [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    adder: AdderOfCircuits,
}

/// Evaluate a circuit in the clear.
#[derive(Args)]
pub struct CircuitEvalArgs {
    /// A file in Bristol Fashion or the old Bristol format, or the name of a built-in circuit
    #[arg(value_name = "FILE")]
    circuit: Name,
    /// An input value in hexadecimal, as the standard prints it; one for each input, in the circuit's order
    #[arg(long = "input", value_name = "HEX")]
    inputs: Vec<OsString>,
    /// Wire 0 is the first bit of a value, as in most files of the old Bristol format
    #[arg(long)]
    first_bit_first: bool,
    #[command(flatten)]
    adder: AdderOfCircuits,
}

pub fn run(context: &Context, command: &CircuitCommands) -> Result<CommandOutput, Failure> {
    match command {
        CircuitCommands::Emit(arguments) => emit(context, arguments),
        CircuitCommands::Info(arguments) => {
            let info = circuit::info(&arguments.circuit, arguments.adder.get())?;
            Ok(CommandOutput::new(text(&info), to_json(&info)))
        }
        CircuitCommands::Convert(arguments) => convert(context, arguments),
        CircuitCommands::Optimise(arguments) => optimise(context, arguments),
        CircuitCommands::Eval(arguments) => eval(arguments),
    }
}

fn emit(context: &Context, arguments: &Emit) -> Result<CommandOutput, Failure> {
    let name = &arguments.name;
    let program = circuit::named(name, arguments.adder.get())?.ok_or_else(|| {
        Failure::usage(format!("there is no circuit {name:?}: give one of {}", circuit::names()))
    })?;
    let circuit = NamedCircuit { name: name.as_str().into(), program, file: None };
    let info = put(context, circuit, Format::Fashion, None, arguments.out.as_deref())?;
    if !context.json {
        let _ = writeln!(std::io::stderr(), "{}", text(&info));
    }
    Ok(CommandOutput::new("", to_json(&info)))
}

fn convert(context: &Context, arguments: &ConvertArgs) -> Result<CommandOutput, Failure> {
    let (name, adder) = (&arguments.circuit, arguments.adder.get());
    let (circuit, source, was_unsorted) = if arguments.sort {
        circuit::load_sorted(name, adder)?
    } else {
        let (circuit, source) = circuit::load_text(name, adder)?;
        (circuit, source, false)
    };
    let turn = arguments.first_bit_first || circuit.is_first_bit_first();
    let own = circuit.file.map_or(Format::Fashion, |(format, ..)| format);
    let program = if turn { circuit::turned(&circuit.program)? } else { circuit.program };
    let format = match arguments.to {
        Some(CircuitFormat::Fashion) => Format::Fashion,
        Some(CircuitFormat::Bristol) => Format::Older,
        None => own,
    };
    let how = Transcript { to: format, turned: turn, keeps_names: false };
    let source = source.as_deref();
    let source = match source.map(|text| circuit::is_better_transcribed(&program, text, how)).transpose()? {
        Some(true) => source.map(|text| (text, how)),
        _ => None,
    };
    let circuit = NamedCircuit { name: circuit.name, program, file: None };
    let info = put(context, circuit, format, source, arguments.out.as_deref())?;
    if !context.json {
        let _ = writeln!(std::io::stderr(), "{}", text(&info));
    }
    let mut json = to_json(&info);
    json["turned"] = json!(turn);
    json["sorted"] = json!(was_unsorted);
    Ok(CommandOutput::new("", json))
}

fn optimise(context: &Context, arguments: &Optimise) -> Result<CommandOutput, Failure> {
    let (circuit, source) = circuit::load_text(&arguments.circuit, arguments.adder.get())?;
    let better = circuit::optimised(&circuit, source.as_deref())?;
    let before = About::of(&circuit, circuit.counts()?);
    // the order of bits stays the same, but the new file is no longer recognised as a published one
    let first_bit_first = circuit.is_first_bit_first();
    let kept = better.is_none();
    let source = source.as_deref().filter(|text| kept && circuit::can_transcribe(text, circuit::AS_IT_IS));
    let source = source.map(|text| (text, circuit::AS_IT_IS));
    let program = better.unwrap_or(circuit.program);
    let file = NamedCircuit { name: circuit.name, program, file: None };
    let after = put(context, file, Format::Fashion, source, arguments.out.as_deref())?;
    if !context.json {
        let _ = writeln!(std::io::stderr(), "before: {}\nafter: {}", text(&before), text(&after));
        if kept {
            let _ = writeln!(std::io::stderr(), "nothing to gain: the gates are the same as before");
        }
        if first_bit_first {
            let _ = writeln!(
                std::io::stderr(),
                "its values still have the first bit first: give --first-bit-first whenever you use it"
            );
        }
    }
    let mut json = to_json(&after);
    json["before"] = to_json(&before);
    json["first_bit_first"] = json!(first_bit_first);
    json["kept"] = json!(kept);
    Ok(CommandOutput::new("", json))
}

/// Write a circuit to a file or to standard output, transcribed from `source` if there is one. Returns the
/// counts of what was written.
fn put(
    context: &Context,
    mut circuit: NamedCircuit,
    format: Format,
    source: Option<(&[u8], Transcript)>,
    out: Option<&Path>,
) -> Result<About, Failure> {
    let out = Sink::named(out);
    if context.json && matches!(out, Sink::Stdout) {
        return Err(Failure::usage("--json uses standard output: give a file with --out"));
    }
    let write = |out: &mut dyn Write| -> Result<std::io::Result<FileCounts>, Failure> {
        let mut out = BufWriter::new(out);
        let counts = match source {
            Some((text, how)) => circuit::transcribe(text, how, &mut out)?,
            None => circuit::write_as(&circuit.program, format, &mut out)?,
        };
        Ok(counts.and_then(|counts| out.flush().map(|()| counts)))
    };
    let counts = match out {
        Sink::File(path) => {
            let mut output = OutputFile::beside(&path, 0o644, &context.cleanup)?;
            let counts = write(&mut output.writer())?.map_err(|e| {
                Failure::usage(format!(
                    "{} cannot be written ({e}): give another place with --out",
                    path.display()
                ))
            })?;
            output.put_in_place(&path)?;
            counts
        }
        Sink::Stream(path) => {
            let unwritten = |e| {
                let shown = path.display();
                Failure::usage(format!("{shown} cannot be written ({e}): give another place with --out"))
            };
            let mut stream = std::fs::OpenOptions::new().write(true).open(&path).map_err(unwritten)?;
            write(&mut stream)?.map_err(unwritten)?
        }
        Sink::Stdout => match write(&mut std::io::stdout().lock())? {
            Ok(counts) => counts,
            Err(e) => {
                output::written(Err(e))?;
                circuit.counts()?
            }
        },
    };
    circuit.file = Some((format, counts, None));
    Ok(About::of(&circuit, counts))
}

fn eval(arguments: &CircuitEvalArgs) -> Result<CommandOutput, Failure> {
    let circuit = circuit::load(&arguments.circuit, arguments.adder.get())?;
    let first_bit_first = arguments.first_bit_first || circuit.is_first_bit_first();
    let widths = circuit.program.inputs();
    let values = given::inputs(&arguments.inputs)?;
    if arguments.inputs.len() != widths.len() {
        return Err(Failure::usage(format!(
            "{} takes {} input values of {} bits, and {} are given: give an --input for each, in this order",
            circuit.name,
            widths.len(),
            super::list(widths),
            arguments.inputs.len()
        )));
    }
    let mut inputs = Vec::with_capacity(widths.len());
    for (i, (given, width)) in values.iter().zip(widths).enumerate() {
        let digits = given.split_once('=').map_or(given.as_str(), |(_, digits)| digits);
        let value = WireValue::from_hex(digits, *width).map_err(|what| {
            Failure::usage(format!("input {} {what}: give it as the standard prints it", i + 1))
        })?;
        inputs.push(value.ordered(first_bit_first));
    }
    let hex = |value: WireValue| value.ordered(first_bit_first).to_hex();
    let outputs: Vec<String> = circuit.evaluate(&inputs)?.into_iter().map(hex).collect();
    Ok(CommandOutput::new(
        outputs.join("\n"),
        json!({ "schema": 1, "circuit": circuit.name, "outputs": outputs }),
    ))
}

fn text(info: &About) -> String {
    let counts = &info.counts;
    let sums = match info.dot_count {
        sums if sums == counts.and => String::new(),
        sums => format!(" in {sums} sums"),
    };
    let order = match (info.format, info.order) {
        (None, _) => "",
        (_, Some(BitOrder::FirstBitFirst)) => {
            "\na published file: the first bit of a value is on its first wire"
        }
        (_, Some(BitOrder::LastBitFirst)) => {
            "\na published file: the last bit of a value is on its first wire"
        }
        (_, None) => {
            "\nno published file: the last bit of a value is taken to be on its first wire; if it is the first bit, \
             give --first-bit-first wherever you use the file"
        }
    };
    format!(
        "{}: {} AND{sums} at depth {}, {} XOR, {} INV, {} EQ, {} EQW; inputs of {} bits, outputs of {}{order}",
        info.name,
        counts.and,
        info.and_depth,
        counts.xor,
        counts.inv,
        counts.eq,
        counts.eqw,
        super::list(&info.inputs),
        super::list(&info.outputs),
    )
}

fn to_json(info: &About) -> Value {
    let FileCounts { and, xor, inv, eq, eqw } = info.counts;
    let format = info.format.map(|format| match format {
        Format::Fashion => "bristol-fashion",
        Format::Older => "bristol",
    });
    let order = info.order.map(|order| match order {
        BitOrder::FirstBitFirst => "first-bit-first",
        BitOrder::LastBitFirst => "last-bit-first",
    });
    json!({
        "schema": 1,
        "circuit": info.name,
        "format": format,
        "order": order,
        "inputs": info.inputs,
        "outputs": info.outputs,
        "gates": and + xor + inv + eq + eqw,
        "and": and,
        "xor": xor,
        "inv": inv,
        "eq": eq,
        "eqw": eqw,
        "and_depth": info.and_depth,
        "sums_of_products": info.dot_count,
    })
}
