//! The form of a circuit that engines run: levels of ANDs, with XORs between them, on slots that are reused.

use crate::gates::Gates;
use crate::memo::Memo;
use crate::packed::{LinearGates, Local};
pub use crate::slot::{LinearGate, Slot};
use std::sync::Arc;

/// A level: XORs and other local gates in their order, then ANDs, all at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    pub(crate) local: Local,
    pub(crate) dots: Vec<(Slot, u32)>,
    pub(crate) terms: Vec<(Slot, Slot)>,
}

impl Level {
    /// The local gates, in the order in which they run, before the products.
    #[must_use]
    pub fn linear(&self) -> LinearGates<'_> {
        self.local.iter()
    }

    /// Calls one of three functions for each local gate, in the order in which they run: `constant` with the
    /// slot and the value, `xor` with the slots of the result and both operands, `not` with those of the
    /// result and the operand. This is faster than [`Level::linear`], because each kind has its loop.
    #[inline(always)]
    pub fn each_linear<S: ?Sized>(
        &self,
        state: &mut S,
        constant: impl Fn(&mut S, Slot, bool),
        xor: impl Fn(&mut S, [Slot; 3]),
        not: impl Fn(&mut S, [Slot; 2]),
    ) {
        self.local.each(state, constant, xor, not);
    }

    /// The sums of products: for each the slot of the result, and the terms. **An engine must read all
    /// operands of a level before it writes the first result**: a result may use the slot of an operand of
    /// any product of the level.
    pub fn dots(&self) -> impl ExactSizeIterator<Item = (Slot, &[(Slot, Slot)])> {
        let mut start = 0;
        self.dots.iter().map(move |&(out, end)| {
            let terms = &self.terms[start..end as usize];
            start = end as usize;
            (out, terms)
        })
    }

    /// The terms of all sums of products, one sum after the other.
    #[must_use]
    pub fn terms(&self) -> &[(Slot, Slot)] {
        &self.terms
    }

    /// How many sums of products there are.
    #[must_use]
    pub fn dot_count(&self) -> usize {
        self.dots.len()
    }

    /// How many products there are in all sums.
    #[must_use]
    pub fn and_count(&self) -> usize {
        self.terms.len()
    }
}

/// A circuit in levels. [`Build::finish`](crate::Build::finish) and [`bristol::read`](crate::bristol::read)
/// make it.
///
/// To run it: put input wire `i` into slot `i`. For each level run [`Level::linear`] in order, then all of
/// [`Level::dots`] in one round. At the end, output wire `i` is in slot `results()[i]`. Every slot is written
/// before it is read. A slot gets another wire after the last reader of its wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) slots: usize,
    /// Shared, because copies of a program are kept in several places.
    pub(crate) levels: Arc<[Level]>,
    pub(crate) results: Vec<Slot>,
    pub(crate) memo: Memo,
}

impl Program {
    /// The width of each input value in wires.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The width of each output value in wires.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// How many input wires there are.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// How many output wires there are.
    #[must_use]
    pub fn output_bits(&self) -> usize {
        self.results.len()
    }

    /// The largest number of wires that exist at one time.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The levels in order. [`and_depth`](Program::and_depth) of them have ANDs; one more, the last, has
    /// none.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The slots of the output wires. A slot may occur twice.
    #[must_use]
    pub fn results(&self) -> &[Slot] {
        &self.results
    }

    /// The number of ANDs, however they are summed.
    #[must_use]
    pub fn and_count(&self) -> usize {
        self.levels.iter().map(Level::and_count).sum()
    }

    /// The number of sums of products: what matters for an engine that sends one bit for each sum.
    #[must_use]
    pub fn dot_count(&self) -> usize {
        self.levels.iter().map(Level::dot_count).sum()
    }

    /// The number of local gates.
    #[must_use]
    pub fn linear_count(&self) -> usize {
        self.levels.iter().map(|level| level.linear().len()).sum()
    }

    /// The AND depth: the number of rounds of an engine that needs one for each level.
    #[must_use]
    pub fn and_depth(&self) -> usize {
        self.levels.iter().filter(|level| !level.dots.is_empty()).count()
    }

    /// Whether some gate has a public result.
    pub(crate) fn has_public_gates(&self) -> bool {
        let linear = |gate: LinearGate| match gate {
            LinearGate::Constant { .. } => true,
            LinearGate::Xor { x, y, .. } => x == y,
            LinearGate::Not { .. } => false,
        };
        *self.memo.has_public_gates.get_or_init(|| {
            self.levels
                .iter()
                .any(|level| level.linear().any(linear) || level.terms.iter().any(|(x, y)| x == y))
        })
    }

    /// Runs the same gates on another instance of [`Gates`]: in the clear, or on another builder. `None` if
    /// the number of inputs is not that of input wires.
    pub fn replay<G: Gates + ?Sized>(&self, g: &mut G, inputs: &[G::Bit]) -> Option<Vec<G::Bit>> {
        if inputs.len() != self.input_bits() {
            return None;
        }
        let zero = g.constant(false);
        let mut held = inputs.to_vec();
        held.resize(self.slots, zero);
        for level in &*self.levels {
            for gate in level.linear() {
                match gate {
                    LinearGate::Constant { out, value } => held[out.index()] = g.constant(value),
                    LinearGate::Not { out, x } => held[out.index()] = g.not(held[x.index()]),
                    LinearGate::Xor { out, x, y } => {
                        held[out.index()] = g.xor(held[x.index()], held[y.index()])
                    }
                }
            }
            let mut terms = Vec::new();
            let results: Vec<G::Bit> = level
                .dots()
                .map(|(_, dot)| {
                    terms.clear();
                    terms.extend(dot.iter().map(|&(x, y)| (held[x.index()], held[y.index()])));
                    g.dot(&terms)
                })
                .collect();
            for (&(out, _), result) in level.dots.iter().zip(results) {
                held[out.index()] = result;
            }
        }
        Some(self.results.iter().map(|slot| held[slot.index()]).collect())
    }
}
