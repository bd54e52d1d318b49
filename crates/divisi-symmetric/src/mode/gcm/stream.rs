//! GCM for a message that is processed in chunks, on any engine.
//!
//! What is opened, and when:
//! - **Encryption** opens each chunk of ciphertext, and finally the tag, when everything it depends on is
//!   verified.
//! - **Decryption** first computes the tag of the whole ciphertext, and reveals only whether the received tag
//!   is right \[A23\]. Chunks of plaintext are computed after that. They are returned verified, and the
//!   caller may open them.
//!
//! The key stream of a chunk is computed with the chunk; the block that masks the tag is computed with the
//! first chunk. If the IV does not have 96 bits, the counter blocks stay shared ([`long_iv`]); the IV and the
//! message use the same powers of the hash key.

use super::compare::{TAG_BYTES, open_tags, tags_match};
use super::keystream::{MessageLanes, counters, cut};
use super::message::interleaved;
use super::{GhashState, IV_BYTES, Lengths, MAX_BLOCKS, MessagesKey, TagLength, j0, long_iv, tag, tag_masks};
use crate::aes;
use crate::engines::GcmEngine;
use crate::mode::ctr::{self, joined, pieces};
use divisi_core::{Abort, Lanes, Misuse, Step, Verified, step};

const MESSAGE: Step = step!("text");
const ORDER: Step = step!("order");

/// The first counter block, J_0.
enum Start<B> {
    Public([u8; 16]),
    Secret(B),
}

/// The largest length of a message.
const LONGEST: u64 = 16 * MAX_BLOCKS;

/// The progress of a message. All chunks but the last have the full length.
struct Pace {
    /// The length of the message; `None` until it is known.
    length: Option<u64>,
    chunk: u64,
    /// The number of bytes that were processed.
    done: u64,
}

impl Pace {
    fn new(length: Option<u64>, chunk: u64) -> Result<Self, Abort> {
        if chunk == 0 || !chunk.is_multiple_of(16) {
            return Err(Abort::Misuse { step: MESSAGE, what: Misuse::BlockLength });
        }
        Ok(Pace { length, chunk, done: 0 })
    }

    /// Checks that `bytes` bytes may come next: the rest of a chunk, or whole blocks of it. Returns the
    /// number of the next block (the first block of a message has number 1).
    fn next(&mut self, bytes: usize) -> Result<u32, Abort> {
        let left = (self.length.unwrap_or(LONGEST) - self.done).min(self.chunk - self.done % self.chunk);
        if bytes == 0 || bytes as u64 > left || (!bytes.is_multiple_of(16) && (bytes as u64) < left) {
            return Err(Abort::Misuse { step: MESSAGE, what: Misuse::LengthDiffers });
        }
        let first = self.done / 16 + 1;
        self.done += bytes as u64;
        u32::try_from(first).map_err(|_| Abort::Misuse { step: MESSAGE, what: Misuse::TooLarge })
    }
}

/// The state that both directions keep between chunks.
struct Course<B> {
    start: Start<B>,
    /// E_K(J_0), if it was computed with the first chunk.
    mask: Option<B>,
}

impl<B: Clone + Lanes> Course<B> {
    /// The beginning of both directions: computes the powers, the first counter block, and the hash of the
    /// associated data.
    fn new<E: GcmEngine<Block = B>>(
        e: &mut E,
        key: &mut MessagesKey<E>,
        iv: &[u8],
        aad: &[u8],
        length: Option<u64>,
    ) -> Result<(Self, GhashState<B>), Abort> {
        let too_long = Abort::Misuse { step: MESSAGE, what: Misuse::TooLarge };
        // a message of unknown length needs the powers of the longest one
        let lengths = Lengths::new(aad.len() as u64, length.unwrap_or(LONGEST)).map_err(|_| too_long)?;
        let start = if let Ok(nonce) = <&[u8; IV_BYTES]>::try_from(iv) {
            key.make_powers(e, lengths.hash_blocks())?;
            Start::Public(j0(nonce))
        } else {
            // the longer of the two inputs determines the number of giant steps; the other uses some of them
            key.make_powers(e, lengths.hash_blocks().max(long_iv::hash_blocks(iv.len())))?;
            let first = long_iv::j0(e, key.powers()?, iv)?;
            Start::Secret(first)
        };
        let mut hash = match length {
            Some(_) => GhashState::new(key.steps(), lengths),
            None => GhashState::open_ended(key.steps(), lengths),
        };
        hash.aad(e, key.powers()?, aad)?;
        Ok((Course { start, mask: None }, hash))
    }

