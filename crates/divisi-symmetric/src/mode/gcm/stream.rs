//! A message that streams through, chunk after chunk: sealed or opened, on any engine.
//!
//! What is opened, and when:
//! - **Sealing**: a chunk of ciphertext when all that is behind it is verified; the tag likewise.
//! - **Opening**: first all of the ciphertext goes into the tag, of which nothing is told but whether it is
//!   right \[A23\]. A chunk of plaintext is made after that, verified for the caller, who may open it.
//!
//! The key stream of a chunk is made for the chunk, and that of the block that masks the tag with the first
//! one. An IV of another length than 96 bits makes counter blocks that stay shared ([`long_iv`]); the powers
//! of the hash key serve it and the text.

use super::compare::{TAG_BYTES, tags_match};
use super::text::{interleaved, lanes_at};
use super::{GhashState, IV_BYTES, Lengths, TagLength, TextsKey, j0, long_iv, tag, tag_masks};
use crate::aes;
use crate::engines::GcmEngine;
use crate::mode::ctr::{self, joined, pieces};
use divisi_core::{Abort, Lanes, Step, Verified, step};

const TEXT: Step = step!("text");
const ORDER: Step = step!("order");

/// Where the counter blocks begin.
enum Start<B> {
    Public([u8; 16]),
    Secret(B),
}

/// How far a text has come: chunks are full but for the last.
struct Pace {
    length: u64,
    chunk: u64,
    /// Bytes of text so far.
    done: u64,
}

impl Pace {
    fn new(length: u64, chunk: u64) -> Result<Self, Abort> {
        if chunk == 0 || !chunk.is_multiple_of(16) {
            return Err(Abort::Misuse { step: TEXT, what: "chunks that are not whole blocks" });
        }
        Ok(Pace { length, chunk, done: 0 })
    }

    /// The number of the next block (the first of a text is 1), and whether so many bytes may come now: what
    /// is left of a chunk, or whole blocks of it.
    fn next(&mut self, bytes: usize) -> Result<u32, Abort> {
        let left = (self.length - self.done).min(self.chunk - self.done % self.chunk);
        if bytes == 0 || bytes as u64 > left || (!bytes.is_multiple_of(16) && (bytes as u64) < left) {
            return Err(Abort::Misuse {
                step: TEXT,
                what: "a chunk of another length than the text requires",
            });
        }
        let first = self.done / 16 + 1;
        self.done += bytes as u64;
        u32::try_from(first).map_err(|_| Abort::Misuse { step: TEXT, what: "a text longer than GCM allows" })
    }
}

/// What both directions keep while a text streams through.
struct Course<B> {
    start: Start<B>,
    /// E_K(J_0), if it was made with the first chunk.
    mask: Option<B>,
}

impl<B: Clone + Lanes> Course<B> {
    /// What both begin with: the powers, the first counter block, and the hash of the associated data.
    fn new<E: GcmEngine<Block = B>>(
        e: &mut E,
        key: &mut TextsKey<E>,
        iv: &[u8],
        aad: &[u8],
        length: u64,
    ) -> Result<(Self, GhashState<B>), Abort> {
        let too_long = Abort::Misuse { step: TEXT, what: "a message longer than GCM allows" };
        let lengths = Lengths::new(aad.len() as u64, length).map_err(|_| too_long)?;
        let start = if let Ok(nonce) = <&[u8; IV_BYTES]>::try_from(iv) {
            key.make_powers(e, lengths.hash_blocks())?;
            Start::Public(j0(nonce))
        } else {
            // the longer of both needs the more giant steps, which serve the other
            key.make_powers(e, lengths.hash_blocks().max(long_iv::hash_blocks(iv.len())))?;
            let first = long_iv::j0(e, key.powers()?, iv)?;
            Start::Secret(first)
        };
        let mut hash = GhashState::new(key.steps(), lengths);
        hash.aad(e, key.powers()?, aad)?;
        Ok((Course { start, mask: None }, hash))
    }

