//! The contents of a circuit file: its header and its gates.

/// The two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever reads a circuit takes all of them")]
pub enum Format {
    /// Bristol Fashion, the newer one.
    Fashion,
    /// The older one, with two inputs and one output.
    Older,
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The format of the file.
    pub format: Format,
    /// How many gates it has.
    pub gates: usize,
    /// How many wires it has: those of the inputs first, those of the outputs last.
    pub wires: usize,
    /// The width of each input value.
    pub inputs: Vec<usize>,
    /// The width of each output value.
    pub outputs: Vec<usize>,
}

/// A gate of a file. Wires are the numbers in the file, which are not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // operands and results
#[expect(clippy::exhaustive_enums, reason = "whoever reads a circuit takes all of them")]
pub enum Gate<'r> {
    /// `out = x + y`, or `x + y + 1` if negated.
    Xor { x: usize, y: usize, out: usize, negated: bool },
    /// `out = x y`, with some values negated.
    And { x: usize, y: usize, out: usize, signs: Negations },
    /// `out[i] = x[i] y[i]`; the lists have the same length.
    Mand { x: &'r [usize], y: &'r [usize], out: &'r [usize] },
    /// `out = x + 1`.
    Inv { x: usize, out: usize },
    /// `out = value`.
    Eq { value: bool, out: usize },
    /// `out = x`.
    Eqw { x: usize, out: usize },
}

/// Which values of an AND are negated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Negations {
    /// Both operands.
    pub operands: bool,
    /// The result.
    pub result: bool,
}
