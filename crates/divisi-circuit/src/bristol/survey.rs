//! Checks a circuit file in one pass, with five bytes of memory for each wire.

use super::error::BristolError;
use super::gates::Reader;
use super::known::BitOrder;
use super::syntax::{Gate, Header};
use super::wires::Wires;
use std::io::BufRead;
use std::num::NonZeroU32;

/// How many gates of each kind a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// XORs, including those of `XNOR`.
    pub xor: usize,
    /// ANDs, including those of `MAND`, `OR`, `NAND` and `NOR`.
    pub and: usize,
    /// Negations.
    pub inv: usize,
    /// Constants.
    pub eq: usize,
    /// Copies.
    pub eqw: usize,
}

impl FileCounts {
    /// The number of gates of all kinds.
    #[must_use]
    pub fn total(&self) -> usize {
        [self.xor, self.and, self.inv, self.eq, self.eqw].into_iter().fold(0, usize::saturating_add)
    }

    pub(super) fn add(&mut self, gate: &Gate<'_>) {
        match gate {
            Gate::Xor { .. } => self.xor += 1,
            Gate::And { .. } => self.and += 1,
            Gate::Mand { out, .. } => self.and += out.len(),
            Gate::Inv { .. } => self.inv += 1,
            Gate::Eq { .. } => self.eq += 1,
            Gate::Eqw { .. } => self.eqw += 1,
        }
    }
}

/// The count of readers of a wire that is read 255 times or more, or is an output and so must be kept to the
/// end.
pub(crate) const MANY: u8 = u8::MAX;

/// The result of checking a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The header of the file.
    pub header: Header,
    /// The file's gates by kind.
    pub counts: FileCounts,
    /// The largest number of ANDs on a path: the same as in the program that [`read`](super::read) makes.
    pub and_depth: usize,
    /// The order of the wires of its values, if it is a known published file.
    pub order: Option<BitOrder>,
    /// How often each wire is read; [`MANY`] if it is an output, or is read 255 times or more.
    pub(crate) readers: Vec<u8>,
}

/// Checks a circuit of `length` bytes in either format, as [`read`](super::read) does, without keeping its
/// gates. Memory: five bytes for each wire.
///
/// # Errors
/// The errors of [`read`](super::read).
pub fn survey<R: BufRead>(input: R, length: usize) -> Result<Survey, BristolError> {
    let mut reader = Reader::new(input, length)?;
    let header = reader.header().clone();
    // for each wire that was written, one more than the largest number of ANDs on a path to it
    let one = NonZeroU32::MIN;
    let mut depths = Wires::new(&header, std::iter::repeat_n(one, header.inputs.iter().sum()));
    let mut readers = vec![0_u8; header.wires];
    let mut counts = FileCounts::default();
    let mut deepest = one;
    while let Some((line, gate)) = reader.gate()? {
        counts.add(&gate);
        let mut read = |wire: usize| -> Result<NonZeroU32, BristolError> {
            let depth = depths.read(line, wire)?;
            if let Some(readers) = readers.get_mut(wire) {
                *readers = readers.saturating_add(1);
            }
            Ok(depth)
        };
        match gate {
            Gate::Xor { x, y, out, .. } => {
                let depth = read(x)?.max(read(y)?);
                depths.write(line, out, depth)?;
            }
            Gate::And { x, y, out, .. } => {
                let depth = read(x)?.max(read(y)?).saturating_add(1);
                deepest = deepest.max(depth);
                depths.write(line, out, depth)?;
            }
            Gate::Mand { x, y, out } => {
                for wire in x.iter().chain(y) {
                    read(*wire)?;
                }
                for ((&x, &y), &out) in x.iter().zip(y).zip(out) {
                    let depth = depths.read(line, x)?.max(depths.read(line, y)?).saturating_add(1);
                    deepest = deepest.max(depth);
                    depths.write(line, out, depth)?;
                }
            }
            Gate::Inv { x, out } | Gate::Eqw { x, out } => {
                let depth = read(x)?;
                depths.write(line, out, depth)?;
            }
            Gate::Eq { out, .. } => depths.write(line, out, one)?,
        }
    }
    depths.finish(reader.line())?;
    let order = reader.known_order();
    let first_output = header.wires - header.outputs.iter().sum::<usize>();
    readers.iter_mut().skip(first_output).for_each(|readers| *readers = MANY);
    Ok(Survey { header, counts, and_depth: deepest.get() as usize - 1, order, readers })
}
