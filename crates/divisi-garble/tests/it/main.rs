//! Authenticated garbling, honest and attacked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod adapter;
mod attacks;
mod cheating;
mod circuits;
mod common;
mod costs;
mod faults;
mod files;
mod known_answers;
mod large;
mod mutants;
mod nets;
mod order;
mod periods;
mod plans;
mod settings;
mod split_views;
mod toy_fields;
mod used_once;
