//! Authenticated garbling among any number of parties, all but one of them possibly malicious (WRK17, ePrint 2017/189).
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod aand;
#[cfg(any(test, feature = "testing"))]
pub mod adversary;
mod batch;
mod bits;
mod haand;
mod hash;
mod laand;
#[cfg(any(test, feature = "testing"))]
pub mod lab;
mod masks;
mod online;
mod open;
mod phases;
mod plan;
mod run;
mod share;
mod streamed;
mod table;
mod triples;
mod walk;

pub use phases::{DEPENDENT_PHASE, Garble, Garbled, INDEPENDENT_PHASE, ONLINE_PHASE, Options, SETUP_PHASE};
pub use plan::{MOST_PARTIES, Plan, Unfit};
pub use table::Form;
pub use triples::Preprocessed;
