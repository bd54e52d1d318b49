//! The holder's computations on trees and rows outside of any session: divisi-measure tests whether their
//! time, branches and addresses depend on Delta. This is not a protocol: the maker's messages are constants,
//! and the results are not used.

use crate::softspoken::layout::Layout;
use crate::softspoken::tree::{Permutations, hold, message_bytes};
use crate::softspoken::{Holder, Sums, TILE, pieces};
use zeroize::Zeroizing;

/// A maker's messages to a holder.
pub struct GuardedMessages {
    layout: Layout,
    permutations: Permutations,
    trees: Vec<u8>,
    corrections: Vec<u128>,
}

impl GuardedMessages {
    /// Messages for pieces of `k` bits.
    #[must_use]
    pub fn new(k: u32) -> GuardedMessages {
        let layout = Layout::labels(k);
        let trees = (0..message_bytes(layout)).map(|i| (i * 151) as u8).collect();
        let corrections =
            (0..pieces(k) as u128).map(|c| (c + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c)).collect();
        GuardedMessages { layout, permutations: Permutations::fixed(), trees, corrections }
    }

    /// Reads the trees with Delta and the keys of the base OTs, and makes a tile of rows. Returns whether the
    /// trees are consistent.
    pub fn run(&self, delta: u128, keys: &[u128; 128], rows: &mut [u128; TILE]) -> bool {
        let (leaves, consistent) =
            hold(&self.permutations, (self.layout, true), keys, &[delta, 0], &self.trees);
        let mut sums = Zeroizing::new([0; TILE]);
        Holder::new(self.layout, leaves).extend(
            &mut Sums::new(),
            &(0..1),
            &[delta, 0],
            1,
            &self.corrections,
            [&mut *sums, &mut []],
        );
        rows.copy_from_slice(&*sums);
        consistent
    }
}
