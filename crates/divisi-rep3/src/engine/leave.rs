//! Outputs of the engine: settled, whether they depend on products or not, then opened to all three parties.

use super::Rep3;
use crate::Products;
use crate::share::{Block, Byte};
use divisi_core::{Abort, Compares, Opens, Pending, Settles, Verified};

impl Settles for Rep3 {
    type Debt = Products;

    fn closed<T>(&mut self, out: T) -> Result<Pending<T, Products>, Abort> {
        // what is owed is public
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
}
