//! `divisi program`, and the part of `divisi run` that runs a program.

use super::engine::caution;
use super::{CommandOutput, Context, given};
use clap::{Args, Subcommand};
use divisi::engine::{Engine, EngineSettings, first_with};
use divisi::failure::Failure;
use divisi::local::this_program;
use divisi::name::Name;
use divisi::program::{HeldProgram, shown};
use divisi::run::Membership;
use divisi::run::program::{LearnedOutput, ProgramOptions, ProgramReport, local, one};
use divisi_program::plain::Entries;
use divisi_program::program::Output;
use divisi_program::{Interval, NumberSize};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::sync::Arc;

#[derive(Subcommand)]
pub enum ProgramCommands {
    /// Read a program, and print the cost of a run
    #[command(after_help = "Example: divisi program info nearest.txt")]
    Info(ProgramInfoArgs),
    /// Evaluate a program in the clear
    #[command(
        after_help = "Example: divisi program eval nearest.txt --input query=1,2,3,4 --input base=@base.txt"
    )]
    Eval(ProgramEvalArgs),
}

/// Read a program on numbers and bits, and print the cost of a run.
#[derive(Args)]
pub struct ProgramInfoArgs {
    /// A program: a text that begins with the line `divisi program 1`, or biomatch, kmeans, mnist, gauss or
    /// merge-db
    #[arg(value_name = "FILE")]
    program: Name,
}

/// Evaluate a program on numbers and bits in the clear. Inputs beyond their ranges are refused, and values
/// that are not as the program assumes, with their line.
#[derive(Args)]
pub struct ProgramEvalArgs {
    /// A program: a text that begins with the line `divisi program 1`, or biomatch, kmeans, mnist, gauss or
    /// merge-db
    #[arg(value_name = "FILE")]
    program: Name,
    /// The values of an input, row by row, separated by commas; or the file that has them
    #[arg(long = "input", value_name = "NAME=V,V,...|NAME=@FILE")]
    inputs: Vec<OsString>,
}

pub fn run(command: &ProgramCommands) -> Result<CommandOutput, Failure> {
    match command {
        ProgramCommands::Info(arguments) => info(&HeldProgram::load(&arguments.program)?),
        ProgramCommands::Eval(arguments) => eval(arguments),
    }
}

