//! Outputs of the engine: settled, whether they depend on products or not, then opened to all three parties.

use super::Rep3;
use crate::Products;
use crate::checks;
use crate::share::{Block, Byte};
use divisi_core::{Abort, Blocks, Compares, Convert, Lanes, Opens, Pending, Settles, Verified};

impl Settles for Rep3 {
    type Debt = Products;

    fn closed<T>(&mut self, out: T) -> Result<Pending<T, Products>, Abort> {
        // whether anything is owed is public
        if self.owes() { Ok(self.close(out)) } else { self.close_linear(out) }
    }
}

impl Opens<Vec<Byte>> for Rep3 {
    type Public = Vec<Vec<u8>>;

    fn open(&mut self, x: Verified<Vec<Byte>>) -> Result<Vec<Vec<u8>>, Abort> {
        self.trio().open(&x)
    }
}

impl Compares<Block> for Rep3 {
    fn vanish(&mut self, x: &[Block]) -> Result<Vec<bool>, Abort> {
        self.are_zero(x)
    }

    /// The product of each lane with a random block that nobody knows is made and verified, all lanes side by
    /// side, and then it alone is opened: zero for a lane that is zero, uniform for any other \[A23\]. A lane
    /// that is not zero passes for zero with probability 2^-128. A lie that would turn one answer into the
    /// other is a wrong product: an abort, not an answer.
    fn vanish_lanes(&mut self, x: Block) -> Result<Vec<bool>, Abort> {
        let n = x.lanes();
        let r = self.random_blocks(n);
        let masked = self.multiply(&x, &r)?;
        let bytes: [Byte; 16] = self.convert(masked)?;
        let verified = self.settled(bytes.to_vec())?;
        self.trio().session().observe(checks::A23);
        let opened = self.trio().open(&verified)?;
        Ok((0..n).map(|l| opened.iter().fold(0, |any, column| any | column[l]) == 0).collect())
    }
}
