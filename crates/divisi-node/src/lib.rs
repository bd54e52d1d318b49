//! Client and server of the three: requests, agreement on inputs, keys, release.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod gcm;
pub mod many;
