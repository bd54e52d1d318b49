//! Nets over programs.

mod draws;
mod messages;
mod worlds;
