//! Circuits: files, streams, optimisation, random ones, and bytes that are no circuit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bristol;
mod changes;
mod files;
mod fuzz;
mod optimise;
mod random;
mod stream;