    /// The key stream for this many bytes of message from block `first` on, cut to the message: no byte of
    /// key stream beyond the message is kept. With `with_mask` also the block that masks the tag, which is
    /// computed in one more lane.
    fn stream<E: GcmEngine<Block = B>>(
        &self,
        e: &mut E,
        key: &MessagesKey<E>,
        first: u32,
        bytes: usize,
        with_mask: bool,
    ) -> Result<(Vec<E::Byte>, Option<B>), Abort> {
        let n = bytes.div_ceil(16);
        let stream = match &self.start {
            Start::Public(j0) => {
                let counters = counters(std::iter::once((*j0, first, n)), with_mask);
                ctr::pieced_keystream(e, key.round_keys(), None, &counters)?
            }
            Start::Secret(j0) => {
                let message = std::iter::successors(Some(first), |count| Some(count.wrapping_add(1))).take(n);
                let counts: Vec<u32> = message.chain(with_mask.then_some(0)).collect();
                let mut made = Vec::new();
                for piece in pieces(counts.len(), e.blocks_at_once()) {
                    let counts = counts.get(piece).unwrap_or_default();
                    let mut blocks = long_iv::counters(e, j0, counts)?;
                    aes::encrypt(e, key.round_keys(), &mut blocks)?;
                    made.push(blocks);
                }
                joined(e, made)?
            }
        };
        let place = MessageLanes { message: 0, bytes, mask: n };
        let mask = if with_mask { Some(tag_masks(e, &stream, &[place.mask])?) } else { None };
        Ok((cut(&stream, &[place])?, mask))
    }

    /// The full tag of the message that was hashed.
    fn tag<E: GcmEngine<Block = B>>(
        &mut self,
        e: &mut E,
        key: &MessagesKey<E>,
        hash: GhashState<B>,
    ) -> Result<B, Abort> {
        let missing = Abort::Misuse { step: ORDER, what: Misuse::NotMade };
        let mask = match self.mask.take() {
            Some(mask) => mask,
            None => self.stream(e, key, 1, 0, true)?.1.ok_or(missing)?,
        };
        let ghash = hash.finish(e, key.powers()?)?;
        tag(e, ghash, &mask)
    }
}

/// A message that is being encrypted.
pub struct StreamSealer<E: GcmEngine> {
    course: Course<E::Block>,
    pace: Pace,
    hash: GhashState<E::Block>,
}

impl<E: GcmEngine> StreamSealer<E> {
    /// Begins a message of `length` bytes, in chunks of `chunk` bytes; the last one may be shorter. All
    /// parties must have agreed on the lengths, and the IV must not be used for any other message.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the message is longer than GCM allows, the IV is
    /// empty, or chunks are not whole blocks.
    pub fn new(
        e: &mut E,
        key: &mut MessagesKey<E>,
        iv: &[u8],
        aad: &[u8],
        length: u64,
        chunk: u64,
    ) -> Result<Self, Abort> {
        Self::begin(e, key, iv, aad, Some(length), chunk)
    }

    /// Begins a message whose length [`StreamSealer::end_at`] says before its last chunk. Until then all
    /// chunks are full.
    ///
    /// # Errors
    /// Those of [`StreamSealer::new`].
    pub fn open_ended(
        e: &mut E,
        key: &mut MessagesKey<E>,
        iv: &[u8],
        aad: &[u8],
        chunk: u64,
    ) -> Result<Self, Abort> {
        Self::begin(e, key, iv, aad, None, chunk)
    }

    fn begin(
        e: &mut E,
        key: &mut MessagesKey<E>,
        iv: &[u8],
        aad: &[u8],
        length: Option<u64>,
        chunk: u64,
    ) -> Result<Self, Abort> {
        let pace = Pace::new(length, chunk)?;
        let (course, hash) = Course::new(e, key, iv, aad, length)?;
        Ok(StreamSealer { course, pace, hash })
    }

    /// Says how long an open-ended message is, before the first bytes of its last chunk, which may be shorter
    /// than the others. All parties must have agreed on the length.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the length was known, or is not in the next chunk.
    pub fn end_at(&mut self, length: u64) -> Result<(), Abort> {
        let Pace { chunk, done, .. } = self.pace;
        let last = length.saturating_sub(done);
        let is_next = done.is_multiple_of(chunk) && done.saturating_add(last) == length && last <= chunk;
        if self.pace.length.is_some() || !is_next {
            return Err(Abort::Misuse { step: ORDER, what: Misuse::LengthDiffers });
        }
        self.hash.end_at(length)?;
        self.pace.length = Some(length);
        Ok(())
    }

