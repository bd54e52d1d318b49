//! Digests of many messages: SHA-2 and SHA-3.

use super::absorb::{Rule, absorb, update};
use super::messages::First;
use super::{Messages, SecretByte, programs, public};
use crate::gates::Adder;
use crate::hash::Hash;
use divisi_core::{Abort, Boolean};

/// The digest of each message.
///
/// Cost, on an engine that pays for each sum of products: one step of the hash for each block, on those lanes
/// that have a block left.
///
/// # Errors
/// The abort that ends the session.
pub fn digest<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    messages: &Messages<E>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let state = public(e, &hash.initial(), 1);
    resume(e, hash, adder, &state, 0, messages)
}

/// The state after whole blocks; messages may continue.
///
/// # Errors
/// [`Abort::Misuse`] if `columns` does not have whole blocks; the abort that ends the session.
pub fn continued<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    state: Vec<SecretByte<E>>,
    columns: Vec<SecretByte<E>>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    update(e, &mut programs::step(hash, adder), hash.block_bytes(), state, columns)
}

/// The digest of each message from a state that contains its first `before` bytes (whole blocks), as
/// [`Hash::resume`] computes it. The state has one lane for all messages, or one for each.
///
/// # Errors
/// [`Abort::Misuse`] if the state does not fit; the abort that ends the session.
pub fn resume<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    state: &[SecretByte<E>],
    before: u64,
    messages: &Messages<E>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let rule = Rule {
        step: &mut programs::step(hash, adder),
        block: hash.block_bytes(),
        first: if let Hash::Sha3(_) = hash { First::Lowest } else { First::Highest },
        padding: &|bits| hash.padding_of_bits(8 * u128::from(before) + bits as u128),
    };
    let mut state = absorb(e, rule, state, messages)?;
    state.truncate(hash.digest_bytes());
    Ok(state)
}
