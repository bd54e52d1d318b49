//! Nets: tests that run each protocol and enumerate what it does, so that a new draw is covered on the day on
//! which it is written.
//!
//! What they run are shapes, which each engine has in `tests/it/nets`; the judges here know no engine.

pub mod draws;
