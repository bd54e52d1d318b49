//! Modes of chained blocks, several blocks in one program that takes the AES key itself, for engines whose
//! rounds do not grow with a program's depth. Each function does the same as the one that it names, which
//! needs as many rounds for each block as the cipher has. There is one message: one lane.

use super::block::BlockKey;
use super::chain::Chain;
use super::drawn::{Named, Task, inputs, output, program};
use super::{MacEngine, bits, byte_values, unfit};
use crate::aes;
use crate::drawn::{DrawnBytes, drawn};
use crate::gates::{GateByte, GateBytes};
use crate::mode::block::BlockCipher;
use crate::mode::cbc;
use crate::mode::cmac::Chaining;
use crate::mode::one_shot::siv;
use crate::mode::one_shot::wrap::Wrapping;
use divisi_circuit::{Build, BuildBit, Program};
use divisi_core::{Abort, Direction, Misuse, ProgramRun};

/// How many blocks one program has at most: the ANDs of one permutation of Keccak, or two compressions of
/// SHA-256.
pub const TOGETHER: usize = 8;

const BLOCK: usize = 16;

/// Run `chain` on these values, the key first.
fn run<E: MacEngine>(e: &mut E, chain: Chain, values: Vec<Vec<E::Byte>>) -> Result<Vec<E::Byte>, Abort> {
    let sizes: Vec<usize> = values.iter().map(Vec::len).collect();
    let task = Task::Chain(chain, sizes.clone());
    let program = program(&Named::Chained, task, || draw(chain, &sizes))?;
    let values = values.into_iter().map(|value| bits(e, value)).collect::<Result<Vec<_>, Abort>>()?;
    let mut jobs = [ProgramRun::new(&program, inputs(values))];
    e.run(&mut jobs)?;
    let [job] = jobs;
    byte_values(e, output(job.wires))
}

/// The program of a chain for values of these numbers of bytes, the key first. No engine's type is in it, so
/// that it is compiled once.
fn draw(chain: Chain, sizes: &[usize]) -> Result<Program, Abort> {
    drawn(sizes, |g, mut values| {
        if values.is_empty() {
            return Err(unfit(Misuse::KeyMissing));
        }
        let key = values.remove(0);
        let key = aes::expand(g, &key)?;
        let next = match chain {
            Chain::Cbc => chained(g, &key, values)?,
            Chain::Mac => {
                let last = values.last().map_or(0, Vec::len).saturating_sub(BLOCK);
                chained(g, &key, values)?.into_iter().skip(last).collect()
            }
            Chain::S2v => {
                let message = values.pop().ok_or_else(|| unfit(Misuse::MessageUnfit))?;
                let key = siv::SivKey::from_round_keys(g, key.clone(), key)?;
                key.s2v_of(g, 1, &values, &message)?.into_rest()
            }
            Chain::Wrap(shape, calls) => {
                let mut wrapping = Wrapping::resumed(shape, values.pop().unwrap_or_default());
                wrapping.go_on(g, &key, calls)?;
                wrapping.value()
            }
        };
        Ok(vec![next])
    })
}

/// [`cbc::encrypt_from`] of a state and a message.
fn chained(
    g: &mut GateBytes<'_, Build>,
    key: &aes::RoundKeys<GateByte<BuildBit>>,
    mut values: Vec<DrawnBytes>,
) -> Result<DrawnBytes, Abort> {
    let (Some(message), Some(state)) = (values.pop(), values.pop()) else {
        return Err(unfit(Misuse::MessageUnfit));
    };
    cbc::encrypt_from(g, key, state, &message)
}

/// [`cbc::encrypt_from`] under this key of AES, in bytes.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for values of other lengths.
pub fn cbc<E: MacEngine>(
    e: &mut E,
    key: &[E::Byte],
    state: Vec<E::Byte>,
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    if message.is_empty() {
        return Ok(Vec::new());
    }
    run(e, Chain::Cbc, vec![key.to_vec(), state, message.to_vec()])
}

/// Continues a CBC-MAC by `blocks` blocks, or as many as are left, under this key of AES, in bytes.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for a key of another length.
pub fn mac_on<E: MacEngine>(
    e: &mut E,
    key: &[E::Byte],
    chaining: &mut Chaining<E::Byte>,
    blocks: usize,
) -> Result<(), Abort> {
    if blocks == 0 || chaining.is_done() {
        return Ok(());
    }
    let (state, now) = chaining.next(blocks);
    let next = run(e, Chain::Mac, vec![key.to_vec(), state, now])?;
    chaining.set(next);
    Ok(())
}

/// How many blocks [`s2v`] processes for these public strings.
#[must_use]
pub fn s2v_blocks(strings: &[&[u8]]) -> usize {
    2 + strings.iter().map(|string| string.len().div_ceil(BLOCK).max(1)).sum::<usize>()
}

/// [`siv::SivKey::s2v_begin`] of these public strings and a message: the last CMAC of S2V as it begins.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for a key of another length.
pub fn s2v<E: MacEngine>(
    e: &mut E,
    key: &[E::Byte],
    strings: &[&[u8]],
    message: &[E::Byte],
) -> Result<Chaining<E::Byte>, Abort> {
    // an empty string has no wires, and is a string nevertheless
    let mut values = vec![key.to_vec()];
    let public = |e: &mut E, string: &[u8]| string.iter().map(|byte| e.public(&[*byte])).collect();
    values.extend(strings.iter().map(|string| public(e, string)));
    values.push(message.to_vec());
    let rest = run(e, Chain::S2v, values)?;
    let zeros = (0..BLOCK).map(|_| e.public(&[0])).collect();
    Ok(Chaining::of(zeros, rest))
}

/// [`siv::SivKey::stream`] for one message, all blocks at once: `key` is the second key of SIV.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for a key of another length.
pub fn siv_stream<E: MacEngine>(
    e: &mut E,
    key: &[E::Byte],
    iv: [u8; BLOCK],
    bytes: usize,
) -> Result<Vec<E::Byte>, Abort> {
    let counters = siv::counters(iv, bytes.div_ceil(BLOCK));
    if counters.is_empty() {
        return Ok(Vec::new());
    }
    let column = |i: usize| counters.iter().filter_map(|block| block.get(i).copied()).collect::<Vec<u8>>();
    let blocks = (0..BLOCK).map(|i| e.public(&column(i))).collect();
    let stream = BlockKey::<E>::new(key.to_vec())?.permute(e, Direction::Encrypt, blocks)?;
    siv::in_order(&stream, bytes)
}

/// [`Wrapping::go_on`] under this key of AES, in bytes.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for a key of another length.
pub fn wrap_on<E: MacEngine>(
    e: &mut E,
    key: &[E::Byte],
    wrapping: &mut Wrapping<E::Byte>,
    calls: usize,
) -> Result<(), Abort> {
    let shape = wrapping.shape();
    if calls == 0 || wrapping.is_done() {
        return Ok(());
    }
    let next = run(e, Chain::Wrap(shape, calls), vec![key.to_vec(), wrapping.value()])?;
    wrapping.advance(next, calls);
    Ok(())
}
