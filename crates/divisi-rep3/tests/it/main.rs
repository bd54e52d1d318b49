//! Replicated sharing among three parties, honest and attacked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod answers;
mod attacks_boolean;
mod attacks_inputs;
mod attacks_large;
mod attacks_lookups;
mod attacks_scale;
mod attacks_session;
mod attacks_statistics;
mod attacks_verification;
mod blackbox;
mod boolean;
mod common;
mod costs;
mod costs_of_macs;
mod debts;
mod drawn;
mod examples;
mod garbled;
mod misuse;
mod misuse_at_run_time;
mod misuse_of_chains;
mod modes;
mod mutants;
mod nets;
mod ohverture;
mod origins;
mod statistical;
mod stock;
mod suite;
