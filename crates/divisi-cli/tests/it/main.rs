//! The program `divisi`, as its user calls it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bench;
mod bench_servers;
mod cmd;
mod demo;
mod examples;
mod faults;
mod full;
mod garble;
mod garble_files;
mod members;
mod mixed;
mod prep;
mod program;
mod reproduce;
mod rounds;
mod run;
mod separate;
mod servers;
mod shipped;
mod spdz;
