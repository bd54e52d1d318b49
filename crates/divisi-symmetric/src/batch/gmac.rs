//! GMAC (SP 800-38D) of many secret messages, under one key for all or one for each. Shared blocks are
//! multiplied by shared powers of the hash key.
//!
//! `GHASH(X_1 .. X_n)` is the sum of `X_i H^(n+1-i)`. Up to [`POWERS`] blocks at a time are one inner product
//! with the powers kept with the key,
//!
//! ```text
//!     acc <- (acc + X_1) H^q + X_2 H^(q-1) + .. + X_q H,
//! ```
//!
//! in one round for all messages together. There is a product over GF(2^128) for each block of the message,
//! and one for the block with its length. Each is checked as one product over GF(2^128) instead of as two
//! over GF(2^64) \[S5\]. For public messages, GHASH costs only linear work: [`crate::mode::ghash`].

use super::absorb::{Here, Rule, Step, absorb, update};
use super::messages::First;
use super::{MacEngine, Messages, SecretByte, bits, block_bytes, public, unfit};
use crate::aes::{self, RoundKeys};
use crate::mode::gcm::{self, IV_BYTES};
use crate::mode::ghash;
use divisi_core::{Abort, Lanes, Misuse};

/// The length of a block in bytes.
pub const BLOCK: usize = 16;
/// How many powers of the hash key are kept.
pub const POWERS: usize = 64;

/// A key that is ready for use; one for all lanes, or one for each.
#[derive(Clone)]
pub struct LaneGmacKey<E: MacEngine> {
    round_keys: RoundKeys<E::Byte>,
    /// Lane `k POWERS + i - 1` is `H_k^i`.
    powers: E::Block,
}

/// The round keys, and the powers of the hash key, of keys of 16, 24 or 32 bytes, one in each lane. Tags need
/// nothing else; the values are verified once and kept.
///
/// Cost: a key schedule, a block, and a product for each odd power.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the key has another length.
pub fn prepare<E: MacEngine>(e: &mut E, key: &[E::Byte]) -> Result<LaneGmacKey<E>, Abort> {
    let (round_keys, h) = gcm::expand(e, key)?;
    let powers = ghash::powers(e, &h, POWERS)?;
    Ok(LaneGmacKey { round_keys, powers })
}

/// GHASH of several blocks at a time.
struct Sums<'k, E: MacEngine> {
    key: &'k LaneGmacKey<E>,
    width: usize,
    /// How many blocks each message has in total.
    blocks: &'k [usize],
}

impl<E: MacEngine> Step<E> for Sums<'_, E> {
    fn step(
        &mut self,
        e: &mut E,
        state: Vec<SecretByte<E>>,
        input: Vec<SecretByte<E>>,
        here: &Here<'_>,
    ) -> Result<Vec<SecretByte<E>>, Abort> {
        let misfit = || unfit(Misuse::CountsDiffer);
        let n = here.lanes.len();
        let mut input = input.into_iter();
        let mut blocks = Vec::with_capacity(self.width);
        for _ in 0..self.width {
            let block = block_bytes(e, input.by_ref().take(BLOCK).collect())?;
            let block: E::Block = e.convert(block)?;
            blocks.push(block);
        }
        let state: E::Block = {
            let state = block_bytes(e, state)?;
            e.convert(state)?
        };
        if let Some(first) = blocks.first_mut() {
            e.add_block(first, &state)?;
        }
        let all = e.join(&blocks.iter().collect::<Vec<_>>());
        let single = self.key.round_keys.lanes() == 1;
        let mut factors = Vec::with_capacity(n);
        for (at, lane) in here.lanes.iter().enumerate() {
            let left = self.blocks.get(*lane).map_or(self.width, |blocks| blocks - here.block * self.width);
            let q = if at < here.ending { self.width } else { left.min(self.width) };
            let own = if single { 0 } else { *lane };
            let x: Vec<usize> = (0..q).map(|b| b * n + at).collect();
            let y: Vec<usize> = (0..q).rev().map(|i| own * POWERS + i).collect();
            let pair = all.gather(&x).zip(self.key.powers.gather(&y));
            factors.push(pair.ok_or_else(misfit)?);
        }
        let sums: Vec<(&E::Block, &E::Block)> = factors.iter().map(|(x, y)| (x, y)).collect();
        let sum = e.dot(&sums)?; // [S5]
        let sum: [E::Byte; BLOCK] = e.convert(sum)?;
        bits(e, sum.to_vec())
    }
}

/// The state before the first block.
pub fn initial<E: MacEngine>(e: &mut E) -> Vec<SecretByte<E>> {
    public(e, &[0; BLOCK], 1)
}

/// The state after whole chunks of [`POWERS`] blocks.
///
/// # Errors
/// [`Abort::Misuse`] if `columns` does not have whole chunks; the abort that ends the session.
pub fn continued<E: MacEngine>(
    e: &mut E,
    key: &LaneGmacKey<E>,
    state: Vec<SecretByte<E>>,
    columns: Vec<SecretByte<E>>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    update(e, &mut Sums { key, width: POWERS, blocks: &[] }, BLOCK * POWERS, state, columns)
}

