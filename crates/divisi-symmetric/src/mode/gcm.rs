//! GCM (SP 800-38D) with an IV of 96 bits, on a shared key.
//!
//! Encryption is counter mode from `inc_32(J_0)` on. The tag is `GHASH(A || 0* || C || 0* || lengths) + E_K(J_0)`: a sum
//! of what [`ghash`](super::ghash) makes of public data, and of one block of key stream. Who computes decides what is
//! opened, and when: decryption must compare the tag before any plaintext leaves. Nothing here opens anything.
//!
//! Not supported: IVs of other lengths, which would need a second GHASH and give nothing (SP 800-38D, 5.2.1.1 recommends
//! 96 bits), and the tags of 32 and 64 bits of its appendix C.

use super::ghash::{Ghash, Powers, Steps};
use crate::aes::{self, RoundKeys};
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes, Step, step};
use divisi_field::{Field, Gf128};
use std::fmt;

const HASH: Step = step!("hash");

/// The largest number of blocks of text: `len(P) <= 2^39 - 256` bits (SP 800-38D, 5.2.1.1).
pub const MAX_BLOCKS: u64 = (1 << 32) - 2;

/// The length of the IV in bytes.
pub const IV_BYTES: usize = 12;

/// The pre-counter block `J_0` (SP 800-38D, algorithm 4, step 2): the IV, and the counter 1.
///
/// Its key stream, position 0 of [`ctr::columns`](super::ctr::columns), masks the tag; the text starts at position 1.
#[must_use]
pub fn j0(iv: &[u8; IV_BYTES]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..IV_BYTES].copy_from_slice(iv);
    block[15] = 1;
    block
}

/// The lengths of a message, found to be within GCM's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lengths {
    aad: u64,
    text: u64,
}

impl Lengths {
    /// Associated data and text of so many bytes.
    ///
    /// # Errors
    /// [`TooLong`] if GCM has no room for them.
    pub fn new(aad: u64, text: u64) -> Result<Self, TooLong> {
        if aad >= 1 << 61 {
            return Err(TooLong { what: "associated data", bytes: aad, limit: (1 << 61) - 1 });
        }
        if text > 16 * MAX_BLOCKS {
            return Err(TooLong { what: "text", bytes: text, limit: 16 * MAX_BLOCKS });
        }
        Ok(Lengths { aad, text })
    }

    /// Bytes of associated data.
    #[must_use]
    pub fn aad(self) -> u64 {
        self.aad
    }

    /// Bytes of text.
    #[must_use]
    pub fn text(self) -> u64 {
        self.text
    }

    /// Blocks of text, the last one perhaps partial: as many blocks of key stream, besides that of the tag.
    #[must_use]
    pub fn text_blocks(self) -> u64 {
        self.text.div_ceil(16)
    }

    /// Blocks that GHASH takes: both parts, each filled up with zeros, and the block of lengths.
    #[must_use]
    pub fn hash_blocks(self) -> u64 {
        self.aad.div_ceil(16) + self.text_blocks() + 1
    }

    /// The last block of GHASH: both lengths in bits, 64 bits each (SP 800-38D, algorithm 4, step 5).
    #[must_use]
    pub fn length_block(self) -> [u8; 16] {
        (u128::from(8 * self.aad) << 64 | u128::from(8 * self.text)).to_be_bytes()
    }
}

/// A message that GCM has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    what: &'static str,
    bytes: u64,
    limit: u64,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} has {} bytes, GCM allows {}: split it", self.what, self.bytes, self.limit)
    }
}

impl std::error::Error for TooLong {}

/// The lengths of tag that are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TagLength {
    /// 96 bits.
    Bits96,
    /// 104 bits.
    Bits104,
    /// 112 bits.
    Bits112,
    /// 120 bits.
    Bits120,
    /// 128 bits: the whole tag.
    Bits128,
}

impl TagLength {
    /// All of them.
    pub const ALL: [TagLength; 5] =
        [TagLength::Bits96, TagLength::Bits104, TagLength::Bits112, TagLength::Bits120, TagLength::Bits128];

