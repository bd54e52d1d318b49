//! The wires of a job, narrow or wide.

use crate::ands::{Ands, Run};
use crate::bit::Bit;
use crate::wire::Shape;
use divisi_circuit::Level;
use divisi_field::Plane;

/// The wires of a job in a window, and the gates on them.
pub(super) trait Wires {
    /// How many planes the products of a level are in a message.
    fn planes(&self, dots: usize) -> usize;

    /// Their lanes.
    fn shape(&self, dots: usize, shape: &mut Shape);

    /// The sums of a level; then our additive shares of its products, for the message, and their factors to
    /// the ledger, as far as they have places there. `constant` is which component carries public values.
    fn begin(
        &mut self,
        level: &Level,
        constant: Option<usize>,
        z: &mut [[Plane; 1]],
        ands: &mut Ands,
        runs: &[Run],
    );

    /// The results of the products, from both components.
    fn store(&mut self, level: &Level, z: [&[[Plane; 1]]; 2], ands: &mut Ands, runs: &[Run]);

    /// Append the output wires' lanes.
    fn results(&self, outputs: &mut [Bit]);
}
