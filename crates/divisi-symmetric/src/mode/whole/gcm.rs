//! GCM that opens nothing: texts stay shared. It is used for circuits. An engine that may open the ciphertext
//! uses [`crate::mode::gcm`], whose hash needs no products.

use super::lanes::{add, blocks, constant, lanes_of, through};
use super::misfit;
use crate::aes::RoundKeys;
use crate::engines::MacEngine;
use crate::mode::gcm::hash_key;
use divisi_core::{Abort, Direction};

/// The other text (ciphertext or plaintext) and the full tag (SP 800-38D, algorithms 4 and 5), with IVs of 12
/// bytes.
///
/// Cost: a call of the cipher for each block, and two more; a product over GF(2^128) for each block of
/// associated data and ciphertext, and one more, one after the other.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if an IV has another length.
pub fn crypt<E: MacEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    direction: Direction,
    iv: &[E::Byte],
    aad: &[E::Byte],
    text: &[E::Byte],
) -> Result<(Vec<E::Byte>, [E::Byte; 16]), Abort> {
    let lanes = lanes_of(&[iv])?;
    if iv.len() != 12 {
        return Err(misfit("an IV that has not 12 bytes"));
    }
    let h = hash_key(e, key)?;
    let mut counters = Vec::with_capacity(1 + text.len().div_ceil(16));
    for i in 0..=text.len().div_ceil(16) {
        let count = u32::try_from(1 + i).map_err(|_| misfit("fewer than 2^32 blocks"))?;
        let mut counter = iv.to_vec();
        counter.extend(constant(e, &count.to_be_bytes(), lanes));
        counters.push(counter.try_into().map_err(|_| misfit("a counter block"))?);
    }
    let stream = through(e, key, Direction::Encrypt, &counters)?;
    let (mask, stream) = stream.split_first().ok_or_else(|| misfit("a key stream"))?;
    let mut other = stream.concat();
    other.truncate(text.len());
    add(e, &mut other, text)?;
    let ciphertext = if direction == Direction::Encrypt { &other } else { text };
    let mut all = blocks(e, aad, lanes)?;
    all.extend(blocks(e, ciphertext, lanes)?);
    let lengths = [8 * aad.len() as u64, 8 * text.len() as u64].map(u64::to_be_bytes).concat();
    let lengths = constant(e, &lengths, lanes);
    all.extend(blocks(e, &lengths, lanes)?);
    // Horner's rule in H
    let mut hash: Option<E::Block> = None;
    for block in all {
        let mut sum: E::Block = e.convert(block)?;
        if let Some(hash) = &hash {
            e.add_block(&mut sum, hash)?;
        }
        hash = Some(e.multiply(&sum, &h)?);
    }
    let hash = hash.ok_or_else(|| misfit("a block of lengths"))?;
    let mut tag: [E::Byte; 16] = e.convert(hash)?;
    add(e, &mut tag, mask)?;
    Ok((other, tag))
}
