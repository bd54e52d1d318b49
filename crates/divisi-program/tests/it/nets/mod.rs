//! Nets over programs.

mod draws;