fn info(held: &HeldProgram) -> Result<CommandOutput, Failure> {
    let (about, program) = (held.about(), held.program());
    let cost = about.cost;
    let described =
        |kind: divisi_program::ValueKind, shape: &divisi_program::Shape| format!("{kind} {shape}");
    let mut text = format!(
        "{}: {} statements, {} inputs, {} outputs, parties 1 to {}\n",
        held.name(),
        about.statements,
        about.inputs,
        about.outputs,
        about.parties
    );
    let numbers = program.numbers();
    if numbers != NumberSize::default() {
        text += &format!("  numbers of {} bits, modulo {}\n", numbers.bits(), numbers.modulus());
    }
    let from_to = |range: Option<Interval>| {
        range.map_or_else(String::new, |range| format!(", from {} to {}", range.low(), range.high()))
    };
    // what numbers can be, by the ranges of the inputs
    let derived = |value: &divisi_program::Value| {
        Some(program.range(value)).filter(|_| value.kind() == divisi_program::ValueKind::Num)
    };
    for input in program.inputs() {
        let what = described(input.value.kind(), input.value.shape());
        let range = from_to(held.range(input));
        text += &format!("  input {}: {what}, of party {}{range}\n", input.name, input.owner);
    }
    for output in program.outputs() {
        let what = described(output.value.kind(), output.value.shape());
        let to: Vec<String> = output.receivers.iter().map(ToString::to_string).collect();
        let range = from_to(derived(&output.value));
        text += &format!("  output {}: {what}, to {}{range}\n", output.name, to.join(", "));
    }
    for assumed in program.assumptions() {
        let name = program.name_of(&assumed.value).unwrap_or("a value without a name");
        let line = assumed.line.map_or_else(String::new, |line| format!(" (line {line})"));
        let (low, high) = (assumed.range.low(), assumed.range.high());
        text += &format!("  assumed, and not checked in a run{line}: {name} is from {low} to {high}\n");
    }
    text += &format!(
        "{} ANDs, and {} inside A2B; {} products; {} B2A of {} bits; {} A2B; {} lookups; {} rounds",
        cost.ands, cost.a2b_ands, cost.products, cost.b2a, cost.b2a_bits, cost.a2b, cost.lookups, cost.rounds
    );
    let [gates, ands] = cost.garbled;
    if gates > 0 {
        text += &format!("; {gates} gates garbled, {ands} of them ANDs");
    }
    text += "\nsemi-honest: no protection against parties that deviate";
    let value = |name: &str, value: &divisi_program::Value| {
        let (kind, shape) = (value.kind().to_string(), value.shape().sides());
        json!({ "name": name, "kind": kind, "shape": shape })
    };
    let with = |mut object: Value, name: &str, member: Value| {
        object[name] = member;
        object
    };
    let inputs = program.inputs().iter().map(|x| {
        let range = held.range(x).map(ends);
        with(with(value(&x.name, &x.value), "party", json!(x.owner)), "range", json!(range))
    });
    let outputs = program.outputs().iter().map(|x| {
        let range = derived(&x.value).map(ends);
        with(with(value(&x.name, &x.value), "parties", json!(x.receivers)), "range", json!(range))
    });
    let assumptions = program.assumptions().iter().map(|assumed| {
        let (name, line) = (program.name_of(&assumed.value), assumed.line);
        json!({ "name": name, "line": line, "range": ends(assumed.range) })
    });
    let json = json!({
        "schema": 1,
        "program": held.name(),
        "security": "semi-honest",
        "statements": about.statements,
        "numbers": numbers.bits(),
        "assumptions": assumptions.collect::<Vec<Value>>(),
        "parties": about.parties,
        "inputs": inputs.collect::<Vec<Value>>(),
        "outputs": outputs.collect::<Vec<Value>>(),
        "and": cost.ands,
        "and_of_a2b": cost.a2b_ands,
        "products": cost.products,
        "b2a": cost.b2a,
        "b2a_bits": cost.b2a_bits,
        "a2b": cost.a2b,
        "lookups": cost.lookups,
        "garbled": cost.garbled[0],
        "garbled_and": cost.garbled[1],
        "rounds": cost.rounds,
    });
    Ok(CommandOutput::new(text, json))
}

/// Both ends of an interval.
fn ends(interval: Interval) -> Value {
    // ranges are declared in 64 bits
    json!([interval.low(), interval.high()].map(|end| i64::try_from(end).ok()))
}

fn eval(arguments: &ProgramEvalArgs) -> Result<CommandOutput, Failure> {
    let held = HeldProgram::load(&arguments.program)?;
    let inputs = held.inputs(&given::inputs(&arguments.inputs)?, None)?;
    let values = held.evaluate(&inputs)?;
    let of = |(output, x): (&Output, &Entries)| Printed {
        name: output.name.clone(),
        sides: output.value.shape().sides().to_vec(),
        values: Some(shown(x)),
    };
    let outputs: Vec<Printed> = held.program().outputs().iter().zip(&values).map(of).collect();
    let json = json!({ "schema": 1, "program": held.name(), "outputs": named(&outputs) });
    Ok(CommandOutput::new(text(&outputs), json))
}

/// An output to print: its name, its shape, and its values if they are known here.
struct Printed {
    name: String,
    sides: Vec<usize>,
    values: Option<Vec<String>>,
}

/// The outputs by name as JSON, row by row: numbers, but words of more than 64 bits as text.
fn named(outputs: &[Printed]) -> Value {
    let value = |text: &String| match text.parse::<i128>() {
        Ok(number) => i64::try_from(number).map_or_else(|_| json!(number as u64), |number| json!(number)),
        Err(_) => json!(text),
    };
    let list = |values: &Option<Vec<String>>| {
        values.as_ref().map(|values| values.iter().map(value).collect::<Vec<Value>>())
    };
    let member = |output: &Printed| (output.name.clone(), json!(list(&output.values)));
    Value::Object(outputs.iter().map(member).collect::<Map<String, Value>>())
}

