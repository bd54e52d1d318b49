//! Processes that die, stall or leave, at time limits of a few seconds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod commands;
mod constant_round;
mod garble;
mod mixed;
mod proxies;
