//! What holds for the whole workspace: the map, the order of modules, names, checks, what parties compare,
//! what engines say, what parties bring, examples, and the figures of the papers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agreement;
mod announced;
mod brought;
mod checks;
mod examples;
mod map;
mod modules;
mod names;
mod papers;