    /// The tag of that many bits.
    ///
    /// # Errors
    /// [`UnsupportedTag`] if there is none.
    pub fn from_bits(bits: usize) -> Result<Self, UnsupportedTag> {
        Self::ALL.into_iter().find(|length| length.bits() == bits).ok_or(UnsupportedTag { bits })
    }

    /// Its length in bits.
    #[must_use]
    pub const fn bits(self) -> usize {
        8 * self.bytes()
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            TagLength::Bits96 => 12,
            TagLength::Bits104 => 13,
            TagLength::Bits112 => 14,
            TagLength::Bits120 => 15,
            TagLength::Bits128 => 16,
        }
    }

    /// The coefficients that belong to the tag. Those of a difference must vanish in the comparison; MSB_t keeps the first
    /// `t` bits of the string (SP 800-38D, algorithm 4, step 6), which are the lowest coefficients.
    #[must_use]
    pub const fn mask(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }

    /// A received tag as an element to be added to the computed one; `None` if it has not this length.
    #[must_use]
    pub fn element(self, tag: &[u8]) -> Option<u128> {
        let mut block = [0; 16];
        block.get_mut(..self.bytes()).filter(|room| room.len() == tag.len())?.copy_from_slice(tag);
        Some(element(block))
    }
}

/// A length of tag that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedTag {
    bits: usize,
}

impl fmt::Display for UnsupportedTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tag of {} bits is not supported: choose 96, 104, 112, 120 or 128", self.bits)
    }
}

impl std::error::Error for UnsupportedTag {}

/// The hash keys `H = E_K(0^128)` (SP 800-38D, algorithm 4, step 1), one lane a key.
///
/// Cost: one [`aes::encrypt`] and one conversion.
///
/// # Errors
/// Whatever ends the session.
pub fn hash_key<E>(e: &mut E, round_keys: &RoundKeys<E::Byte>) -> Result<E::Block, Abort>
where
    E: Bytes + Blocks + Convert<[E::Byte; 16], E::Block> + ?Sized,
{
    let zero = vec![0; round_keys.lanes()];
    let mut state = std::array::from_fn(|_| e.public(&zero));
    aes::encrypt(e, round_keys, &mut state)?;
    e.convert(state)
}

/// The masks `E_K(J_0)` of tags, from the key stream that has them at the lanes given.
///
/// # Errors
/// Whatever ends the session; [`Abort::Misuse`] if there is no such lane.
pub fn tag_masks<E>(e: &mut E, keystream: &[E::Byte; 16], lanes: &[usize]) -> Result<E::Block, Abort>
where
    E: Bytes + Blocks + Convert<[E::Byte; 16], E::Block> + ?Sized,
{
    let bytes: Option<Vec<E::Byte>> = keystream.iter().map(|byte| byte.gather(lanes)).collect();
    let state = bytes.and_then(|bytes| <[E::Byte; 16]>::try_from(bytes).ok());
    let step = step!("tag_masks");
    e.convert(state.ok_or(Abort::Misuse { step, what: "the key stream is shorter" })?)
}

/// The whole tag (SP 800-38D, algorithm 4, step 6): GHASH plus `E_K(J_0)`. Local.
///
/// # Errors
/// [`Abort::Misuse`] if the lanes differ.
pub fn tag<E: Blocks + ?Sized>(e: &mut E, ghash: E::Block, ek_j0: &E::Block) -> Result<E::Block, Abort> {
    let mut tag = ghash;
    e.add_block(&mut tag, ek_j0)?;
    Ok(tag)
}

/// GHASH of one message: associated data, then ciphertext, both as they come, then their lengths.
pub struct Hash<B> {
    lengths: Lengths,
    ghash: Ghash<B>,
    padding: Padding,
    aad: u64,
    text: u64,
}

impl<B: Lanes + Clone> Hash<B> {
    /// The hash of a message of these lengths.
    #[must_use]
    pub fn new(steps: Steps, lengths: Lengths) -> Self {
        let ghash = Ghash::new(steps, lengths.hash_blocks());
        Hash { lengths, ghash, padding: Padding::default(), aad: 0, text: 0 }
    }

