//! AES and 3DES among parties that trust nobody.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod check;
#[cfg(any(test, feature = "testing"))]
pub mod dealer;
mod demux;
mod engine;
mod input;
#[cfg(any(test, feature = "testing"))]
pub mod lab;
mod multiply;
mod part;
mod party;
mod share;
mod source;
mod table;

pub use check::VERIFICATION_PHASE;
pub use engine::{Byte, LOAD_PHASE, Openings, PREPROCESSING_PHASE, Protocol, Spdz, Tiny, TinyByte};
pub use input::InputMask;
pub use part::{Embeds, Mac, Part, Word};
pub use party::Party;
pub use share::Auth;
pub use source::{BitTriples, Known, Source, Triples};
