//! Programs that mix numbers, bits, tables and circuits, among many parties, such as the applications
//! of GYKW, section 8.5.
//! **Semi-honest**: the adversary may see all but one of the parties, but every party follows the protocol.
//!
//! | module | what |
//! |---|---|
//! | [`text`] | the format `divisi program 1`: one statement on each line |
//! | [`program`] | statements on values with kinds, shapes and ranges ([`Interval`]), checked as they are added |
//! | [`plain`] | evaluation in the clear, the reference |
//! | [`lower`](fn@lower), [`Code`] | the compiled form: which operations share rounds, and what they cost |
//! | [`run`](mod@run) | the run of a party |
//! | [`applications`] | the five applications of the paper's section 8.5 |
//! | [`operations`] | single operations on numbers and bits, for benchmarks |
//! | [`valid`] | evaluation that refuses inputs beyond their ranges, and what is not as a program assumes; random inputs |
//!
//! ```
//! use divisi_program::{plain, text};
//!
//! let none = |name: &str| Err(format!("there is no circuit {name}"));
//! let program = text::read(
//!     "divisi program 1\n\
//!      input  x 1 num 2x3 in -99..99\n\
//!      input  y 2 num 1x3 below 1000\n\
//!      sums = add x y\n\
//!      best place = max sums\n\
//!      output place 1,2\n",
//!     &none,
//! )?;
//! let inputs = [plain::Entries::Num(vec![1, 2, 3, 9, 0, -7]), plain::Entries::Num(vec![1, 1, 1])];
//! assert_eq!(plain::evaluate(&program, &inputs)?, [plain::Entries::Num(vec![2, 0])]);
//! # Ok::<(), String>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod adapter;
pub mod applications;
mod code;
pub mod entries;
pub mod form;
pub mod held;
pub mod images;
mod interval;
mod keys;
mod literal;
mod lower;
mod node;
pub mod operations;
mod places;
pub mod plain;
pub mod program;
pub mod purposes;
mod ranges;
mod rings;
pub mod run;
mod schedule;
mod shape;
mod size;
mod statements;
pub mod text;
pub mod valid;
mod words;

pub use code::{Code, RunCost};
pub use interval::Interval;
pub use lower::lower;
pub use program::{Arg, Script, Value, ValueKind};
pub use shape::Shape;
pub use size::NumberSize;
