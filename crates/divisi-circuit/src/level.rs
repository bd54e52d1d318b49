//! Makes a [`Program`] of recorded gates: chooses the level of each gate, and the slot of its result.
//!
//! The *section* of a value is the first level whose XORs can read it: for an XOR the largest section of its
//! operands, for an AND one more. Sections run from 0 to the depth. Some gates could be in several sections;
//! the choice only changes how many wires exist at one time. Several orders are tried, and the one with the
//! fewest wires is taken.

use crate::memo::Memo;
use crate::program::{Level, LinearGate, Program, Slot};
use crate::recorded::{BuildBit, Node, Recorded};

/// A gate, with negations as gates of their own; operands are indices of earlier gates.
#[derive(Clone, Copy)]
enum Op {
    Input,
    Constant(bool),
    Not(usize),
    Xor(usize, usize),
    Dot(usize, usize),
}

/// The gates that are needed; the inputs are the first ones.
struct List {
    ops: Vec<Op>,
    terms: Vec<(usize, usize)>,
    results: Vec<usize>,
}

/// Makes a program of recorded gates.
pub(crate) fn program(build: Recorded) -> Program {
    let list = List::new(&build);
    let early = list.early();
    let depth = early.iter().copied().max().unwrap_or(0);
    let orders = [list.late(depth, None), list.late(depth, Some(&early)), early];
    let mut best: Option<(usize, Vec<Level>, Vec<Slot>)> = None;
    let inputs = build.inputs.iter().sum();
    for order in orders {
        let made = list.place(inputs, &order, depth);
        if best.as_ref().is_none_or(|(slots, ..)| made.0 < *slots) {
            best = Some(made);
        }
    }
    let (slots, levels, results) = best.unwrap_or_default();
    Program { inputs: build.inputs, outputs: build.outputs, slots, levels, results, memo: Memo::default() }
}

impl List {
    fn new(build: &Recorded) -> List {
        // Which nodes are read, and which are read negated; only products and outputs read negated nodes.
        let mut read = vec![build.verbatim; build.nodes.len()];
        let mut read_negated = vec![false; build.nodes.len()];
        let mark = |bit: BuildBit, read: &mut [bool], negated: &mut [bool]| {
            if bit.negated() {
                negated[bit.node()] = true;
                // The negation of a constant is a constant.
                read[bit.node()] |= bit.node() != 0;
            } else {
                read[bit.node()] = true;
            }
        };
        read[0] = false;
        for &bit in &build.results {
            mark(bit, &mut read, &mut read_negated);
        }
        for (n, node) in build.nodes.iter().enumerate().rev() {
            match *node {
                Node::Xor(x, y) if read[n] => {
                    read[x.node()] = true;
                    read[y.node()] = true;
                }
                Node::Dot(start, end) if read[n] => {
                    for &(x, y) in &build.terms[start as usize..end as usize] {
                        mark(x, &mut read, &mut read_negated);
                        mark(y, &mut read, &mut read_negated);
                    }
                }
                _ => {}
            }
        }
        let mut ops = vec![Op::Input; build.inputs.iter().sum()];
        let mut terms = Vec::with_capacity(build.terms.len());
        // The gates of each node and of its negation.
        let mut gate = vec![[0; 2]; build.nodes.len()];
        let at = |gate: &[[usize; 2]], bit: BuildBit| gate[bit.node()][usize::from(bit.negated())];
        for (n, node) in build.nodes.iter().enumerate() {
            if let Node::Input(i) = *node {
                gate[n][0] = i;
            } else if read[n] {
                gate[n][0] = ops.len();
                ops.push(match *node {
                    Node::False | Node::Input(_) => Op::Constant(false),
                    Node::Xor(x, y) => Op::Xor(at(&gate, x), at(&gate, y)),
                    Node::Dot(start, end) => {
                        let first = terms.len();
                        let dot = &build.terms[start as usize..end as usize];
                        terms.extend(dot.iter().map(|&(x, y)| (at(&gate, x), at(&gate, y))));
                        Op::Dot(first, terms.len())
                    }
                });
            }
            if read_negated[n] {
                let not = if n == 0 { Op::Constant(true) } else { Op::Not(gate[n][0]) };
                gate[n][1] = ops.len();
                ops.push(not);
            }
        }
        let results = build.results.iter().map(|&bit| at(&gate, bit)).collect();
        List { ops, terms, results }
    }

    /// Calls `f` for each operand of a gate.
    fn operands(&self, op: Op, mut f: impl FnMut(usize)) {
        match op {
            Op::Input | Op::Constant(_) => {}
            Op::Not(x) => f(x),
            Op::Xor(x, y) => {
                f(x);
                f(y);
            }
            Op::Dot(start, end) => {
                for &(x, y) in &self.terms[start..end] {
                    f(x);
                    f(y);
                }
            }
        }
    }

