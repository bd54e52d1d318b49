//! KMAC and KMACXOF of many messages, under one key for all or one for each. The state of a key is computed
//! once.

use super::xof::{absorb_with, squeeze};
use super::{Messages, SecretByte, bytes, programs, public, unfit, wires};
use crate::mac::kmac::{Kmac, OutputLength};
use crate::sha3::STATE_BYTES;
use divisi_core::{Abort, Boolean, Lanes, Misuse, ProgramRun};

/// The state of the sponge after each key; keys have the same length, one in each lane, and the last
/// `spare_bits` bits of the last byte do not belong to them. Tags need nothing else; the state is verified
/// once and kept with the keys.
///
/// # Errors
/// [`Abort::Misuse`] if the numbers of lanes of the key's bytes differ; the abort that ends the session.
pub fn key_state<E: Boolean>(
    e: &mut E,
    kmac: &Kmac,
    key: &[SecretByte<E>],
    spare_bits: usize,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let lanes = key.first().map_or(1, |byte| byte[0].lanes());
    let sponge = kmac.xof().sponge();
    let (before, after) = kmac.around_key_of_bits((8 * key.len()).saturating_sub(spare_bits) as u64);
    let blocks = [public(e, &before, lanes).as_slice(), key, &public(e, &after, lanes)].concat();
    let mut state = public(e, &kmac.xof().initial(), lanes);
    for block in blocks.chunks_exact(sponge.rate()) {
        let input = wires(state).into_iter().chain(wires(block.to_vec())).collect();
        let mut jobs = [ProgramRun::new(programs::absorb(sponge), input)];
        e.run(&mut jobs)?;
        let [job] = jobs;
        state = bytes(job.wires);
    }
    Ok(state)
}

/// The tag of each message, from the state of its key: one lane for all messages, or one for each.
///
/// # Errors
/// [`Abort::Misuse`] if the state does not fit; the abort that ends the session.
pub fn tag<E: Boolean>(
    e: &mut E,
    kmac: &Kmac,
    state: &[SecretByte<E>],
    messages: &Messages<E>,
    output: OutputLength,
) -> Result<Vec<SecretByte<E>>, Abort> {
    if state.len() != STATE_BYTES {
        return Err(unfit(Misuse::KeyUnfit));
    }
    let sponge = kmac.xof().sponge();
    let state = absorb_with(e, sponge, state, messages, &Kmac::trailer(output))?;
    squeeze(e, sponge, state, output.bytes())
}
