//! Reads a file into a program.

use super::error::BristolError;
use super::gates::{LONGEST, Reader};
use super::known::BitOrder;
use super::survey::FileCounts;
use super::syntax::{Format, Gate};
use super::wires::Wires;
use crate::build::{Build, BuildBit};
use crate::gates::Gates;
use crate::program::Program;

/// A circuit that was read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitFile {
    /// The circuit, with every XOR and AND of the file.
    pub program: Program,
    /// The file's gates by kind.
    pub counts: FileCounts,
    /// The format of the file.
    pub format: Format,
    /// The order of the wires of its values, if it is a known published file.
    pub order: Option<BitOrder>,
}

/// Reads a circuit in either format. Memory and time are proportional to the length of the file, whatever it
/// declares.
///
/// # Errors
/// [`BristolError`] names the first line that cannot be parsed, reads a wire that no earlier line writes
/// (which also excludes cycles), writes a wire twice, or declares what the file does not have.
pub fn read(file: &[u8]) -> Result<CircuitFile, BristolError> {
    if file.len() > LONGEST {
        return Err(BristolError::new(1, format!("files of more than {LONGEST} bytes are not read")));
    }
    let mut reader = Reader::new(file, file.len())?;
    let header = reader.header().clone();
    let mut build = Build::verbatim();
    let inputs: Vec<BuildBit> = header.inputs.iter().flat_map(|&width| build.input(width)).collect();
    let mut wires = Wires::new(&header, inputs);
    let mut counts = FileCounts::default();
    while let Some((line, gate)) = reader.gate()? {
        counts.add(&gate);
        match gate {
            Gate::Xor { x, y, out, negated } => {
                let sum = build.xor(wires.read(line, x)?, wires.read(line, y)?);
                wires.write(line, out, sum.negated_if(negated))?;
            }
            Gate::And { x, y, out, signs } => {
                let [x, y] =
                    [wires.read(line, x)?, wires.read(line, y)?].map(|bit| bit.negated_if(signs.operands));
                wires.write(line, out, build.and(x, y).negated_if(signs.result))?;
            }
            Gate::Mand { x, y, out } => {
                let operands = |of: &[usize]| -> Result<Vec<BuildBit>, BristolError> {
                    of.iter().map(|&wire| wires.read(line, wire)).collect()
                };
                let (x, y) = (operands(x)?, operands(y)?);
                for ((&out, x), y) in out.iter().zip(x).zip(y) {
                    let product = build.and(x, y);
                    wires.write(line, out, product)?;
                }
            }
            Gate::Inv { x, out } => {
                let not = build.not(wires.read(line, x)?);
                wires.write(line, out, not)?;
            }
            Gate::Eq { value, out } => {
                let value = build.constant(value);
                wires.write(line, out, value)?;
            }
            Gate::Eqw { x, out } => wires.write(line, out, wires.read(line, x)?)?,
        }
    }
    let wires = wires.finish(reader.line())?;
    let mut next = wires.len() - header.outputs.iter().sum::<usize>();
    for &width in &header.outputs {
        let bits: Vec<BuildBit> = wires[next..next + width].iter().filter_map(|&bit| bit).collect();
        build.output(&bits);
        next += width;
    }
    let order = reader.known_order();
    Ok(CircuitFile { program: build.finish(), counts, format: header.format, order })
}
