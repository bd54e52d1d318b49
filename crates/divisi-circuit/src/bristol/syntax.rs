//! What a file of a circuit says: its header, and its gates one by one.

/// The two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The newer one.
    Fashion,
    /// The older one: two inputs, one output.
    Older,
}

/// What a file declares before its gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// How the file is written.
    pub format: Format,
    /// Lines of gates.
    pub gates: usize,
    /// Wires: those of the inputs first, those of the outputs last.
    pub wires: usize,
    /// The width of each input value.
    pub inputs: Vec<usize>,
    /// The width of each output value.
    pub outputs: Vec<usize>,
}

/// A gate of a file. Wires are numbers as the file has them: not looked at yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // operands and results
pub enum Gate<'r> {
    /// `out = x + y`, or with a 1 added.
    Xor { x: usize, y: usize, out: usize, negated: bool },
    /// `out = x y`, with negations.
    And { x: usize, y: usize, out: usize, signs: Negations },
    /// `out[i] = x[i] y[i]`: lists of one length.
    Mand { x: &'r [usize], y: &'r [usize], out: &'r [usize] },
    /// `out = x + 1`.
    Inv { x: usize, out: usize },
    /// `out = value`.
    Eq { value: bool, out: usize },
    /// `out = x`.
    Eqw { x: usize, out: usize },
}

/// Where a 1 is added in a product of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Negations {
    /// To both operands.
    pub operands: bool,
    /// To the result.
    pub result: bool,
}
