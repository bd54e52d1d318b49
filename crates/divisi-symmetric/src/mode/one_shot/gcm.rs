//! GCM that opens nothing: messages stay shared. It is used for circuits. An engine that may open the
//! ciphertext uses [`crate::mode::gcm`], whose hash needs no products.
//!
//! GHASH of secrets here is Horner's rule, one product after the other: a circuit counts products and not
//! rounds, and keeps no key for later messages. [`crate::batch::gmac`] has powers of the hash key, which cost
//! products once for each key, and so takes one round for up to 64 blocks.

use super::lanes::{add, blocks, constant, count, lanes_of, masked, through};
use super::misfit;
use crate::aes::RoundKeys;
use crate::engines::MacEngine;
use crate::mode::gcm::hash_key;
use divisi_core::{Abort, Direction, Misuse};

/// Encrypts or decrypts messages; returns the other message of each, and its whole tag (SP 800-38D,
/// algorithms 4 and 5). With IVs of 12 bytes there may be several messages, one in each lane, which the
/// keys have, too; with an IV of another length there is only one.
///
/// Cost: a call of the cipher for each block and two more; a product over GF(2^128) for each block of
/// associated data and ciphertext and one more, one after the other; for an IV of another length, a product
/// for each of its blocks and one more, and an adder of 32 bits for each block of the message and one more.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the IV is empty, or if there are several messages
/// and the IVs do not have 12 bytes.
pub fn crypt<E: MacEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    direction: Direction,
    iv: &[E::Byte],
    aad: &[E::Byte],
    message: &[E::Byte],
) -> Result<(Vec<E::Byte>, [E::Byte; 16]), Abort> {
    let lanes = lanes_of(&[iv])?;
    let h = hash_key(e, key)?;
    let mut stream = if iv.len() == 12 {
        let mut counters = Vec::with_capacity(1 + message.len().div_ceil(16));
        for i in 0..=message.len().div_ceil(16) {
            let number = u32::try_from(1 + i).map_err(|_| misfit(Misuse::TooLarge))?;
            let mut counter = iv.to_vec();
            counter.extend(constant(e, &number.to_be_bytes(), lanes));
            counters.push(counter.try_into().map_err(|_| misfit(Misuse::BlockLength))?);
        }
        through(e, key, Direction::Encrypt, &counters)?.concat()
    } else if lanes == 1 {
        let mut all = blocks(e, iv, 1)?;
        let length = constant(e, &(8 * iv.len() as u128).to_be_bytes(), 1);
        all.extend(blocks(e, &length, 1)?);
        let first = horner(e, &h, all)?;
        let bytes = 16 + message.len();
        let counters = count(e, first.to_vec(), bytes)?;
        masked(e, key, counters, bytes)?
    } else {
        return Err(misfit(Misuse::LengthUnsupported));
    };
    let mask: Vec<E::Byte> = stream.drain(..stream.len().min(16)).collect();
    let mut other = stream;
    other.truncate(message.len());
    add(e, &mut other, message)?;
    let ciphertext = if direction == Direction::Encrypt { &other } else { message };
    let mut all = blocks(e, aad, lanes)?;
    all.extend(blocks(e, ciphertext, lanes)?);
    let lengths = [8 * aad.len() as u64, 8 * message.len() as u64].map(u64::to_be_bytes).concat();
    let lengths = constant(e, &lengths, lanes);
    all.extend(blocks(e, &lengths, lanes)?);
    let mut tag = horner(e, &h, all)?;
    add(e, &mut tag, &mask)?;
    Ok((other, tag))
}

/// GHASH of blocks, by Horner's rule in H.
fn horner<E: MacEngine>(e: &mut E, h: &E::Block, blocks: Vec<[E::Byte; 16]>) -> Result<[E::Byte; 16], Abort> {
    let mut hash: Option<E::Block> = None;
    for block in blocks {
        let mut sum: E::Block = e.convert(block)?;
        if let Some(hash) = &hash {
            e.add_block(&mut sum, hash)?;
        }
        hash = Some(e.multiply(&sum, h)?);
    }
    let hash = hash.ok_or_else(|| misfit(Misuse::BlockLength))?;
    e.convert(hash)
}
