//! The compiled form of a program: nodes on numbers and words, in layers that share rounds.

use crate::node::{self, Id, Node, Sized};
use crate::schedule;
use crate::size::NumberSize;
use divisi_field::zp::Modulus;
use divisi_mixed::{a2b, adders};

/// Nodes that share rounds: the local ones run first, in order; then those that need messages, kind by kind.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub local: Vec<Id>,
    pub to_bits: Vec<Id>,
    pub multiply: Vec<Id>,
    pub to_number: Vec<Id>,
    pub look_up: Vec<Id>,
    pub run: Vec<Id>,
    pub garbled: Vec<Id>,
}

/// A program that is ready to run.
#[derive(Debug)]
pub struct Code {
    /// How large numbers are.
    pub(crate) numbers: NumberSize,
    pub(crate) nodes: Vec<Sized>,
    pub(crate) layers: Vec<Layer>,
    /// The node of each output.
    pub(crate) outputs: Vec<Id>,
    /// How often each node is used, by other needed nodes and by outputs.
    pub(crate) uses: Vec<usize>,
}

/// The cost of a run, in the terms of the paper's Table 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCost {
    /// ANDs of circuits, without those of A2B.
    pub ands: usize,
    /// ANDs of A2B.
    pub a2b_ands: usize,
    /// Products of numbers.
    pub products: usize,
    /// Conversions of bits to numbers.
    pub b2a: usize,
    /// The bits that are converted to numbers.
    pub b2a_bits: usize,
    /// Conversions of numbers to bits.
    pub a2b: usize,
    /// Lookups.
    pub lookups: usize,
    /// Random bits shared in both worlds (modulo 2 and modulo p) that lookups take.
    pub lookup_bits: usize,
    /// Random bits that masks of A2B take on average: about 43 each, or 62 if numbers are wide.
    pub mask_bits: usize,
    /// Arithmetic triples that masks of A2B take on average: about 2.7 each, or none if numbers are wide.
    pub mask_triples: usize,
    /// Garbled gates, and how many of them are ANDs.
    pub garbled: [usize; 2],
    /// Rounds online, including those of outputs.
    pub rounds: usize,
}

impl RunCost {
    /// Random bits shared in both worlds that a run takes, including those for masks of A2B.
    #[must_use]
    pub fn random_bits(&self) -> usize {
        self.b2a_bits + self.lookup_bits + self.mask_bits
    }

    /// Whether a run takes oblivious transfers: for ANDs, garbled or not, and for random bits if these are
    /// made by transfers, and not by ciphertexts.
    #[must_use]
    pub fn needs_transfers(&self, bits_by_transfers: bool) -> bool {
        let ands = self.ands + self.a2b_ands + self.garbled[0];
        ands > 0 || bits_by_transfers && self.random_bits() > 0
    }

    /// Arithmetic triples that a run takes, including those for masks of A2B.
    #[must_use]
    pub fn triples(&self) -> usize {
        self.products + self.mask_triples
    }
}

/// Rounds of an opening: to one party, and back.
const OPENING: usize = 2;
/// Rounds of garbled circuits: masked inputs are opened, and keys are sent to the first party.
const GARBLED: usize = 2;

impl Code {
    /// The code of these nodes; those that no output needs are dropped.
    pub(crate) fn new(numbers: NumberSize, nodes: Vec<Sized>, outputs: Vec<Id>) -> Code {
        let mut uses = vec![0; nodes.len()];
        outputs.iter().for_each(|id| uses[*id] += 1);
        for id in (0..nodes.len()).rev() {
            if uses[id] > 0 {
                nodes[id].node.args().into_iter().for_each(|arg| uses[arg] += 1);
            }
        }
        let mut code = Code { numbers, nodes, layers: Vec::new(), outputs, uses };
        // every node runs as early as possible, unless it takes fewer rounds in all if nodes wait for others
        // of their kind
        let (early, together) = schedule::depths(&code.nodes, &code.uses, numbers.width());
        code.layers = code.in_layers(&together);
        let rounds = code.cost().rounds;
        let layers = code.in_layers(&early);
        let waited = std::mem::replace(&mut code.layers, layers);
        if rounds < code.cost().rounds {
            code.layers = waited;
        }
        code
    }

