//! Nets: tests that run each protocol and enumerate what it does, so that a new message is covered on the day
//! on which it is written (docs/nets.md).
//!
//! What they run are [`NetShape`]s, which each engine has in `tests/it/nets`; the judges here know no engine.

mod amounts;
mod attack;
mod checks;
mod doubts;
pub mod draws;
mod equal_inputs;
mod known;
mod lists;
mod masks;
pub mod messages;
pub mod parts;
mod plan;
mod shape;
pub mod sources;
#[cfg(test)]
mod tests;
pub mod worlds;

pub use equal_inputs::opened_twice;
pub use known::KnownWorld;
pub use shape::{NetShape, ShapeOutcome, ShapeSecurity};

/// Inputs of this seed, and of those above, are all equal.
pub const EQUAL: u64 = 1 << 16;

/// What tells the inputs of lanes and calls apart: their number, or nothing with a seed of equal inputs.
#[must_use]
pub fn varied(seed: u64, number: u64) -> u64 {
    if seed >= EQUAL { 0 } else { number }
}

/// Whether the environment asks for everything that nets can try, which takes long.
fn is_long() -> bool {
    std::env::var_os("DIVISI_LONG").is_some_and(|value| value == "1")
}
