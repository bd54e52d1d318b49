//! What modes take that multiply in GF(2^128): an engine that has no such products has not these modes.

use super::misfit;
use divisi_core::Abort;
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::batch::MacEngine;
use divisi_symmetric::mode::whole::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::whole::{Releases, Undecided};

/// Modes that multiply in GF(2^128), as an engine has them.
pub(in super::super) trait Polyval<E: Releases> {
    /// Tags, which all learn, and ciphertexts.
    fn seal(
        _: &mut E,
        _: &RoundKeys<E::Byte>,
        _: &[NonceHead],
        _: &[E::Byte],
    ) -> Result<(Vec<[u8; 16]>, Vec<E::Byte>), Abort> {
        Err(misfit())
    }

    /// Texts whose tags nobody has compared yet.
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
pub(in super::super) struct OnBlocks;

impl<E: Releases + MacEngine> Polyval<E> for OnBlocks {
    fn seal(
        e: &mut E,
        key: &RoundKeys<E::Byte>,
        heads: &[NonceHead],
        text: &[E::Byte],
    ) -> Result<(Vec<[u8; 16]>, Vec<E::Byte>), Abort> {
        gcm_siv::seal(e, key, heads, text)
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
pub(in super::super) struct WithoutBlocks;

impl<E: Releases> Polyval<E> for WithoutBlocks {}
