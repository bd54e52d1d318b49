//! Checks, gate by gate, that each wire of a file is written once, and before it is read.

use super::error::BristolError;
use super::syntax::Header;

/// A value of type `T` for each wire that has been written.
pub(super) struct Wires<T> {
    held: Vec<Option<T>>,
    written: usize,
}

impl<T: Copy> Wires<T> {
    /// The wires of a file with this header; `inputs` are the values of the input wires.
    pub fn new(header: &Header, inputs: impl IntoIterator<Item = T>) -> Wires<T> {
        let mut held: Vec<Option<T>> = Vec::with_capacity(header.wires);
        held.extend(inputs.into_iter().map(Some));
        let written = held.len();
        held.resize(header.wires, None);
        Wires { held, written }
    }

    /// The value of a wire that a line reads.
    pub fn read(&self, line: usize, wire: usize) -> Result<T, BristolError> {
        match self.held.get(wire) {
            Some(&Some(held)) => Ok(held),
            Some(None) => {
                Err(BristolError::new(line, format!("wire {wire} is read before a line writes it")))
            }
            None => Err(self.stranger(line, wire)),
        }
    }

    /// Sets the value of a wire that a line writes.
    pub fn write(&mut self, line: usize, wire: usize, value: T) -> Result<(), BristolError> {
        match self.held.get_mut(wire) {
            Some(place @ None) => *place = Some(value),
            Some(Some(_)) => {
                return Err(BristolError::new(line, format!("wire {wire} is written a second time")));
            }
            None => return Err(self.stranger(line, wire)),
        }
        self.written += 1;
        Ok(())
    }

    fn stranger(&self, line: usize, wire: usize) -> BristolError {
        BristolError::new(line, format!("wire {wire} is not one of the {}", self.held.len()))
    }

    /// The values of all wires, after the last line.
    pub fn finish(self, line: usize) -> Result<Vec<Option<T>>, BristolError> {
        let (wires, written) = (self.held.len(), self.written);
        if let Some(missing) = self.held.iter().position(Option::is_none) {
            let what = format!("{wires} wires were declared, {written} are written");
            return Err(BristolError::new(line, format!("{what}; the first that is not is {missing}")));
        }
        Ok(self.held)
    }
}
