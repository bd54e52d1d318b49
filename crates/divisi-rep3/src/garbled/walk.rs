//! The walk over a circuit with a label on each wire: the same for garblers, whose labels are those for zero,
//! and for the evaluator, who has one of the two.

use divisi_circuit::{LinearGate, Program};
use divisi_core::Abort;
use divisi_ot::Kept;

/// ANDs that are hashed together.
pub(super) const GROUP: usize = 32;

/// What is done with labels.
pub(super) trait Walker {
    /// The label of x + 1.
    fn not(&self, label: u128) -> u128;

    /// The label of what everybody knows: its active label is zero.
    fn constant(&self, value: bool) -> u128;

    /// The labels of products, at most [`GROUP`], whose operands stand side by side.
    fn products(&mut self, operands: &[u128], out: &mut [u128]) -> Result<(), Abort>;
}

/// The labels of all outputs, wire by wire, in so many lanes; from those of the inputs. Memory: that of the
/// wires held at once, and of the products of the widest level.
pub(super) fn walk(
    program: &Program,
    lanes: usize,
    inputs: &[u128],
    walker: &mut impl Walker,
) -> Result<Kept<u128>, Abort> {
    let mut held = Kept::<u128>::zeros(program.slots().max(program.input_bits()) * lanes);
    held[..inputs.len()].copy_from_slice(inputs);
    let widest = program.levels().iter().map(divisi_circuit::Level::and_count).max().unwrap_or(0);
    let mut results = Kept::<u128>::zeros(widest * lanes);
    let mut operands = Kept::<u128>::with_capacity(2 * GROUP);
    for level in program.levels() {
        for gate in level.linear() {
            for l in 0..lanes {
                match *gate {
                    LinearGate::Constant { out, value } => {
                        held[out.index() * lanes + l] = walker.constant(value);
                    }
                    LinearGate::Not { out, x } => {
                        held[out.index() * lanes + l] = walker.not(held[x.index() * lanes + l]);
                    }
                    LinearGate::Xor { out, x, y } => {
                        held[out.index() * lanes + l] =
                            held[x.index() * lanes + l] ^ held[y.index() * lanes + l];
                    }
                }
            }
        }
        // all products of a level before the first result is written
        let mut done = 0;
        for (x, y) in level.dots().flat_map(|(_, terms)| terms) {
            for l in 0..lanes {
                operands.extend([held[x.index() * lanes + l], held[y.index() * lanes + l]]);
                if operands.len() == 2 * GROUP {
                    walker.products(&operands, &mut results[done..done + GROUP])?;
                    operands.clear();
                    done += GROUP;
                }
            }
        }
        if !operands.is_empty() {
            let n = operands.len() / 2;
            walker.products(&operands, &mut results[done..done + n])?;
            operands.clear();
        }
        let mut at = 0;
        for (out, terms) in level.dots() {
            for l in 0..lanes {
                let term = |t: usize| results[(at + t) * lanes + l];
                held[out.index() * lanes + l] = (0..terms.len()).fold(0, |sum, t| sum ^ term(t));
            }
            at += terms.len();
        }
    }
    let mut outputs = Kept::with_capacity(program.output_bits() * lanes);
    for slot in program.results() {
        outputs.extend_from_slice(&held[slot.index() * lanes..(slot.index() + 1) * lanes]);
    }
    Ok(outputs)
}
