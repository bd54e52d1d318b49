//! Numbers, bits and tables among semi-honest parties.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bits;
mod common;
mod convert;
mod cot;
mod encrypted;
mod faults;
mod figures;
mod gmw;
mod mixed;
mod mutants;
mod nets;
mod openings;
mod origins;
mod primes;
mod private;
mod speed;
mod vectors;
