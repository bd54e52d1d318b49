//! Base OT, correlations and authenticated bits, honest and attacked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ahead;
mod attacks;
mod bits;
mod common;
mod correlations;
mod erased;
mod field;
mod hashed_coins;
mod mutants;
mod nets;
mod speed;
mod streamed;
mod toy_fields;
