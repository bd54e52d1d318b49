//! Circuits as others publish them.
//!
//! *Bristol Fashion* (N. P. Smart et al., "'Bristol Fashion' MPC circuits") is a text file: the numbers of gates and
//! wires, the widths of the input values, those of the output values, then one gate a line: how many wires it reads and
//! writes, their numbers, its name. The wires of the inputs come first, those of the outputs last. Gates are `XOR`,
//! `AND`, `INV`, `EQ` (a constant), `EQW` (a copy) and `MAND` (several ANDs). The format before it (S. Tillich,
//! N. P. Smart, "Circuits of basic functions suitable for MPC and FHE") has one line with the widths of two inputs and
//! one output in place of the two, and knows `XOR`, `AND` and `INV`.
//!
//! A file may come from anybody: what it declares is believed only as far as its length bears it out.

mod read;
mod write;

pub use read::{Counts, Error, Format, Source, read};
pub use write::write;