/// GHASH of each message and its length; the state already contains its first `before` bytes (whole chunks).
///
/// # Errors
/// [`Abort::Misuse`] if keys and messages differ in number; the abort that ends the session.
pub fn hash<E: MacEngine>(
    e: &mut E,
    key: &LaneGmacKey<E>,
    state: &[SecretByte<E>],
    before: u64,
    messages: &Messages<E>,
) -> Result<[E::Byte; BLOCK], Abort> {
    let hash = hash_at(e, key, state, before, messages, Length::First)?;
    block_bytes(e, hash)
}

/// In which half of the last block the length is.
#[derive(Clone, Copy)]
enum Length {
    /// Associated data: the first half.
    First,
    /// An IV (SP 800-38D, algorithm 4, step 2) or a ciphertext: the second half.
    Second,
}

fn hash_at<E: MacEngine>(
    e: &mut E,
    key: &LaneGmacKey<E>,
    state: &[SecretByte<E>],
    before: u64,
    messages: &Messages<E>,
    at: Length,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let keys = key.round_keys.lanes();
    if keys != 1 && keys != messages.lanes() {
        return Err(unfit(Misuse::CountsDiffer));
    }
    // the message's blocks, and the one with its length
    let blocks: Vec<usize> =
        messages.whole_bytes()?.iter().map(|length| length.div_ceil(BLOCK) + 1).collect();
    let width = blocks.iter().copied().max().unwrap_or(1).min(POWERS);
    let rule = Rule {
        step: &mut Sums { key, width, blocks: &blocks },
        block: BLOCK * width,
        first: First::Highest,
        padding: &|bits| {
            let length = bits / 8;
            let mut padding = vec![0; length.next_multiple_of(BLOCK) - length];
            let bits = u128::from(8 * (before + length as u64));
            let block = if let Length::First = at { bits << 64 } else { bits };
            padding.extend_from_slice(&block.to_be_bytes());
            // bytes after the end of a message are not multiplied by any power
            let whole = (length + padding.len()).next_multiple_of(BLOCK * width);
            padding.resize(whole - length, 0);
            padding
        },
    };
    absorb(e, rule, state, messages)
}

/// The tags of these hashes: adds the encryptions of `j0`, the counter block that a nonce gives.
///
/// # Errors
/// The abort that ends the session.
pub fn seal<E: MacEngine>(
    e: &mut E,
    key: &LaneGmacKey<E>,
    mut j0: [E::Byte; BLOCK],
    hash: &[E::Byte; BLOCK],
) -> Result<Vec<SecretByte<E>>, Abort> {
    aes::encrypt(e, &key.round_keys, &mut j0)?;
    for (tag, hash) in j0.iter_mut().zip(hash) {
        e.add(tag, hash)?;
    }
    bits(e, j0.to_vec())
}

/// The tag of each message with its nonce; the state already contains its first `before` bytes (whole
/// chunks).
///
/// # Errors
/// [`Abort::Misuse`] if keys, nonces and messages differ in number; the abort that ends the session.
pub fn tag<E: MacEngine>(
    e: &mut E,
    key: &LaneGmacKey<E>,
    state: &[SecretByte<E>],
    before: u64,
    messages: &Messages<E>,
    nonces: &[[u8; IV_BYTES]],
) -> Result<Vec<SecretByte<E>>, Abort> {
    if nonces.len() != messages.lanes() {
        return Err(unfit(Misuse::CountsDiffer));
    }
    let hash = hash(e, key, state, before, messages)?;
    let j0 = std::array::from_fn(|i| {
        let column: Vec<u8> = nonces.iter().map(|nonce| gcm::j0(nonce)[i]).collect();
        e.public(&column)
    });
    seal(e, key, j0, &hash)
}

/// The same with IVs of any length: either all have 96 bits, or none does. For other lengths `J_0` is GHASH
/// of the IV under the secret hash key, and stays shared: two of them, with their IVs, would reveal the hash
/// key (test `counter_blocks_of_long_ivs_give_the_hash_key_away`).
///
/// Cost: that of [`tag`], and a product over GF(2^128) for each block of an IV and one for the block with its
/// length.
///
/// # Errors
/// The errors of [`tag`]; also [`Abort::Misuse`] if an IV is empty, or only some have 96 bits.
pub fn tag_with<E: MacEngine>(
    e: &mut E,
    key: &LaneGmacKey<E>,
    state: &[SecretByte<E>],
    before: u64,
    messages: &Messages<E>,
    ivs: &[&[u8]],
) -> Result<Vec<SecretByte<E>>, Abort> {
    if ivs.len() != messages.lanes() {
        return Err(unfit(Misuse::CountsDiffer));
    }
    let short: Vec<[u8; IV_BYTES]> = ivs.iter().filter_map(|iv| (*iv).try_into().ok()).collect();
    if short.len() == ivs.len() {
        return tag(e, key, state, before, messages, &short);
    }
    if !short.is_empty() || ivs.iter().any(|iv| iv.is_empty()) {
        return Err(unfit(Misuse::LengthUnsupported));
    }
    let hash = hash(e, key, state, before, messages)?;
    let (ivs, start) = (Messages::public(e, ivs), initial(e));
    let j0 = hash_at(e, key, &start, 0, &ivs, Length::Second)?;
    let j0 = block_bytes(e, j0)?;
    seal(e, key, j0, &hash)
}
