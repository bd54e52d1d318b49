//! Replicated secret sharing among three parties with active security against one: the engine of MAESTRO
//! (USENIX Security 2025) for AES.
//!
//! **Trust.** Three parties, at most one of them corrupt, in whatever way. The honest ones end with the right
//! output or abort; nobody learns more than the outputs (security with abort). Statistical security: the
//! meter reports the error of the worst verification in bits, at least 57 for any batch this library makes;
//! computational: 128 bits (AES-128 as a pseudo-random function, BLAKE3 as a hash, the channels of
//! divisi-net), 117 for programs in constant rounds. **It does not protect** against two corrupt parties
//! together, nor promise that an output arrives.
//!
//! The life of a value: a dealer [`deal::split`]s it; the holders compare it ([`Trio::agree_input`]); it
//! enters an engine ([`Trio::input`]); a cipher computes on it over the traits of divisi-core;
//! [`Rep3::close`] returns it as `Pending`, with all products that it depends on; [`divisi_core::settle`]
//! verifies them; [`Trio::open`] or [`Trio::answer`] opens it.
//!
//! | module | of MAESTRO |
//! |---|---|
//! | `share`, [`deal`], [`open`] | section 2.4 |
//! | `origin`, `admit` | a value of another engine, or with an unsettled debt, is refused: not MAESTRO's |
//! | `streams`, `coin`, `random`, `views` | section 2.5, Figure 1 |
//! | `multiply` | section 2.6, Figure 2 |
//! | `bit`, `ands` | Boolean programs: one Reshare a sum of products |
//! | `verify` | section 2.7, Protocols 1 and 2, Figure 3 |
//! | `garbled` | programs in two rounds: not MAESTRO's (docs/constant-round.md) |
//! | `zero` | whether a secret is zero, for tags: one bit |
//! | `sbox`, `record`, `relation` | sections 3.2 and 3.5, Protocols 3 and 7, Eq. 3 |
//! | `ohv` | sections 3.4 and A, Protocols 5 and 8 |
//! | `lookup` | sections 3.3 and 3.5.1, Protocols 4 and 6 |
//!
//! The module [`blackbox`] is the arithmetic black box of Symphony over GF(2^k), under its own names;
//! [`ohverture`] stands on it: one-hot vectors of any length up to 2^16, and lookups in any public table of
//! up to 2^24 entries.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod account;
mod admit;
#[cfg(feature = "testing")]
pub mod adversary;
mod ands;
mod bit;
pub mod blackbox;
pub mod checks;
mod coin;
pub mod deal;
mod engine;
#[cfg(test)]
mod fuzz;
mod garbled;
mod grid;
mod input;
#[cfg(feature = "testing")]
pub mod lab;
pub mod local;
mod lookup;
mod masked;
mod multiply;
mod ohv;
pub mod ohverture;
pub mod open;
mod origin;
mod packed;
mod passes;
pub mod purposes;
mod random;
mod record;
mod relation;
mod runs;
mod sbox;
mod scratch;
mod share;
mod small;
mod streams;
mod tile;
mod trio;
mod verify;
mod views;
mod wire;
mod zero;

pub use bit::Bit;
pub use coin::Coin;
pub use divisi_core::Security;
pub use engine::{Account, OneHots, Rep3};
pub use garbled::{Ahead, FAR, LANES_EACH, Rounds, RoundsChoice};
pub use input::{Agreement, ComparedInput, Lack};
pub use masked::ByteMask;
pub use passes::Passes;
pub use sbox::Protocol;
pub use share::{Block, Byte};
pub use trio::Trio;
pub use verify::Products;
pub use views::Fixed;
