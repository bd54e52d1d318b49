//! CCM (SP 800-38C): counter mode, and a CBC-MAC of nonce, associated data and message.

use super::lanes::{add, constant, public, stream};
use super::{Undecided, misfit};
use crate::aes::RoundKeys;
use crate::engines::BitEngine;
use crate::mode::cmac::chain;
use divisi_core::{Abort, Misuse};

/// Whether CCM allows these lengths in bytes of nonce, tag and message (A.1).
#[must_use]
pub fn takes(nonce: usize, tag: usize, message: usize) -> bool {
    let fits = |q: usize| q >= 8 || (message as u64) < 1 << (8 * q);
    (7..=13).contains(&nonce) && (4..=16).contains(&tag) && tag.is_multiple_of(2) && fits(15 - nonce)
}

/// The public data of a message.
#[derive(Clone, Debug)]
pub struct Head {
    /// The nonce, of 7 to 13 bytes.
    pub nonce: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
}

/// B_0 and the blocks of the associated data (A.2.1, A.2.2).
#[must_use]
pub fn head_blocks(head: &Head, bytes: usize, tag: usize) -> Vec<u8> {
    let q = 15usize.saturating_sub(head.nonce.len()).clamp(2, 8);
    let flags = 64 * u8::from(!head.aad.is_empty()) + 8 * (tag.saturating_sub(2) / 2) as u8 + (q - 1) as u8;
    let mut all = vec![flags];
    all.extend_from_slice(&head.nonce);
    all.extend_from_slice((bytes as u64).to_be_bytes().get(8 - q..).unwrap_or_default());
    if !head.aad.is_empty() {
        let length = head.aad.len() as u64;
        let encoded = length.to_be_bytes();
        match length {
            0..0xff00 => all.extend_from_slice(&encoded[6..]),
            0xff00..=0xffff_ffff => all.extend([&[0xff, 0xfe], &encoded[4..]].concat()),
            _ => all.extend([&[0xff, 0xff], &encoded[..]].concat()),
        }
        all.extend_from_slice(&head.aad);
    }
    all.resize(all.len().next_multiple_of(16), 0);
    all
}

/// The counter blocks (A.3), from 0 on.
fn counters(nonce: &[u8], n: usize) -> Vec<[u8; 16]> {
    let q = 15usize.saturating_sub(nonce.len()).clamp(2, 8);
    let block = |i: usize| {
        let mut block = [0; 16];
        block[0] = (q - 1) as u8;
        block.iter_mut().skip(1).zip(nonce).for_each(|(to, byte)| *to = *byte);
        let counter = (i as u64).to_be_bytes();
        block.iter_mut().skip(16 - q).zip(counter.iter().skip(8 - q)).for_each(|(to, byte)| *to = *byte);
        block
    };
    (0..n).map(block).collect()
}

/// The key stream of all messages, and the masks of their tags.
fn streams<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    heads: &[Head],
    bytes: usize,
) -> Result<(Vec<E::Byte>, Vec<E::Byte>), Abort> {
    let n = 1 + bytes.div_ceil(16);
    let counters: Vec<_> = heads.iter().map(|head| counters(&head.nonce, n)).collect();
    let mut mask = stream(e, key, &counters, 16 + bytes)?;
    let stream = mask.split_off(16);
    Ok((stream, mask))
}

/// The tags before they are masked (6.1, steps 1 to 4).
fn mac<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    heads: &[Head],
    tag: usize,
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    let rows: Vec<Vec<u8>> = heads.iter().map(|head| head_blocks(head, message.len(), tag)).collect();
    let mut all = public(e, &rows)?;
    all.extend_from_slice(message);
    all.extend(constant(e, &vec![0; message.len().next_multiple_of(16) - message.len()], heads.len()));
    let mut t = chain(e, key, heads.len(), &all)?;
    t.truncate(tag);
    Ok(t)
}

fn fit(heads: &[Head], tag: usize, bytes: usize) -> Result<(), Abort> {
    let alike = |pair: &[Head]| match pair {
        [a, b] => (a.nonce.len(), a.aad.len()) == (b.nonce.len(), b.aad.len()),
        _ => false,
    };
    if heads.is_empty()
        || !heads.windows(2).all(alike)
        || !heads.iter().all(|head| takes(head.nonce.len(), tag, bytes))
    {
        return Err(misfit(Misuse::MessageUnfit));
    }
    Ok(())
}

/// Encrypts (6.1): the ciphertexts with their tags, shared, to be opened together.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if CCM does not [allow](takes) the lengths.
pub fn seal<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    heads: &[Head],
    tag: usize,
    message: &[E::Byte],
) -> Result<Vec<E::Byte>, Abort> {
    fit(heads, tag, message.len())?;
    let (mut out, mask) = streams(e, key, heads, message.len())?;
    add(e, &mut out, message)?;
    let mut t = mac(e, key, heads, tag, message)?;
    add(e, &mut t, &mask)?;
    out.extend(t);
    Ok(out)
}

/// Decrypts (6.2) public ciphertexts and tags, a row for each message.
///
/// # Errors
/// The errors of [`seal`].
pub fn open<E: BitEngine>(
    e: &mut E,
    key: &RoundKeys<E::Byte>,
    heads: &[Head],
    ciphertext: &[Vec<u8>],
    received: &[Vec<u8>],
) -> Result<Undecided<E>, Abort> {
    let (bytes, tag) = (ciphertext.first().map_or(0, Vec::len), received.first().map_or(0, Vec::len));
    fit(heads, tag, bytes)?;
    let (mut message, mask) = streams(e, key, heads, bytes)?;
    let known = public(e, ciphertext)?;
    add(e, &mut message, &known)?;
    let mut difference = mac(e, key, heads, tag, &message)?;
    add(e, &mut difference, &mask)?;
    let received = public(e, received)?;
    add(e, &mut difference, &received)?;
    Undecided::new(e, heads.len(), message, vec![difference])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters go on through all of their bytes, and lengths are written whole.
    #[test]
    fn long_messages_have_whole_counters_and_lengths() {
        let blocks = counters(&[7; 11], 70_000);
        for (i, block) in blocks.iter().enumerate() {
            let counter = (i as u32).to_be_bytes();
            assert_eq!(block[..], [&[3][..], &[7; 11], &counter].concat(), "{i}");
        }
        for bytes in [1, 255, 256, 4096, 65_535, 65_536, (1 << 24) + 3, (1 << 32) - 1] {
            let (nonce, aad) = (vec![7; 11], Vec::new());
            let wanted = [&[0x3b][..], &nonce, &(bytes as u32).to_be_bytes()].concat();
            assert_eq!(head_blocks(&Head { nonce, aad }, bytes, 16), wanted, "{bytes}");
        }
        for (bytes, encoded) in [
            (0xfeff, &[0xfe, 0xff][..]),
            (0xff00, &[0xff, 0xfe, 0, 0, 0xff, 0]),
            (0x1_0003, &[0xff, 0xfe, 0, 1, 0, 3]),
        ] {
            let aad: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
            let mut wanted = [encoded, &aad].concat();
            wanted.resize(wanted.len().next_multiple_of(16), 0);
            let all = head_blocks(&Head { nonce: vec![7; 13], aad }, 5, 16);
            assert!(all[16..] == wanted, "{bytes}");
        }
    }
}
