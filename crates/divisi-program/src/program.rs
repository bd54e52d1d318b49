//! Programs: statements on values with a kind and a shape, checked as they are added.
//!
//! Programs are public. Kinds and shapes are checked here only: code that reads a program ([`crate::plain`],
//! [`crate::lower`]) can rely on them.

use crate::shape::Shape;
use divisi_circuit::Program as Circuit;
use divisi_field::zp::P32;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest number of bits of one value.
pub const WIDEST: usize = 1 << 16;
/// The largest size of a program: the entries of all its values together, where each bit counts as an entry.
pub const LARGEST_PROGRAM: usize = 1 << 27;
/// The largest number; the smallest is its negative.
pub const LARGEST: i64 = (P32 as i64 - 1) / 2;
/// Comparisons, `shift` and `div` are right if their arguments, and differences of these, are below this in
/// absolute value.
pub const BOUND: i64 = 1 << 30;

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
    /// The bits of one entry, the lowest first.
    Bits(Vec<bool>),
}

/// The operation of a statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // each is the statement of the same name (docs/programs.md)
#[expect(clippy::exhaustive_enums, reason = "whoever runs a program does all of them")]
pub enum Action {
    Input,
    Constant(Constant),
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
/// let query = program.input("query", 1, ValueKind::Num, Shape::new(&[1, 4]).unwrap())?;
/// let base = program.input("base", 2, ValueKind::Num, Shape::new(&[256, 4]).unwrap())?;
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
    pub(crate) values: Vec<Value>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    /// The size so far: the entries of all values, with intermediate products and the entries of looked-up
    /// tables.
    pub(crate) size: usize,
    /// The numbers of public values, by the values' ids.
    pub(crate) public: BTreeMap<usize, Arc<Vec<i64>>>,
    /// The line that names a party first, in programs that are texts.
    lines: BTreeMap<u8, usize>,
    /// The line that makes a value, and the value's name if it has one, by the values' ids, in programs that
    /// are texts.
    sources: BTreeMap<usize, (usize, Option<String>)>,
}

