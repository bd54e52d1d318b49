//! A circuit as it was recorded, gate by gate.

/// A wire of a circuit that is being built. It belongs to the [`Build`](crate::Build) that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildBit(pub(crate) u32);

impl BuildBit {
    /// The constants: node 0 and its negation.
    pub(crate) const FALSE: BuildBit = BuildBit(0);
    pub(crate) const TRUE: BuildBit = BuildBit(1);

    /// The node that the wire comes from.
    pub(crate) fn node(self) -> usize {
        self.0 as usize >> 1
    }

    /// Whether the wire is the node's negation.
    pub(crate) fn negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn plain(self) -> BuildBit {
        BuildBit(self.0 & !1)
    }

    pub(crate) fn negated_if(self, sign: bool) -> BuildBit {
        BuildBit(self.0 ^ u32::from(sign))
    }

    pub(crate) fn is_constant(self) -> bool {
        self.node() == 0
    }
}

/// The gate or input that a wire comes from. Operands are earlier nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    /// The constant 0: always the first node, and only that.
    False,
    /// The input wire of this number.
    Input(u32),
    /// The XOR of two wires that are not negated.
    Xor(BuildBit, BuildBit),
    /// The sum of the products at `start..end` in the list of terms.
    Dot(u32, u32),
}

/// The record of a builder.
pub(crate) struct Recorded {
    pub(crate) nodes: Vec<Node>,
    pub(crate) terms: Vec<(BuildBit, BuildBit)>,
    /// The widths of the input values.
    pub(crate) inputs: Vec<usize>,
    /// The widths of the output values.
    pub(crate) outputs: Vec<usize>,
    pub(crate) results: Vec<BuildBit>,
    /// Whether every XOR and AND is kept.
    pub(crate) verbatim: bool,
}
