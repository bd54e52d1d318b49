//! Programs: statements on values with a kind and a shape, checked as they are added.
//!
//! Programs are public. Kinds, shapes and ranges are checked here only: code that reads a program
//! ([`crate::plain`], [`crate::lower`]) can rely on them.

use crate::interval::Interval;
use crate::shape::Shape;
use crate::size::NumberSize;
use divisi_circuit::Program as Circuit;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The largest number of bits of one value.
pub const WIDEST: usize = 1 << 16;
/// The largest size of a program: the entries of all its values together, where each bit counts as an entry.
pub const LARGEST_PROGRAM: usize = 1 << 27;
/// The largest number of a program that says nothing about its numbers; the smallest is its negative.
pub const LARGEST: i64 = NumberSize::Bits31.largest();
/// In such a program comparisons, `shift` and `div` are right if their arguments, and differences of these,
/// are below this in absolute value.
pub const BOUND: i64 = NumberSize::Bits31.bound();

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever runs a program does all of them")]
pub enum ValueKind {
    /// Numbers modulo p, read as -(p-1)/2 to (p-1)/2.
    Num,
    /// Unsigned numbers of this many bits, the lowest first.
    Bits(usize),
}

impl std::fmt::Display for ValueKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueKind::Num => f.write_str("num"),
            ValueKind::Bits(width) => write!(f, "bits {width}"),
        }
    }
}

/// A value of a program.
#[derive(Clone, Debug)]
pub struct Value {
    pub(crate) id: usize,
    kind: ValueKind,
    shape: Shape,
}

impl Value {
    /// The value's kind.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        self.kind
    }

    /// The value's shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A description for error messages.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", self.kind, self.shape)
    }
}

/// An input, which one party has.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The party that has it, counted from 1.
    pub owner: u8,
    /// The value.
    pub value: Value,
    /// The range of its entries, if one is declared.
    pub range: Option<Interval>,
}

/// What the programmer knows about a value, and the program does not show.
#[derive(Clone, Debug)]
pub struct Assumption {
    /// The value.
    pub value: Value,
    /// The range in which all its entries are.
    pub range: Interval,
    /// The line that says so, in programs that are texts.
    pub line: Option<usize>,
}

/// An output, which some parties learn.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The parties that learn it, in order, counted from 1.
    pub receivers: Vec<u8>,
    /// The value.
    pub value: Value,
}

/// A constant of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever runs a program does all of them")]
pub enum Constant {
    /// Numbers, one for each entry.
    Num(Vec<i64>),
    /// The bits of each entry, the lowest first.
    Bits(Vec<Vec<bool>>),
}

/// The operation of a statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // each is the statement of the same name (docs/programs.md)
#[expect(clippy::exhaustive_enums, reason = "whoever runs a program does all of them")]
pub enum Action {
    Input,
    Constant(Constant),
    /// The number of the assumption.
    Assume(usize),
    Add,
    Sub,
    Neg,
    Mul,
    Sum,
    Min,
    Max,
    MatMul,
    Reshape,
    Gather(Vec<usize>),
    Lt,
    Le,
    Eq,
    Select,
    Xor,
    And,
    Or,
    Not,
    /// The lowest bit that is taken.
    Slice(usize),
    Concat,
    Widen,
    Popcount,
    Bits,
    Num,
    Shift(i32),
    Div,
    Lookup,
    Circuit(Arc<Circuit>),
    Garbled(Arc<Circuit>),
}

/// A statement. Arguments and results are given by the numbers of their values.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The operation.
    pub op: Action,
    /// The arguments.
    pub args: Vec<usize>,
    /// The results.
    pub results: Vec<usize>,
}

/// An argument: a value, or an integer, which takes the kind of the other argument.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "whoever runs a program does all of them")]
pub enum Arg {
    /// A value.
    Value(Value),
    /// An integer.
    Integer(i64),
    /// An unsigned integer of any size: its bits, the lowest first.
    Word(Vec<bool>),
}

impl From<&Value> for Arg {
    fn from(value: &Value) -> Arg {
        Arg::Value(value.clone())
    }
}

impl From<i64> for Arg {
    fn from(integer: i64) -> Arg {
        Arg::Integer(integer)
    }
}

/// Why a statement is refused: one sentence.
pub type ProgramError = String;

