//! CMAC (SP 800-38B) of many messages, under one key for all or one for each. Round keys and subkeys are
//! computed once.

use super::absorb::{Here, Rule, Step, absorb, update};
use super::messages::First;
use super::{MacEngine, Messages, SecretByte, bits, block_bytes, byte_values, public, unfit};
use crate::aes::{self, RoundKeys};
use crate::mac::cmac::{BLOCK, is_complete, padding};
use crate::mode::cmac::double_bits;
use divisi_core::{Abort, Lanes, Misuse};

/// A key that is ready for use; one for all lanes, or one for each.
#[derive(Clone)]
pub struct LaneCmacKey<E: MacEngine> {
    /// The key as it was given.
    key: Vec<E::Byte>,
    round_keys: RoundKeys<E::Byte>,
    /// For n keys: a lane of zeros, then the n first subkeys, then the n second ones.
    subkeys: Vec<SecretByte<E>>,
}

/// The round keys and subkeys (6.1) of keys of 16, 24 or 32 bytes, one in each lane. Tags need nothing else;
/// the values are verified once and kept.
///
/// Cost: a key schedule and a block.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the key has another length.
pub fn prepare<E: MacEngine>(e: &mut E, key: &[E::Byte]) -> Result<LaneCmacKey<E>, Abort> {
    let round_keys = aes::expand(e, key)?;
    let n = round_keys.lanes();
    let mut l: [E::Byte; BLOCK] = std::array::from_fn(|_| e.public(&vec![0; n]));
    aes::encrypt(e, &round_keys, &mut l)?;
    let block = bits(e, l.to_vec())?;
    let k1 = double_bits(e, block)?;
    let k2 = double_bits(e, k1.clone())?;
    let subkeys = joined(e, &k1, &k2);
    Ok(LaneCmacKey { key: key.to_vec(), round_keys, subkeys })
}

/// A lane of zeros, then the first subkeys, then the second ones.
fn joined<E: MacEngine>(e: &mut E, k1: &[SecretByte<E>], k2: &[SecretByte<E>]) -> Vec<SecretByte<E>> {
    let zero = public(e, &[0; BLOCK], 1);
    let parts = zero.iter().zip(k1).zip(k2);
    parts.map(|((zero, k1), k2)| std::array::from_fn(|i| e.join_bits(&[&zero[i], &k1[i], &k2[i]]))).collect()
}

impl<E: MacEngine> LaneCmacKey<E> {
    /// The inputs that a program takes from the key to make tags for messages of one length: the key, and one
    /// of the two subkeys. If `complete`, it is the subkey for messages that end with a complete block.
    pub(super) fn kept(&self, e: &mut E, complete: bool) -> Result<Vec<SecretByte<E>>, Abort> {
        let n = self.round_keys.lanes();
        let mut kept = bits(e, self.key.clone())?;
        let lanes: Vec<usize> = (0..n).map(|lane| if complete { 1 + lane } else { 1 + n + lane }).collect();
        for subkey in &self.subkeys {
            kept.push(super::gather(subkey, &lanes)?);
        }
        Ok(kept)
    }

    /// The inverse of `kept`, inside the program: a key that is ready for messages of the kind for which the
    /// inputs were made.
    pub(super) fn of_kept(e: &mut E, mut kept: Vec<SecretByte<E>>) -> Result<Self, Abort> {
        let subkey = kept.split_off(kept.len().saturating_sub(BLOCK));
        let key = byte_values(e, kept)?;
        Ok(LaneCmacKey { round_keys: aes::expand(e, &key)?, key, subkeys: joined(e, &subkey, &subkey) })
    }

    /// The length of the key in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.key.len()
    }
}

/// CBC-MAC: the next state is the encryption of state plus block; a subkey is added to the last block, too.
struct Chain<'k, E: MacEngine> {
    key: &'k LaneCmacKey<E>,
    /// The length of each message in bytes, including what was processed before.
    lengths: &'k [u64],
}

impl<E: MacEngine> Step<E> for Chain<'_, E> {
    fn step(
        &mut self,
        e: &mut E,
        state: Vec<SecretByte<E>>,
        block: Vec<SecretByte<E>>,
        here: &Here<'_>,
    ) -> Result<Vec<SecretByte<E>>, Abort> {
        let keys = self.key.round_keys.lanes();
        let own = |lane: usize| if keys == 1 { 0 } else { lane };
        let mut sum = block_bytes(e, block)?;
        for (sum, state) in sum.iter_mut().zip(byte_values(e, state)?) {
            e.add(sum, &state)?;
        }
        if here.ending < here.lanes.len() {
            let subkey = |(at, lane): (usize, &usize)| match self.lengths.get(*lane) {
                Some(length) if at >= here.ending && is_complete(*length) => 1 + own(*lane),
                Some(_) if at >= here.ending => 1 + keys + own(*lane),
                _ => 0,
            };
            let index: Vec<usize> = here.lanes.iter().enumerate().map(subkey).collect();
            for (sum, subkeys) in sum.iter_mut().zip(&self.key.subkeys) {
                let masks = super::gather(subkeys, &index)?;
                let mask: E::Byte = e.convert(masks)?;
                e.add(sum, &mask)?;
            }
        }
        if keys == 1 {
            aes::encrypt(e, &self.key.round_keys, &mut sum)?;
        } else {
            let round_keys = self.key.round_keys.gather(here.lanes);
            let round_keys = round_keys.ok_or_else(|| unfit(Misuse::CountsDiffer))?;
            aes::encrypt(e, &round_keys, &mut sum)?;
        }
        bits(e, sum.to_vec())
    }
}

/// The state before the first block.
pub fn initial<E: MacEngine>(e: &mut E) -> Vec<SecretByte<E>> {
    public(e, &[0; BLOCK], 1)
}

/// The state after whole blocks. More of each message must follow.
///
/// # Errors
/// [`Abort::Misuse`] if `columns` does not have whole blocks; the abort that ends the session.
pub fn continued<E: MacEngine>(
    e: &mut E,
    key: &LaneCmacKey<E>,
    state: Vec<SecretByte<E>>,
    columns: Vec<SecretByte<E>>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    update(e, &mut Chain { key, lengths: &[] }, BLOCK, state, columns)
}

/// The tag of each message; the state already contains its first `before` bytes (whole blocks).
///
/// # Errors
/// [`Abort::Misuse`] if nothing follows these bytes, or the keys do not fit; the abort that ends the session.
pub fn tag<E: MacEngine>(
    e: &mut E,
    key: &LaneCmacKey<E>,
    state: &[SecretByte<E>],
    before: u64,
    messages: &Messages<E>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let bytes = messages.whole_bytes()?;
    if before > 0 && bytes.contains(&0) {
        return Err(unfit(Misuse::LengthDiffers));
    }
    let lengths: Vec<u64> = bytes.iter().map(|length| before + *length as u64).collect();
    let rule = Rule {
        step: &mut Chain { key, lengths: &lengths },
        block: BLOCK,
        first: First::Highest,
        padding: &|bits| padding(before + bits as u64 / 8),
    };
    absorb(e, rule, state, messages)
}
