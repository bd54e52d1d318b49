//! The smallest engine, as a crate of its own.
#![allow(missing_docs, clippy::indexing_slicing)]

#[path = "../../divisi-cli/tests/toy/engine.rs"]
mod engine;

pub use engine::Toy;