/// A program on numbers and bits, whose statements are all valid.
///
/// ```
/// use divisi_program::{ValueKind, Script, Shape};
///
/// let mut program = Script::new();
/// let query = program.input_in("query", 1, ValueKind::Num, Shape::new(&[1, 4]).unwrap(), [-8191, 8191])?;
/// let base = program.input_in("base", 2, ValueKind::Num, Shape::new(&[256, 4]).unwrap(), [-8191, 8191])?;
/// let diff = program.sub(&base, &query)?;
/// let square = program.mul(&diff, &diff)?;
/// let dist = program.sum(&square)?;
/// let [best, place] = program.min(&dist)?;
/// let near = program.lt(&best, 1000)?;
/// let shown = program.select(&near, &place, -1)?;
/// program.output("shown", &shown, &[1, 3])?;
/// assert_eq!(shown.shape().to_string(), "1");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(crate) numbers: NumberSize,
    pub(crate) values: Vec<Value>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) input_names: BTreeSet<String>,
    pub(crate) output_names: BTreeSet<String>,
    /// The size so far: the entries of all values, with intermediate products and the entries of looked-up
    /// tables.
    pub(crate) size: usize,
    /// The numbers of public values, by the values' ids.
    pub(crate) public: BTreeMap<usize, Arc<Vec<i64>>>,
    /// What each value can be, by the values' ids.
    pub(crate) intervals: Vec<Interval>,
    /// The number of the statement that makes each value, by the values' ids.
    pub(crate) makers: Vec<usize>,
    /// The results of comparisons with public numbers that can be too far from the others to be subtracted.
    pub(crate) far: BTreeSet<usize>,
    pub(crate) assumptions: Vec<Assumption>,
    /// The line that names a party first, in programs that are texts.
    pub(crate) lines: BTreeMap<u8, usize>,
    /// The line that makes a value, in programs that are texts, and the value's name if it has one, by the
    /// values' ids.
    pub(crate) sources: BTreeMap<usize, (Option<usize>, Option<String>)>,
}

impl Script {
    /// A program without statements, with numbers of 31 bits.
    #[must_use]
    pub fn new() -> Script {
        Script::default()
    }

    /// A program without statements, with numbers of this size.
    #[must_use]
    pub fn of_numbers(numbers: NumberSize) -> Script {
        Script { numbers, ..Script::default() }
    }

    /// How large its numbers are.
    #[must_use]
    pub fn numbers(&self) -> NumberSize {
        self.numbers
    }

    /// The inputs, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// What the program assumes of its values, in order.
    #[must_use]
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// The statements, in order; arguments come before the statements that use them.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The largest number of a party that the program names.
    #[must_use]
    pub fn parties(&self) -> u8 {
        let owners = self.inputs.iter().map(|input| input.owner);
        let receivers = self.outputs.iter().flat_map(|output| output.receivers.iter().copied());
        owners.chain(receivers).max().unwrap_or(1)
    }

    /// Check that the program is small enough to be run: its values have at most [`LARGEST_PROGRAM`] entries
    /// in all.
    ///
    /// # Errors
    /// If it has more.
    pub fn check_size(&self) -> Result<(), ProgramError> {
        if self.size > LARGEST_PROGRAM {
            return Err(format!("the program has more than {LARGEST_PROGRAM} values in all: split it"));
        }
        Ok(())
    }

    pub(crate) fn value(&self, id: usize) -> &Value {
        &self.values[id]
    }

    /// A new value, which the next statement makes.
    pub(crate) fn fresh(&mut self, kind: ValueKind, shape: Shape, interval: Interval) -> Value {
        let width = match kind {
            ValueKind::Num => 1,
            ValueKind::Bits(width) => width,
        };
        self.size = self.size.saturating_add(shape.entries().saturating_mul(width));
        let value = Value { id: self.values.len(), kind, shape };
        self.values.push(value.clone());
        self.intervals.push(interval);
        self.makers.push(self.statements.len());
        value
    }

    /// Adds a statement with one result, if its ranges fit.
    pub(crate) fn push(
        &mut self,
        op: Action,
        args: &[&Value],
        kind: ValueKind,
        shape: Shape,
    ) -> Result<Value, ProgramError> {
        let interval = self.bounded(&op, args, kind)?;
        Ok(self.push_in(op, args, kind, shape, interval))
    }

    /// Adds a statement with one result of this range.
    pub(crate) fn push_in(
        &mut self,
        op: Action,
        args: &[&Value],
        kind: ValueKind,
        shape: Shape,
        interval: Interval,
    ) -> Value {
        let value = self.fresh(kind, shape, interval);
        let args = args.iter().map(|arg| arg.id).collect();
        self.statements.push(Statement { op, args, results: vec![value.id] });
        value
    }

    /// Adds an output: these parties learn a value.
    ///
    /// # Errors
    /// If another output has this name, no party is given, or a party is 0.
    pub fn output(&mut self, name: &str, value: &Value, receivers: &[u8]) -> Result<(), ProgramError> {
        if receivers.is_empty() {
            return Err(format!("the output {name} has no receiver: give the numbers of parties, as 1,3"));
        }
        if receivers.contains(&0) {
            return Err("there is no party 0: parties are counted from 1".into());
        }
        if !self.output_names.insert(name.to_owned()) {
            return Err(format!("{name} is an output already: list all its receivers in one statement"));
        }
        let mut receivers = receivers.to_vec();
        receivers.sort_unstable();
        receivers.dedup();
        self.outputs.push(Output { name: name.to_owned(), receivers, value: value.clone() });
        Ok(())
    }
}

pub(crate) fn right_width(kind: ValueKind) -> Result<(), ProgramError> {
    match kind {
        ValueKind::Bits(width) if !(1..=WIDEST).contains(&width) => {
            Err(format!("a value of {width} bits: it has 1 to {WIDEST}"))
        }
        _ => Ok(()),
    }
}
