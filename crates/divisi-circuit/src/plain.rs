//! Evaluation in the clear: the reference for every engine, 64 instances in a word.

use crate::gates::Gates;
use crate::program::Program;
use crate::slot::Slot;
use crate::stream::{CircuitFault, End, GateStep, Stream};
use std::collections::VecDeque;
use std::fmt;

/// Bits in the clear: bit `l` of a word is the wire's value in lane `l`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

impl Gates for Words {
    type Bit = u64;

    fn constant(&mut self, value: bool) -> u64 {
        if value { u64::MAX } else { 0 }
    }

    fn xor(&mut self, x: u64, y: u64) -> u64 {
        x ^ y
    }

    fn not(&mut self, x: u64) -> u64 {
        !x
    }

    fn dot(&mut self, terms: &[(u64, u64)]) -> u64 {
        terms.iter().fold(0, |sum, (x, y)| sum ^ (x & y))
    }
}

/// The inputs do not fit the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The number of inputs is not that of input wires.
    Wires {
        /// How many input wires the program has.
        want: usize,
        /// How many inputs were given.
        got: usize,
    },
    /// An input has more or fewer words than the first one.
    Lanes {
        /// The number of the input wire.
        wire: usize,
        /// How many words the first input has.
        want: usize,
        /// How many words this one has.
        got: usize,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Wires { want, got } => write!(f, "the program has {want} input wires, {got} were given"),
            Misfit::Lanes { wire, want, got } => {
                write!(f, "input wire {wire} has {got} words of lanes, the first one {want}")
            }
        }
    }
}

impl std::error::Error for Misfit {}

/// Why a circuit was not run from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unrun {
    /// The inputs do not fit the circuit.
    Misfit(Misfit),
    /// The file cannot be read, or has changed.
    Fault(CircuitFault),
}

impl fmt::Display for Unrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unrun::Misfit(misfit) => misfit.fmt(f),
            Unrun::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Unrun {}

impl From<Misfit> for Unrun {
    fn from(misfit: Misfit) -> Self {
        Unrun::Misfit(misfit)
    }
}

impl From<CircuitFault> for Unrun {
    fn from(fault: CircuitFault) -> Self {
        Unrun::Fault(fault)
    }
}

/// Checks that there is one input for each wire, all with the same number of words, and returns this number.
fn lanes(wires: usize, inputs: &[Vec<u64>]) -> Result<usize, Misfit> {
    if inputs.len() != wires {
        return Err(Misfit::Wires { want: wires, got: inputs.len() });
    }
    let words = inputs.first().map_or(1, Vec::len);
    for (wire, input) in inputs.iter().enumerate() {
        if input.len() != words {
            return Err(Misfit::Lanes { wire, want: words, got: input.len() });
        }
    }
    Ok(words)
}

/// The outputs of a circuit in its file; inputs and outputs as in [`run`]. Operands of ANDs are read when
/// their result is taken, as late as an engine may read them.
///
/// # Errors
/// [`Unrun`] if the inputs do not fit the circuit, or the file cannot be read or has changed.
pub fn run_stream(stream: &Stream, inputs: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, Unrun> {
    let words = lanes(stream.input_bits(), inputs)?;
    let mut held = inputs.concat();
    held.resize(stream.slots() * words, 0);
    let range = |slot: Slot| slot.index() * words..(slot.index() + 1) * words;
    let (mut asked, mut results) = (Vec::new(), VecDeque::new());
    stream.for_each_step(|step| -> Result<(), CircuitFault> {
        match step {
            GateStep::Xor { out, x, y } => {
                for ((to, x), y) in range(out).zip(range(x)).zip(range(y)) {
                    held[to] = held[x] ^ held[y];
                }
            }
            GateStep::Not { out, x } => range(out).zip(range(x)).for_each(|(to, x)| held[to] = !held[x]),
            GateStep::And { x, y } => asked.push((x, y)),
            GateStep::Take { out } => {
                for (x, y) in asked.drain(..) {
                    results.extend(range(x).zip(range(y)).map(|(x, y)| held[x] & held[y]));
                }
                range(out)
                    .zip(results.drain(..words.min(results.len())))
                    .for_each(|(to, word)| held[to] = word);
            }
        }
        Ok(())
    })?;
    let result = |end: &End| match *end {
        End::Slot(slot) => held[range(slot)].to_vec(),
        End::Constant(value) => vec![Words.constant(value); words],
    };
    Ok(stream.results().iter().map(result).collect())
}

/// Evaluates a program. Inputs and outputs have an entry for each wire, with 64 lanes in each word. A program
/// without inputs runs in 64 lanes.
///
/// # Errors
/// [`Misfit`] if the inputs do not fit the program, or differ in length.
pub fn run(program: &Program, inputs: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, Misfit> {
    let words = lanes(program.input_bits(), inputs)?;
    let mut held = inputs.concat();
    held.resize(program.slots() * words, 0);
    let at = |slot: Slot| slot.index() * words;
    let mut products = Vec::new();
    for level in program.levels() {
        // word by word, because the result's slot may be an operand's
        level.each_linear(
            &mut held[..],
            |held, out, value| held[at(out)..][..words].fill(Words.constant(value)),
            |held, [out, x, y]| {
                (0..words).for_each(|w| held[at(out) + w] = held[at(x) + w] ^ held[at(y) + w])
            },
            |held, [out, x]| (0..words).for_each(|w| held[at(out) + w] = !held[at(x) + w]),
        );
        products.clear();
        for (_, terms) in level.dots() {
            let sum = |w| terms.iter().fold(0, |sum, (x, y)| sum ^ (held[at(*x) + w] & held[at(*y) + w]));
            products.extend((0..words).map(sum));
        }
        for ((out, _), sum) in level.dots().zip(products.chunks_exact(words.max(1))) {
            held[at(out)..][..words].copy_from_slice(sum);
        }
    }
    Ok(program.results().iter().map(|slot| held[at(*slot)..][..words].to_vec()).collect())
}
