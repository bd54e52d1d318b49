//! The builder: an instance of [`Gates`] that records gates and makes a [`Program`] of them.
//!
//! It leaves out gates with a known result (`x + x`, `x x`, products with constants, double negations), gates
//! that exist already, and at the end gates that no output needs. A negation is noted at the wire; it becomes
//! a gate only if a product or an output reads it.

use crate::gates::Gates;
use crate::level;
use crate::program::Program;
pub use crate::recorded::BuildBit;
use crate::recorded::{Node, Recorded};
use crate::shared::{Gate, Shared};

/// A circuit that is being built.
pub struct Build {
    pub(crate) recorded: Recorded,
    known: Shared,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// A builder that leaves out superfluous gates.
    #[must_use]
    pub fn new() -> Self {
        Build {
            recorded: Recorded {
                nodes: vec![Node::False],
                terms: Vec::new(),
                inputs: Vec::new(),
                outputs: Vec::new(),
                results: Vec::new(),
                verbatim: false,
            },
            known: Shared::default(),
        }
    }

    /// A builder that keeps every XOR and AND, for circuits whose gates are counted elsewhere.
    #[must_use]
    pub fn verbatim() -> Self {
        let mut build = Self::new();
        build.recorded.verbatim = true;
        build
    }

    /// Adds an input value, and returns its wires.
    pub fn input(&mut self, width: usize) -> Vec<BuildBit> {
        let before: usize = self.recorded.inputs.iter().sum();
        self.recorded.inputs.push(width);
        (before..before + width).map(|i| self.push(Node::Input(i as u32))).collect()
    }

    /// Adds an output value with these wires.
    pub fn output(&mut self, bits: &[BuildBit]) {
        self.recorded.outputs.push(bits.len());
        self.recorded.results.extend_from_slice(bits);
    }

    /// The levelled program with all gates that the outputs need (with all gates, if the builder is
    /// [`verbatim`](Build::verbatim)).
    #[must_use]
    pub fn finish(self) -> Program {
        let Build { recorded, known } = self;
        drop(known);
        level::program(recorded)
    }

    fn push(&mut self, node: Node) -> BuildBit {
        let index = self.recorded.nodes.len();
        // One bit of a wire's number is its sign. The parser of files refuses files that are large enough to
        // reach this.
        assert!(index < 1 << 31, "a circuit has fewer than 2^31 gates");
        self.recorded.nodes.push(node);
        BuildBit((index as u32) << 1)
    }

    /// The wire of this gate, which is made if it is not there.
    fn share(&mut self, gate: &Gate<'_>) -> BuildBit {
        let hash = match self.known.find(gate, &self.recorded) {
            Ok(node) => return BuildBit(node << 1),
            Err(hash) => hash,
        };
        let node = match *gate {
            Gate::Xor(x, y) => Node::Xor(x, y),
            Gate::Dot(terms) => self.record(terms),
        };
        let bit = self.push(node);
        self.known.add(hash, bit.0 >> 1, &self.recorded);
        bit
    }

    fn record(&mut self, terms: &[(BuildBit, BuildBit)]) -> Node {
        let start = self.recorded.terms.len();
        self.recorded.terms.extend_from_slice(terms);
        assert!(self.recorded.terms.len() < 1 << 31, "a circuit has fewer than 2^31 products");
        Node::Dot(start as u32, self.recorded.terms.len() as u32)
    }

    /// `x` if `sum` is the node `x + y`.
    fn less(&self, sum: BuildBit, y: BuildBit) -> Option<BuildBit> {
        match self.recorded.nodes.get(sum.node()) {
            Some(&Node::Xor(a, b)) if a == y => Some(b),
            Some(&Node::Xor(a, b)) if b == y => Some(a),
            _ => None,
        }
    }
}

impl Gates for Build {
    type Bit = BuildBit;

    fn constant(&mut self, value: bool) -> BuildBit {
        if value { BuildBit::TRUE } else { BuildBit::FALSE }
    }

