//! Makes a [`Program`] of recorded gates: chooses the level of each gate, and the slot of its result.
//!
//! The *section* of a value is the first level whose XORs can read it: for an XOR the largest section of its
//! operands, for an AND one more. Sections run from 0 to the depth. Some gates could be in several sections;
//! the choice only changes how many wires exist at one time. Several orders are tried, and the one with the
//! fewest wires is taken.

use crate::memo::Memo;
use crate::packed::Kinds;
use crate::program::{Level, LinearGate, Program, Slot};
use crate::recorded::{BuildBit, Node, Recorded};

/// A gate, with negations as gates of their own; operands are indices of earlier gates. There are fewer than
/// 2^32, for a builder has fewer than 2^31.
#[derive(Clone, Copy)]
enum Op {
    Input,
    Constant(bool),
    Not(u32),
    Xor(u32, u32),
    Dot(u32, u32),
}

/// The gates that are needed; the inputs are the first ones.
struct List {
    ops: Vec<Op>,
    terms: Vec<(u32, u32)>,
    results: Vec<u32>,
}

/// Makes a program of recorded gates.
///
/// A hash of a long message has millions of gates. So the record is dropped before levels are made, and of
/// each order that is tried only its number of slots is kept.
pub(crate) fn program(build: Recorded) -> Program {
    let list = List::new(&build);
    let Recorded { nodes, terms, inputs, outputs, .. } = build;
    drop((nodes, terms));
    let early = list.early();
    let depth = early.iter().copied().max().unwrap_or(0);
    let late = |among: u8| list.late(depth, (among == 1).then_some(&early[..]));
    let input_bits = inputs.iter().sum();
    let slots = |section: &[u32]| list.place(input_bits, &list.sections(input_bits, section, depth), None).0;
    let tried = [slots(&late(0)), slots(&late(1)), slots(&early)];
    let order = match (0..).zip(tried).min_by_key(|(_, slots)| *slots) {
        Some((which @ 0..2, _)) => late(which),
        _ => early,
    };
    let sections = list.sections(input_bits, &order, depth);
    drop(order);
    let mut levels = Vec::with_capacity(depth as usize + 1);
    let (slots, results) = list.place(input_bits, &sections, Some(&mut levels));
    Program { inputs, outputs, slots, levels: levels.into(), results, memo: Memo::default() }
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
        let inputs: usize = build.inputs.iter().sum();
        let gates = |which: &[bool]| which.iter().filter(|read| **read).count();
        let mut ops = Vec::with_capacity(inputs + gates(&read) + gates(&read_negated));
        ops.resize(inputs, Op::Input);
        let mut terms = Vec::with_capacity(build.terms.len());
        // The gates of each node and of its negation.
        let mut gate = vec![[0_u32; 2]; build.nodes.len()];
        let at = |gate: &[[u32; 2]], bit: BuildBit| gate[bit.node()][usize::from(bit.negated())];
        for (n, node) in build.nodes.iter().enumerate() {
            if let Node::Input(i) = *node {
                gate[n][0] = i;
            } else if read[n] {
                gate[n][0] = ops.len() as u32;
                ops.push(match *node {
                    Node::False | Node::Input(_) => Op::Constant(false),
                    Node::Xor(x, y) => Op::Xor(at(&gate, x), at(&gate, y)),
                    Node::Dot(start, end) => {
                        let first = terms.len() as u32;
                        let dot = &build.terms[start as usize..end as usize];
                        terms.extend(dot.iter().map(|&(x, y)| (at(&gate, x), at(&gate, y))));
                        Op::Dot(first, terms.len() as u32)
                    }
                });
            }
            if read_negated[n] {
                let not = if n == 0 { Op::Constant(true) } else { Op::Not(gate[n][0]) };
                gate[n][1] = ops.len() as u32;
                ops.push(not);
            }
        }
        let results = build.results.iter().map(|&bit| at(&gate, bit)).collect();
        List { ops, terms, results }
    }

    /// The terms of a product.
    fn dot(&self, start: u32, end: u32) -> &[(u32, u32)] {
        &self.terms[start as usize..end as usize]
    }

    /// Calls `f` for each operand of a gate.
    fn operands(&self, op: Op, mut f: impl FnMut(usize)) {
        match op {
            Op::Input | Op::Constant(_) => {}
            Op::Not(x) => f(x as usize),
            Op::Xor(x, y) => {
                f(x as usize);
                f(y as usize);
            }
            Op::Dot(start, end) => {
                for &(x, y) in self.dot(start, end) {
                    f(x as usize);
                    f(y as usize);
                }
            }
        }
    }

    /// The sections if each gate comes as soon as its operands exist.
    fn early(&self) -> Vec<u32> {
        let mut section: Vec<u32> = Vec::with_capacity(self.ops.len());
        for &op in &self.ops {
            let mut ready = 0;
            self.operands(op, |x| ready = ready.max(section[x]));
            section.push(ready + u32::from(matches!(op, Op::Dot(..))));
        }
        section
    }

    /// The sections if each gate comes just before its first reader; products are in the sections `products`,
    /// if given.
    fn late(&self, depth: u32, products: Option<&[u32]>) -> Vec<u32> {
        let mut section = vec![depth; self.ops.len()];
        for (i, &op) in self.ops.iter().enumerate().rev() {
            let is_dot = matches!(op, Op::Dot(..));
            if let (true, Some(products)) = (is_dot, products) {
                section[i] = products[i];
            }
            let before = section[i] - u32::from(is_dot);
            self.operands(op, |x| section[x] = section[x].min(before));
        }
        section
    }

    /// The gates of each section.
    fn sections(&self, inputs: usize, section: &[u32], depth: u32) -> Sections {
        let count = depth as usize + 1;
        let gates = || self.ops.iter().zip(section).enumerate().skip(inputs);
        let sums = Groups::new(KINDS * count, || {
            gates().filter_map(|(i, (op, section))| {
                let kind = match op {
                    Op::Dot(..) => return None,
                    Op::Constant(_) => 0,
                    Op::Xor(..) => 1,
                    Op::Input | Op::Not(_) => 2,
                };
                Some((KINDS * *section as usize + kind, i))
            })
        });
        let products = Groups::new(count, || {
            gates()
                .filter(|(_, (op, _))| matches!(op, Op::Dot(..)))
                .map(|(i, (_, section))| (*section as usize - 1, i))
        });
        Sections { count, sums, products }
    }

    /// The number of slots that this choice of sections takes, and the slots of the results. A slot is reused
    /// after the last reader of its wire. If `levels` is given, the levels are appended to it.
    fn place(
        &self,
        inputs: usize,
        sections: &Sections,
        mut levels: Option<&mut Vec<Level>>,
    ) -> (usize, Vec<Slot>) {
        let mut readers = vec![0_u32; self.ops.len()];
        for &op in &self.ops {
            self.operands(op, |x| readers[x] += 1);
        }
        for &x in &self.results {
            readers[x as usize] += 1; // the slot of a result is never reused
        }
        let mut slots = Slots { of: vec![Slot(0); self.ops.len()], free: Vec::new(), used: inputs };
        for i in (0..inputs).rev() {
            slots.of[i] = Slot(i as u32);
            if readers[i] == 0 {
                slots.free.push(Slot(i as u32));
            }
        }
        let mut kinds = Kinds::default();
        for s in 0..sections.count {
            let sums = sections.sums.of(KINDS * s..KINDS * (s + 1));
            let products = sections.products.of(s..s + 1);
            let mut level = Level::default();
            if levels.is_some() {
                level.dots.reserve_exact(products.len());
            }
            for &i in sums {
                let (i, op) = (i as usize, self.ops[i as usize]);
                let operands = match op {
                    Op::Xor(x, y) => [slots.of[x as usize], slots.of[y as usize]],
                    Op::Not(x) => [slots.of[x as usize]; 2],
                    _ => [Slot(0); 2],
                };
                self.operands(op, |x| slots.read(x, &mut readers));
                let out = slots.take(i, readers[i]);
                if levels.is_some() {
                    let [x, y] = operands;
                    kinds.push(match op {
                        Op::Constant(value) => LinearGate::Constant { out, value },
                        Op::Not(_) => LinearGate::Not { out, x },
                        _ => LinearGate::Xor { out, x, y },
                    });
                }
            }
            level.local = kinds.take();
            // All products of a level are read before one of their results is written.
            if levels.is_some() {
                let of = |x: u32| slots.of[x as usize];
                for &i in products {
                    if let Op::Dot(start, end) = self.ops[i as usize] {
                        level.terms.extend(self.dot(start, end).iter().map(|&(x, y)| (of(x), of(y))));
                        level.dots.push((Slot(0), level.terms.len() as u32));
                    }
                }
                level.terms.shrink_to_fit();
            }
            for &i in products {
                self.operands(self.ops[i as usize], |x| slots.read(x, &mut readers));
            }
            for (n, &i) in products.iter().enumerate() {
                let out = slots.take(i as usize, 1);
                if let Some(dot) = level.dots.get_mut(n) {
                    dot.0 = out;
                }
            }
            for &i in products.iter().filter(|&&i| readers[i as usize] == 0) {
                slots.free.push(slots.of[i as usize]);
            }
            if let Some(levels) = &mut levels {
                levels.push(level);
            }
        }
        let results = self.results.iter().map(|&x| slots.of[x as usize]).collect();
        (slots.used, results)
    }
}

