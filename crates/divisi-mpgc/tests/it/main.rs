//! Garbled circuits of linear size.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod circuits;
mod mutants;
mod nets;
mod refusals;
mod rows;
mod uniform;
