//! The modes that multiply in GF(2^128): an engine without such products does not have them.

use super::misfit;
use divisi_core::Abort;
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::batch::MacEngine;
use divisi_symmetric::mode::one_shot::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::one_shot::{Releases, Undecided};

/// The modes that multiply in GF(2^128) on an engine; by default it refuses them.
pub trait Polyval<E: Releases> {
    /// Encrypts: tags, which all parties learn, and ciphertexts.
    fn seal(
        _: &mut E,
        _: &RoundKeys<E::Byte>,
        _: &[NonceHead],
        _: &[E::Byte],
    ) -> Result<(Vec<[u8; 16]>, Vec<E::Byte>), Abort> {
        Err(misfit())
    }

    /// Decrypts: messages whose tags nobody has compared yet.
    fn open(
        _: &mut E,
        _: &RoundKeys<E::Byte>,
        _: &[NonceHead],
        _: &[Vec<u8>],
        _: &[[u8; 16]],
    ) -> Result<Undecided<E>, Abort> {
        Err(misfit())
    }
}

/// GCM-SIV on an engine that multiplies blocks.
pub struct OnBlocks;

impl<E: Releases + MacEngine> Polyval<E> for OnBlocks {
    fn seal(
        e: &mut E,
        key: &RoundKeys<E::Byte>,
        heads: &[NonceHead],
        message: &[E::Byte],
    ) -> Result<(Vec<[u8; 16]>, Vec<E::Byte>), Abort> {
        gcm_siv::seal(e, key, heads, message)
    }

    fn open(
        e: &mut E,
        key: &RoundKeys<E::Byte>,
        heads: &[NonceHead],
        ciphertext: &[Vec<u8>],
        tags: &[[u8; 16]],
    ) -> Result<Undecided<E>, Abort> {
        gcm_siv::open(e, key, heads, ciphertext, tags)
    }
}

/// For an engine that does not multiply blocks: it refuses GCM-SIV when a job is prepared.
pub struct WithoutBlocks;

impl<E: Releases> Polyval<E> for WithoutBlocks {}
