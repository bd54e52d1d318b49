//! Masked tables over authenticated shares, honest and attacked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod agreement;
mod attacks;
mod census;
mod claims;
mod clients;
mod common;
mod compiled;
mod costs;
mod ends;
mod engines;
mod kinds;
mod misuse;
mod mutants;
mod nets;
mod outputs;
mod prepared;
mod prices;
mod programs;
mod refusals;
mod replay;
mod speed;
mod stock;
mod stock_aborts;
mod suite;
mod tiny;
mod values;
