//! Keys prepared for AES-GCM, from the parts of their sharing that this party holds.

use crate::cipher;
use divisi_core::{Abort, Misuse, Step, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::aes::{KeySize, RoundKeys};
use divisi_symmetric::mode::gcm::MessagesKey;
use divisi_symmetric::mode::ghash::Steps;

const KEY: Step = step!("key");

/// A key ready for use: its schedule and the powers of its hash key, all verified when they were made.
pub struct GcmKey(pub(super) MessagesKey<Rep3>);

impl GcmKey {
    /// Expand a key inside the computation, and make the powers of its hash key for GHASH.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for a key of another length.
    pub fn prepare(rep: &mut Rep3, size: KeySize, part: &Part) -> Result<GcmKey, Abort> {
        let one = Self::prepare_many(rep, size, &[part])?.pop();
        one.ok_or(Abort::Misuse { step: KEY, what: Misuse::KeyMissing })
    }

    /// Prepare several keys of one size in the rounds of one: a lane each, verified together. No parts give
    /// no keys.
    ///
    /// # Errors
    /// The errors of [`GcmKey::prepare`].
    pub fn prepare_many(rep: &mut Rep3, size: KeySize, parts: &[&Part]) -> Result<Vec<GcmKey>, Abort> {
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let keys = key_bytes(rep, size, parts)?;
        let (round_keys, h) = cipher::expand_for_gcm(rep, &keys)?;
        let keys = MessagesKey::each(rep, round_keys, &h, Steps::STANDARD)?;
        Ok(keys.into_iter().map(GcmKey).collect())
    }

    /// The size of the key.
    #[must_use]
    pub fn size(&self) -> KeySize {
        self.round_keys().size()
    }

    /// Its schedule, one lane.
    pub(crate) fn round_keys(&self) -> &RoundKeys<Byte> {
        self.0.round_keys()
    }

    /// The powers of its hash key from the first on, as many as [`Steps::STANDARD`] has baby steps.
    pub(crate) fn baby(&self) -> &divisi_rep3::Block {
        self.0.baby_steps()
    }
}

/// The shared bytes of keys, with a lane for each key.
///
/// # Errors
/// [`Abort::Misuse`] for a key of another length.
pub(crate) fn key_bytes(rep: &mut Rep3, size: KeySize, parts: &[&Part]) -> Result<Vec<Byte>, Abort> {
    if parts.iter().any(|part| [&part.first, &part.second].iter().any(|key| key.len() != size.bytes())) {
        return Err(rep.trio().session().misuse(KEY, Misuse::KeyUnfit));
    }
    let column = |of: fn(&Part) -> &Vec<u8>, i: usize| parts.iter().map(|part| of(part)[i]).collect();
    (0..size.bytes())
        .map(|i| {
            let (first, second) = (column(|part| &part.first, i), column(|part| &part.second, i));
            rep.trio().input(&Part { first, second })
        })
        .collect()
}