    /// The next bytes of the associated data.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if there are more than was said, or text came before.
    pub fn aad<E>(&mut self, e: &mut E, powers: &Powers<B>, bytes: &[u8]) -> Result<(), Abort>
    where
        E: Blocks<Block = B> + ?Sized,
    {
        if self.text > 0 {
            return Err(misuse("associated data come before the text"));
        }
        self.aad = counted(self.aad, bytes, self.lengths.aad)?;
        let blocks = self.padding.push(bytes);
        let last = (self.aad == self.lengths.aad).then(|| self.padding.close()).flatten();
        self.ghash.absorb(e, powers, &blocks)?;
        self.ghash.absorb(e, powers, last.as_slice())
    }

    /// The next bytes of the ciphertext.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if there are more than was said, or associated data are missing.
    pub fn text<E>(&mut self, e: &mut E, powers: &Powers<B>, bytes: &[u8]) -> Result<(), Abort>
    where
        E: Blocks<Block = B> + ?Sized,
    {
        if self.aad != self.lengths.aad {
            return Err(misuse("the associated data are shorter than was said"));
        }
        self.text = counted(self.text, bytes, self.lengths.text)?;
        let blocks = self.padding.push(bytes);
        let last = (self.text == self.lengths.text).then(|| self.padding.close()).flatten();
        self.ghash.absorb(e, powers, &blocks)?;
        self.ghash.absorb(e, powers, last.as_slice())
    }

    /// The block of lengths, and the hash, one lane.
    ///
    /// # Errors
    /// Whatever ends the session; [`Abort::Misuse`] if the message is shorter than was said.
    pub fn finish<E>(mut self, e: &mut E, powers: &Powers<B>) -> Result<B, Abort>
    where
        E: Blocks<Block = B> + ?Sized,
    {
        if (self.aad, self.text) != (self.lengths.aad, self.lengths.text) {
            return Err(misuse("the message is shorter than was said"));
        }
        self.ghash.absorb(e, powers, &[element(self.lengths.length_block())])?;
        self.ghash.finish()
    }
}

/// GHASH of a message that is in memory.
///
/// # Errors
/// Whatever ends the session; [`Abort::Misuse`] if the message is too long, or the powers are too few.
pub fn hash<E>(e: &mut E, powers: &Powers<E::Block>, aad: &[u8], text: &[u8]) -> Result<E::Block, Abort>
where
    E: Blocks + ?Sized,
{
    let lengths = Lengths::new(aad.len() as u64, text.len() as u64);
    let lengths = lengths.map_err(|_| misuse("the message is longer than GCM allows"))?;
    let mut hash = Hash::new(powers.steps(), lengths);
    hash.aad(e, powers, aad)?;
    hash.text(e, powers, text)?;
    hash.finish(e, powers)
}

/// A stream of bytes as blocks for GHASH; the last one filled up with zeros.
#[derive(Clone, Debug, Default)]
pub struct Padding {
    partial: Vec<u8>,
}

impl Padding {
    /// The blocks that these bytes complete.
    #[must_use]
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<u128> {
        let mut blocks = Vec::with_capacity(bytes.len() / 16 + 1);
        if !self.partial.is_empty() {
            let (head, rest) = bytes.split_at(bytes.len().min(16 - self.partial.len()));
            self.partial.extend_from_slice(head);
            bytes = rest;
            if let Ok(block) = <[u8; 16]>::try_from(self.partial.as_slice()) {
                blocks.push(element(block));
                self.partial.clear();
            }
        }
        let (whole, rest) = bytes.as_chunks::<16>();
        blocks.extend(whole.iter().copied().map(element));
        self.partial.extend_from_slice(rest);
        blocks
    }

