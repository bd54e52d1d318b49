//! Writes circuits in both formats.

use super::{FileCounts, Format};
use crate::program::{LinearGate, Program};
use std::fmt;
use std::io::{self, Write};

/// A gate of the file. Gates have the order of the program. Wires are numbered in the order in which they are
/// written, inputs first.
enum Gate {
    Constant(bool),
    Not(usize),
    Xor(usize, usize),
    And(usize, usize),
    Copy(usize),
}

/// Writes a program in Bristol Fashion. Inputs' wires are the first and outputs' wires the last, in their
/// order. A sum of products is written as ANDs and XORs. An output that is an input, or equal to another
/// output, becomes a copy (`EQW`). Returns the number of gates by kind.
///
/// # Errors
/// The errors of `out`.
pub fn write(program: &Program, out: &mut (impl Write + ?Sized)) -> io::Result<FileCounts> {
    put(program, Format::Fashion, out)
}

/// Why a program cannot be written in a format.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unwritable {
    /// The older format has at most two inputs and one output.
    Values {
        /// How many input values the program has.
        inputs: usize,
        /// How many output values it has.
        outputs: usize,
    },
    /// The older format builds a constant from an input, and the program has no inputs.
    NoInput,
    /// `out` returned an error.
    Unwritten(io::Error),
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwritable::Values { inputs, outputs } => write!(
                f,
                "the format before Bristol Fashion has one or two input values and one output value, and this \
                 circuit has {inputs} and {outputs}"
            ),
            Unwritable::NoInput => f.write_str(
                "the old Bristol format builds constants from an input, and this circuit has no inputs",
            ),
            Unwritable::Unwritten(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unwritable {}

/// Writes a program in either format. The older one only has `XOR`, `AND` and `INV`: a constant is written as
/// the XOR of an input wire with itself, a copy as two negations.
///
/// # Errors
/// [`Unwritable`] if the format cannot express the program, or if `out` fails.
pub fn write_as(
    program: &Program,
    format: Format,
    out: &mut (impl Write + ?Sized),
) -> Result<FileCounts, Unwritable> {
    if format == Format::Older {
        let (inputs, outputs) = (program.inputs().len(), program.outputs().len());
        if !(1..=2).contains(&inputs) || outputs != 1 {
            return Err(Unwritable::Values { inputs, outputs });
        }
        if program.input_bits() == 0 {
            return Err(Unwritable::NoInput);
        }
    }
    put(program, format, out).map_err(Unwritable::Unwritten)
}

/// Replaces the gates that the older format does not have by others. Also returns the new position of each
/// gate.
fn lowered(gates: Vec<Gate>, inputs: usize) -> (Vec<Gate>, Vec<usize>) {
    let (mut lowered, mut at) = (Vec::with_capacity(gates.len()), Vec::with_capacity(gates.len()));
    for gate in gates {
        let wire = |x: usize, at: &[usize]| x.checked_sub(inputs).map_or(x, |gate| inputs + at[gate]);
        let (first, second) = match gate {
            Gate::Constant(value) => (Gate::Xor(0, 0), value),
            Gate::Copy(x) => (Gate::Not(wire(x, &at)), true),
            Gate::Not(x) => (Gate::Not(wire(x, &at)), false),
            Gate::Xor(x, y) => (Gate::Xor(wire(x, &at), wire(y, &at)), false),
            Gate::And(x, y) => (Gate::And(wire(x, &at), wire(y, &at)), false),
        };
        lowered.push(first);
        if second {
            lowered.push(Gate::Not(inputs + lowered.len() - 1));
        }
        at.push(lowered.len() - 1);
    }
    (lowered, at)
}

fn put(program: &Program, format: Format, out: &mut (impl Write + ?Sized)) -> io::Result<FileCounts> {
    let inputs = program.input_bits();
    let (mut gates, results) = unroll(program);
    // For each gate the output that it is written as, if it is one. An output that is an input, or a gate
    // that is another output already, becomes a copy.
    let mut place = vec![None; gates.len()];
    let mut copies = Vec::new();
    for (i, &wire) in results.iter().enumerate() {
        match wire.checked_sub(inputs).and_then(|gate| place.get_mut(gate)) {
            Some(free @ None) => *free = Some(i),
            _ => copies.push((i, wire)),
        }
    }
    for &(i, wire) in &copies {
        gates.push(Gate::Copy(wire));
        place.push(Some(i));
    }
    if format == Format::Older {
        let (low, at) = lowered(gates, inputs);
        let mut low_place = vec![None; low.len()];
        at.iter().zip(&place).for_each(|(&at, output)| low_place[at] = *output);
        (gates, place) = (low, low_place);
    }
    let wires = inputs + gates.len();
    let first_output = wires - results.len();
    let mut next = inputs;
    let mut number: Vec<usize> = (0..inputs).collect();
    number.extend(place.into_iter().map(|place| {
        place.map_or_else(
            || {
                next += 1;
                next - 1
            },
            |output| first_output + output,
        )
    }));

    writeln!(out, "{} {wires}", gates.len())?;
    if format == Format::Older {
        let [x, y] = [0, 1].map(|i| program.inputs().get(i).copied().unwrap_or(0));
        writeln!(out, "{x} {y} {}", results.len())?;
    } else {
        for widths in [program.inputs(), program.outputs()] {
            write!(out, "{}", widths.len())?;
            for width in widths {
                write!(out, " {width}")?;
            }
            writeln!(out)?;
        }
    }
    writeln!(out)?;
    let mut counts = FileCounts::default();
    for (gate, z) in gates.iter().zip(&number[inputs..]) {
        match *gate {
            Gate::Constant(value) => {
                counts.eq += 1;
                writeln!(out, "1 1 {} {z} EQ", u8::from(value))?;
            }
            Gate::Copy(x) => {
                counts.eqw += 1;
                writeln!(out, "1 1 {} {z} EQW", number[x])?;
            }
            Gate::Not(x) => {
                counts.inv += 1;
                writeln!(out, "1 1 {} {z} INV", number[x])?;
            }
            Gate::Xor(x, y) => {
                counts.xor += 1;
                writeln!(out, "2 1 {} {} {z} XOR", number[x], number[y])?;
            }
            Gate::And(x, y) => {
                counts.and += 1;
                writeln!(out, "2 1 {} {} {z} AND", number[x], number[y])?;
            }
        }
    }
    Ok(counts)
}

/// The program's gates, each with a wire of its own, and the wires of the outputs.
fn unroll(program: &Program) -> (Vec<Gate>, Vec<usize>) {
    let inputs = program.input_bits();
    let mut gates = Vec::with_capacity(program.linear_count() + program.and_count());
    // The wire that each slot holds.
    let mut held: Vec<usize> = (0..inputs).collect();
    held.resize(program.slots(), 0);
    let push = |gates: &mut Vec<Gate>, gate| {
        gates.push(gate);
        inputs + gates.len() - 1
    };
    for level in program.levels() {
        for gate in level.linear() {
            let (to, gate) = match gate {
                LinearGate::Constant { out, value } => (out, Gate::Constant(value)),
                LinearGate::Not { out, x } => (out, Gate::Not(held[x.index()])),
                LinearGate::Xor { out, x, y } => (out, Gate::Xor(held[x.index()], held[y.index()])),
            };
            held[to.index()] = push(&mut gates, gate);
        }
        let mut results = Vec::with_capacity(level.dot_count());
        for (to, terms) in level.dots() {
            let products: Vec<usize> = terms
                .iter()
                .map(|(x, y)| push(&mut gates, Gate::And(held[x.index()], held[y.index()])))
                .collect();
            let sum = products.into_iter().reduce(|sum, product| push(&mut gates, Gate::Xor(sum, product)));
            results.extend(sum.map(|wire| (to, wire)));
        }
        for (to, wire) in results {
            held[to.index()] = wire;
        }
    }
    (gates, program.results().iter().map(|slot| held[slot.index()]).collect())
}
