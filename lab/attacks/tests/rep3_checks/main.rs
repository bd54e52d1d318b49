//! Attacks on everything on which the checks of the three-party engine rest, so precise that a check which is
//! there but too weak fails a test.
//!
//! Most of it is done by runs whose randomness the test knows ([`known`]): the test then computes what a
//! verification opens from the coins and the masks, and can choose a lie that a single bit of a comparison
//! notices.
#![allow(clippy::disallowed_methods, reason = "tests draw from worlds of their own")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod coins;
#[path = "../common/mod.rs"]
mod common;
mod inputs;
mod joined;
mod known;
mod masks;
mod openings;
mod session;
mod streams;
mod zero;