    /// The end of a part of the message: what is left of it, filled up with zeros.
    #[must_use]
    pub fn close(&mut self) -> Option<u128> {
        if self.partial.is_empty() {
            return None;
        }
        let mut block = [0; 16];
        block.iter_mut().zip(self.partial.drain(..)).for_each(|(to, byte)| *to = byte);
        Some(element(block))
    }
}

/// A block as an element of GHASH's field, its first bit the coefficient of one (SP 800-38D, 6.3).
fn element(block: [u8; 16]) -> u128 {
    Gf128::from_ghash(block).to_bits()
}

fn counted(before: u64, bytes: &[u8], limit: u64) -> Result<u64, Abort> {
    let now = before.checked_add(bytes.len() as u64).filter(|&now| now <= limit);
    now.ok_or(misuse("the message is longer than was said"))
}

fn misuse(what: &'static str) -> Abort {
    Abort::Misuse { step: HASH, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::ctr;

    #[test]
    fn lengths_have_the_limits_of_the_standard() {
        assert!(Lengths::new(0, 16 * MAX_BLOCKS).is_ok() && Lengths::new((1 << 61) - 1, 0).is_ok());
        assert!(Lengths::new(0, 16 * MAX_BLOCKS + 1).is_err() && Lengths::new(1 << 61, 0).is_err());
        let lengths = Lengths::new(20, 33).unwrap();
        assert_eq!((lengths.text_blocks(), lengths.hash_blocks()), (3, 2 + 3 + 1));
        let mut block = [0; 16];
        (block[7], block[14], block[15]) = (160, 1, 8);
        assert_eq!(lengths.length_block(), block);
        assert_eq!(
            Lengths::new((1 << 61) - 1, 16 * MAX_BLOCKS).unwrap().hash_blocks(),
            (1 << 57) + MAX_BLOCKS + 1
        );
        let message = Lengths::new(0, u64::MAX).unwrap_err().to_string();
        assert_eq!(message, "the text has 18446744073709551615 bytes, GCM allows 68719476704: split it");
    }

    #[test]
    fn tags_of_96_to_128_bits_and_no_others() {
        let lengths: Vec<usize> = (0..=256).filter(|&bits| TagLength::from_bits(bits).is_ok()).collect();
        assert_eq!(lengths, [96, 104, 112, 120, 128]);
        assert!(TagLength::from_bits(64).unwrap_err().to_string().contains("64 bits is not supported"));
        for length in TagLength::ALL {
            let tag: Vec<u8> = (0..length.bytes()).map(|i| 0xff - i as u8).collect();
            let kept = length.element(&tag).unwrap();
            let mut longer = [0x5a; 16];
            longer[..tag.len()].copy_from_slice(&tag);
            assert_eq!(element(longer) & length.mask(), kept);
            assert_eq!(kept.count_ones(), tag.iter().map(|byte| byte.count_ones()).sum());
            assert_eq!((length.element(&tag[1..]), length.element(&[0; 17])), (None, None));
        }
    }

    #[test]
    fn the_tag_has_the_counter_one_and_the_text_starts_at_two() {
        let columns = ctr::columns(&j0(&[0xca; 12]), 0, 2);
        let lane = |l: usize| columns.each_ref().map(|column| column[l]);
        assert_eq!(lane(0), j0(&[0xca; 12]));
        assert_eq!(
            (lane(0)[11..].to_vec(), lane(1)[11..].to_vec()),
            (vec![0xca, 0, 0, 0, 1], vec![0xca, 0, 0, 0, 2])
        );
    }

    #[test]
    fn padding_does_not_depend_on_how_the_stream_is_cut() {
        let stream: Vec<u8> = (1..=77).collect();
        let mut filled = stream.clone();
        filled.resize(80, 0);
        let expected: Vec<u128> = filled.as_chunks::<16>().0.iter().copied().map(element).collect();
        for cut in 1..=stream.len() {
            let mut padding = Padding::default();
            let mut blocks: Vec<u128> = stream.chunks(cut).flat_map(|piece| padding.push(piece)).collect();
            blocks.extend(padding.close());
            assert_eq!((blocks, padding.close()), (expected.clone(), None));
        }
    }
}
