//! A circuit as batches of gates in the order in which they are garbled.
//!
//! A batch ends before the AND that would exceed its size, even in the middle of a level. All ANDs of a level
//! read their operands before any result of the level is written. The results therefore wait in a queue until
//! [`Op::Sum`] takes them; masks, labels and values have a queue each.

use crate::circuit::Circuit;
use divisi_circuit::stream::{CircuitFault, GateStep};
use divisi_circuit::{LinearGate, Program, Slot};

/// One operation of a circuit; the numbers are slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `out = x + y`.
    Xor { out: u32, x: u32, y: u32 },
    /// `out = x + 1`.
    Not { out: u32, x: u32 },
    /// The next AND: its result goes to the end of the queue.
    And { x: u32, y: u32 },
    /// `out` is the sum of the `terms` oldest results in the queue, which leave it.
    Sum { out: u32, terms: u32 },
}

/// Consecutive operations, and the number of ANDs among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub ops: Vec<Op>,
    pub ands: usize,
}

impl Batch {
    /// Whether some XOR or AND has one wire as both operands: its result is zero, or that wire \[W29\].
    pub fn reads_a_wire_twice(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Xor { x, y, .. } | Op::And { x, y } if x == y))
    }
}

/// A batch has at most this many operations for each AND it may have: it bounds batches of circuits without
/// ANDs.
const STEPS_PER_AND: usize = 8;

/// Why a pass through a circuit ended early.
pub(crate) enum Stop<E> {
    /// The function that takes the batches returned an error.
    Work(E),
    /// The circuit's file could not be read, or has changed.
    File(CircuitFault),
}

impl<E> From<CircuitFault> for Stop<E> {
    fn from(fault: CircuitFault) -> Self {
        Stop::File(fault)
    }
}

/// Passes the circuit's gates to `work` in batches of at most `most` ANDs. For a circuit in a file, the last
/// batch is passed on only after the whole file was compared with the one that was surveyed.
pub(crate) fn batches<E>(
    circuit: &Circuit<'_>,
    most: usize,
    work: impl FnMut(&Batch) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let mut cut = Cut { batch: Batch::default(), most: most.max(1), work };
    match circuit {
        Circuit::Program(program) => program_in(program, &mut cut).map_err(Stop::Work)?,
        Circuit::Stream(stream) => stream.for_each_step(|step| {
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

/// Collects operations, and passes a full batch to `work`.
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
            match gate {
                LinearGate::Xor { out, x, y } => cut.push(Op::Xor { out: at(out), x: at(x), y: at(y) })?,
                LinearGate::Not { out, x } => cut.push(Op::Not { out: at(out), x: at(x) })?,
                // constants are no wires: `Plan` knows which outputs are constants, and no gate reads one
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

    /// A batch has no more ANDs than it may have, nor more steps.
    #[test]
    fn a_full_batch_is_passed_on() {
        let (and, xor) = (Op::And { x: 1, y: 2 }, Op::Xor { out: 3, x: 1, y: 2 });
        for (ops, batches) in [
            (vec![and; 7], vec![(3, 3), (3, 3), (1, 1)]),
            ([vec![and; 3], vec![xor; 2], vec![and]].concat(), vec![(3, 5), (1, 1)]),
            (vec![xor; 3 * STEPS_PER_AND + 1], vec![(0, 3 * STEPS_PER_AND), (0, 1)]),
        ] {
            let mut passed = Vec::new();
            let work = |batch: &Batch| {
                passed.push((batch.ands, batch.ops.len()));
                Ok::<_, ()>(())
            };
            let mut cut = Cut { batch: Batch::default(), most: 3, work };
            ops.into_iter().for_each(|op| assert_eq!(cut.push(op), Ok(())));
            assert_eq!(cut.finish(), Ok(()));
            assert_eq!(passed, batches);
        }
    }

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
