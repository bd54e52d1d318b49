//! What the tests of all engines share (feature `testing`; never part of a build that holds real secrets):
//! known answers over any engine ([`Lab`]), all parties of a session in one process ([`run`]), corrupt ones
//! among them whose messages are changed ([`Harness`], [`place`]), attacks that a check stops, and that
//! succeed where it is switched off ([`kills`]), and nets that enumerate what protocols do ([`nets`]).

mod alike;
mod harness;
mod lab;
pub mod memory;
pub mod misuse;
mod mutants;
pub mod nets;
mod operators;
mod parties;

pub use alike::in_another;
pub use harness::{Harness, LIMIT, MessageDirection, Recording, Seen, Sent, sent};
pub use lab::{BitLab, ByteLab, Lab, OpenedOutputs, Outputs, PlainLab};
pub use mutants::{kills, without};
pub use operators::{Operator, Position, delay, place, salt};
pub use parties::{
    each_byte_counts, ended_by_another, failed_check, links, many, party, refused_for, run, run_over,
    run_waiting,
};

use crate::{Abort, Debt, Pending, Verified, settle};

/// A value that is declared verified without any verification, for tests of code that needs such values.
pub fn verified<T>(value: T) -> Verified<T> {
    struct Nothing;
    impl Debt for Nothing {
        type Payer = ();
        fn take_over(&mut self, Nothing: Self) {}
        fn hand_over(self, (): &mut ()) {}
        fn pay(self, (): &mut ()) -> Result<(), Abort> {
            Ok(())
        }
        fn fail((): &mut (), abort: Abort) -> Abort {
            abort
        }
    }

    match settle(&mut (), Pending::owing(value, Nothing)) {
        Ok(verified) => verified,
        Err(abort) => unreachable!("nothing is owed: {abort}"),
    }
}
