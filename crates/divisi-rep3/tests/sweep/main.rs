//! Tampering sweeps: every message of a corrupt party, changed in every way, within limits of time that tests
//! beside it would exceed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod blackbox;
mod everything;
mod modules;
