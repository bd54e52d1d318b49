//! The keys by which equal nodes are found, so that each is made once.

use crate::node::{Id, Node, Sized};
use std::sync::Arc;

/// A node's operation and its arguments. Some nodes have no key: inputs, which are made once anyway, and
/// lookups and garbled circuits, which have preprocessing for each statement.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum NodeKey {
    Constant(Vec<u64>),
    Word(Vec<bool>, usize),
    Words(Vec<u64>, usize),
    /// An operation by its number, and two arguments, each of them a node or a number.
    Two(u8, u64, u64),
    Scale(Id, Arc<Vec<u64>>),
    Gather(Id, Arc<Vec<usize>>),
    Pick(Vec<(Id, usize)>),
    /// A circuit by its address in memory, where it stays while a node has it.
    Run(usize, Vec<Id>),
}

impl NodeKey {
    /// `None` for a node that is not looked for.
    pub(super) fn of(sized: &Sized) -> Option<NodeKey> {
        let two = |op, x: Id, y: Id| Some(NodeKey::Two(op, x as u64, y as u64));
        match &sized.node {
            Node::Constant(numbers) => Some(NodeKey::Constant(numbers.clone())),
            Node::Same(bits) => Some(NodeKey::Word(bits.clone(), sized.lanes)),
            Node::Words(words) => Some(NodeKey::Words(words.clone(), sized.width)),
            Node::Add(x, y) => two(0, *x, *y),
            Node::Sub(x, y) => two(1, *x, *y),
            Node::Neg(x) => two(2, *x, 0),
            Node::Shift(x, by) => Some(NodeKey::Two(3, *x as u64, *by)),
            Node::SumRows(x, side) => two(4, *x, *side),
            Node::Multiply(x, y) => two(5, *x, *y),
            Node::ToNumber(x) => two(6, *x, 0),
            Node::Xor(x, y) => two(7, *x, *y),
            Node::Not(x) => two(8, *x, 0),
            Node::Beside(x, y) => two(9, *x, *y),
            Node::ToBits(x) => two(10, *x, 0),
            Node::Scale(x, factors) => Some(NodeKey::Scale(*x, Arc::clone(factors))),
            Node::Gather(x, places) | Node::GatherWords(x, places) => {
                Some(NodeKey::Gather(*x, Arc::clone(places)))
            }
            Node::Pick(bits) => Some(NodeKey::Pick(bits.clone())),
            Node::Run(circuit, args) => Some(NodeKey::Run(Arc::as_ptr(circuit) as usize, args.clone())),
            Node::Input(_)
            | Node::InputBits(_)
            | Node::LookUp { .. }
            | Node::LookUpPrivate { .. }
            | Node::Garbled(..) => None,
        }
    }
}