    /// The key stream for so many bytes of text from block `first` on, cut to the text: no byte of key stream
    /// beyond the text is kept. With it, if wanted, the block that masks the tag, which rides in the last
    /// lane.
    fn stream<E: GcmEngine<Block = B>>(
        &self,
        e: &mut E,
        key: &TextsKey<E>,
        first: u32,
        bytes: usize,
        with_mask: bool,
    ) -> Result<(Vec<E::Byte>, Option<B>), Abort> {
        let n = bytes.div_ceil(16);
        let stream = match &self.start {
            Start::Public(j0) => {
                let mut counters = ctr::columns(j0, first, n);
                if with_mask {
                    counters.iter_mut().zip(j0).for_each(|(column, byte)| column.push(*byte));
                }
                ctr::pieced_keystream(e, key.round_keys(), None, &counters)?
            }
            Start::Secret(j0) => {
                let text = std::iter::successors(Some(first), |count| Some(count.wrapping_add(1))).take(n);
                let counts: Vec<u32> = text.chain(with_mask.then_some(0)).collect();
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
        let mask = if with_mask { Some(tag_masks(e, &stream, &[n])?) } else { None };
        let cut = stream.iter().enumerate().map(|(i, byte)| byte.first(lanes_at(bytes, i)));
        let cut = cut.collect::<Option<Vec<E::Byte>>>();
        Ok((cut.ok_or(Abort::Misuse { step: TEXT, what: "the key stream is shorter than the text" })?, mask))
    }

    /// The whole tag of what was hashed.
    fn tag<E: GcmEngine<Block = B>>(
        &mut self,
        e: &mut E,
        key: &TextsKey<E>,
        hash: GhashState<B>,
    ) -> Result<B, Abort> {
        let missing = Abort::Misuse { step: ORDER, what: "the mask of the tag is missing" };
        let mask = match self.mask.take() {
            Some(mask) => mask,
            None => self.stream(e, key, 1, 0, true)?.1.ok_or(missing)?,
        };
        let ghash = hash.finish(e, key.powers()?)?;
        tag(e, ghash, &mask)
    }
}

/// One message being encrypted.
pub struct StreamSealer<E: GcmEngine> {
    course: Course<E::Block>,
    pace: Pace,
    hash: GhashState<E::Block>,
}

impl<E: GcmEngine> StreamSealer<E> {
    /// Begin a message of `length` bytes, which comes in chunks of so many bytes, the last one perhaps
    /// shorter. The lengths are agreed, and the IV was drawn for this message alone.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if GCM has no room for the message, for an IV of no
    /// bits, and for chunks that are not whole blocks.
    pub fn new(
        e: &mut E,
        key: &mut TextsKey<E>,
        iv: &[u8],
        aad: &[u8],
        length: u64,
        chunk: u64,
    ) -> Result<Self, Abort> {
        let pace = Pace::new(length, chunk)?;
        let (course, hash) = Course::new(e, key, iv, aad, length)?;
        Ok(StreamSealer { course, pace, hash })
    }

    /// Encrypt the next chunk, or whole blocks of it: its column `i` has a lane for each block with a byte at
    /// place `i` ([`lanes_at`]). The ciphertext, opened to all parties when everything behind it is verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for another length than the text requires.
    pub fn chunk(&mut self, e: &mut E, key: &TextsKey<E>, text: &[E::Byte]) -> Result<Vec<u8>, Abort> {
        let bytes = text.iter().map(Lanes::lanes).sum();
        let first = self.pace.next(bytes)?;
        let with_mask = first == 1;
        let (mut stream, mask) = self.course.stream(e, key, first, bytes, with_mask)?;
        if text.len() != stream.len() || text.iter().zip(&stream).any(|(x, y)| x.lanes() != y.lanes()) {
            return Err(Abort::Misuse { step: TEXT, what: "columns that are not those of a text" });
        }
        for (stream, text) in stream.iter_mut().zip(text) {
            e.add(stream, text)?;
        }
        // verified together: what one value owes goes with all that was made until then
        let (stream, mask) = e.settled((stream, mask))?.split();
        if with_mask {
            self.course.mask = mask.into_inner();
        }
        let ciphertext = interleaved(&e.open(stream)?, bytes)?;
        self.hash.text(e, key.powers()?, &ciphertext)?;
        Ok(ciphertext)
    }

    /// The tag, opened to all parties when everything behind it is verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the text is not complete.
    pub fn finish(mut self, e: &mut E, key: &TextsKey<E>) -> Result<[u8; TAG_BYTES], Abort> {
        let tag = self.course.tag(e, key, self.hash)?;
        let bytes: [E::Byte; TAG_BYTES] = e.convert(tag)?;
        let opened = e.reveal(bytes.into())?;
        let tag = interleaved(&opened, TAG_BYTES)?.try_into();
        tag.map_err(|_| Abort::Misuse { step: ORDER, what: "a tag of 16 bytes" })
    }
}

/// One message being decrypted: first all of its ciphertext is [absorbed](StreamOpener::absorb), then its tag
/// [compared](StreamOpener::verify), then its plaintext made.
pub struct StreamOpener<E: GcmEngine> {
    course: Course<E::Block>,
    /// Of what goes into the tag, and of what is decrypted.
    pace: [Pace; 2],
    /// None once the tag was compared.
    hash: Option<GhashState<E::Block>>,
    received: (TagLength, u128),
    valid: bool,
}

impl<E: GcmEngine> StreamOpener<E> {
    /// Begin a message of `length` bytes of ciphertext with this tag, as [`TagLength::element`] gives it, in
    /// chunks of so many bytes.
    ///
    /// # Errors
    /// As [`StreamSealer::new`].
    pub fn new(
        e: &mut E,
        key: &mut TextsKey<E>,
        iv: &[u8],
        aad: &[u8],
        (length, chunk): (u64, u64),
        received: (TagLength, u128),
    ) -> Result<Self, Abort> {
        let pace = [Pace::new(length, chunk)?, Pace::new(length, chunk)?];
        let (course, hash) = Course::new(e, key, iv, aad, length)?;
        Ok(StreamOpener { course, pace, hash: Some(hash), received, valid: false })
    }

    /// The next chunk of the ciphertext, or whole blocks of it, goes into the tag.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] after [`StreamOpener::verify`].
    pub fn absorb(&mut self, e: &mut E, key: &TextsKey<E>, ciphertext: &[u8]) -> Result<(), Abort> {
        let hash = self.hash.as_mut().ok_or(COMPARED)?;
        self.pace[0].next(ciphertext.len())?;
        hash.text(e, key.powers()?, ciphertext)
    }

    /// Compare the tag, inside: true if it is right. All parties get the same answer.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the ciphertext is not complete.
    pub fn verify(&mut self, e: &mut E, key: &TextsKey<E>) -> Result<bool, Abort> {
        let hash = self.hash.take().ok_or(COMPARED)?;
        let tag = self.course.tag(e, key, hash)?;
        self.valid = tags_match(e, tag, &[self.received])? == [true];
        Ok(self.valid)
    }

    /// How much was decrypted, in bytes.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.pace[1].done
    }

    /// Decrypt the next chunk, or whole blocks of it: the columns of the plaintext, verified. The caller sees
    /// to it that this is what was absorbed.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] unless the tag was found right.
    pub fn chunk(
        &mut self,
        e: &mut E,
        key: &TextsKey<E>,
        ciphertext: &[u8],
    ) -> Result<Verified<Vec<E::Byte>>, Abort> {
        if !self.valid {
            let what = "a text whose tag was not verified";
            return Err(Abort::Misuse { step: ORDER, what }); // [M0.7, A23]
        }
        let first = self.pace[1].next(ciphertext.len())?;
        let (mut text, _) = self.course.stream(e, key, first, ciphertext.len(), false)?;
        for (i, byte) in text.iter_mut().enumerate() {
            let column: Vec<u8> = ciphertext.iter().skip(i).step_by(16).copied().collect();
            if !column.is_empty() {
                e.add_public(byte, &column)?;
            }
        }
        e.settled(text)
    }
}

const COMPARED: Abort = Abort::Misuse { step: ORDER, what: "the tag was compared already" };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::ghash::Steps;
    use divisi_core::{Bytes, Plain};