/// The number of kinds of local gates.
const KINDS: usize = 3;

/// The gates of sections, by their numbers.
struct Sections {
    count: usize,
    /// The local gates of each section, kind by kind: constants, XORs, negations. Each kind can be together,
    /// because only products and outputs read negations, and constants read nothing; this makes an engine's
    /// branches predictable.
    sums: Groups,
    /// For each section s the products whose section is s + 1, in which XORs can read them.
    products: Groups,
}

/// Gates, sorted into groups; within a group they keep their order.
struct Groups {
    /// Where each group begins, and the end.
    starts: Vec<u32>,
    gates: Vec<u32>,
}

impl Groups {
    /// `each` yields the group and the index of each gate.
    fn new<I: Iterator<Item = (usize, usize)>>(count: usize, each: impl Fn() -> I) -> Groups {
        let mut starts = vec![0_u32; count + 1];
        each().for_each(|(group, _)| starts[group + 1] += 1);
        (0..count).for_each(|group| starts[group + 1] += starts[group]);
        let mut gates = vec![0; starts[count] as usize];
        let mut next = starts.clone();
        for (group, gate) in each() {
            gates[next[group] as usize] = gate as u32;
            next[group] += 1;
        }
        Groups { starts, gates }
    }

    fn of(&self, groups: std::ops::Range<usize>) -> &[u32] {
        &self.gates[self.starts[groups.start] as usize..self.starts[groups.end] as usize]
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
