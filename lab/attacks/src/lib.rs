//! What the runners of weakened builds and of mutants share: a copy of the project, and compiled tests of it.

pub mod compile;
pub mod folder;
pub mod hooks;
pub mod mirror;
