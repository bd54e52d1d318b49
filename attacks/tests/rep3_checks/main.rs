//! What the checks of the three-party engine rest on, each looked at so closely that a check which is there
//! and too weak shows.
//!
//! Most of it is done by runs whose randomness the test knows ([`known`]): what a verification opens is then
//! computed apart, from the coins and from the masks, and a lie can be chosen that one bit of a comparison
//! alone would notice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bits;
mod coins;
mod inputs;
mod joined;
mod known;
mod masks;
mod openings;
mod planes;
mod session;
mod streams;
mod triple;
mod zero;
