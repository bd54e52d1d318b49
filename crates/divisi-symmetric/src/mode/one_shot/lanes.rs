//! The bytes of a batch: conversion to blocks, to lanes of several blocks, and to bits.

use super::misfit;
use crate::aes::{self, RoundKeys};
use crate::engines::BitEngine;
use crate::mode::ctr;
use crate::mode::gcm::long_iv;
use divisi_core::{Abort, Lanes, Misuse};

/// Public rows of equal length, one in each lane; other rows are refused.
pub(super) fn public<E: BitEngine>(e: &mut E, rows: &[Vec<u8>]) -> Result<Vec<E::Byte>, Abort> {
    let bytes = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != bytes) {
        return Err(misfit(Misuse::MessageUnfit));
    }
    let column = |i: usize| rows.iter().map(|row| row.get(i).copied().unwrap_or(0)).collect::<Vec<u8>>();
    Ok((0..bytes).map(|i| e.public(&column(i))).collect())
}

/// One public row, the same in all lanes.
pub(super) fn constant<E: BitEngine>(e: &mut E, bytes: &[u8], lanes: usize) -> Vec<E::Byte> {
    bytes.iter().map(|byte| e.public(&vec![*byte; lanes])).collect()
}

/// `x += y`, for the bytes that `y` has.
pub(super) fn add<E: BitEngine>(e: &mut E, x: &mut [E::Byte], y: &[E::Byte]) -> Result<(), Abort> {
    x.iter_mut().zip(y).try_for_each(|(x, y)| e.add(x, y))
}

/// How many messages there are: the number of lanes of the first byte of any part.
pub(super) fn lanes_of<B: Lanes>(parts: &[&[B]]) -> Result<usize, Abort> {
    let first = parts.iter().find_map(|part| part.first()).map(Lanes::lanes);
    let lanes = first.ok_or_else(|| misfit(Misuse::Empty))?;
    if parts.iter().flat_map(|part| part.iter()).any(|byte| byte.lanes() != lanes) {
        return Err(misfit(Misuse::MessageUnfit));
    }
    Ok(lanes)
}

/// Whether there is a row for each message, each the length of a block.
pub(super) fn are_blocks(rows: &[Vec<u8>], lanes: usize) -> bool {
    lanes > 0 && rows.len() == lanes && rows.iter().all(|row| row.len() == 16)
}

/// Bytes as blocks; the last one is padded with zeros.
pub(super) fn blocks<E: BitEngine>(
    e: &mut E,
    bytes: &[E::Byte],
    lanes: usize,
) -> Result<Vec<[E::Byte; 16]>, Abort> {
    let zero = e.public(&vec![0; lanes]);
    let block = |chunk: &[E::Byte]| {
        let mut chunk = chunk.to_vec();
        chunk.resize(16, zero.clone());
        chunk.try_into().map_err(|_| misfit(Misuse::BlockLength))
    };
    bytes.chunks(16).map(block).collect()
}

/// The upper `bits` bits of one byte, and the other bits of the other byte.
pub(super) fn splice<E: BitEngine>(
    e: &mut E,
    upper: &E::Byte,
    lower: &E::Byte,
    bits: usize,
) -> Result<E::Byte, Abort> {
    let upper: [E::Bit; 8] = e.convert(upper.clone())?;
    let mut out: [E::Bit; 8] = e.convert(lower.clone())?;
    for (to, from) in out.iter_mut().zip(upper).rev().take(bits) {
        *to = from;
    }
    e.convert(out)
}

/// The first `bits` bits of a block, and the other bits of the other block; at a byte boundary this only
/// selects bytes.
pub(super) fn splice_block<E: BitEngine>(
    e: &mut E,
    first: &[E::Byte],
    rest: &[E::Byte; 16],
    bits: usize,
) -> Result<[E::Byte; 16], Abort> {
    let mut out = rest.clone();
    for (i, (to, from)) in out.iter_mut().zip(first).enumerate().take(bits.div_ceil(8)) {
        *to = if bits >= 8 * (i + 1) { from.clone() } else { splice(e, from, to, bits - 8 * i)? };
    }
    Ok(out)
}

