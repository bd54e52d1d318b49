//! Zero tests: whether secrets are zero, with one verified bit as output and nothing else \[S7\].
//!
//! Adversary: one malicious party. For each group of blocks `x_1 .. x_k` fresh random blocks `r_1 .. r_k`
//! that nobody knows are drawn, the inner product `w = sum x_i r_i` is made and verified, and then `w` alone
//! is opened. If all `x_i` are zero `w` is zero; else it is uniform, whatever they are, and zero with
//! probability 2^-128. A lie that would turn one answer into the other is a wrong product: the verification,
//! which comes before the opening, ends the session and neither answer is given.

use crate::Rep3;
use crate::checks;
use crate::share::{Block, Byte};
use divisi_core::{Abort, Blocks, Convert, Lanes, Misuse, Settles, Step, step};

#[cfg(test)]
mod tests;

const ZERO: Step = step!("zero");

impl Rep3 {
    /// For each group of blocks, whether all its lanes are zero; a group has at least one lane. Settles all
    /// products owed so far.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for an empty group.
    pub fn are_zero(&mut self, groups: &[Block]) -> Result<Vec<bool>, Abort> {
        if groups.iter().any(|group| group.lanes() == 0) {
            return Err(self.trio().session().misuse(ZERO, Misuse::Empty));
        }
        let random: Vec<Block> = groups.iter().map(|group| self.random_blocks(group.lanes())).collect();
        let pairs: Vec<_> = groups.iter().zip(&random).collect();
        let masked = self.dot(&pairs)?;
        let bytes: [Byte; 16] = self.convert(masked)?;
        let verified = self.settled(bytes.to_vec())?;
        self.trio().session().observe_each(checks::S7, groups.len() as u64); // [S7]
        let opened = self.trio().open(&verified)?;
        Ok((0..groups.len()).map(|lane| vanishes(&opened, lane)).collect())
    }
}

/// Whether a block, whose bytes are columns of lanes, is zero in all of them.
fn vanishes(columns: &[impl AsRef<[u8]>], lane: usize) -> bool {
    columns.iter().filter_map(|column| column.as_ref().get(lane)).fold(0, |any, byte| any | byte) == 0
}