impl Script {
    /// A program without statements.
    #[must_use]
    pub fn new() -> Script {
        Script::default()
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

    /// Notes that a line names a party.
    pub(crate) fn name_party(&mut self, party: u8, line: usize) {
        self.lines.entry(party).or_insert(line);
    }

    /// The first line of the text that names a party; `None` for one that no line names, or without a text.
    #[must_use]
    pub fn line_of_party(&self, party: u8) -> Option<usize> {
        self.lines.get(&party).copied()
    }

    /// Notes that a line makes a value, and what it calls the value.
    pub(crate) fn note_source(&mut self, value: &Value, line: usize, name: Option<&str>) {
        let source = self.sources.entry(value.id).or_insert((line, None));
        if let Some(name) = name {
            source.1 = Some(name.to_owned());
        }
    }

    /// Where a statement is, for error messages: its line, or its number if the program is no text.
    pub(crate) fn place_of(&self, statement: &Statement) -> String {
        match statement.results.first().and_then(|id| self.sources.get(id)) {
            Some((line, _)) => format!("line {line}"),
            None => {
                let same = |other: &Statement| other.results == statement.results;
                let number = self.statements.iter().position(same).unwrap_or(0);
                format!("statement {}", number + 1)
            }
        }
    }

    /// The name of one entry of a value, for error messages; entries are counted from 1.
    pub(crate) fn name_of_entry(&self, id: usize, entry: usize) -> String {
        let name = self.sources.get(&id).and_then(|(_, name)| name.as_deref());
        let is_input = |input: &&Input| input.value.id == id;
        let input = self.inputs.iter().find(is_input).map(|input| input.name.as_str());
        match (name.or(input), self.value(id).shape.entries()) {
            (Some(name), 1) => name.to_owned(),
            (Some(name), _) => format!("value {} of {name}", entry + 1),
            (None, 1) => "a value without a name".to_owned(),
            (None, _) => format!("value {} of those without a name", entry + 1),
        }
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

    pub(crate) fn fresh(&mut self, kind: ValueKind, shape: Shape) -> Value {
        let width = match kind {
            ValueKind::Num => 1,
            ValueKind::Bits(width) => width,
        };
        self.size = self.size.saturating_add(shape.entries().saturating_mul(width));
        let value = Value { id: self.values.len(), kind, shape };
        self.values.push(value.clone());
        value
    }

    /// Adds a statement with one result.
    pub(crate) fn push(&mut self, op: Action, args: &[&Value], kind: ValueKind, shape: Shape) -> Value {
        let value = self.fresh(kind, shape);
        let args = args.iter().map(|arg| arg.id).collect();
        self.statements.push(Statement { op, args, results: vec![value.id] });
        value
    }

    /// Adds an input of a party; the first party is 1.
    ///
    /// # Errors
    /// If another input has this name, the party is 0, or no value can have this kind.
    pub fn input(
        &mut self,
        name: &str,
        owner: u8,
        kind: ValueKind,
        shape: Shape,
    ) -> Result<Value, ProgramError> {
        if owner == 0 {
            return Err("there is no party 0: parties are counted from 1".into());
        }
        if self.inputs.iter().any(|input| input.name == name) {
            return Err(format!("there is an input {name} already"));
        }
        right_width(kind)?;
        let value = self.push(Action::Input, &[], kind, shape);
        self.inputs.push(Input { name: name.to_owned(), owner, value: value.clone() });
        Ok(value)
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
        if self.outputs.iter().any(|output| output.name == name) {
            return Err(format!("{name} is an output already: list all its receivers in one statement"));
        }
        let mut receivers = receivers.to_vec();
        receivers.sort_unstable();
        receivers.dedup();
        self.outputs.push(Output { name: name.to_owned(), receivers, value: value.clone() });
        Ok(())
    }

    /// A public value with these numbers, one for each entry.
    ///
    /// # Errors
    /// If there are not as many numbers as entries, or a number is beyond p/2.
    pub fn constant(&mut self, shape: Shape, numbers: &[i64]) -> Result<Value, ProgramError> {
        if numbers.len() != shape.entries() {
            let (given, wanted) = (numbers.len(), shape.entries());
            return Err(format!("{given} numbers are given, and the shape {shape} has {wanted} entries"));
        }
        if let Some(number) = numbers.iter().find(|number| number.unsigned_abs() > LARGEST as u64) {
            return Err(format!("{number} is beyond p/2: numbers are from -{LARGEST} to {LARGEST}"));
        }
        let op = Action::Constant(Constant::Num(numbers.to_vec()));
        let value = self.push(op, &[], ValueKind::Num, shape);
        self.public.insert(value.id, Arc::new(numbers.to_vec()));
        Ok(value)
    }

    /// An argument as a value; an integer gets the kind `with`.
    pub(crate) fn made(&mut self, arg: &Arg, with: ValueKind) -> Result<Value, ProgramError> {
        match (arg, with) {
            (Arg::Value(value), _) => Ok(value.clone()),
            (Arg::Integer(number), ValueKind::Num) => self.constant(Shape::one(), &[*number]),
            (Arg::Integer(number), ValueKind::Bits(width)) => {
                let fits = *number >= 0 && (width >= 63 || *number < 1 << width);
                if !fits {
                    return Err(format!("{number} is no number of {width} bits"));
                }
                let bits = (0..width).map(|i| i < 63 && number >> i & 1 == 1).collect();
                let op = Action::Constant(Constant::Bits(bits));
                Ok(self.push(op, &[], ValueKind::Bits(width), Shape::one()))
            }
        }
    }

    /// Both arguments as values of the same kind; two integers become numbers.
    pub(crate) fn both(&mut self, x: &Arg, y: &Arg) -> Result<[Value; 2], ProgramError> {
        let kind = |arg: &Arg| match arg {
            Arg::Value(value) => Some(value.kind),
            Arg::Integer(_) => None,
        };
        let with = kind(x).or(kind(y)).unwrap_or(ValueKind::Num);
        let (x, y) = (self.made(x, with)?, self.made(y, with)?);
        if x.kind == y.kind {
            return Ok([x, y]);
        }
        Err(match (x.kind, y.kind) {
            (ValueKind::Bits(x), ValueKind::Bits(y)) => {
                format!("words of {x} and of {y} bits do not fit: both must have the same width")
            }
            _ => "a number and bits do not fit: `num` converts bits to a number, `bits` a number to bits"
                .into(),
        })
    }

    pub(crate) fn joined(x: &Value, y: &Value) -> Result<Shape, ProgramError> {
        let joined = x.shape.join(&y.shape);
        joined.ok_or_else(|| {
            format!(
                "the shapes {} and {} do not fit: sides must be equal, or one of them 1",
                x.shape, y.shape
            )
        })
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
