//! What the tests of all engines share (feature `testing`; never part of a build that holds real secrets).

mod lab;
pub mod stage;

pub use lab::{Lab, Opened, Outputs, PlainLab};

use crate::{Abort, Debt, Pending, Verified, settle};

/// A value that counts as verified, for tests of what holds such values.
pub fn verified<T>(value: T) -> Verified<T> {
    struct Nothing;
    impl Debt for Nothing {
        type Payer = ();
        fn take_over(&mut self, Nothing: Self) {}
        fn hand_over(self, (): &mut ()) {}
        fn pay(self, (): &mut ()) -> Result<(), Abort> {
            Ok(())
        }
    }

    match settle(&mut (), Pending::owing(value, Nothing)) {
        Ok(verified) => verified,
        Err(abort) => unreachable!("nothing is owed: {abort}"),
    }
}
