//! Weights of planes and of the lanes of a byte, prepared for a kernel.

use super::Gf64;
use crate::kernel::Kernel;

/// For each plane a weight, multiplied by a factor for each of the eight lanes of a byte.
pub struct LaneWeights {
    /// For each plane, the weights of the eight bits of a byte.
    pub(super) weights: Vec<[Gf64; 8]>,
    /// The same as matrices or tables, for kernels that use these.
    pub(super) matrices: Vec<[u64; 8]>,
    pub(super) kernel: Kernel,
}
