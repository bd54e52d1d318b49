//! AES-GCM-SIV (RFC 8452): each nonce has its own keys, and a tag by POLYVAL is the IV of the encryption.
//!
//! POLYVAL hashes the secret plaintext under a secret key, so its products are computed on shares, all in one
//! round; GCM's hash, of the public ciphertext, needs no products. If a nonce repeats, it is revealed whether
//! the messages are equal, and nothing else (RFC 8452, 9).

use super::lanes::{add, blocks, constant, count, masked, public, splice, stream, with_highest};
use super::siv::rows;
use super::{Releases, Undecided, misfit};
use crate::aes::{self, RoundKeys};
use crate::engines::MacEngine;
use crate::mode::ghash::powers;
use divisi_core::{Abort, Lanes, Misuse};

/// The public data of a message.
#[derive(Clone, Debug)]
pub struct NonceHead {
    /// The nonce.
    pub nonce: [u8; 12],
    /// The associated data.
    pub aad: Vec<u8>,
}

/// The largest length of a message, or of associated data, that this version supports; the standard allows
/// 2^36 bytes.
pub const LONGEST: usize = 1 << 20;

/// The keys for a nonce (4), one for each lane.
struct Keys<E: MacEngine> {
    authentication: Vec<E::Byte>,
    encryption: RoundKeys<E::Byte>,
}

/// Derives the keys of nonces: the first halves of the encryptions of counter and nonce, all at once.
fn derive<E: MacEngine>(e: &mut E, key: &RoundKeys<E::Byte>, heads: &[NonceHead]) -> Result<Keys<E>, Abort> {
    let n = match key.size() {
        aes::KeySize::Aes128 => 4,
        aes::KeySize::Aes256 => 6,
        aes::KeySize::Aes192 => return Err(misfit(Misuse::LengthUnsupported)),
    };
    let counters = |head: &NonceHead| -> Vec<[u8; 16]> {
        let block = |i: u32| {
            let mut block = [0; 16];
            block[..4].copy_from_slice(&i.to_le_bytes());
            block[4..].copy_from_slice(&head.nonce);
            block
        };
        (0..n).map(block).collect()
    };
    let counters: Vec<_> = heads.iter().map(counters).collect();
    let all = stream(e, key, &counters, 16 * n as usize)?;
    let mut halves: Vec<E::Byte> = all.chunks(16).flat_map(|block| block.iter().take(8).cloned()).collect();
    let encryption = halves.split_off(16);
    Ok(Keys { authentication: halves, encryption: aes::expand(e, &encryption)? })
}

/// The bytes in reverse order; this maps POLYVAL's field to GHASH's (appendix A).
fn reversed<B: Clone>(block: &[B; 16]) -> [B; 16] {
    let mut block = block.clone();
    block.reverse();
    block
}

/// POLYVAL (3) of blocks, with a message in each lane: GHASH of the reversed blocks, under x times the
/// reversed key (appendix A). One product for each block, all in one round, and those for the powers of H.
fn polyval<E: MacEngine>(
    e: &mut E,
    h: &[E::Byte],
    blocks: &[[E::Byte; 16]],
    lanes: usize,
) -> Result<[E::Byte; 16], Abort> {
    let h: [E::Byte; 16] = h.to_vec().try_into().map_err(|_| misfit(Misuse::LengthUnsupported))?;
    let h: E::Block = e.convert(reversed(&h))?;
    let mut doubled = Vec::with_capacity(lanes);
    for lane in 0..lanes {
        let one = h.gather(&[lane]).ok_or_else(|| misfit(Misuse::CountsDiffer))?;
        // mulX: multiplies by x
        doubled.push(e.combine(&one, &[2])?);
    }
    let h = e.join(&doubled.iter().collect::<Vec<_>>());
    let n = blocks.len();
    let powers = powers(e, &h, n)?;
    let blocks: Vec<E::Block> =
        blocks.iter().map(|block| e.convert(reversed(block))).collect::<Result<_, _>>()?;
    let all = e.join(&blocks.iter().collect::<Vec<_>>());
    let mut pairs = Vec::with_capacity(lanes);
    for k in 0..lanes {
        let own: Vec<usize> = (0..n).map(|b| b * lanes + k).collect();
        // the last block is multiplied by the first power
        let of_own: Vec<usize> = (0..n).map(|b| k * n + n - 1 - b).collect();
        let pair = all.gather(&own).zip(powers.gather(&of_own));
        pairs.push(pair.ok_or_else(|| misfit(Misuse::CountsDiffer))?);
    }
    let sums = e.dot(&pairs.iter().map(|(x, y)| (x, y)).collect::<Vec<_>>())?;
    let bytes: [E::Byte; 16] = e.convert(sums)?;
    Ok(reversed(&bytes))
}

/// The tags (4).
fn tag<E: MacEngine>(
    e: &mut E,
    keys: &Keys<E>,
    heads: &[NonceHead],
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let lanes = heads.len();
    let aad_bytes = heads.first().map_or(0, |head| head.aad.len());
    let aad = public(e, &heads.iter().map(|head| head.aad.clone()).collect::<Vec<_>>())?;
    let mut all = blocks(e, &aad, lanes)?;
    all.extend(blocks(e, message, lanes)?);
    let lengths = [8 * aad_bytes as u64, 8 * message.len() as u64].map(u64::to_le_bytes).concat();
    let lengths = constant(e, &lengths, lanes);
    all.extend(blocks(e, &lengths, lanes)?);
    let mut s = polyval(e, &keys.authentication, &all, lanes)?;
    let nonces = public(e, &heads.iter().map(|head| head.nonce.to_vec()).collect::<Vec<_>>())?;
    add(e, &mut s, &nonces)?;
    let zero = e.public(&vec![0; lanes]);
    s[15] = splice(e, &zero, &s[15], 1)?;
    aes::encrypt(e, &keys.encryption, &mut s)?;
    Ok(s.into())
}