/// Applies the cipher to several blocks of each message at once: block `b` of message `k` of `n` is lane `b n
/// + k`.
pub(super) fn through<E: BitEngine>(
    e: &mut E,
    keys: &RoundKeys<E::Byte>,
    direction: divisi_core::Direction,
    blocks: &[[E::Byte; 16]],
) -> Result<Vec<[E::Byte; 16]>, Abort> {
    let Some(first) = blocks.first() else { return Ok(Vec::new()) };
    let lanes = first[0].lanes();
    let mut all = Vec::with_capacity(16);
    for i in 0..16 {
        let parts: Vec<&E::Byte> = blocks.iter().map(|block| &block[i]).collect();
        all.push(e.join_bytes(&parts)?);
    }
    let mut all = all.try_into().map_err(|_| misfit(Misuse::BlockLength))?;
    let keys = repeated(keys, lanes, blocks.len())?;
    match direction {
        divisi_core::Direction::Encrypt => aes::encrypt(e, &keys, &mut all)?,
        divisi_core::Direction::Decrypt => aes::decrypt(e, &keys, &mut all)?,
    }
    (0..blocks.len()).map(|b| apart(&all, b, lanes)).collect()
}

/// The key stream of this many bytes from public counter blocks, given for each message.
pub(super) fn stream<E: BitEngine>(
    e: &mut E,
    keys: &RoundKeys<E::Byte>,
    counters: &[Vec<[u8; 16]>],
    bytes: usize,
) -> Result<Vec<E::Byte>, Abort> {
    let n = bytes.div_ceil(16);
    if n == 0 {
        return Ok(Vec::new());
    }
    if counters.iter().any(|counters| counters.len() < n) {
        return Err(misfit(Misuse::CountsDiffer));
    }
    let byte = |b: usize, i: usize| counters.iter().map(move |own| own.get(b).map_or(0, |block| block[i]));
    let all = std::array::from_fn(|i| (0..n).flat_map(|b| byte(b, i)).collect());
    let all = ctr::keystream(e, &repeated(keys, counters.len(), n)?, &all)?;
    let mut out = Vec::with_capacity(16 * n);
    for b in 0..n {
        out.extend(apart(&all, b, counters.len())?);
    }
    out.truncate(bytes);
    Ok(out)
}

/// The key of each message, repeated for each of its blocks.
fn repeated<B: Lanes + Clone>(
    keys: &RoundKeys<B>,
    lanes: usize,
    times: usize,
) -> Result<RoundKeys<B>, Abort> {
    if keys.lanes() == 1 {
        return Ok(keys.clone());
    }
    let index: Vec<usize> = (0..times).flat_map(|_| 0..lanes).collect();
    keys.gather(&index).ok_or_else(|| misfit(Misuse::CountsDiffer))
}

/// Block `b` of each of `lanes` messages.
fn apart<B: Lanes>(all: &[B; 16], b: usize, lanes: usize) -> Result<[B; 16], Abort> {
    let index: Vec<usize> = (b * lanes..(b + 1) * lanes).collect();
    let own: Option<Vec<B>> = all.iter().map(|byte| byte.gather(&index)).collect();
    own.and_then(|own| own.try_into().ok()).ok_or_else(|| misfit(Misuse::CountsDiffer))
}

/// A byte with its highest bit replaced by a public value.
pub(super) fn with_highest<E: BitEngine>(e: &mut E, byte: &E::Byte, value: bool) -> Result<E::Byte, Abort> {
    let mut bits: [E::Bit; 8] = e.convert(byte.clone())?;
    bits[7] = e.public_bit(&vec![value; byte.lanes()]);
    e.convert(bits)
}

/// Counter blocks for `bytes` bytes of key stream, one in each lane. They begin with the shared block
/// `first`, which has one lane; the last four bytes count up and wrap around.
pub(super) fn count<E: BitEngine>(
    e: &mut E,
    first: Vec<E::Byte>,
    bytes: usize,
) -> Result<[E::Byte; 16], Abort> {
    let first: [E::Byte; 16] = first.try_into().map_err(|_| misfit(Misuse::BlockLength))?;
    let blocks = u32::try_from(bytes.div_ceil(16)).map_err(|_| misfit(Misuse::TooLarge))?;
    long_iv::counters_from(e, &first, &(0..blocks).collect::<Vec<u32>>())
}

/// A key stream of `bytes` bytes from the shared counter blocks of one message, one block in each lane.
pub(super) fn masked<E: BitEngine>(
    e: &mut E,
    keys: &RoundKeys<E::Byte>,
    mut counters: [E::Byte; 16],
    bytes: usize,
) -> Result<Vec<E::Byte>, Abort> {
    let n = bytes.div_ceil(16);
    if n == 0 {
        return Ok(Vec::new());
    }
    aes::encrypt(e, keys, &mut counters)?;
    let mut out = Vec::with_capacity(16 * n);
    for b in 0..n {
        out.extend(apart(&counters, b, 1)?);
    }
    out.truncate(bytes);
    Ok(out)
}
