//! Boolean circuits: from a description of an algorithm to the list of gates that an engine runs.
//!
//! An author writes a function over [`Gates`], one bit at a time. With [`Words`](plain::Words) it computes in
//! the clear. With [`Build`] it is recorded, folded and levelled into a [`Program`]. ANDs that do not depend
//! on each other are in one level, which costs an engine one round; the builder finds this parallelism, the
//! author need not.
//!
//! Circuits are public. This crate handles no secrets; the engine that runs a circuit protects the values of
//! its wires.
//!
//! | module | what |
//! |---|---|
//! | [`gates`] | what a circuit's author needs |
//! | [`build`] | the recorder: constants, common subexpressions, dead gates |
//! | [`program`] | levels, slots, counts |
//! | [`plain`] | evaluation in the clear, the reference for every engine |
//! | [`bristol`] | files in Bristol Fashion and in the format before it |
//! | [`optimise`] | the same function with fewer gates |
//! | [`stream`] | circuits that are run from their file, if their gates do not fit into memory |
//!
//! ```
//! use divisi_circuit::{Build, Gates, plain};
//!
//! let mut g = Build::new();
//! let (x, y) = (g.input(1)[0], g.input(1)[0]);
//! let sum = [g.xor(x, y), g.and(x, y)];
//! g.output(&sum);
//! let half_adder = g.finish();
//! assert_eq!((half_adder.and_count(), half_adder.and_depth()), (1, 1));
//! // All four cases at once, one a lane.
//! assert_eq!(plain::run(&half_adder, &[vec![0b1100], vec![0b1010]])?, [vec![0b0110], vec![0b1000]]);
//! # Ok::<(), plain::Misfit>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bristol;
pub mod build;
mod digest;
mod fold;
pub mod gates;
mod level;
mod memo;
pub mod optimise;
mod packed;
pub mod plain;
pub mod program;
mod recorded;
mod shared;
mod slot;
pub mod stream;

pub use build::{Build, BuildBit};
pub use gates::Gates;
pub use packed::LinearGates;
pub use program::{Level, LinearGate, Program, Slot};
pub use stream::Stream;
