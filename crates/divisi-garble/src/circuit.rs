//! The circuit of a plan, in memory or in its file, with constants folded \[W29\].

use divisi_circuit::stream::End;
use divisi_circuit::{LinearGate, Program, Stream};
use std::borrow::Cow;

/// Where an output bit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Result {
    /// A wire.
    Wire(usize),
    /// A constant, which needs no gate.
    Constant(u8),
}

/// A circuit: in memory or in a file.
#[derive(Clone, Debug)]
pub(crate) enum Circuit<'p> {
    /// In memory, with constants folded.
    Program(Cow<'p, Program>),
    /// In its file, read again for each run.
    Stream(&'p Stream),
}

impl<'p> Circuit<'p> {
    /// A circuit in memory; its constants are folded.
    pub fn program(program: &'p Program) -> Circuit<'p> {
        Circuit::Program(program.folded())
    }

    pub fn inputs(&self) -> &[usize] {
        match self {
            Circuit::Program(program) => program.inputs(),
            Circuit::Stream(stream) => stream.inputs(),
        }
    }

    pub fn outputs(&self) -> &[usize] {
        match self {
            Circuit::Program(program) => program.outputs(),
            Circuit::Stream(stream) => stream.outputs(),
        }
    }

    /// How many wires exist at one time, at most.
    pub fn slots(&self) -> usize {
        match self {
            Circuit::Program(program) => program.slots(),
            Circuit::Stream(stream) => stream.slots(),
        }
    }

    pub fn and_count(&self) -> usize {
        match self {
            Circuit::Program(program) => program.and_count(),
            Circuit::Stream(stream) => stream.and_count(),
        }
    }

    pub fn is_streamed(&self) -> bool {
        matches!(self, Circuit::Stream(_))
    }

    /// Where each output bit comes from.
    pub fn results(&self) -> Vec<Result> {
        let of = |end: &End| match *end {
            End::Slot(slot) => Result::Wire(slot.index()),
            End::Constant(value) => Result::Constant(u8::from(value)),
        };
        match self {
            Circuit::Program(program) => results(program),
            Circuit::Stream(stream) => stream.results().iter().map(of).collect(),
        }
    }
}

/// Whether everybody knows the value of a wire that a gate reads or that is a result. `false` for a circuit
/// in a file: its steps have no constants, and each batch is examined for gates that read a wire twice.
pub(crate) fn has_public_wires(circuit: &Circuit<'_>, results: &[Result]) -> bool {
    let Circuit::Program(program) = circuit else { return false };
    let mut public = vec![false; program.slots()];
    for level in program.levels() {
        for gate in level.linear() {
            match gate {
                LinearGate::Constant { out, .. } => public[out.index()] = true,
                LinearGate::Xor { out, x, y } => {
                    if x == y || public[x.index()] || public[y.index()] {
                        return true;
                    }
                    public[out.index()] = false;
                }
                LinearGate::Not { out, x } => {
                    if public[x.index()] {
                        return true;
                    }
                    public[out.index()] = false;
                }
            }
        }
        for (x, y) in level.dots().flat_map(|(_, dot)| dot) {
            if x == y || public[x.index()] || public[y.index()] {
                return true;
            }
        }
        level.dots().for_each(|(out, _)| public[out.index()] = false);
    }
    let is_wire = |result: &Result| matches!(*result, Result::Wire(slot) if public[slot]);
    results.iter().any(is_wire)
}

/// Where each output bit comes from.
fn results(program: &Program) -> Vec<Result> {
    let mut constant: Vec<Option<u8>> = vec![None; program.slots()];
    for level in program.levels() {
        for gate in level.linear() {
            match gate {
                LinearGate::Constant { out, value } => constant[out.index()] = Some(u8::from(value)),
                LinearGate::Not { out, .. } | LinearGate::Xor { out, .. } => constant[out.index()] = None,
            }
        }
        for (out, _) in level.dots() {
            constant[out.index()] = None;
        }
    }
    let result = |slot: usize| constant[slot].map_or(Result::Wire(slot), Result::Constant);
    program.results().iter().map(|slot| result(slot.index())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_circuit::{Build, BuildBit, Gates};

    /// Whether a circuit with two inputs and the constant one has a public wire, as it stands.
    fn has_one(gates: impl FnOnce(&mut Build, [BuildBit; 3]) -> Vec<BuildBit>) -> bool {
        let mut g = Build::verbatim();
        let inputs = g.input(2);
        let one = g.constant(true);
        let outputs = gates(&mut g, [inputs[0], inputs[1], one]);
        g.output(&outputs);
        let program = g.finish();
        let results: Vec<Result> = program.results().iter().map(|slot| Result::Wire(slot.index())).collect();
        has_public_wires(&Circuit::Program(Cow::Borrowed(&program)), &results)
    }

    /// A wire that everybody knows is found at any gate of a level, at any of its operands, in any level and
    /// at any output.
    #[test]
    fn a_public_wire_is_found_wherever_it_is_read() {
        assert!(!has_one(|g, [x, y, _]| vec![g.and(x, y), g.xor(x, y), g.not(x)]));
        // a product: the first of a level, the last one, the second term of a sum, a later level
        assert!(has_one(|g, [x, y, one]| vec![g.and(x, one), g.and(x, y)]));
        assert!(has_one(|g, [x, y, one]| vec![g.and(x, y), g.and(one, y)]));
        assert!(has_one(|g, [x, y, one]| vec![g.dot(&[(x, y), (y, one)])]));
        assert!(has_one(|g, [x, y, one]| {
            let xy = g.and(x, y);
            vec![g.and(xy, one)]
        }));
        // a square is known from its operand
        assert!(has_one(|g, [x, y, _]| vec![g.and(x, y), g.and(y, y)]));
        // sums and negations
        assert!(has_one(|g, [x, y, one]| vec![g.xor(x, y), g.xor(x, one)]));
        assert!(has_one(|g, [x, y, one]| vec![g.xor(x, y), g.xor(one, y)]));
        assert!(has_one(|g, [x, y, _]| vec![g.xor(x, y), g.xor(y, y)]));
        assert!(has_one(|g, [x, _, one]| vec![g.not(x), g.not(one)]));
        // outputs
        assert!(has_one(|_, [x, _, one]| vec![x, one]));
        assert!(has_one(|_, [x, _, one]| vec![one, x]));
    }
}
