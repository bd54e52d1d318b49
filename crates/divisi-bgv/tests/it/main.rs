//! Threshold BGV among parties over memory links.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod blocks;
mod linear;
mod mutants;
mod nets;
mod noise;
mod refresh;
mod shares;
mod tools;