    /// The layers of all nodes that are used, given the number of each node's layer.
    fn in_layers(&self, depths: &[usize]) -> Vec<Layer> {
        let mut layers: Vec<Layer> = Vec::new();
        for (id, sized) in self.nodes.iter().enumerate().filter(|(id, _)| self.uses[*id] > 0) {
            layers.resize_with(layers.len().max(depths[id] + 1), Layer::default);
            let layer = &mut layers[depths[id]];
            match &sized.node {
                Node::Multiply(..) => layer.multiply.push(id),
                Node::ToNumber(_) => layer.to_number.push(id),
                Node::LookUp { .. } | Node::LookUpPrivate { .. } => layer.look_up.push(id),
                Node::ToBits(_) => layer.to_bits.push(id),
                Node::Run(..) => layer.run.push(id),
                Node::Garbled(..) => layer.garbled.push(id),
                _ => layer.local.push(id),
            }
        }
        layers
    }

    pub(crate) fn lanes(&self, ids: &[Id]) -> usize {
        ids.iter().map(|id| self.nodes[*id].lanes).sum()
    }

    /// The cost of a run.
    #[must_use]
    pub fn cost(&self) -> RunCost {
        let mut cost = RunCost::default();
        for layer in &self.layers {
            if !layer.to_bits.is_empty() || !layer.multiply.is_empty() {
                cost.rounds += OPENING;
                cost.products += self.lanes(&layer.multiply);
            }
            if !layer.to_bits.is_empty() {
                let lanes = self.lanes(&layer.to_bits);
                let (ands, depth) = adders::cost(node::adder(lanes), self.numbers.width());
                cost.a2b += lanes;
                cost.a2b_ands += ands * lanes;
                cost.rounds += depth;
            }
            for id in &layer.to_number {
                let Node::ToNumber(word) = self.nodes[*id].node else { continue };
                let (lanes, width) = (self.nodes[*id].lanes, self.nodes[word].width);
                cost.b2a += lanes;
                cost.b2a_bits += lanes * width;
            }
            let mut any_private = false;
            for id in &layer.look_up {
                let lanes = self.nodes[*id].lanes;
                cost.lookups += lanes;
                let (index, private) = match &self.nodes[*id].node {
                    Node::LookUpPrivate { index, .. } => (*index, true),
                    Node::LookUp { index, .. } => (*index, false),
                    _ => continue,
                };
                let bits = lanes * ((1 << self.nodes[index].width) - 1);
                cost.lookup_bits += bits;
                if private {
                    cost.products += bits;
                    any_private = true;
                }
            }
            if !layer.to_number.is_empty() || !layer.look_up.is_empty() {
                cost.rounds += OPENING;
            }
            cost.rounds += if any_private { OPENING } else { 0 };
            let circuits = layer.run.iter().filter_map(|id| match &self.nodes[*id].node {
                Node::Run(circuit, _) => Some((circuit, self.nodes[*id].lanes)),
                _ => None,
            });
            let mut depth = 0;
            for (circuit, lanes) in circuits {
                cost.ands += circuit.and_count() * lanes;
                depth = depth.max(circuit.and_depth());
            }
            cost.rounds += depth;
            for id in &layer.garbled {
                let Node::Garbled(wiring, _) = &self.nodes[*id].node else { continue };
                let lanes = self.nodes[*id].lanes;
                let counts = cost.garbled.iter_mut().zip([wiring.gates(), wiring.ands()]);
                counts.for_each(|(count, gates)| *count += gates * lanes);
            }
            if !layer.garbled.is_empty() {
                cost.rounds += GARBLED;
            }
        }
        cost.rounds += usize::from(!self.outputs.is_empty());
        if let Some(p) = Modulus::new(self.numbers.modulus()) {
            let [bits, tenths] = a2b::cost_of_mask(p);
            (cost.mask_bits, cost.mask_triples) = (bits * cost.a2b, (tenths * cost.a2b).div_ceil(10));
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transfers make ANDs of each kind, and random bits of each use where these are made by transfers.
    #[test]
    fn transfers_are_for_ands_and_for_bits_that_they_make() {
        let none = RunCost::default();
        assert!(!none.needs_transfers(true) && !none.needs_transfers(false));
        for ands in [
            RunCost { ands: 256, ..none },
            RunCost { a2b_ands: 1, ..none },
            RunCost { garbled: [1, 0], ..none },
        ] {
            assert!(ands.needs_transfers(false) && ands.needs_transfers(true), "{ands:?}");
        }
        for bits in [
            RunCost { b2a_bits: 1, ..none },
            RunCost { lookup_bits: 1, ..none },
            RunCost { mask_bits: 256, ..none },
        ] {
            assert!(!bits.needs_transfers(false) && bits.needs_transfers(true), "{bits:?}");
        }
        assert!(!RunCost { products: 5, mask_triples: 5, ..none }.needs_transfers(true));
    }
}
