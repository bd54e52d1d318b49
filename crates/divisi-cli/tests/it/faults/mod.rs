//! Processes that die, stall or leave, at time limits of a few seconds.

mod commands;
mod constant_round;
mod garble;
mod mixed;
pub(crate) mod proxies;
