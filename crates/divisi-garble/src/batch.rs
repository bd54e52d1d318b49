//! A circuit as batches of gates in the order in which they are garbled.
//!
//! A batch ends where the next product would be one too many, be it in the middle of a level: products of a level read before one of
//! its results is written, so what a level's products gave waits in the walker's queue until its sums are taken.

use divisi_circuit::{Linear, Program};

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

/// Other steps that a batch may have for each product: circuits of sums alone do not pile up.
const STEPS_PER_AND: usize = 8;

/// Give the circuit's gates to `work`, at most `most` products at a time.
pub(crate) fn batches<E>(
    program: &Program,
    most: usize,
    mut work: impl FnMut(&Batch) -> Result<(), E>,
) -> Result<(), E> {
    let most = most.max(1);
    let most_ops = most.saturating_mul(STEPS_PER_AND);
    let mut batch = Batch::default();
    let mut push = |batch: &mut Batch, op: Op| -> Result<(), E> {
        if (matches!(op, Op::And { .. }) && batch.ands == most) || batch.ops.len() >= most_ops {
            work(batch)?;
            batch.ops.clear();
            batch.ands = 0;
        }
        batch.ands += usize::from(matches!(op, Op::And { .. }));
        batch.ops.push(op);
        Ok(())
    };
    let at = |slot: divisi_circuit::Slot| slot.index() as u32;
    for level in program.levels() {
        for gate in level.linear() {
            match *gate {
                Linear::Xor { out, x, y } => push(&mut batch, Op::Xor { out: at(out), x: at(x), y: at(y) })?,
                Linear::Not { out, x } => push(&mut batch, Op::Not { out: at(out), x: at(x) })?,
                // no wire: `Plan` knows which outputs are constants, and nothing else reads one
                _ => {}
            }
        }
        for (_, dot) in level.dots() {
            for &(x, y) in dot {
                push(&mut batch, Op::And { x: at(x), y: at(y) })?;
            }
        }
        for (out, dot) in level.dots() {
            push(&mut batch, Op::Sum { out: at(out), terms: dot.len() as u32 })?;
        }
    }
    // closes over `work`, which is needed once more
    let _ = push;
    if batch.ops.is_empty() { Ok(()) } else { work(&batch) }
}
