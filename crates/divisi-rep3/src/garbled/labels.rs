//! The labels of a circuit's outputs, gate by gate from those of its inputs: the same for garblers, whose
//! labels are those for zero, and for the evaluator, who has one of the two.

use divisi_circuit::{Level, LinearGate, Program, Slot};
use divisi_core::Abort;
use divisi_core::wipe::WipedVec;
use std::ops::Range;

/// ANDs that are hashed together.
pub(super) const GROUP: usize = 32;

/// What a party does with labels at each kind of gate.
pub(super) trait LabelGates {
    /// The label of x + 1.
    fn not(&self, label: u128) -> u128;

    /// The label of a public constant: its active label is zero.
    fn constant(&self, value: bool) -> u128;

    /// The labels of products, at most [`GROUP`], whose operands stand side by side.
    fn products(&mut self, operands: &[u128], out: &mut [u128]) -> Result<(), Abort>;
}

/// The labels of all outputs, wire by wire, in `lanes` lanes, from those of the inputs. Memory: that of the
/// wires held at once, and of the products of the widest level.
pub(super) fn output_labels(
    program: &Program,
    lanes: usize,
    inputs: &[u128],
    gates: &mut impl LabelGates,
) -> Result<WipedVec<u128>, Abort> {
    if lanes == 1 {
        return in_one_lane(program, inputs, gates);
    }
    let mut held = WipedVec::<u128>::zeros(program.slots().max(program.input_bits()) * lanes);
    held[..inputs.len()].copy_from_slice(inputs);
    let mut results = WipedVec::<u128>::zeros(widest(program) * lanes);
    let mut operands = WipedVec::<u128>::zeros(2 * GROUP);
    let of = |slot: Slot| slot.index() * lanes..(slot.index() + 1) * lanes;
    for level in program.levels() {
        linear(level, &mut held, lanes, gates);
        // all products of a level before the first result is written
        let (mut done, mut waiting) = (0, 0);
        for (x, y) in level.terms() {
            for (x, y) in held[of(*x)].iter().zip(&held[of(*y)]) {
                operands[2 * waiting] = *x;
                operands[2 * waiting + 1] = *y;
                waiting += 1;
                if waiting == GROUP {
                    gates.products(&operands, &mut results[done..done + GROUP])?;
                    (done, waiting) = (done + GROUP, 0);
                }
            }
        }
        if waiting > 0 {
            gates.products(&operands[..2 * waiting], &mut results[done..done + waiting])?;
        }
        let mut at = 0;
        for (out, terms) in level.dots() {
            let mut results = results[at..at + terms.len() * lanes].chunks_exact(lanes);
            at += terms.len() * lanes;
            let out = &mut held[of(out)];
            match results.next() {
                Some(first) => out.copy_from_slice(first),
                None => out.fill(0),
            }
            for results in results {
                out.iter_mut().zip(results).for_each(|(out, result)| *out ^= result);
            }
        }
    }
    let mut outputs = WipedVec::with_capacity(program.output_bits() * lanes);
    for slot in program.results() {
        outputs.extend_from_slice(&held[of(*slot)]);
    }
    Ok(outputs)
}

/// How many products the widest level has.
fn widest(program: &Program) -> usize {
    program.levels().iter().map(Level::and_count).max().unwrap_or(0)
}

/// A label in two words, which a compiler adds as one register.
type Label = [u64; 2];

fn whole([low, high]: Label) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

fn halves(label: u128) -> Label {
    [label as u64, (label >> 64) as u64]
}

/// The same as [`output_labels`] in one lane, where most of the work is to go from gate to gate.
fn in_one_lane(
    program: &Program,
    inputs: &[u128],
    gates: &mut impl LabelGates,
) -> Result<WipedVec<u128>, Abort> {
    let mut held = WipedVec::<u64>::zeros(2 * program.slots().max(program.input_bits()));
    let held: &mut [Label] = held.as_chunks_mut().0;
    held.iter_mut().zip(inputs).for_each(|(held, label)| *held = halves(*label));
    let mut results = WipedVec::<u128>::zeros(widest(program));
    let mut operands = WipedVec::<u128>::zeros(2 * GROUP);
    for level in program.levels() {
        level.each_linear(
            held,
            |held, out, value| held[out.index()] = halves(gates.constant(value)),
            |held, [out, x, y]| {
                let (x, y) = (held[x.index()], held[y.index()]);
                held[out.index()] = [x[0] ^ y[0], x[1] ^ y[1]];
            },
            |held, [out, x]| held[out.index()] = halves(gates.not(whole(held[x.index()]))),
        );
        // all products of a level before the first result is written
        for (terms, results) in level.terms().chunks(GROUP).zip(results.chunks_mut(GROUP)) {
            for ((x, y), pair) in terms.iter().zip(operands.as_chunks_mut::<2>().0) {
                *pair = [whole(held[x.index()]), whole(held[y.index()])];
            }
            gates.products(&operands[..2 * terms.len()], &mut results[..terms.len()])?;
        }
        let mut results = results.iter();
        for (out, terms) in level.dots() {
            let sum = results.by_ref().take(terms.len()).fold(0, |sum, result| sum ^ result);
            held[out.index()] = halves(sum);
        }
    }
    Ok(program.results().iter().map(|slot| whole(held[slot.index()])).collect())
}

/// The local gates of a level, all lanes of each at once. The slot of a result may be that of an operand.
fn linear(level: &Level, held: &mut [u128], lanes: usize, gates: &impl LabelGates) {
    let of = |slot: Slot| slot.index() * lanes..(slot.index() + 1) * lanes;
    for gate in level.linear() {
        match gate {
            LinearGate::Xor { out, x, y } => {
                if let Ok([out, x, y]) = held.get_disjoint_mut([of(out), of(x), of(y)]) {
                    out.iter_mut().zip(x).zip(y).for_each(|((out, x), y)| *out = *x ^ *y);
                } else if out == y {
                    add(held, of(out), of(x));
                } else {
                    if out != x {
                        held.copy_within(of(x), of(out).start); // x is y
                    }
                    add(held, of(out), of(y));
                }
            }
            LinearGate::Not { out, x } => {
                held.copy_within(of(x), of(out).start);
                held[of(out)].iter_mut().for_each(|label| *label = gates.not(*label));
            }
            LinearGate::Constant { out, value } => held[of(out)].fill(gates.constant(value)),
        }
    }
}

/// Adds some labels to others, or to themselves.
fn add(held: &mut [u128], out: Range<usize>, x: Range<usize>) {
    match held.get_disjoint_mut([out.clone(), x]) {
        Ok([out, x]) => out.iter_mut().zip(x).for_each(|(out, x)| *out ^= *x),
        Err(_) => held[out].fill(0),
    }
}
