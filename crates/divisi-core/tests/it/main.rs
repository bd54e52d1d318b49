//! Sessions, strands and commitments among parties over memory links.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod commitments;
mod nets;
mod session;
mod strands;