    /// The number of bytes that were encrypted.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.pace.done
    }

    /// Encrypts the next chunk, or whole blocks of it. Column `i` of `message` has a lane for each block with
    /// a byte at position `i` ([`lanes_at`](super::lanes_at)). Returns the ciphertext, which is opened to all
    /// parties when everything it depends on is verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the message has another length than the next
    /// chunk.
    pub fn chunk(&mut self, e: &mut E, key: &MessagesKey<E>, message: &[E::Byte]) -> Result<Vec<u8>, Abort> {
        let bytes = message.iter().map(Lanes::lanes).sum();
        let first = self.pace.next(bytes)?;
        let with_mask = first == 1;
        let (mut stream, mask) = self.course.stream(e, key, first, bytes, with_mask)?;
        if message.len() != stream.len() || message.iter().zip(&stream).any(|(x, y)| x.lanes() != y.lanes()) {
            return Err(Abort::Misuse { step: MESSAGE, what: Misuse::LengthDiffers });
        }
        for (stream, message) in stream.iter_mut().zip(message) {
            e.add(stream, message)?;
        }
        // the two values are verified together, with everything that was computed before
        let (stream, mask) = e.settled((stream, mask))?.split();
        if with_mask {
            self.course.mask = mask.into_inner();
        }
        let ciphertext = interleaved(&e.open(stream)?, bytes)?;
        self.hash.message(e, key.powers()?, &ciphertext)?;
        Ok(ciphertext)
    }

    /// The tag, which is opened to all parties when everything it depends on is verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the message is not complete.
    pub fn finish(mut self, e: &mut E, key: &MessagesKey<E>) -> Result<[u8; TAG_BYTES], Abort> {
        let tag = self.course.tag(e, key, self.hash)?;
        let tag = open_tags(e, tag, &[TagLength::Bits128])?.pop();
        tag.ok_or(Abort::Misuse { step: ORDER, what: Misuse::BlockLength })
    }
}

/// A message that is being decrypted: first all of its ciphertext is [absorbed](StreamOpener::absorb), then
/// its tag is [compared](StreamOpener::verify), then its plaintext is computed.
pub struct StreamOpener<E: GcmEngine> {
    course: Course<E::Block>,
    /// The progress of the tag, and of the decryption.
    pace: [Pace; 2],
    /// `None` after the tag was compared.
    hash: Option<GhashState<E::Block>>,
    received: (TagLength, u128),
    valid: bool,
}

impl<E: GcmEngine> StreamOpener<E> {
    /// Begins a message of `length` bytes of ciphertext, in chunks of `chunk` bytes, with the received tag as
    /// [`TagLength::element`] gives it.
    ///
    /// # Errors
    /// The errors of [`StreamSealer::new`].
    pub fn new(
        e: &mut E,
        key: &mut MessagesKey<E>,
        iv: &[u8],
        aad: &[u8],
        (length, chunk): (u64, u64),
        received: (TagLength, u128),
    ) -> Result<Self, Abort> {
        let pace = [Pace::new(Some(length), chunk)?, Pace::new(Some(length), chunk)?];
        let (course, hash) = Course::new(e, key, iv, aad, Some(length))?;
        Ok(StreamOpener { course, pace, hash: Some(hash), received, valid: false })
    }

    /// Adds the next chunk of the ciphertext, or whole blocks of it, to the hash of the tag.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] after [`StreamOpener::verify`].
    pub fn absorb(&mut self, e: &mut E, key: &MessagesKey<E>, ciphertext: &[u8]) -> Result<(), Abort> {
        let hash = self.hash.as_mut().ok_or(COMPARED)?;
        self.pace[0].next(ciphertext.len())?;
        hash.message(e, key.powers()?, ciphertext)
    }

    /// Compares the tag on shares. Returns whether it is right; all parties get the same answer.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the ciphertext is not complete.
    pub fn verify(&mut self, e: &mut E, key: &MessagesKey<E>) -> Result<bool, Abort> {
        let hash = self.hash.take().ok_or(COMPARED)?;
        let tag = self.course.tag(e, key, hash)?;
        self.valid = tags_match(e, tag, &[self.received])? == [true];
        Ok(self.valid)
    }

    /// The number of bytes that were decrypted.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.pace[1].done
    }

    /// Decrypts the next chunk, or whole blocks of it. Returns the columns of the plaintext, verified. The
    /// caller must pass the same ciphertext that was absorbed.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the tag was not found right before.
    pub fn chunk(
        &mut self,
        e: &mut E,
        key: &MessagesKey<E>,
        ciphertext: &[u8],
    ) -> Result<Verified<Vec<E::Byte>>, Abort> {
        if !self.valid {
            return Err(Abort::Misuse { step: ORDER, what: Misuse::TagNotVerified }); // [M0.7, A23]
        }
        let first = self.pace[1].next(ciphertext.len())?;
        let (mut message, _) = self.course.stream(e, key, first, ciphertext.len(), false)?;
        for (i, byte) in message.iter_mut().enumerate() {
            let column: Vec<u8> = ciphertext.iter().skip(i).step_by(16).copied().collect();
            if !column.is_empty() {
                e.add_public(byte, &column)?;
            }
        }
        e.settled(message)
    }
}

const COMPARED: Abort = Abort::Misuse { step: ORDER, what: Misuse::UsedTwice };

#[cfg(test)]
mod tests;