fn text(outputs: &[Printed]) -> String {
    let known = outputs.iter().filter_map(|output| Some((output, output.values.as_ref()?)));
    let lines: Vec<String> =
        known.map(|(output, values)| format!("{} ={}", output.name, table(&output.sides, values))).collect();
    if lines.is_empty() { "done; the outputs went to other parties".to_owned() } else { lines.join("\n") }
}

/// Values behind the name of an output: in its line, or, from two sides on, as matrices below it, with a line
/// for each row and an empty line between two matrices.
fn table(sides: &[usize], values: &[String]) -> String {
    let &[.., rows, columns] = sides else { return format!(" {}", values.join(" ")) };
    let width = values.iter().map(String::len).max().unwrap_or(0);
    let row = |row: &[String]| {
        let cells: Vec<String> = row.iter().map(|value| format!("{value:>width$}")).collect();
        format!("\n  {}", cells.join("  "))
    };
    let matrix = |matrix: &[String]| matrix.chunks(columns.max(1)).map(row).collect::<String>();
    let matrices: Vec<String> = values.chunks((rows * columns).max(1)).map(matrix).collect();
    matrices.join("\n")
}

/// Run a program among parties.
pub fn among(
    context: &Context,
    path: &Name,
    given: &[OsString],
    engine: &'static dyn Engine,
    settings: EngineSettings,
    membership: Option<Membership>,
) -> Result<CommandOutput, Failure> {
    if engine.jobs().own.is_none() {
        let other = first_with(|engine| engine.jobs().own.is_some());
        let error = format!("the engine {} has no programs on numbers: give --engine {other}", engine.name());
        return Err(Failure::usage(error));
    }
    let program = Arc::new(HeldProgram::load(path)?);
    let me = membership.as_ref().map(|membership| membership.party.number());
    let inputs = program.inputs(&given::inputs(given)?, me)?;
    let options = ProgramOptions { program, inputs, engine, settings, timeout: context.timeout };
    let report = match &membership {
        Some(membership) => one(&options, membership)?,
        None => local(&options, &this_program()?, &context.cleanup)?,
    };
    caution(engine, options.settings.security);
    let of = |output: &LearnedOutput| Printed {
        name: output.name.clone(),
        sides: output.shape.clone(),
        values: output.values.clone(),
    };
    let outputs: Vec<Printed> = report.outputs.iter().map(of).collect();
    Ok(CommandOutput::new(text(&outputs), to_json(&options, me, &report, named(&outputs))))
}

fn to_json(options: &ProgramOptions, me: Option<u8>, report: &ProgramReport, outputs: Value) -> Value {
    let told = |output: &LearnedOutput| {
        (output.name.clone(), json!({ "parties": output.receivers, "shape": output.shape }))
    };
    let cost = options.program.about().cost;
    let mut json = json!({
        "schema": 1,
        "engine": options.engine.name(),
        "protocol": null,
        "parties": divisi::engine::parties(options.engine, &options.settings),
        "party": me,
        "program": options.program.name(),
        "security": options.settings.security.name(),
        "form": null,
        "k": null,
        "insecure": null,
        "outputs": outputs,
        "output_to": report.outputs.iter().map(told).collect::<Map<String, Value>>(),
        "and": cost.ands,
        "products": cost.products,
        "b2a": cost.b2a,
        "a2b": cost.a2b,
        "lookups": cost.lookups,
        "garbled": cost.garbled[0],
        "garbled_and": cost.garbled[1],
        "garbled_form": null,
        "seconds": report.seconds,
        "bits_sent_per_party": report.bits_sent,
        "bytes_sent_per_party": report.bytes_sent,
        "rounds": report.rounds,
    });
    if let Some(object) = json.as_object_mut() {
        object.extend(report.facts.clone());
    }
    json
}
