//! HMAC of many messages, under one key for all or one for each. The two states of a key are computed once.

use super::{Messages, SecretByte, bytes, hash, programs, public, unfit, wires};
use crate::gates::Adder;
use crate::hash::Hash;
use crate::mac::hmac::PadStates;
use divisi_circuit::{Build, Gates};
use divisi_core::{Abort, Boolean, Lanes, Misuse, ProgramRun};

/// The two states of each key; keys have the same length, one in each lane. Cost: two steps of the hash at
/// once, and a digest before them if the keys are longer than a block. Tags need nothing else; the states are
/// verified once and kept with the keys.
///
/// # Errors
/// [`Abort::Misuse`] if the numbers of lanes of the key's bytes differ; the abort that ends the session.
pub fn pad_states<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    key: &[SecretByte<E>],
) -> Result<PadStates<E::Bit>, Abort> {
    let lanes = key.first().map_or(1, |byte| byte[0].lanes());
    let block = hash.block_bytes();
    let mut k0 = key.to_vec();
    if key.len() > block {
        k0 = hash::digest(e, hash, adder, &Messages::even(k0, lanes)?)?;
    }
    k0.extend(public(e, &vec![0; block - k0.len()], lanes));
    let initial = public(e, &hash.initial(), lanes);
    let step = programs::step(hash, adder);
    // K0 + ipad and K0 + opad need no communication
    let mut g = Build::new();
    let input = g.input(8 * block);
    for pad in [0x36_u8, 0x5c] {
        let bits = input.iter().enumerate();
        let padded: Vec<_> =
            bits.map(|(i, bit)| if pad >> (i % 8) & 1 == 1 { g.not(*bit) } else { *bit }).collect();
        g.output(&padded);
    }
    let pads = g.finish();
    let mut jobs = [ProgramRun::new(&pads, wires(k0))];
    e.run(&mut jobs)?;
    let [job] = jobs;
    let mut inner_key = job.wires;
    let outer_key = inner_key.split_off(8 * block);
    let input = |key: Vec<E::Bit>| wires(initial.clone()).into_iter().chain(key).collect();
    let mut jobs = [ProgramRun::new(step, input(inner_key)), ProgramRun::new(step, input(outer_key))];
    e.run(&mut jobs)?;
    let [inner, outer] = jobs;
    Ok(PadStates { inner: bytes(inner.wires), outer: bytes(outer.wires) })
}

/// The full tag of each message, from the states of its key: one lane for all messages, or one for each.
///
/// # Errors
/// [`Abort::Misuse`] if the states do not fit; the abort that ends the session.
pub fn tag<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    states: &PadStates<E::Bit>,
    messages: &Messages<E>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    if [&states.inner, &states.outer].iter().any(|state| state.len() != hash.state_bytes()) {
        return Err(unfit(Misuse::KeyUnfit));
    }
    finish(e, hash, adder, states, &states.inner, 0, messages)
}

/// The tag of each message; the inner state already contains its first `before` bytes (whole blocks).
///
/// # Errors
/// [`Abort::Misuse`] if the states do not fit; the abort that ends the session.
pub fn finish<E: Boolean>(
    e: &mut E,
    hash: Hash,
    adder: Adder,
    states: &PadStates<E::Bit>,
    inner: &[SecretByte<E>],
    before: u64,
    messages: &Messages<E>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let block = hash.block_bytes() as u64;
    let digest = hash::resume(e, hash, adder, inner, block + before, messages)?;
    let digests = Messages::even(digest, messages.lanes())?;
    hash::resume(e, hash, adder, &states.outer, block, &digests)
}
