//! HKDF (RFC 5869) of many secrets at once: keys from keying material, by HMAC.

use super::{Messages, SecretByte, hmac, public, unfit};
use crate::gates::Adder;
use crate::hash::Hash;
use crate::mac::hmac::PadStates;
use divisi_core::{Abort, Boolean, Lanes, Misuse};

/// HKDF-Extract (2.2): the pseudorandom keys, in the form of the states that [`expand`] needs. The salt,
/// which may be empty, has one lane or one for each keying material.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if salts and materials differ in number.
pub fn extract<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    salt: &[SecretByte<E>],
    materials: &Messages<E>,
) -> Result<PadStates<E::Bit>, Abort> {
    // HMAC pads short keys with zeros, so an absent salt and a string of zeros are the same
    let salted = hmac::pad_states(e, hash, adder, salt)?;
    let key = hmac::tag(e, hash, adder, &salted, materials)?;
    hmac::pad_states(e, hash, adder, &key)
}

/// HKDF-Expand (2.3): the output for each key, from its states and a public context.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the output is longer than 255 digests.
pub fn expand<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    keys: &PadStates<E::Bit>,
    info: &[u8],
    bytes: usize,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let count = u8::try_from(bytes.div_ceil(hash.digest_bytes()));
    let count = count.map_err(|_| unfit(Misuse::LengthUnsupported))?;
    let lanes = keys.inner.first().map_or(1, |byte| byte[0].lanes());
    let mut output: Vec<SecretByte<E>> = Vec::new();
    let mut last = Vec::new();
    for i in 1..=count {
        let mut message = last;
        message.extend(public(e, &[info, &[i]].concat(), lanes));
        last = hmac::tag(e, hash, adder, keys, &Messages::even(message, lanes)?)?;
        output.extend_from_slice(&last);
    }
    output.truncate(bytes);
    Ok(output)
}
