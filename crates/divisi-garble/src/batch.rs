//! A circuit as batches of gates in the order in which they are garbled.
//!
//! A batch ends where the next product would be one too many, be it in the middle of a level: products of a
//! level read before one of its results is written, so what a level's products gave waits in the walker's
//! queue until its sums are taken.

use crate::circuit::Circuit;
use divisi_circuit::stream::{CircuitFault, GateStep};
use divisi_circuit::{LinearGate, Program, Slot};

/// One step of a walk over a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `out = x + y`.
    Xor { out: u32, x: u32, y: u32 },
    /// `out = x + 1`.
    Not { out: u32, x: u32 },
    /// The next product: its result joins the queue.
    And { x: u32, y: u32 },
    /// `out` = the sum of so many of the queue's oldest results.
    Sum { out: u32, terms: u32 },
}

/// Steps, and how many products are among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub ops: Vec<Op>,
    pub ands: usize,
}

impl Batch {
    /// Whether some sum or product reads one wire twice: its result, or one of its operands, need not have
    /// been a wire.
    pub fn reads_a_wire_twice(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Xor { x, y, .. } | Op::And { x, y } if x == y))
    }
}

/// Other steps that a batch may have for each product: circuits of sums alone do not pile up.
const STEPS_PER_AND: usize = 8;

/// Why a circuit was not gone through to its end.
pub(crate) enum Stop<E> {
    /// Whoever takes the batches stopped.
    Work(E),
    /// Its file is not what it was.
    File(CircuitFault),
}

impl<E> From<CircuitFault> for Stop<E> {
    fn from(fault: CircuitFault) -> Self {
        Stop::File(fault)
    }
}

/// Give the circuit's gates to `work`, at most `most` products at a time. The last batch of a circuit in a
/// file comes when the file was found to be what it was.
pub(crate) fn batches<E>(
    circuit: &Circuit<'_>,
    most: usize,
    work: impl FnMut(&Batch) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let mut cut = Cut { batch: Batch::default(), most: most.max(1), work };
    match circuit {
        Circuit::Program(program) => program_in(program, &mut cut).map_err(Stop::Work)?,
        Circuit::Stream(stream) => stream.walk(|step| {
            let op = match step {
                GateStep::Xor { out, x, y } => Op::Xor { out: at(out), x: at(x), y: at(y) },
                GateStep::Not { out, x } => Op::Not { out: at(out), x: at(x) },
                GateStep::And { x, y } => Op::And { x: at(x), y: at(y) },
                GateStep::Take { out } => Op::Sum { out: at(out), terms: 1 },
            };
            cut.push(op).map_err(Stop::Work)
        })?,
    }
    cut.finish().map_err(Stop::Work)
}

fn at(slot: Slot) -> u32 {
    slot.index() as u32
}

/// Steps that are cut into batches.
struct Cut<W> {
    batch: Batch,
    most: usize,
    work: W,
}

impl<W> Cut<W> {
    fn push<E>(&mut self, op: Op) -> Result<(), E>
    where
        W: FnMut(&Batch) -> Result<(), E>,
    {
        let and = matches!(op, Op::And { .. });
        let batch = &mut self.batch;
        if (and && batch.ands == self.most) || batch.ops.len() >= self.most.saturating_mul(STEPS_PER_AND) {
            (self.work)(batch)?;
            batch.ops.clear();
            batch.ands = 0;
        }
        batch.ands += usize::from(and);
        batch.ops.push(op);
        Ok(())
    }

    fn finish<E>(mut self) -> Result<(), E>
    where
        W: FnMut(&Batch) -> Result<(), E>,
    {
        if self.batch.ops.is_empty() { Ok(()) } else { (self.work)(&self.batch) }
    }
}

fn program_in<E, W: FnMut(&Batch) -> Result<(), E>>(program: &Program, cut: &mut Cut<W>) -> Result<(), E> {
    for level in program.levels() {
        for gate in level.linear() {
            match *gate {
                LinearGate::Xor { out, x, y } => cut.push(Op::Xor { out: at(out), x: at(x), y: at(y) })?,
                LinearGate::Not { out, x } => cut.push(Op::Not { out: at(out), x: at(x) })?,
                // no wire: `Plan` knows which outputs are constants, and nothing else reads one
                _ => {}
            }
        }
        for (_, dot) in level.dots() {
            for &(x, y) in dot {
                cut.push(Op::And { x: at(x), y: at(y) })?;
            }
        }
        for (out, dot) in level.dots() {
            cut.push(Op::Sum { out: at(out), terms: dot.len() as u32 })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_that_is_read_twice_is_seen() {
        let fine = [
            Op::Not { out: 1, x: 1 },
            Op::Xor { out: 1, x: 1, y: 2 },
            Op::And { x: 1, y: 2 },
            Op::Sum { out: 1, terms: 1 },
        ];
        assert!(!Batch { ops: fine.to_vec(), ands: 1 }.reads_a_wire_twice());
        for wrong in [Op::Xor { out: 3, x: 1, y: 1 }, Op::And { x: 2, y: 2 }] {
            let ops = [&fine[..], &[wrong]].concat();
            assert!(Batch { ops, ands: 1 }.reads_a_wire_twice());
        }
    }
}
