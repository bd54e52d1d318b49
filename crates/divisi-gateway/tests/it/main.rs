//! Tests of the gateway from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
mod kms;
mod liars;
mod noise;
mod replay;
mod stay;
