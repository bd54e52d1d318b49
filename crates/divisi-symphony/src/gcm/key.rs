//! Keys made ready for AES-GCM: verified before their first use, one alone or several in the rounds of one.

use crate::cipher;
use crate::settle::close;
use divisi_core::{Abort, Lanes, Step, Verified, settle, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Block, Byte, Rep3};
use divisi_symmetric::aes::{self, KeySize, RoundKeys};
use divisi_symmetric::mode::gcm;
use divisi_symmetric::mode::ghash::{Powers, Steps, powers};

const KEY: Step = step!("key");

/// A key ready for use: its schedule, its hash key's powers, all verified when made.
pub struct GcmKey {
    round_keys: Verified<RoundKeys<Byte>>,
    baby: Verified<Block>,
    powers: Option<(usize, Verified<Powers<Block>>)>,
}

impl GcmKey {
    /// Expand a key inside the computation, and make what GHASH needs.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn prepare(rep: &mut Rep3, size: KeySize, part: &Part) -> Result<GcmKey, Abort> {
        let one = Self::prepare_many(rep, size, &[part])?.pop();
        one.ok_or(Abort::Misuse { step: KEY, what: "the key is missing" })
    }

    /// Several keys of one size in the rounds of one: a lane each, verified together. None if there are none.
    ///
    /// # Errors
    /// As [`GcmKey::prepare`].
    pub fn prepare_many(rep: &mut Rep3, size: KeySize, parts: &[&Part]) -> Result<Vec<GcmKey>, Abort> {
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let keys = key_bytes(rep, size, parts)?;
        let (round_keys, h) = cipher::with_schedule(rep, |rep| {
            let round_keys = aes::expand(rep, &keys)?;
            let h = gcm::hash_key(rep, &round_keys)?;
            Ok((round_keys, h))
        })?;
        let m = Steps::STANDARD.baby();
        let baby = powers(rep, &h, m)?;
        let each: Option<Vec<_>> = if parts.len() == 1 {
            Some(vec![(round_keys, baby)])
        } else {
            let own = |k: usize| {
                Some((round_keys.gather(&[k])?, baby.gather(&(k * m..(k + 1) * m).collect::<Vec<_>>())?))
            };
            (0..parts.len()).map(own).collect()
        };
        let each = each.ok_or(Abort::Misuse { step: KEY, what: "keys and their powers differ in number" })?;
        let pending = rep.close(each);
        let ready = |key: Verified<(RoundKeys<Byte>, Block)>| {
            let (round_keys, baby) = key.split();
            GcmKey { round_keys, baby, powers: None }
        };
        Ok(settle(rep, pending)?.each().into_iter().map(ready).collect())
    }

    /// The size of the key.
    #[must_use]
    pub fn size(&self) -> KeySize {
        self.round_keys.get().size()
    }

    /// Its schedule, one lane.
    pub(crate) fn round_keys(&self) -> &RoundKeys<Byte> {
        self.round_keys.get()
    }

    /// The powers of its hash key from the first on, as many as [`Steps::STANDARD`] has baby steps.
    pub(crate) fn baby(&self) -> &Block {
        self.baby.get()
    }

    /// The powers that a string of that many blocks needs: giant steps are made when a message is longer than
    /// any before.
    pub(super) fn powers(&mut self, rep: &mut Rep3, blocks: u64) -> Result<(), Abort> {
        let giants = Steps::STANDARD.giants(blocks);
        if self.powers.as_ref().is_some_and(|(have, _)| *have >= giants) {
            return Ok(());
        }
        let powers = Powers::from_baby_steps(rep, self.baby.get().clone(), Steps::STANDARD, blocks)?;
        self.powers = Some((giants, close(rep, powers)?));
        Ok(())
    }

    pub(super) fn ready(&self) -> Result<&Powers<Block>, Abort> {
        let missing = Abort::Misuse { step: KEY, what: "the powers of this key were not made" };
        self.powers.as_ref().map(|(_, powers)| powers.get()).ok_or(missing)
    }
}

/// The bytes of keys as secrets, a lane a key.
///
/// # Errors
/// [`Abort::Misuse`] for a key of another length.
pub(crate) fn key_bytes(rep: &mut Rep3, size: KeySize, parts: &[&Part]) -> Result<Vec<Byte>, Abort> {
    if parts.iter().any(|part| [&part.first, &part.second].iter().any(|key| key.len() != size.bytes())) {
        return Err(rep.trio().session().misuse(KEY, "a key of another length than its type says"));
    }
    let column = |of: fn(&Part) -> &Vec<u8>, i: usize| parts.iter().map(|part| of(part)[i]).collect();
    (0..size.bytes())
        .map(|i| {
            let (first, second) = (column(|part| &part.first, i), column(|part| &part.second, i));
            rep.trio().input(&Part { first, second })
        })
        .collect()
}
