//! Threshold BGV.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod flood;
pub mod hidden;
pub mod parameters;
pub mod sample;
