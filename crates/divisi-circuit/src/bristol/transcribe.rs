//! Transcribes a file gate by gate into another format, or with the wires of its values in reverse order. The
//! circuit is not rebuilt: gates are added only if the other format has no gate of that name.

use super::error::BristolError;
use super::gates::Reader;
use super::syntax::{Format, Gate, Header, Negations};
use super::{FileCounts, Unwritable};
use std::io::{self, Write};

/// How a file is transcribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The format that is written.
    pub to: Format,
    /// Whether the wires of every value are written in reverse order.
    pub turned: bool,
    /// Whether to keep `OR`, `NAND`, `NOR` and `XNOR`, which the published formats do not have.
    pub keeps_names: bool,
}

/// Why a file is not transcribed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Untranscribed {
    /// It is not a circuit.
    Unread(BristolError),
    /// The format has no room for it, or it cannot be written.
    Unwritable(Unwritable),
    /// One of its outputs is an input, for which a gate must be added, or it has no inputs: such a circuit
    /// has to be rebuilt.
    Overlap,
    /// It has numbers of wires that no gate writes: such a circuit has to be rebuilt.
    Sparse,
}

/// Transcribe a file; returns the counts of what is written. It does not check that wires exist and are
/// written once: [`super::read`] does.
///
/// # Errors
/// [`Untranscribed`] if the file is not a circuit, if the format cannot express it, or if `out` fails.
pub fn transcribe(
    file: &[u8],
    how: Transcript,
    out: &mut (impl Write + ?Sized),
) -> Result<FileCounts, Untranscribed> {
    let mut reader = Reader::new(file, file.len()).map_err(Untranscribed::Unread)?;
    let header = reader.header().clone();
    let [inputs, outputs] = [&header.inputs, &header.outputs].map(|widths| widths.iter().sum::<usize>());
    if how.to == Format::Older {
        let [inputs, outputs] = [header.inputs.len(), header.outputs.len()];
        if !(1..=2).contains(&inputs) || outputs != 1 {
            return Err(Untranscribed::Unwritable(Unwritable::Values { inputs, outputs }));
        }
    }
    if inputs == 0 || header.wires.checked_sub(inputs).is_none_or(|made| made < outputs) {
        return Err(Untranscribed::Overlap);
    }
    // count first what is written, because the counts stand before the gates
    let (mut all, mut written) = (Counted::default(), inputs);
    while let Some((_, gate)) = reader.gate().map_err(Untranscribed::Unread)? {
        all.add(&gate, how);
        written += if let Gate::Mand { out, .. } = gate { out.len() } else { 1 };
    }
    if written < header.wires {
        return Err(Untranscribed::Sparse);
    }
    let mut reader = Reader::new(file, file.len()).map_err(Untranscribed::Unread)?;
    let mut scribe =
        Scribe { how, header: &header, inputs, first_output: header.wires - outputs, all, more: 0, out };
    let unwritten = |error| Untranscribed::Unwritable(Unwritable::Unwritten(error));
    scribe.begin().map_err(unwritten)?;
    while let Some((_, gate)) = reader.gate().map_err(Untranscribed::Unread)? {
        scribe.gate(&gate).map_err(unwritten)?;
    }
    Ok(scribe.all.counts)
}

/// The counts of the gates that are written, and the number of wires that are added to those of the file.
#[derive(Clone, Copy, Default)]
struct Counted {
    counts: FileCounts,
    wires: usize,
}

impl Counted {
    fn add(&mut self, gate: &Gate<'_>, how: Transcript) {
        let (counts, older) = (&mut self.counts, how.to == Format::Older);
        match *gate {
            Gate::Xor { negated, .. } => {
                let apart = usize::from(negated && !how.keeps_names);
                counts.xor += 1;
                counts.inv += apart;
                self.wires += apart;
            }
            Gate::And { signs: Negations { operands, result }, .. } => {
                let apart = if how.keeps_names { 0 } else { 2 * usize::from(operands) + usize::from(result) };
                counts.and += 1;
                counts.inv += apart;
                self.wires += apart;
            }
            Gate::Mand { out, .. } => counts.and += out.len(),
            Gate::Inv { .. } => counts.inv += 1,
            Gate::Eq { value, .. } if older => {
                counts.xor += 1;
                counts.inv += usize::from(value);
                self.wires += usize::from(value);
            }
            Gate::Eq { .. } => counts.eq += 1,
            Gate::Eqw { .. } if older => {
                counts.inv += 2;
                self.wires += 1;
            }
            Gate::Eqw { .. } => counts.eqw += 1,
        }
    }
}

