//! The wires of a job, narrow or wide.

use crate::ands::{Ands, Run};
use crate::bit::Bit;
use crate::wire::Shape;
use divisi_circuit::Level;
use divisi_field::Plane;

/// The wires of a job in a window, and the gates on them.
pub(super) trait Wires {
    /// How many planes the products of a level take in a message, if there are this many sums of products.
    fn planes(&self, dots: usize) -> usize;

    /// Append the lanes in use of these planes to `shape`.
    fn shape(&self, dots: usize, shape: &mut Shape);

    /// Compute the sums of a level; then put our additive shares of its products into `z`, for the message,
    /// and the factors of those products that have places in `runs` into the ledger. `constant` is the
    /// component that carries public values.
    fn begin(
        &mut self,
        level: &Level,
        constant: Option<usize>,
        z: &mut [[Plane; 1]],
        ands: &mut Ands,
        runs: &[Run],
    );

    /// Store the results of the products, whose two components are `z`, in the wires and in the ledger.
    fn store(&mut self, level: &Level, z: [&[[Plane; 1]]; 2], ands: &mut Ands, runs: &[Run]);

    /// Append the output wires' lanes.
    fn results(&self, outputs: &mut [Bit]);
}
