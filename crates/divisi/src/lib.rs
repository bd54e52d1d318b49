//! The functions of the program `divisi`, which return records, and the layers below, for programs of your
//! own.
//!
//! The directory `examples/` has four programs: three machines from a configuration, a circuit among five
//! parties, a protocol of your own, and three servers with a client in one process.
//!
//! | module | what |
//! |---|---|
//! | [`demo`] | three servers as three processes, a file encrypted and decrypted, checked with an ordinary library |
//! | [`mod@bench`] | a protocol among processes, measured phase by phase, every output checked; three servers under their clients |
//! | [`mod@reproduce`] | every table of five papers beside what is measured here, on one page |
//! | [`calibrate`] | the speed of this machine, to compare figures of different machines |
//! | [`circuit`] | circuits by name and from files, values in hexadecimal |
//! | [`mod@run`] | a circuit among parties, on this machine or on several |
//! | [`engine`] | ways to compute among n parties, each a folder of its own |
//! | [`mod@program`], [`images`] | programs on numbers and bits, and images of digits for one of them |
//! | [`params`] | how the parameters of the engine mixed are derived |
//! | [`prep`] | preprocessing of the engine spdz on disk |
//! | [`kat`] | published test vectors on an engine |
//! | [`mod@file`] | encryption and decryption of files and streams by three servers |
//! | [`local`] | the processes of parties on this machine |
//! | [`server`] | one of the three servers, as a program |
//! | [`mod@log`] | the server's log, which never delays it |
//! | [`mod@output`] | files that appear when they are complete |
//! | [`cleanup`] | the register of processes and files that must not outlive the program |
//! | [`dumps`] | no core dumps, and no access of other processes to a process's memory |
//! | [`name`] | names of files for messages and errors |
//! | [`mod@source`] | files, pipes and standard input that a user names to be read |
//! | [`mode`] | performance modes, and the protocol of each |
//! | [`prelude`], [`layers`] | what most programs need, and the crates below: a single dependency is enough |
//! | [`WireValue`] | values of circuits, and the order of their bits |
//! | [`failure`] | failures of commands: kinds, sentences, exit codes |
//!
//! **Trust.** The client of three servers is trusted with what it encrypts, and checks the servers' answers;
//! the crates below say what a corrupt server can do. `demo`, `bench` and `kat` run all parties on one
//! machine, which therefore knows all secrets: they demonstrate and measure, and protect nothing.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "inputs of measurements and keys of files belong to no session"
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bench;
pub mod calibrate;
pub mod demo;
pub mod dumps;
pub mod engine;
pub mod kat;
pub mod layers;
pub mod local;
pub mod log;
pub mod params;
mod party;
pub mod prelude;
pub mod prep;
pub mod reproduce;
pub mod run;
pub mod server;

pub use divisi_engine::{WireValue, circuit, cleanup, failure, name, output, source};
pub use divisi_node::files as file;
pub use divisi_program::held as program;
pub use divisi_program::images;
pub use divisi_symphony::choice as mode;