struct Scribe<'s, W: ?Sized> {
    how: Transcript,
    header: &'s Header,
    inputs: usize,
    first_output: usize,
    all: Counted,
    /// The number of wires that were added so far. They get the numbers before those of the outputs.
    more: usize,
    out: &'s mut W,
}

impl<W: Write + ?Sized> Scribe<'_, W> {
    fn begin(&mut self) -> io::Result<()> {
        let (gates, wires) = (self.all.counts.total(), self.header.wires + self.all.wires);
        writeln!(self.out, "{gates} {wires}")?;
        let (inputs, outputs) = (&self.header.inputs, &self.header.outputs);
        if self.how.to == Format::Older {
            let [x, y] = [0, 1].map(|i| inputs.get(i).copied().unwrap_or(0));
            let z: usize = outputs.iter().sum();
            return writeln!(self.out, "{x} {y} {z}\n");
        }
        for widths in [inputs, outputs] {
            write!(self.out, "{}", widths.len())?;
            for width in widths {
                write!(self.out, " {width}")?;
            }
            writeln!(self.out)?;
        }
        writeln!(self.out)
    }

    /// The number under which a wire of the file is written.
    fn wire(&self, wire: usize) -> usize {
        let turned = |widths: &[usize], wire: usize| {
            let mut start = 0;
            for &width in widths.iter().filter(|_| self.how.turned) {
                if wire < start + width {
                    return start + (start + width - 1 - wire);
                }
                start += width;
            }
            wire
        };
        if wire < self.inputs {
            return turned(&self.header.inputs, wire);
        }
        match wire.checked_sub(self.first_output) {
            Some(output) => self.first_output + self.all.wires + turned(&self.header.outputs, output),
            None => wire,
        }
    }

    /// The number of an added wire.
    fn another(&mut self) -> usize {
        self.more += 1;
        self.first_output + self.more - 1
    }

    fn not(&mut self, x: usize, z: usize) -> io::Result<()> {
        writeln!(self.out, "1 1 {x} {z} INV")
    }

    fn two(&mut self, x: usize, y: usize, z: usize, name: &str) -> io::Result<()> {
        writeln!(self.out, "2 1 {x} {y} {z} {name}")
    }

    fn gate(&mut self, gate: &Gate<'_>) -> io::Result<()> {
        let (keeps, older) = (self.how.keeps_names, self.how.to == Format::Older);
        match *gate {
            Gate::Xor { x, y, out, negated } => {
                let [x, y, z] = [x, y, out].map(|wire| self.wire(wire));
                match (negated, keeps) {
                    (false, _) => self.two(x, y, z, "XOR"),
                    (true, true) => self.two(x, y, z, "XNOR"),
                    (true, false) => {
                        let sum = self.another();
                        self.two(x, y, sum, "XOR")?;
                        self.not(sum, z)
                    }
                }
            }
            Gate::And { x, y, out, signs: Negations { operands, result } } => {
                let [mut x, mut y, z] = [x, y, out].map(|wire| self.wire(wire));
                if keeps {
                    let name = match (operands, result) {
                        (false, false) => "AND",
                        (false, true) => "NAND",
                        (true, true) => "OR",
                        (true, false) => "NOR",
                    };
                    return self.two(x, y, z, name);
                }
                if operands {
                    for wire in [&mut x, &mut y] {
                        let other = self.another();
                        self.not(*wire, other)?;
                        *wire = other;
                    }
                }
                let product = if result { self.another() } else { z };
                self.two(x, y, product, "AND")?;
                if result { self.not(product, z) } else { Ok(()) }
            }
            Gate::Mand { x, y, out } => {
                for ((x, y), z) in x.iter().zip(y).zip(out) {
                    let [x, y, z] = [x, y, z].map(|wire| self.wire(*wire));
                    self.two(x, y, z, "AND")?;
                }
                Ok(())
            }
            Gate::Inv { x, out } => {
                let [x, z] = [x, out].map(|wire| self.wire(wire));
                self.not(x, z)
            }
            Gate::Eq { value, out } => {
                let z = self.wire(out);
                match (older, value) {
                    (false, _) => writeln!(self.out, "1 1 {} {z} EQ", u8::from(value)),
                    (true, false) => self.two(0, 0, z, "XOR"),
                    (true, true) => {
                        let zero = self.another();
                        self.two(0, 0, zero, "XOR")?;
                        self.not(zero, z)
                    }
                }
            }
            Gate::Eqw { x, out } => {
                let [x, z] = [x, out].map(|wire| self.wire(wire));
                if !older {
                    return writeln!(self.out, "1 1 {x} {z} EQW");
                }
                let other = self.another();
                self.not(x, other)?;
                self.not(other, z)
            }
        }
    }
}