/// The counter blocks of a tag (4): its last bit is set, and its first four bytes are a little-endian
/// counter.
fn counters(mut tag: [u8; 16], n: usize) -> Vec<[u8; 16]> {
    tag[15] |= 0x80;
    let [a, b, c, d, ..] = tag;
    let first = u32::from_le_bytes([a, b, c, d]);
    let block = |i: usize| {
        let mut block = tag;
        block[..4].copy_from_slice(&first.wrapping_add(i as u32).to_le_bytes());
        block
    };
    (0..n).map(block).collect()
}

fn crypt<E: MacEngine>(
    e: &mut E,
    keys: &Keys<E>,
    tags: &[[u8; 16]],
    bytes: usize,
) -> Result<Vec<E::Byte>, Abort> {
    let counters: Vec<_> = tags.iter().map(|tag| counters(*tag, bytes.div_ceil(16))).collect();
    stream(e, &keys.encryption, &counters, bytes)
}

fn fit(heads: &[NonceHead], bytes: usize) -> Result<(), Abort> {
    let aad = heads.first().map_or(0, |head| head.aad.len());
    if heads.is_empty() || heads.iter().any(|head| head.aad.len() != aad) || bytes.max(aad) > LONGEST {
        return Err(misfit(Misuse::MessageUnfit));
    }
    Ok(())
}

/// Encrypts (4): returns the tags, which all parties learn, and the ciphertexts, still shared.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if a key has 192 bits, or lanes do not fit.
pub fn seal<E: MacEngine + Releases>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    heads: &[NonceHead],
    message: &[E::Byte],
) -> Result<(Vec<[u8; 16]>, Vec<E::Byte>), Abort> {
    fit(heads, message.len())?;
    let keys = derive(e, key, heads)?;
    let tag = tag(e, &keys, heads, message)?;
    let tags = rows(&e.reveal(tag)?, heads.len())?;
    let mut ciphertext = crypt(e, &keys, &tags, message.len())?;
    add(e, &mut ciphertext, message)?;
    Ok((tags, ciphertext))
}

/// Encrypts one message without opening anything, for circuits: returns the tag and the ciphertext, both
/// shared.
///
/// Cost: that of [`seal`], and an adder of 32 bits a block.
///
/// # Errors
/// The errors of [`seal`]; also [`Abort::Misuse`] if there is more than one message.
pub fn seal_shared<E: MacEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    head: &NonceHead,
    message: &[E::Byte],
) -> Result<(Vec<E::Byte>, Vec<E::Byte>), Abort> {
    let heads = std::slice::from_ref(head);
    fit(heads, message.len())?;
    let keys = derive(e, key, heads)?;
    let tag = tag(e, &keys, heads, message)?;
    // the counter is in the first four bytes, the lowest first; for `count` it is moved to the last four
    // bytes, the highest first
    let mut first: Vec<E::Byte> = tag.clone();
    if let Some(last) = first.last_mut() {
        *last = with_highest(e, last, true)?;
    }
    first.rotate_left(4);
    if let Some(word) = first.last_chunk_mut::<4>() {
        word.reverse();
    }
    let mut counters = count(e, first, message.len())?;
    counters[12..].reverse();
    counters.rotate_right(4);
    let mut ciphertext = masked(e, &keys.encryption, counters, message.len())?;
    add(e, &mut ciphertext, message)?;
    Ok((tag, ciphertext))
}

/// Decrypts (5) public ciphertexts with their public tags, one message in each row.
///
/// # Errors
/// The errors of [`seal`].
pub fn open<E: MacEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    heads: &[NonceHead],
    ciphertext: &[Vec<u8>],
    tags: &[[u8; 16]],
) -> Result<Undecided<E>, Abort> {
    let bytes = ciphertext.first().map_or(0, Vec::len);
    fit(heads, bytes)?;
    let keys = derive(e, key, heads)?;
    let mut message = crypt(e, &keys, tags, bytes)?;
    let known = public(e, ciphertext)?;
    add(e, &mut message, &known)?;
    let mut difference = tag(e, &keys, heads, &message)?;
    let received = public(e, &tags.iter().map(|tag| tag.to_vec()).collect::<Vec<_>>())?;
    add(e, &mut difference, &received)?;
    Undecided::new(e, heads.len(), message, vec![difference])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counter goes on and wraps around within its four bytes, the lowest first.
    #[test]
    fn counters_go_on_in_long_messages() {
        let mut tag = [0x5a; 16];
        tag[..4].copy_from_slice(&0xffff_0003_u32.to_le_bytes());
        for (i, block) in counters(tag, 70_000).iter().enumerate() {
            let (counter, rest) = block.split_at(4);
            assert_eq!(counter, 0xffff_0003_u32.wrapping_add(i as u32).to_le_bytes(), "{i}");
            assert_eq!((&rest[..11], rest[11]), (&[0x5a; 11][..], 0xda));
        }
    }
}
