//! Texts that go through as a whole, in modes beside GCM: wrapped keys, texts with a synthetic IV, CCM,
//! sectors of disks, stolen ciphertext, feedback bit by bit. Each once, for any engine and for circuits.
//!
//! A *batch* is texts of one shape (all public lengths are the same), a lane each; byte `j` of all of them is
//! one secret byte. Keys have a lane a text, or one lane for all.
//!
//! | module | what | standard | what is opened, and when |
//! |---|---|---|---|
//! | [`wrap`] | KW and KWP | SP 800-38F, RFC 3394, RFC 5649 | whether the integrity value is right, then the key to whom it belongs |
//! | [`siv`] | deterministic, or with a nonce that may repeat | RFC 5297 | the synthetic IV, then the ciphertext |
//! | [`gcm_siv`] | the same, by POLYVAL | RFC 8452 | likewise |
//! | [`ccm`] | counter mode and CBC-MAC | SP 800-38C | ciphertext and tag together |
//! | [`gcm`] | GCM of texts that stay shared: for circuits | SP 800-38D | nothing |
//! | [`xts`] | sectors of a disk | IEEE 1619, SP 800-38E | the other text |
//! | [`stealing`] | CBC without padding | SP 800-38A, addendum | the other text |
//! | [`bitwise`] | CFB with segments of a bit | SP 800-38A, 6.3 | the other text |
//!
//! **Decisions.** What was decrypted is [`Undecided`] until [`Undecided::release`] has asked the engine
//! whether the differences of its tags vanish: a verdict, of which nothing else is told \[A23\], and only
//! the texts whose verdict is good leave it.
//!
//! **Repetition.** SIV, and GCM-SIV under a repeated nonce, make one ciphertext of equal texts: who sees two
//! ciphertexts learns whether the texts (and what is authenticated with them) are the same, and nothing of
//! where they differ, for the synthetic IV is a tag of the whole text and all key stream follows from it
//! (test `a_repetition_tells_equality_and_nothing_else`). KW and KWP likewise, which have no nonce at all.

pub mod bitwise;
pub mod ccm;
pub mod gcm;
pub mod gcm_siv;
mod lanes;
pub mod siv;
pub mod stealing;
pub mod strings;
mod undecided;
pub mod wrap;
pub mod xts;

pub use crate::engines::Releases;
pub use undecided::{Released, Undecided};

use divisi_core::{Abort, step};

fn misfit(what: &'static str) -> Abort {
    Abort::Misuse { step: step!("whole"), what }
}
