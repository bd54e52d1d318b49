//! Outputs of any length: SHAKE and cSHAKE of many messages.

use super::absorb::{Rule, absorb, update};
use super::messages::First;
use super::{Messages, SecretByte, bytes, programs, public, wires};
use crate::sha3::{Sponge, Xof};
use divisi_core::{Abort, Boolean, ProgramRun};

/// The first bytes of the output for each message.
///
/// # Errors
/// The abort that ends the session.
pub fn output<E: Boolean>(
    e: &mut E,
    xof: &Xof,
    messages: &Messages<E>,
    length: usize,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let state = public(e, &xof.initial(), 1);
    resume(e, xof, &state, messages, length)
}

/// The first bytes of the output for each message, from a state after whole blocks.
///
/// # Errors
/// [`Abort::Misuse`] if the state does not fit; the abort that ends the session.
pub fn resume<E: Boolean>(
    e: &mut E,
    xof: &Xof,
    state: &[SecretByte<E>],
    messages: &Messages<E>,
    length: usize,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let state = absorb_with(e, xof.sponge(), state, messages, &[])?;
    squeeze(e, xof.sponge(), state, length)
}

/// The state after whole blocks; messages may continue.
///
/// # Errors
/// [`Abort::Misuse`] if `columns` does not have whole blocks; the abort that ends the session.
pub fn continued<E: Boolean>(
    e: &mut E,
    sponge: Sponge,
    state: Vec<SecretByte<E>>,
    columns: Vec<SecretByte<E>>,
) -> Result<Vec<SecretByte<E>>, Abort> {
    update(e, &mut programs::absorb(sponge), sponge.rate(), state, columns)
}

/// The state after each message, followed by a public trailer and the padding.
pub(super) fn absorb_with<E: Boolean>(
    e: &mut E,
    sponge: Sponge,
    state: &[SecretByte<E>],
    messages: &Messages<E>,
    trailer: &[u8],
) -> Result<Vec<SecretByte<E>>, Abort> {
    let rule = Rule {
        step: &mut programs::absorb(sponge),
        block: sponge.rate(),
        first: First::Lowest,
        padding: &|bits| sponge.closing(bits as u128, trailer),
    };
    absorb(e, rule, state, messages)
}

/// The first `length` bytes of the output of a state, as [`Sponge::squeeze`] computes them.
pub(super) fn squeeze<E: Boolean>(
    e: &mut E,
    sponge: Sponge,
    mut state: Vec<SecretByte<E>>,
    length: usize,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let mut output = Vec::with_capacity(length);
    loop {
        let take = sponge.rate().min(length - output.len()).min(state.len());
        output.extend_from_slice(&state[..take]);
        if output.len() == length || state.is_empty() {
            return Ok(output);
        }
        let mut jobs = [ProgramRun::new(programs::permutation(), wires(state))];
        e.run(&mut jobs)?;
        let [job] = jobs;
        state = bytes(job.wires);
    }
}
