//! Checks, gate by gate, that each wire of a file is written once, and before it is read. A wire that no gate
//! writes or reads, and that is no output, is only a number.

use super::error::BristolError;
use super::syntax::Header;

/// A value of type `T` for each wire that has been written.
pub(super) struct Wires<T> {
    held: Vec<Option<T>>,
    outputs: usize,
}

impl<T: Copy> Wires<T> {
    /// The wires of a file with this header; `inputs` are the values of the input wires.
    pub fn new(header: &Header, inputs: impl IntoIterator<Item = T>) -> Wires<T> {
        let mut held: Vec<Option<T>> = Vec::with_capacity(header.wires);
        held.extend(inputs.into_iter().map(Some));
        held.resize(header.wires, None);
        Wires { held, outputs: header.outputs.iter().sum() }
    }

    /// The value of a wire that a line reads.
    pub fn read(&self, line: usize, wire: usize) -> Result<T, BristolError> {
        match self.held.get(wire) {
            Some(&Some(held)) => Ok(held),
            Some(None) => {
                Err(BristolError::new(line, format!("wire {wire} is read before a line writes it{SORT}")))
            }
            None => Err(stranger(line, wire, self.held.len())),
        }
    }

    /// Sets the value of a wire that a line writes.
    pub fn write(&mut self, line: usize, wire: usize, value: T) -> Result<(), BristolError> {
        match self.held.get_mut(wire) {
            Some(place @ None) => *place = Some(value),
            Some(Some(_)) => return Err(twice(line, wire)),
            None => return Err(stranger(line, wire, self.held.len())),
        }
        Ok(())
    }

    /// The values of all wires, after the last line; all outputs have been written.
    pub fn finish(self, line: usize) -> Result<Vec<Option<T>>, BristolError> {
        let first = self.held.len().saturating_sub(self.outputs);
        match self.held.iter().skip(first).position(Option::is_none) {
            Some(missing) => Err(unwritten(line, first + missing, self.held.len(), self.outputs)),
            None => Ok(self.held),
        }
    }
}

/// How to read a file whose gates are out of order.
const SORT: &str = ": if a later line does, sort the gates with `divisi circuit convert --sort`";

/// The error for a wire that is written twice.
pub(super) fn twice(line: usize, wire: usize) -> BristolError {
    BristolError::new(line, format!("wire {wire} is written a second time"))
}

/// The error for a wire beyond those that the header declares.
pub(super) fn stranger(line: usize, wire: usize, wires: usize) -> BristolError {
    let remedy = "the header's second number must be larger than the number of every wire";
    BristolError::new(line, format!("wire {wire} is not one of the {wires}: {remedy}"))
}

/// The error for an output wire that no gate writes.
pub(super) fn unwritten(line: usize, wire: usize, wires: usize, outputs: usize) -> BristolError {
    let first = wires.saturating_sub(outputs);
    BristolError::new(
        line,
        format!(
            "no gate writes wire {wire}, which is an output: the outputs are the last {outputs} of the {wires} wires, \
             from {first} on"
        ),
    )
}
