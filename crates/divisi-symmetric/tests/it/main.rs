//! Ciphers, hashes, MACs and modes against vectors of standards.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod chains;
mod circuits;
mod costs;
mod engine;
mod functions;
mod gcm;
mod hashes;
mod long;
mod macs;
mod modes;
mod refusals;
mod suite;
mod unfit;
mod vectors;
mod watched;
