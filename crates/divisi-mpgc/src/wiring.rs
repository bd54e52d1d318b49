//! A circuit as the gates that have rows: XOR and AND of two different wires. A NOT is a wire with the same
//! keys and another mask; gates with public values are folded.

use divisi_circuit::Program;
use divisi_circuit::program::LinearGate;

/// A wire, possibly negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The number of the wire: inputs come first, then one wire for each gate.
    pub(crate) at: usize,
    pub(crate) negated: bool,
}

/// Where an output value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Constant(bool),
    Wire(Wire),
}

impl End {
    fn not(self) -> End {
        match self {
            End::Constant(value) => End::Constant(!value),
            End::Wire(Wire { at, negated }) => End::Wire(Wire { at, negated: !negated }),
        }
    }

    fn not_if(self, condition: bool) -> End {
        if condition { self.not() } else { self }
    }
}

/// A gate. Its output wire has the number of inputs plus the gate's own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The sum of two wires without their negations, which are moved to the output.
    Xor(usize, usize),
    And(Wire, Wire),
}

impl Gate {
    /// The operands u and v.
    pub(crate) fn operands(self) -> [usize; 2] {
        match self {
            Gate::Xor(u, v) => [u, v],
            Gate::And(u, v) => [u.at, v.at],
        }
    }

    pub(crate) fn is_and(self) -> bool {
        matches!(self, Gate::And(..))
    }
}

/// A circuit in the form in which it is garbled. Public, and the same at all parties.
#[derive(Clone, Debug)]
pub struct Wiring {
    pub(crate) inputs: usize,
    pub(crate) gates: Vec<Gate>,
    pub(crate) outputs: Vec<End>,
    ands: usize,
}

impl Wiring {
    /// The gates of a program, in an order in which operands come before the gates that read them.
    #[must_use]
    pub fn new(program: &Program) -> Wiring {
        let inputs = program.input_bits();
        let mut made = Wiring { inputs, gates: Vec::new(), outputs: Vec::new(), ands: 0 };
        let wire = |at| End::Wire(Wire { at, negated: false });
        let mut held: Vec<End> = (0..inputs).map(wire).collect();
        held.resize(program.slots().max(inputs), End::Constant(false));
        for level in program.levels() {
            for gate in level.linear() {
                match gate {
                    LinearGate::Constant { out, value } => held[out.index()] = End::Constant(value),
                    LinearGate::Not { out, x } => held[out.index()] = held[x.index()].not(),
                    LinearGate::Xor { out, x, y } => {
                        held[out.index()] = made.xor(held[x.index()], held[y.index()]);
                    }
                }
            }
            // all products of a level are read before the first result is written
            let mut results = Vec::with_capacity(level.dot_count());
            for (out, terms) in level.dots() {
                let mut sum = End::Constant(false);
                for (x, y) in terms {
                    let product = made.and(held[x.index()], held[y.index()]);
                    sum = made.xor(sum, product);
                }
                results.push((out, sum));
            }
            results.into_iter().for_each(|(out, result)| held[out.index()] = result);
        }
        made.outputs = program.results().iter().map(|slot| held[slot.index()]).collect();
        made
    }

    fn gate(&mut self, gate: Gate) -> End {
        self.ands += usize::from(gate.is_and());
        self.gates.push(gate);
        End::Wire(Wire { at: self.inputs + self.gates.len() - 1, negated: false })
    }

    fn xor(&mut self, x: End, y: End) -> End {
        match (x, y) {
            (End::Constant(value), other) | (other, End::Constant(value)) => other.not_if(value),
            (End::Wire(u), End::Wire(v)) if u.at == v.at => End::Constant(u.negated != v.negated),
            (End::Wire(u), End::Wire(v)) => self.gate(Gate::Xor(u.at, v.at)).not_if(u.negated != v.negated),
        }
    }

    fn and(&mut self, x: End, y: End) -> End {
        match (x, y) {
            (End::Constant(value), other) | (other, End::Constant(value)) => {
                if value {
                    other
                } else {
                    End::Constant(false)
                }
            }
            (End::Wire(u), End::Wire(v)) if u == v => x,
            (End::Wire(u), End::Wire(v)) if u.at == v.at => End::Constant(false),
            (End::Wire(u), End::Wire(v)) => self.gate(Gate::And(u, v)),
        }
    }

    /// How many input wires there are.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many output wires there are.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// How many gates have rows.
    #[must_use]
    pub fn gates(&self) -> usize {
        self.gates.len()
    }

    /// How many of the gates are ANDs, which take four lookups each.
    #[must_use]
    pub fn ands(&self) -> usize {
        self.ands
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::{Build, Gates};

    #[test]
    fn what_is_public_is_folded() {
        let mut w = Wiring { inputs: 2, gates: Vec::new(), outputs: Vec::new(), ands: 0 };
        let [x, y] = [0, 1].map(|at| End::Wire(Wire { at, negated: false }));
        let [zero, one] = [false, true].map(End::Constant);
        assert_eq!((w.xor(x, zero), w.xor(one, x), w.xor(x, x), w.xor(x, x.not())), (x, x.not(), zero, one));
        assert_eq!((w.and(x, zero), w.and(one, x), w.and(x, x), w.and(x.not(), x)), (zero, x, x, zero));
        assert_eq!((zero.not(), one.not()), (one, zero));
        assert!(w.gates.is_empty());
        let z = w.xor(x.not(), y);
        assert_eq!(z, End::Wire(Wire { at: 2, negated: true }));
        assert_eq!((w.gates(), w.ands()), (1, 0));
        w.and(z, y.not());
        assert_eq!((w.gates(), w.ands()), (2, 1));
        assert_eq!(w.xor(y, x), End::Wire(Wire { at: 4, negated: false }));
        assert_eq!(w.xor(y.not(), x), End::Wire(Wire { at: 5, negated: true }));
    }

    /// Wires whose numbers differ in one bit are two wires.
    #[test]
    fn wires_are_told_apart_by_each_bit_of_their_number() {
        let mut w = Wiring { inputs: 1 << 20, gates: Vec::new(), outputs: Vec::new(), ands: 0 };
        let x = End::Wire(Wire { at: 3, negated: false });
        for bit in 0..20 {
            let y = End::Wire(Wire { at: 3 ^ 1 << bit, negated: false });
            w.xor(x, y);
            w.and(x, y);
            w.and(x.not(), y);
            assert_eq!(w.gates(), 3 * (bit + 1), "bit {bit}");
        }
    }

    #[test]
    fn negations_cost_nothing() {
        let mut g = Build::new();
        let x = g.input(2);
        let not = [g.not(x[0]), g.not(x[1])];
        let (or, xor) = (g.and(not[0], not[1]), g.xor(not[0], x[1]));
        let or = g.not(or);
        g.output(&[or, xor, not[0]]);
        let w = Wiring::new(&g.finish());
        assert_eq!((w.inputs(), w.outputs(), w.gates(), w.ands()), (2, 3, 2, 1));
    }
}
