//! Circuits as others publish them.
//!
//! *Bristol Fashion* (N. P. Smart et al., "'Bristol Fashion' MPC circuits") is a text file: the numbers of
//! gates and wires, the widths of the input values, those of the output values, then one gate a line: how
//! many wires it reads and writes, their numbers, its name. The wires of the inputs come first, those of the
//! outputs last. Gates are `XOR`, `AND`, `INV`, `EQ` (a constant), `EQW` (a copy) and `MAND` (several ANDs).
//! The format before it (S. Tillich, N. P. Smart, "Circuits of basic functions suitable for MPC and FHE") has
//! one line with the widths of two inputs and one output in place of the two, and knows `XOR`, `AND` and
//! `INV`. Files of both that others have written know more: `OR`, `NAND`, `NOR` (each a product) and `XNOR`,
//! names in any case, comments (lines that begin with `//` or `#`) and blank lines anywhere.
//!
//! A file may come from anybody: what it declares is believed only as far as its length bears it out.
//!
//! [`read`] makes a program of a file, in memory that is proportional to its gates. [`survey`] demands the
//! same of it and keeps nothing but what is known of each wire; [`crate::stream`] runs a file from where it
//! lies. All three take gates from one [`Reader`].

mod error;
mod gates;
mod known;
mod lines;
mod looks;
mod read;
mod survey;
mod syntax;
mod wires;
mod write;

pub use error::BristolError;
pub use gates::Reader;
pub use known::BitOrder;
pub use read::{CircuitFile, read};
pub(crate) use survey::MANY;
pub use survey::{FileCounts, Survey, survey};
pub use syntax::{Format, Gate, Header, Negations};
pub use write::{Unwritable, write, write_as};
