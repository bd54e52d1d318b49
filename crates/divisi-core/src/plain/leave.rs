//! Outputs of the plain engine: values in the clear owe nothing, and are open already.

use super::{Plain, PlainBit, PlainBlock, PlainByte};
use crate::{Abort, Compares, Debt, Lanes, Opens, Pending, Settles, Verified};

/// The debt of values in the clear: none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDebt;

impl Debt for NoDebt {
    type Payer = Plain;

    fn take_over(&mut self, _: Self) {}

    fn hand_over(self, _: &mut Plain) {}

    fn pay(self, _: &mut Plain) -> Result<(), Abort> {
        Ok(())
    }

    fn fail(_: &mut Plain, abort: Abort) -> Abort {
        abort
    }
}

impl Settles for Plain {
    type Debt = NoDebt;

    fn closed<T>(&mut self, out: T) -> Result<Pending<T, NoDebt>, Abort> {
        Ok(Pending::owing(out, NoDebt))
    }
}

impl Opens<Vec<PlainByte>> for Plain {
    type Public = Vec<Vec<u8>>;

    fn open(&mut self, x: Verified<Vec<PlainByte>>) -> Result<Vec<Vec<u8>>, Abort> {
        Ok(x.get().iter().map(|byte| byte.values().to_vec()).collect())
    }
}

impl Opens<Vec<PlainBit>> for Plain {
    type Public = Vec<Vec<bool>>;

    fn open(&mut self, x: Verified<Vec<PlainBit>>) -> Result<Vec<Vec<bool>>, Abort> {
        Ok(x.get().iter().map(|bit| (0..bit.lanes()).map(|lane| bit.lane(lane)).collect()).collect())
    }
}

impl Compares<PlainBlock> for Plain {
    fn vanish(&mut self, x: &[PlainBlock]) -> Result<Vec<bool>, Abort> {
        Ok(x.iter().map(|group| group.values().iter().fold(0, |any, block| any | block) == 0).collect())
    }
}