    fn key() -> TextsKey<Plain> {
        let e = &mut Plain;
        let key: Vec<_> = (0..16).map(|i| e.public(&[7 * i])).collect();
        let round_keys = aes::expand(e, &key).unwrap();
        TextsKey::new(e, round_keys, Steps::new(2, 2).unwrap()).unwrap()
    }

    fn columns(text: &[u8]) -> Vec<<Plain as Bytes>::Byte> {
        let column = |i: usize| text.iter().skip(i).step_by(16).copied().collect::<Vec<u8>>();
        (0..16).map(|i| Plain.public(&column(i))).collect()
    }

    /// However a text is cut, under an IV of any length: what it is as a whole.
    #[test]
    fn chunks_are_parts_of_the_whole() {
        let (e, mut key, aad) = (&mut Plain, key(), b"whatever goes with it");
        let text: Vec<u8> = (0..167).collect();
        for iv in [&[1; 12][..], &[2; 8], &[3; 60]] {
            let (ciphertext, tag) = key.seal(e, iv, aad, &columns(&text)).unwrap();
            for chunk in [16, 48, 176] {
                let mut sealer = StreamSealer::new(e, &mut key, iv, aad, 167, chunk as u64).unwrap();
                let parts = text.chunks(chunk).map(|part| sealer.chunk(e, &key, &columns(part)).unwrap());
                assert_eq!(parts.collect::<Vec<_>>().concat(), ciphertext);
                assert_eq!(sealer.finish(e, &key).unwrap(), tag);
                let received = (TagLength::Bits128, TagLength::Bits128.element(&tag).unwrap());
                let mut opener =
                    StreamOpener::new(e, &mut key, iv, aad, (167, chunk as u64), received).unwrap();
                ciphertext.chunks(chunk).for_each(|part| opener.absorb(e, &key, part).unwrap());
                assert!(opener.verify(e, &key).unwrap());
                let mut opened = Vec::new();
                for part in ciphertext.chunks(chunk) {
                    let part = (opener.chunk(e, &key, part).unwrap(), part.len());
                    let columns: Vec<_> = part.0.get().iter().map(|byte| byte.values().to_vec()).collect();
                    opened.extend(interleaved(&columns, part.1).unwrap());
                }
                assert_eq!((opened, opener.done()), (text.clone(), 167));
            }
        }
    }

