//! The operations of a compiled program.

use divisi_circuit::Program as Circuit;
use divisi_mixed::adders::NumberAdder;
use divisi_mpgc::Wiring;
use std::sync::Arc;

/// The number of a node.
pub(crate) type Id = usize;
/// An entry in a list of lanes that stands for no lane: its value is 0.
pub(crate) const NOWHERE: usize = usize::MAX;

/// An operation. Some need messages between all parties; the others are local.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    // nodes whose results are numbers
    Input(usize),
    Constant(Vec<u64>),
    Add(Id, Id),
    Sub(Id, Id),
    Neg(Id),
    /// Multiplies by public numbers: one for each lane, or one for all.
    Scale(Id, Arc<Vec<u64>>),
    /// Adds one public number.
    Shift(Id, u64),
    Gather(Id, Arc<Vec<usize>>),
    /// Sums of this many neighbouring lanes.
    SumRows(Id, usize),
    // these need messages, and give numbers
    Multiply(Id, Id),
    ToNumber(Id),
    LookUp {
        table: Arc<Vec<u64>>,
        index: Id,
    },
    /// Looks up private tables, given one after the other, one for each lane of the index.
    LookUpPrivate {
        tables: Id,
        index: Id,
    },
    // nodes whose results are words
    InputBits(usize),
    /// The same public word in each lane.
    Same(Vec<bool>),
    /// A public word for each lane.
    Words(Vec<u64>),
    /// A word of bits from other words, each given by the word and the position in it.
    Pick(Vec<(Id, usize)>),
    Xor(Id, Id),
    Not(Id),
    /// The lanes of the first word, then those of the second.
    Beside(Id, Id),
    GatherWords(Id, Arc<Vec<usize>>),
    // these need messages, and give words
    ToBits(Id),
    Run(Arc<Circuit>, Vec<Id>),
    Garbled(Arc<Wiring>, Vec<Id>),
}

impl Node {
    pub(crate) fn args(&self) -> Vec<Id> {
        match self {
            Node::Input(_) | Node::Constant(_) | Node::InputBits(_) | Node::Same(_) | Node::Words(_) => {
                vec![]
            }
            Node::Neg(x)
            | Node::Scale(x, _)
            | Node::Shift(x, _)
            | Node::Gather(x, _)
            | Node::SumRows(x, _) => vec![*x],
            Node::ToNumber(x) | Node::Not(x) | Node::GatherWords(x, _) | Node::ToBits(x) => vec![*x],
            Node::LookUp { index, .. } => vec![*index],
            Node::Add(x, y)
            | Node::Sub(x, y)
            | Node::Multiply(x, y)
            | Node::Xor(x, y)
            | Node::Beside(x, y) => vec![*x, *y],
            Node::LookUpPrivate { tables, index } => vec![*tables, *index],
            Node::Pick(bits) => bits.iter().map(|(id, _)| *id).collect(),
            Node::Run(_, words) | Node::Garbled(_, words) => words.clone(),
        }
    }

    /// Whether the operation needs messages between the parties.
    pub(crate) fn talks(&self) -> bool {
        matches!(
            self,
            Node::Multiply(..)
                | Node::ToNumber(_)
                | Node::LookUp { .. }
                | Node::LookUpPrivate { .. }
                | Node::ToBits(_)
                | Node::Run(..)
                | Node::Garbled(..)
        )
    }
}

/// A node with its size: the number of lanes, and the bits of a word (0 for a number).
#[derive(Clone, Debug)]
pub(crate) struct Sized {
    pub node: Node,
    pub lanes: usize,
    pub width: usize,
}

/// The adder of A2B for this number of numbers at once: the one with few rounds, unless there are so many
/// numbers that its additional ANDs cost more.
pub(crate) fn adder(numbers: usize) -> NumberAdder {
    if numbers < 1 << 8 { NumberAdder::LowDepth } else { NumberAdder::FewestAnds }
}
