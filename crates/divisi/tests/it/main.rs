//! What holds for the whole workspace: the map, the order of modules, names, kinds of errors, examples.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod checks;
mod enums;
mod examples;
mod map;
mod modules;
mod names;
