//! Circuits in published formats.
//!
//! *Bristol Fashion* (N. P. Smart et al., "'Bristol Fashion' MPC circuits") is a text file: the numbers of
//! gates and wires, the widths of the input values, those of the output values, then one gate a line: how
//! many wires it reads and writes, their numbers, its name. The wires of the inputs come first, those of the
//! outputs last. Gates are `XOR`, `AND`, `INV`, `EQ` (a constant), `EQW` (a copy) and `MAND` (several ANDs).
//!
//! The *older format* (S. Tillich, N. P. Smart, "Circuits of basic functions suitable for MPC and FHE") has a
//! single line with the widths of two inputs and one output, instead of one line for the inputs and one for
//! the outputs, and the gates `XOR`, `AND` and `INV`.
//!
//! In both formats the parser also accepts what other programs write: `OR` (or `LOR`), `NAND`, `NOR` (each
//! counts as an AND) and `XNOR`, `NOT` for `INV`, names in any case, `EQ`, `EQW` and `MAND` in the older
//! format, too, comments (from `//` or `#` to the end of the line), blank lines anywhere, and numbers of
//! wires that no gate writes or reads. [`sort()`] puts gates that are out of order in an order in which they
//! can be read.
//!
//! Files are not trusted: a header that declares more than a file of this length can have is refused.
//!
//! [`read`] makes a program of a file, in memory proportional to the number of its gates. [`survey`] checks a
//! file in the same way, and keeps only a few bytes for each wire. [`crate::stream`] runs a circuit directly
//! from its file. All three get the gates from a [`Reader`].

mod error;
mod gates;
mod headers;
mod known;
mod lines;
mod looks;
mod read;
mod sort;
mod survey;
mod syntax;
mod transcribe;
mod wires;
mod write;

pub use error::BristolError;
pub use gates::Reader;
pub use known::BitOrder;
pub use read::{CircuitFile, read};
pub use sort::sort;
pub(crate) use survey::MANY;
pub use survey::{FileCounts, Survey, survey};
pub use syntax::{Format, Gate, Header, Negations};
pub use transcribe::{Transcript, Untranscribed, transcribe};
pub use write::{Unwritable, write, write_as};
