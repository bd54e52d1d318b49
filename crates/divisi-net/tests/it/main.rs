//! The mesh: configuration, links, exchange, faults and lies of peers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod checks;
mod configuration;
mod duplex;
mod exchange;
mod faults;
mod listeners;
mod parties;
mod skipping;
mod stalled;
mod tampering;