    /// The sections if each gate comes as soon as its operands exist.
    fn early(&self) -> Vec<usize> {
        let mut section: Vec<usize> = Vec::with_capacity(self.ops.len());
        for &op in &self.ops {
            let mut ready = 0;
            self.operands(op, |x| ready = ready.max(section[x]));
            section.push(ready + usize::from(matches!(op, Op::Dot(..))));
        }
        section
    }

    /// The sections if each gate comes just before its first reader; products are in the sections `products`,
    /// if given.
    fn late(&self, depth: usize, products: Option<&[usize]>) -> Vec<usize> {
        let mut section = vec![depth; self.ops.len()];
        for (i, &op) in self.ops.iter().enumerate().rev() {
            let is_dot = matches!(op, Op::Dot(..));
            if let (true, Some(products)) = (is_dot, products) {
                section[i] = products[i];
            }
            let before = section[i] - usize::from(is_dot);
            self.operands(op, |x| section[x] = section[x].min(before));
        }
        section
    }

    /// The levels for this choice of sections, with slots that are reused after their last reader.
    fn place(&self, inputs: usize, section: &[usize], depth: usize) -> (usize, Vec<Level>, Vec<Slot>) {
        let mut readers = vec![0_u32; self.ops.len()];
        for &op in &self.ops {
            self.operands(op, |x| readers[x] += 1);
        }
        for &x in &self.results {
            readers[x] += 1; // the slot of a result is never reused
        }
        let mut slots = Slots { of: vec![Slot(0); self.ops.len()], free: Vec::new(), used: inputs };
        for i in (0..inputs).rev() {
            slots.of[i] = Slot(i as u32);
            if readers[i] == 0 {
                slots.free.push(Slot(i as u32));
            }
        }
        // The XORs of section s, and the products that section s + 1 reads.
        let mut sums = vec![Vec::new(); depth + 1];
        let mut products = vec![Vec::new(); depth + 1];
        for (i, op) in self.ops.iter().enumerate().skip(inputs) {
            match op {
                Op::Dot(..) => products[section[i] - 1].push(i),
                _ => sums[section[i]].push(i),
            }
        }
        let mut levels = Vec::with_capacity(depth + 1);
        for (mut sums, products) in sums.into_iter().zip(products) {
            // Only products and outputs read negations, and constants read nothing. So each kind can be
            // together, which makes an engine's branches predictable.
            sums.sort_by_key(|&i| match self.ops[i] {
                Op::Constant(_) => 0,
                Op::Xor(..) => 1,
                _ => 2,
            });
            let mut level = Level::default();
            for i in sums {
                let operand = |x: usize| slots.of[x];
                let operands = match self.ops[i] {
                    Op::Xor(x, y) => (operand(x), operand(y)),
                    Op::Not(x) => (operand(x), operand(x)),
                    _ => (Slot(0), Slot(0)),
                };
                self.operands(self.ops[i], |x| slots.read(x, &mut readers));
                let out = slots.take(i, readers[i]);
                level.linear.push(match self.ops[i] {
                    Op::Constant(value) => LinearGate::Constant { out, value },
                    Op::Not(_) => LinearGate::Not { out, x: operands.0 },
                    _ => LinearGate::Xor { out, x: operands.0, y: operands.1 },
                });
            }
            // All products of a level are read before one of their results is written.
            for &i in &products {
                if let Op::Dot(start, end) = self.ops[i] {
                    let dot = &self.terms[start..end];
                    level.terms.extend(dot.iter().map(|&(x, y)| (slots.of[x], slots.of[y])));
                    level.dots.push((Slot(0), level.terms.len() as u32));
                }
            }
            for &i in &products {
                self.operands(self.ops[i], |x| slots.read(x, &mut readers));
            }
            for (&i, dot) in products.iter().zip(&mut level.dots) {
                dot.0 = slots.take(i, 1);
            }
            for &i in products.iter().filter(|&&i| readers[i] == 0) {
                slots.free.push(slots.of[i]);
            }
            levels.push(level);
        }
        let results = self.results.iter().map(|&x| slots.of[x]).collect();
        (slots.used, levels, results)
    }
}

struct Slots {
    of: Vec<Slot>,
    free: Vec<Slot>,
    used: usize,
}

impl Slots {
    /// Counts one read of `x`; after the last one its slot is free.
    fn read(&mut self, x: usize, readers: &mut [u32]) {
        readers[x] -= 1;
        if readers[x] == 0 {
            self.free.push(self.of[x]);
        }
    }

    /// A slot for `x`: the one that was freed last, if there is one. It is free again at once if `x` has no
    /// readers.
    fn take(&mut self, x: usize, readers: u32) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            Slot(self.used as u32 - 1)
        });
        self.of[x] = slot;
        if readers == 0 {
            self.free.push(slot);
        }
        slot
    }
}
