//! Modes of operation: how a block cipher treats messages.

pub mod columns;
pub mod ctr;
pub mod gcm;
pub mod ghash;