    fn xor(&mut self, x: BuildBit, y: BuildBit) -> BuildBit {
        let sign = x.negated() != y.negated();
        let (x, y) = (x.plain().min(y.plain()), x.plain().max(y.plain()));
        if self.recorded.verbatim {
            return self.push(Node::Xor(x, y)).negated_if(sign);
        }
        let sum = if x == y {
            BuildBit::FALSE
        } else if x.is_constant() {
            y
        } else if let Some(rest) = self.less(x, y).or_else(|| self.less(y, x)) {
            rest
        } else {
            self.share(&Gate::Xor(x, y))
        };
        sum.negated_if(sign)
    }

    fn not(&mut self, x: BuildBit) -> BuildBit {
        x.negated_if(true)
    }

    fn dot(&mut self, terms: &[(BuildBit, BuildBit)]) -> BuildBit {
        if terms.is_empty() {
            return BuildBit::FALSE;
        }
        if self.recorded.verbatim {
            let node = self.record(terms);
            return self.push(node);
        }
        let mut linear = BuildBit::FALSE;
        let mut products = Vec::with_capacity(terms.len());
        for &(x, y) in terms {
            let (x, y) = (x.min(y), x.max(y));
            if x == y || x == BuildBit::TRUE {
                linear = self.xor(linear, y);
            } else if x != BuildBit::FALSE && x.plain() != y.plain() {
                products.push((x, y));
            }
        }
        products.sort_unstable();
        let mut terms: Vec<(BuildBit, BuildBit)> = Vec::with_capacity(products.len());
        for term in products {
            if terms.pop_if(|last| *last == term).is_none() {
                terms.push(term);
            }
        }
        if terms.is_empty() {
            return linear;
        }
        let products = self.share(&Gate::Dot(&terms));
        self.xor(products, linear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_costs_nothing() {
        let mut g = Build::new();
        let [x, y] = g.input(2)[..] else { panic!("two wires") };
        let (zero, one) = (g.constant(false), g.constant(true));
        let (nx, ny) = (g.not(x), g.not(y));
        assert_eq!(g.not(nx), x);
        assert_eq!(g.xor(x, x), zero);
        assert_eq!(g.xor(x, nx), one);
        assert_eq!(g.xor(zero, y), y);
        assert_eq!(g.xor(y, one), ny);
        assert_eq!(g.and(x, x), x);
        assert_eq!(g.and(x, nx), zero);
        assert_eq!(g.and(zero, x), zero);
        assert_eq!(g.and(x, one), x);
        assert_eq!(g.and(one, one), one);
        assert_eq!(g.dot(&[(x, y), (y, x)]), zero);
        assert_eq!(g.dot(&[(x, y), (x, one), (y, x)]), x);
        assert_eq!(g.dot(&[]), zero);
        let sum = g.xor(x, y);
        assert_eq!(g.xor(sum, y), x);
        assert_eq!(g.xor(nx, sum), ny);
        assert_eq!(g.xor(y, x), sum);
        assert_eq!(g.recorded.nodes.len(), 4);
        let xy = g.and(x, y);
        assert_eq!(g.and(y, x), xy);
        let both = g.dot(&[(one, sum), (y, x)]);
        assert_eq!(both, g.xor(xy, sum));
        g.output(&[both]);
        let program = g.finish();
        assert_eq!((program.and_count(), program.and_depth(), program.linear_count()), (1, 1, 2));
    }

    #[test]
    fn dead_gates_go_unless_they_were_to_stay() {
        for (mut g, ands) in [(Build::new(), 0), (Build::verbatim(), 4)] {
            let [x, y, z] = g.input(3)[..] else { panic!("three wires") };
            g.and(x, y);
            g.and(x, x);
            // only a sum reads it, which nothing reads
            let product = g.dot(&[(x, y), (y, z)]);
            g.xor(product, x);
            let sum = g.xor(x, y);
            g.output(&[sum]);
            assert_eq!(g.finish().and_count(), ands);
        }
    }
}
