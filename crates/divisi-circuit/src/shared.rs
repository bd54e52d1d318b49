//! The gates that a circuit under construction has already: a table of their numbers, which are found by what
//! the gates compute. A number takes four bytes and the gate itself stays in the record, because this table
//! is what a builder needs most memory for.

use crate::recorded::{BuildBit, Node, Recorded};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

/// What a gate computes.
#[derive(PartialEq, Eq)]
pub(crate) enum Gate<'g> {
    Xor(BuildBit, BuildBit),
    Dot(&'g [(BuildBit, BuildBit)]),
}

/// A pair of wires is one word: most gates are one pair, and to hash them takes much of a builder's time.
impl Hash for Gate<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut pair = |x: &BuildBit, y: &BuildBit| hasher.write_u64(u64::from(x.0) << 32 | u64::from(y.0));
        match self {
            Gate::Xor(x, y) => pair(x, y),
            Gate::Dot(terms) => {
                terms.iter().for_each(|(x, y)| pair(x, y));
                hasher.write_u8(1);
            }
        }
    }
}

impl Recorded {
    /// What this node computes, if it is a gate.
    fn gate(&self, node: u32) -> Option<Gate<'_>> {
        match *self.nodes.get(node as usize)? {
            Node::False | Node::Input(_) => None,
            Node::Xor(x, y) => Some(Gate::Xor(x, y)),
            Node::Dot(start, end) => self.terms.get(start as usize..end as usize).map(Gate::Dot),
        }
    }
}

/// The numbers of gates, in an open hash table. Its key is random, so that no file can make it slow.
#[derive(Default)]
pub(crate) struct Shared {
    key: RandomState,
    /// The places of the table: their number is 0 or a power of two. A place holds the number of a gate; 0,
    /// which is no gate's number, means that it is free.
    places: Vec<u32>,
    count: usize,
}

impl Shared {
    /// The node that computes this, or the hash under which it is to be added.
    pub fn find(&self, gate: &Gate<'_>, recorded: &Recorded) -> Result<u32, u64> {
        let hash = self.key.hash_one(gate);
        for at in self.probe(hash) {
            match self.places[at] {
                0 => break,
                node if recorded.gate(node).as_ref() == Some(gate) => return Ok(node),
                _ => {}
            }
        }
        Err(hash)
    }

    /// Adds a gate that was not there, under its hash.
    pub fn add(&mut self, hash: u64, node: u32, recorded: &Recorded) {
        // at most three quarters are taken
        if 4 * (self.count + 1) > 3 * self.places.len() {
            self.grow(recorded);
        }
        self.put(hash, node);
        self.count += 1;
    }

    fn grow(&mut self, recorded: &Recorded) {
        let twice = vec![0; (2 * self.places.len()).max(64)];
        for node in std::mem::replace(&mut self.places, twice) {
            if let Some(gate) = recorded.gate(node) {
                self.put(self.key.hash_one(gate), node);
            }
        }
    }

    fn put(&mut self, hash: u64, node: u32) {
        if let Some(at) = self.probe(hash).find(|&at| self.places[at] == 0) {
            self.places[at] = node;
        }
    }

    /// The places of this hash, in the order in which they are taken.
    fn probe(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let len = self.places.len();
        (0..len).map(move |i| (hash as usize).wrapping_add(i) & (len - 1))
    }
}

#[cfg(test)]
mod tests {
    use crate::build::Build;
    use crate::gates::Gates;

    /// Whatever the table's size, each gate is found again, and no other one is taken for it.
    #[test]
    fn gates_are_found_again_while_the_table_grows() {
        let mut g = Build::new();
        let x = g.input(60);
        let make = |g: &mut Build| {
            let mut all = Vec::new();
            for (i, a) in x.iter().enumerate() {
                for (b, c) in x[..i].iter().zip(&x[1..]) {
                    all.push(g.xor(*a, *b));
                    all.push(g.and(*a, *b));
                    all.push(g.dot(&[(*a, *b), (*b, *c)]));
                }
            }
            all
        };
        let first = make(&mut g);
        let nodes = g.recorded.nodes.len();
        assert_eq!(make(&mut g), first);
        assert_eq!(g.recorded.nodes.len(), nodes);
        let mut different = first.clone();
        different.sort_unstable();
        different.dedup();
        // where `a` is `c`, both products are equal, and their sum is zero
        assert_eq!(different.len(), first.len() - 59 + 1);
    }
}
