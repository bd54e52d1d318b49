//! Nets over programs.

mod draws;
mod worlds;
