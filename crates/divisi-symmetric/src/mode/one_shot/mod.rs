//! Modes that process a message as a whole: key wrapping, SIV, GCM-SIV, CCM, XTS, ciphertext stealing, and
//! CFB with single bits. Each is written once, for any engine and for circuits.
//!
//! A *batch* is a list of messages whose public lengths are all the same, one in each lane: byte `j` of all
//! of them is one secret byte. There is a key for each message, or one for all.
//!
//! | module | what | standard | what is opened, and when |
//! |---|---|---|---|
//! | [`wrap`] | KW and KWP | SP 800-38F, RFC 3394, RFC 5649 | whether the integrity value is right, then the key to its owner |
//! | [`siv`] | deterministic, or with a nonce that may repeat | RFC 5297 | the synthetic IV, then the ciphertext |
//! | [`gcm_siv`] | the same, by POLYVAL | RFC 8452 | the same |
//! | [`ccm`] | counter mode and CBC-MAC | SP 800-38C | ciphertext and tag together |
//! | [`gcm`] | GCM of messages that stay shared: for circuits | SP 800-38D | nothing |
//! | [`xts`] | sectors of a disk | IEEE 1619, SP 800-38E | the result |
//! | [`stealing`] | CBC without padding | SP 800-38A, addendum | the result |
//! | [`bitwise`] | CFB with segments of a bit | SP 800-38A, 6.3 | the result |
//!
//! **Verification of tags.** A decrypted message is [`Undecided`] until [`Undecided::release`] has asked the
//! engine whether the differences of its tags are zero. The engine opens only this verdict \[A23\], and only
//! messages with a good verdict are returned.
//!
//! **Repetition.** SIV, and GCM-SIV under a repeated nonce, encrypt equal messages to equal ciphertexts.
//! Whoever sees two ciphertexts learns whether the messages (and the associated data) are equal, but not
//! where they differ, because the synthetic IV is a tag of the whole message, and the key stream depends on
//! it (test `a_repetition_tells_equality_and_nothing_else`). The same holds for KW and KWP, which have no
//! nonce.

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

use divisi_core::{Abort, Misuse, step};

fn misfit(what: Misuse) -> Abort {
    Abort::Misuse { step: step!("whole"), what }
}
