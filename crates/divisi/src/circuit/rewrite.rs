//! Rewriting of circuits: into another format or order of wires, or with fewer gates.

use super::{NamedCircuit, words};
use crate::failure::Failure;
use divisi_circuit::bristol::{self, FileCounts, Format, Unwritable};
use divisi_circuit::optimise::optimise;
use divisi_circuit::{Build, Program, plain};
use divisi_net::{Machine, World};
use std::io::{self, Write};

/// Random inputs on which an optimised circuit must give what the circuit gave.
const COMPARED: usize = 1024;

/// The program with the wires of every value in reverse order.
///
/// # Errors
/// None in practice: a program accepts its own inputs.
pub fn turned(program: &Program) -> Result<Program, Failure> {
    let mut build = Build::verbatim();
    let mut inputs = Vec::with_capacity(program.input_bits());
    for &width in program.inputs() {
        inputs.extend(build.input(width).into_iter().rev());
    }
    let results = program.replay(&mut build, &inputs).unwrap_or_default();
    let mut rest = &results[..];
    for &width in program.outputs() {
        let (value, after) = rest.split_at(width.min(rest.len()));
        build.output(&value.iter().rev().copied().collect::<Vec<_>>());
        rest = after;
    }
    Ok(build.finish())
}

/// The circuit with fewer gates where possible; its outputs on random inputs were compared.
///
/// # Errors
/// [`Failure`] if the outputs differ, which would be an error of this program.
pub fn optimised(circuit: &NamedCircuit) -> Result<Program, Failure> {
    let program = optimise(&circuit.program);
    let wires = circuit.program.input_bits();
    let mut inputs = vec![0; wires.div_ceil(8) * COMPARED];
    Machine.entropy(&mut inputs);
    let inputs = words(wires, COMPARED, &inputs);
    let [before, after] = [&circuit.program, &program].map(|program| plain::run(program, &inputs));
    if before.is_err() || before != after {
        let name = &circuit.name;
        return Err(Failure::mismatch(format!(
            "the optimised circuit of {name} computes something else, and is not written: this is a fault of divisi, please report it"
        )));
    }
    Ok(program)
}

/// Write a program in either format.
///
/// # Errors
/// The errors of `out`; in the other format also that it cannot express the program.
pub fn write_as(
    program: &Program,
    format: Format,
    out: &mut (impl Write + ?Sized),
) -> Result<io::Result<FileCounts>, Failure> {
    match bristol::write_as(program, format, out) {
        Ok(counts) => Ok(Ok(counts)),
        Err(Unwritable::Unwritten(error)) => Ok(Err(error)),
        Err(unfit) => Err(Failure::usage(unfit.to_string())),
    }
}
