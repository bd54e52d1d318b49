//! Ciphers, hashes and MACs of the three-party engine ([`divisi_rep3`]), without clients and servers:
//! the parties bring their own values.
//!
//! **Trust.** Three parties, at most one of them corrupt; what comes out is verified, or the session
//! aborts. **What it does not protect**: which function is called when, lengths, and what is opened. All
//! three call the same functions in the same order.
//!
//! | module | what |
//! |---|---|
//! | [`maestro`], [`sharp`], [`macnifico`] | AES, hashes and MACs under the names of the Symphony slides |
//! | [`gcm`] | AES-GCM of a stream, under a prepared key |
//! | [`mod@short`], [`many`] | many GCM messages in one call: under prepared keys, or each under its own |
//! | [`tags`] | prepared hashes and MACs, and comparison of tags inside the computation |
//! | [`circuit`] | any Boolean circuit: inputs of any party, outputs to chosen ones |
//! | [`owner`] | how a party brings its own values |
//! | [`choice`] | a protocol for S-boxes, by its name or by what a user wants most |
//! | [`cipher`] | the parts of AES that depend on how S-boxes are computed |
//!
//! Ciphers and modes are written once, in `divisi-symmetric`, against the engine traits, together with what
//! they open and when. This crate decides who brings a value, and who learns one.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod adapter;
pub mod choice;
pub mod cipher;
pub mod circuit;
pub mod gcm;
mod lookups;
pub mod macnifico;
pub mod maestro;
pub mod many;
mod mode;
pub mod owner;
pub mod purposes;
mod settle;
pub mod sharp;
pub mod short;
mod strands;
pub mod tags;

pub use gcm::CHUNK;
pub use mode::Priority;
pub use settle::close;
