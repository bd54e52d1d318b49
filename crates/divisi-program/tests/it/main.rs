//! Programs and applications of the mixed engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod applications;
mod fuzz;
mod nets;
mod parties;
mod random;
mod settings;
mod statements;
