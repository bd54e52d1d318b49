//! The compilation of statements to nodes: shapes become lanes, and comparisons become circuits. A number
//! that has its offset word already is not converted again, and no node is made twice.
//!
//! The *offset word* of a number x has the 31 bits of x + 2^30, or the 61 of x + 2^60 if numbers are wide. It
//! exists for all numbers that may be compared or shifted (|x| < 2^30, or 2^60). Offset words have the same
//! order as the numbers, and the highest bit is 1 if x is not negative.

mod bits;
mod node_key;
mod pieces;
mod quotient;
mod tables;

use crate::code::Code;
use crate::node::{self, Id, NOWHERE, Node, Sized};
use crate::program::{Action, Constant, Script, Statement, ValueKind};
use crate::shape::Shape;
use crate::words::{self, Word};
use divisi_circuit::Program as Circuit;
use divisi_field::zp::Modulus;
use node_key::NodeKey;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The state of the compilation.
struct Lower<'p> {
    program: &'p Script,
    p: Modulus,
    nodes: Vec<Sized>,
    /// The node of each value.
    values: Vec<Option<Id>>,
    /// The offset words of numbers that have one.
    offsets: HashMap<Id, Id>,
    /// The values of nodes that are public numbers.
    constants: HashMap<Id, Vec<i64>>,
    /// How many statements need the bits of each value.
    wanted: Vec<usize>,
    /// The same for nodes: how many statements need a number's bits.
    wanted_nodes: HashMap<Id, usize>,
    /// The nodes that exist, by their keys.
    known: HashMap<NodeKey, Id>,
    circuits: HashMap<(Word, usize, bool), Arc<Circuit>>,
}

/// Whether a statement works on the bits of numbers.
fn wants_bits(op: &Action) -> bool {
    match op {
        Action::Lt | Action::Le | Action::Eq | Action::Min | Action::Max | Action::Bits | Action::Div => true,
        Action::Shift(by) => *by < 0,
        _ => false,
    }
}

/// The arguments whose bits an operation works on, if they are numbers.
fn read_as_bits(statement: &Statement) -> &[usize] {
    match statement.op {
        // the index
        Action::Lookup => statement.args.get(1..).unwrap_or_default(),
        _ if wants_bits(&statement.op) => &statement.args,
        _ => &[],
    }
}

/// Compiles a program. `None` if a number does not fit the field; the checks of [`Script`] exclude that.
#[must_use]
pub fn lower(program: &Script) -> Option<Code> {
    let mut wanted = vec![0; program.values.len()];
    for arg in program.statements.iter().flat_map(read_as_bits) {
        wanted[*arg] += 1;
    }
    // a reshaped value has the same bits, and so have entries gathered from a value that is converted anyway
    for statement in program.statements.iter().rev() {
        let ([from, ..], [to]) = (&*statement.args, &*statement.results) else { continue };
        match statement.op {
            Action::Reshape => wanted[*from] += wanted[*to],
            Action::Gather(_) if wanted[*from] > 0 => wanted[*from] += wanted[*to],
            _ => (),
        }
    }
    let mut lower = Lower {
        program,
        p: Modulus::new(program.numbers.modulus())?,
        nodes: Vec::new(),
        values: vec![None; program.values.len()],
        offsets: HashMap::new(),
        constants: HashMap::new(),
        wanted,
        wanted_nodes: HashMap::new(),
        known: HashMap::new(),
        circuits: HashMap::new(),
    };
    for (place, input) in program.inputs.iter().enumerate() {
        let lanes = input.value.shape().entries();
        let id = match input.value.kind() {
            ValueKind::Num => lower.number(Node::Input(place), lanes),
            ValueKind::Bits(width) => lower.word(Node::InputBits(place), lanes, width),
        };
        lower.give(input.value.id, id);
    }
    for statement in &program.statements {
        lower.statement(statement)?;
    }
    let outputs =
        program.outputs.iter().map(|output| lower.values[output.value.id]).collect::<Option<Vec<Id>>>()?;
    Some(Code::new(program.numbers, lower.nodes, outputs))
}

