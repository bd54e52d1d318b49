//! A file looked through once, in five bytes a wire.

use super::error::BristolError;
use super::gates::Reader;
use super::known::BitOrder;
use super::syntax::{Gate, Header};
use super::wires::Wires;
use std::io::BufRead;
use std::num::NonZeroU32;

/// How many gates of each name a file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Sums, those of `XNOR` included.
    pub xor: usize,
    /// Products, those of `MAND`, `OR`, `NAND` and `NOR` included.
    pub and: usize,
    /// Negations.
    pub inv: usize,
    /// Constants.
    pub eq: usize,
    /// Copies.
    pub eqw: usize,
}

impl FileCounts {
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

/// Readers of a wire that are too many to be counted, or never end: those of an output.
pub(crate) const MANY: u8 = u8::MAX;

/// What a file is found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// What it declares.
    pub header: Header,
    /// What it has.
    pub counts: FileCounts,
    /// The longest chain of its products: that of the program that [`read`](super::read) gives.
    pub and_depth: usize,
    /// In which order the wires of its values stand, if it is a published file that is known.
    pub order: Option<BitOrder>,
    /// How often each wire is read; [`MANY`] if it is an output, or read as often as that.
    pub(crate) readers: Vec<u8>,
}

/// Looks through a circuit in either format, of so many bytes, and demands of it all that
/// [`read`](super::read) does, without keeping a gate: five bytes a wire.
///
/// # Errors
/// Those of [`read`](super::read).
pub fn survey<R: BufRead>(input: R, length: usize) -> Result<Survey, BristolError> {
    let mut reader = Reader::new(input, length)?;
    let header = reader.header().clone();
    // of each wire the longest chain of products that it depends on, and one
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
