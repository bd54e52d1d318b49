//! Nets: tests that run each protocol and enumerate what it does, so that a new message is covered on the day
//! on which it is written (docs/nets.md).
//!
//! What they run are [`NetShape`]s, which each engine has in `tests/it/nets`; the judges here know no engine.

mod attack;
pub mod draws;
mod known;
pub mod messages;
mod plan;
mod shape;
pub mod sources;
#[cfg(test)]
mod tests;

pub use known::KnownWorld;
pub use shape::{NetShape, ShapeOutcome, ShapeSecurity};