    #[test]
    fn what_is_out_of_turn_is_refused() {
        let (e, mut key) = (&mut Plain, key());
        let misuse = |result: Result<(), Abort>| matches!(result, Err(Abort::Misuse { .. }));
        assert!(misuse(StreamSealer::new(e, &mut key, &[1; 12], b"", 40, 24).map(drop)));
        let mut sealer = StreamSealer::new(e, &mut key, &[1; 12], b"", 40, 32).unwrap();
        // not whole blocks before the end, nothing, and more than a chunk
        for bytes in [17, 0, 40] {
            assert!(misuse(sealer.chunk(e, &key, &columns(&vec![0; bytes])).map(drop)), "{bytes}");
        }
        assert!(misuse(sealer.finish(e, &key).map(drop)));
        let right = (TagLength::Bits128, 1);
        let mut opener = StreamOpener::new(e, &mut key, &[1; 12], b"", (16, 32), right).unwrap();
        assert!(misuse(opener.chunk(e, &key, &[0; 16]).map(drop)));
        opener.absorb(e, &key, &[0; 16]).unwrap();
        assert!(!opener.verify(e, &key).unwrap());
        assert!(misuse(opener.absorb(e, &key, &[0; 16])));
        assert!(misuse(opener.verify(e, &key).map(drop)));
        assert!(misuse(opener.chunk(e, &key, &[0; 16]).map(drop)));
    }
}