impl Lower<'_> {
    /// What is added to a number for its offset word: a power of two.
    fn offset_of_words(&self) -> i64 {
        self.program.numbers.bound()
    }

    /// The bit of an offset word that is 1 where its number is not negative: the highest one.
    fn not_negative(&self) -> usize {
        self.program.limits().places() as usize
    }

    /// The number of bits of an offset word.
    fn offset_width(&self) -> usize {
        self.not_negative() + 1
    }

    /// Adds a node, unless there is an equal one already; returns its number.
    fn node(&mut self, sized: Sized) -> Id {
        let id = self.nodes.len();
        if let Some(known) = NodeKey::of(&sized) {
            match self.known.entry(known) {
                Entry::Occupied(there) => return *there.get(),
                Entry::Vacant(free) => free.insert(id),
            };
        }
        self.nodes.push(sized);
        id
    }

    fn number(&mut self, node: Node, lanes: usize) -> Id {
        self.node(Sized { node, lanes, width: 0 })
    }

    fn word(&mut self, node: Node, lanes: usize, width: usize) -> Id {
        self.node(Sized { node, lanes, width })
    }

    /// Sets the node of a value.
    fn give(&mut self, value: usize, id: Id) {
        self.values[value] = Some(id);
        *self.wanted_nodes.entry(id).or_default() += self.wanted[value];
    }

    fn lanes(&self, id: Id) -> usize {
        self.nodes[id].lanes
    }

    fn width(&self, id: Id) -> usize {
        self.nodes[id].width
    }

    fn constant(&mut self, numbers: &[i64]) -> Id {
        let residues = numbers.iter().map(|x| self.p.of_signed(*x)).collect();
        let id = self.number(Node::Constant(residues), numbers.len());
        self.constants.insert(id, numbers.to_vec());
        id
    }

    /// The lanes at these places; 0 for [`NOWHERE`].
    fn gather(&mut self, id: Id, places: Vec<usize>) -> Id {
        let lanes = places.len();
        let constant = self.constants.get(&id).filter(|_| !places.contains(&NOWHERE));
        if let Some(numbers) = constant {
            let numbers: Vec<i64> = places.iter().map(|place| numbers[*place]).collect();
            return self.constant(&numbers);
        }
        let places = Arc::new(places);
        match self.width(id) {
            0 => self.number(Node::Gather(id, places), lanes),
            width => self.word(Node::GatherWords(id, places), lanes, width),
        }
    }

    /// An argument, expanded to as many lanes as the result has entries.
    fn wide(&mut self, statement: &Statement, i: usize, shape: &Shape) -> Option<Id> {
        let value = self.program.value(statement.args[i]);
        let id = self.values[value.id]?;
        Some(match value.shape().places(shape) {
            Some(places) => self.gather(id, places),
            None => id,
        })
    }

    fn circuit(&mut self, word: Word, width: usize, lanes: usize) -> Arc<Circuit> {
        // with many lanes at once fewer ANDs are better, with few lanes fewer rounds
        let low_depth = node::adder(lanes) == divisi_mixed::adders::NumberAdder::LowDepth;
        let made = self.circuits.entry((word, width, low_depth));
        Arc::clone(made.or_insert_with(|| Arc::new(words::circuit(word, width, low_depth))))
    }

    fn run(&mut self, word: Word, width: usize, args: Vec<Id>) -> Id {
        self.run_for(0, word, width, args)
    }

    /// The same, in the form for at least this number of lanes.
    fn run_for(&mut self, least: usize, word: Word, width: usize, args: Vec<Id>) -> Id {
        let lanes = args.iter().map(|id| self.lanes(*id)).max().unwrap_or(1);
        let circuit = self.circuit(word, width, lanes.max(least));
        let width = circuit.output_bits();
        self.word(Node::Run(circuit, args), lanes, width)
    }

    fn pick(&mut self, bits: Vec<(Id, usize)>) -> Id {
        let lanes = bits.first().map_or(1, |(id, _)| self.lanes(*id));
        let width = bits.len();
        self.word(Node::Pick(bits), lanes, width)
    }

    fn slice(&mut self, id: Id, range: std::ops::Range<usize>) -> Id {
        if range == (0..self.width(id)) { id } else { self.pick(range.map(|i| (id, i)).collect()) }
    }

    fn same(&mut self, bits: Vec<bool>, lanes: usize) -> Id {
        let width = bits.len();
        self.word(Node::Same(bits), lanes, width)
    }

    fn not(&mut self, id: Id) -> Id {
        self.word(Node::Not(id), self.lanes(id), self.width(id))
    }

    fn sub(&mut self, x: Id, y: Id) -> Id {
        self.number(Node::Sub(x, y), self.lanes(x))
    }

    fn statement(&mut self, statement: &Statement) -> Option<()> {
        let program = self.program;
        let Some(first) = statement.results.first() else { return Some(()) };
        let out = program.value(*first);
        let shape = out.shape().clone();
        let lanes = shape.entries();
        let is_num = statement.args.first().is_some_and(|arg| program.value(*arg).kind() == ValueKind::Num);
        let width = match out.kind() {
            ValueKind::Num => 0,
            ValueKind::Bits(width) => width,
        };
        let id = match &statement.op {
            Action::Input | Action::Assume(_) => return Some(()),
            Action::Constant(Constant::Num(numbers)) => self.constant(numbers),
            Action::Constant(Constant::Bits(words)) => self.words(words),
            Action::Slice(_) | Action::Concat | Action::Widen => self.pieces(statement, &shape, width)?,
            Action::Popcount => {
                let x = self.values[statement.args[0]]?;
                self.run(Word::Count, self.width(x), vec![x])
            }
            Action::Add | Action::Sub | Action::Mul | Action::Xor | Action::And | Action::Or => {
                let (x, y) = (self.wide(statement, 0, &shape)?, self.wide(statement, 1, &shape)?);
                match (&statement.op, is_num) {
                    (Action::Add, true) => self.number(Node::Add(x, y), lanes),
                    (Action::Sub, true) => self.sub(x, y),
                    (Action::Mul, true) => self.product(x, y),
                    (Action::Mul, false) => self.run(Word::Multiply, width, vec![x, y]),
                    (Action::Add, false) => self.run(Word::Add, width, vec![x, y]),
                    (Action::Sub, false) => self.run(Word::Sub, width, vec![x, y]),
                    (Action::And, _) => self.run(Word::And, width, vec![x, y]),
                    (Action::Or, _) => self.run(Word::Or, width, vec![x, y]),
                    _ => self.word(Node::Xor(x, y), lanes, width),
                }
            }
            Action::Neg => {
                let x = self.wide(statement, 0, &shape)?;
                if is_num { self.number(Node::Neg(x), lanes) } else { self.run(Word::Negate, width, vec![x]) }
            }
            Action::Sum => {
                let x = self.values[statement.args[0]]?;
                let side = self.lanes(x) / lanes;
                if is_num {
                    self.number(Node::SumRows(x, side), lanes)
                } else {
                    self.sum_words(x, lanes, side)
                }
            }
            Action::MatMul => self.matrices(statement)?,
            Action::Min | Action::Max => return self.extreme(statement, matches!(statement.op, Action::Max)),
            Action::Reshape => self.values[statement.args[0]]?,
            Action::Gather(places) => {
                let x = self.values[statement.args[0]]?;
                self.gather(x, places.clone())
            }
            Action::Lt | Action::Le | Action::Eq => {
                let inner = program
                    .value(statement.args[0])
                    .shape()
                    .join(program.value(statement.args[1]).shape())?;
                let (x, y) = (self.wide(statement, 0, &inner)?, self.wide(statement, 1, &inner)?);
                self.compare(statement, x, y, is_num)
            }
            Action::Select => self.select(statement, &shape)?,
            Action::Not => {
                let x = self.values[statement.args[0]]?;
                self.not(x)
            }
            Action::Bits => {
                let x = self.values[statement.args[0]]?;
                if width < self.offset_width() {
                    let word = self.offset(x);
                    self.slice(word, 0..width)
                } else {
                    let bits = self.word(Node::ToBits(x), lanes, program.numbers.width());
                    self.slice(bits, 0..width)
                }
            }
            Action::Num => {
                let word = self.values[statement.args[0]]?;
                // its number is below p/2, so bits beyond those of p are zeros, and B2A takes no more
                let word = self.slice(word, 0..self.width(word).min(program.numbers.width()));
                let id = self.number(Node::ToNumber(word), lanes);
                self.remember(id, word);
                id
            }
            Action::Shift(by) => self.shift(statement, *by)?,
            Action::Div => self.divide(statement, &shape)?,
            Action::Lookup => self.look_up(statement)?,
            Action::Circuit(circuit) | Action::Garbled(circuit) => {
                return self.any(statement, circuit, &shape);
            }
        };
        self.give(*first, id);
        Some(())
    }

    fn product(&mut self, x: Id, y: Id) -> Id {
        let lanes = self.lanes(x);
        for (known, other) in [(x, y), (y, x)] {
            if let Some(numbers) = self.constants.get(&known) {
                let numbers = numbers.iter().map(|x| self.p.of_signed(*x)).collect();
                return self.number(Node::Scale(other, Arc::new(numbers)), lanes);
            }
        }
        self.number(Node::Multiply(x, y), lanes)
    }

    fn matrices(&mut self, statement: &Statement) -> Option<Id> {
        let [x, y] = [0, 1].map(|i| self.program.value(statement.args[i]));
        let (&[rows, inner], &[_, columns]) = (x.shape().sides(), y.shape().sides()) else { return None };
        let places = (0..rows * columns).flat_map(|at| (0..inner).map(move |k| (at, k)));
        let (left, right) =
            places.map(|(at, k)| (at / columns * inner + k, k * columns + at % columns)).unzip();
        let (x, y) = (self.values[x.id]?, self.values[y.id]?);
        let (x, y) = (self.gather(x, left), self.gather(y, right));
        let products = self.product(x, y);
        Some(self.number(Node::SumRows(products, inner), rows * columns))
    }

    fn select(&mut self, statement: &Statement, shape: &Shape) -> Option<Id> {
        let (x, y) = (self.wide(statement, 1, shape)?, self.wide(statement, 2, shape)?);
        match self.width(x) {
            // y + c (x - y)
            0 => {
                if let Some(chosen) = self.select_words(statement, shape, [x, y]) {
                    return Some(chosen);
                }
                // a bit that is repeated is converted before it is repeated
                let c = self.program.value(statement.args[0]);
                let bit = self.values[c.id]?;
                let number = self.number(Node::ToNumber(bit), self.lanes(bit));
                let c = match c.shape().places(shape) {
                    Some(places) => self.gather(number, places),
                    None => number,
                };
                let difference = match (self.constants.get(&x), self.constants.get(&y)) {
                    (Some(x), Some(y)) => {
                        let numbers: Vec<i64> =
                            x.iter().zip(y).map(|(x, y)| self.p.centred(self.p.of_signed(x - y))).collect();
                        self.constant(&numbers)
                    }
                    _ => self.sub(x, y),
                };
                let chosen = self.product(c, difference);
                Some(self.number(Node::Add(chosen, y), shape.entries()))
            }
            width => {
                let c = self.wide(statement, 0, shape)?;
                Some(self.run(Word::Choose, width, vec![c, x, y]))
            }
        }
    }
}
