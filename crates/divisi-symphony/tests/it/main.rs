//! Ciphers, modes and MACs of three parties without a service.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adapter;
mod circuits;
mod common;
mod comparisons;
mod dealt;
mod fresh;
mod gcm;
mod jobs;
mod nets;
mod short;
mod symphony;
mod tampering;
