//! AES-GCM on a stored key: the one place where the mode of divisi-symmetric meets the three-party engine.
//!
//! Adversary: one malicious server, any client. Security: that of [`divisi_rep3`], with abort.
//!
//! What is opened, and when (docs/lookups.md, 6):
//! - **Sealing**: a chunk of ciphertext when all products behind it are verified; the tag when those
//!   behind it are, too.
//! - **Opening**: first the tag. The difference of the tag computed and the tag received is never opened
//!   (check A23): it is multiplied by a random block that nobody knows, that product and everything
//!   behind it is verified, and then only the product is opened: zero for a right tag, uniform for a
//!   wrong one. A chunk of plaintext leaves after that, each when verified. A lie that would turn a
//!   valid tag into "invalid" is a wrong product: an abort, not an answer.
//!
//! A wrong tag passes if the random block is zero, with probability 2^-128.
//!
//! Memory: a chunk of text, the powers of the hash key (160 KiB at most), and what [`cipher`] takes.

mod key;

pub use key::GcmKey;
pub(crate) use key::key_bytes;

use crate::cipher;
use crate::settle::close;
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes, Step, Verified, step};
use divisi_rep3::deal::Part;
use divisi_rep3::open::Answer;
use divisi_rep3::{Block, Byte, Rep3};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::mode::ghash::Steps;
use divisi_symmetric::mode::{ctr, gcm};
use std::ops::Range;

/// Bytes of text in a chunk: every chunk but the last is full.
pub const CHUNK: usize = 65_536;

/// Bytes of a whole tag.
pub const TAG: usize = 16;

const TEXT: Step = step!("text");
const ORDER: Step = step!("order");

/// How many blocks of a text of `bytes` bytes have a byte at place `i` of the block.
pub(crate) fn lanes_at(bytes: usize, i: usize) -> usize {
    (bytes + 15 - i) / 16
}

/// Our components of a text as 16 secrets, one for each place of a block, a lane a block.
pub(crate) fn columns(rep: &mut Rep3, part: &Part) -> Result<Vec<Byte>, Abort> {
    let column = |bytes: &[u8], i: usize| bytes.iter().skip(i).step_by(16).copied().collect::<Vec<u8>>();
    (0..16)
        .map(|i| rep.trio().input(&Part { first: column(&part.first, i), second: column(&part.second, i) }))
        .collect()
}

/// A text back from its columns.
pub(crate) fn interleave(columns: &[Vec<u8>], bytes: usize) -> Vec<u8> {
    let byte = |at: usize| columns.get(at % 16).and_then(|column| column.get(at / 16));
    (0..bytes).map(|at| byte(at).copied().unwrap_or(0)).collect()
}

/// The key stream for `bytes` bytes of text from block `first` on (the first block of the text is 1),
/// cut to the text; no byte of key stream beyond the text is kept.
fn text_stream(
    rep: &mut Rep3,
    key: &RoundKeys<Byte>,
    j0: &[u8; 16],
    first: u32,
    bytes: usize,
    with_mask: bool,
) -> Result<(Vec<Byte>, Option<Block>), Abort> {
    let n = bytes.div_ceil(16);
    let mut counters = ctr::columns(j0, first, n);
    if with_mask {
        // the block that masks the tag rides in the last lane
        counters.iter_mut().zip(j0).for_each(|(column, byte)| column.push(*byte));
    }
    let stream = cipher::keystream(rep, key, None, &counters)?;
    let mask = if with_mask { Some(gcm::tag_masks(rep, &stream, &[n])?) } else { None };
    let cut = stream.iter().enumerate().map(|(i, byte)| byte.prefix(lanes_at(bytes, i)));
    let cut = cut.collect::<Option<Vec<Byte>>>();
    Ok((cut.ok_or(Abort::Misuse { step: TEXT, what: "the key stream is shorter than the text" })?, mask))
}

/// What sealing and opening keep while a text streams through.
struct Stream {
    j0: [u8; 16],
    length: u64,
    /// Bytes of text so far.
    done: u64,
    /// E_K(J_0), verified.
    mask: Option<Verified<Block>>,
}

impl Stream {
    fn new(iv: &[u8; 12], length: u64) -> Stream {
        Stream { j0: gcm::j0(iv), length, done: 0, mask: None }
    }

    /// The number of the next block, and whether so many bytes may come now: what is left of a chunk, or
    /// whole blocks of it.
    fn next(&mut self, bytes: usize) -> Result<u32, Abort> {
        let left = (self.length - self.done).min(CHUNK as u64 - self.done % CHUNK as u64);
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

/// One message being encrypted.
pub struct Sealing {
    stream: Stream,
    hash: gcm::GhashState<Block>,
}

impl Sealing {
    /// Begin a message of `length` bytes. The lengths are agreed, and the IV was drawn for this message
    /// alone.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if GCM has no room for the message; the abort that ends the session.
    pub fn new(
        rep: &mut Rep3,
        key: &mut GcmKey,
        iv: [u8; 12],
        aad: &[u8],
        length: u64,
    ) -> Result<Sealing, Abort> {
        let hash = begin(rep, key, aad, length)?;
        Ok(Sealing { stream: Stream::new(&iv, length), hash })
    }

    /// Encrypt the next chunk, or whole blocks of it: the ciphertext, opened to all three when everything
    /// behind it is verified.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn chunk(&mut self, rep: &mut Rep3, key: &GcmKey, part: &Part) -> Result<Vec<u8>, Abort> {
        let bytes = part.first.len();
        let first = self.stream.next(bytes)?;
        let with_mask = self.stream.mask.is_none();
        let (mut text, mask) = text_stream(rep, key.round_keys(), &self.stream.j0, first, bytes, with_mask)?;
        for (stream, plain) in text.iter_mut().zip(columns(rep, part)?) {
            rep.add(stream, &plain)?;
        }
        let (text, mask) = close(rep, (text, mask))?.split();
        if with_mask {
            self.stream.mask = mask.transpose();
        }
        let ciphertext = interleave(&rep.trio().open(&text)?, bytes);
        self.hash.text(rep, key.ready()?, &ciphertext)?;
        Ok(ciphertext)
    }

    /// The tag, opened to all three when everything behind it is verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the text is not complete.
    pub fn finish(mut self, rep: &mut Rep3, key: &GcmKey) -> Result<[u8; TAG], Abort> {
        let mask = mask(rep, key, &mut self.stream)?;
        let ghash = self.hash.finish(rep, key.ready()?)?;
        let tag = gcm::tag(rep, ghash, mask.get())?;
        let bytes: [Byte; 16] = rep.convert(tag)?;
        let verified = close(rep, bytes.to_vec())?;
        let opened = rep.trio().open(&verified)?;
        Ok(std::array::from_fn(|i| opened[i].first().copied().unwrap_or(0)))
    }
}

/// One message being decrypted.
pub struct Opening {
    stream: Stream,
    /// The digests of the chunks of the first reading: the second one must have the same.
    first_reading: Vec<[u8; 32]>,
    first: Stream,
    hash: Option<gcm::GhashState<Block>>,
    tag: (gcm::TagLength, u128),
    valid: bool,
}

impl Opening {
    /// Begin a message of `length` bytes of ciphertext with this tag.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if GCM has no room for the message, or the tag has no length that is supported.
    pub fn new(
        rep: &mut Rep3,
        key: &mut GcmKey,
        iv: [u8; 12],
        aad: &[u8],
        length: u64,
        tag: &[u8],
    ) -> Result<Opening, Abort> {
        let unsupported = Abort::Misuse { step: ORDER, what: "a tag of a length that is not supported" };
        let size = gcm::TagLength::from_bits(8 * tag.len()).map_err(|_| unsupported.clone())?;
        let tag = (size, size.element(tag).ok_or(unsupported)?);
        let hash = Some(begin(rep, key, aad, length)?);
        let (stream, first) = (Stream::new(&iv, length), Stream::new(&iv, length));
        Ok(Opening { stream, first_reading: Vec::new(), first, hash, tag, valid: false })
    }

    /// The next chunk of the ciphertext, first reading: it goes into the tag.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] after [`Opening::verify`].
    pub fn absorb(&mut self, rep: &mut Rep3, key: &GcmKey, ciphertext: &[u8]) -> Result<(), Abort> {
        let late = Abort::Misuse { step: ORDER, what: "the tag was compared already" };
        let hash = self.hash.as_mut().ok_or(late)?;
        self.first.next(ciphertext.len())?;
        self.first_reading.push(*blake3::hash(ciphertext).as_bytes());
        hash.text(rep, key.ready()?, ciphertext)
    }

    /// Compare the tag, inside: true if it is right. All three get the same answer.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the ciphertext is not complete.
    pub fn verify(&mut self, rep: &mut Rep3, key: &GcmKey) -> Result<bool, Abort> {
        let late = Abort::Misuse { step: ORDER, what: "the tag was compared already" };
        let hash = self.hash.take().ok_or(late)?;
        let mask = mask(rep, key, &mut self.stream)?;
        let ghash = hash.finish(rep, key.ready()?)?;
        let tag = gcm::tag(rep, ghash, mask.get())?;
        self.valid = tags_match(rep, tag, &[self.tag])?.first().copied().unwrap_or(false);
        Ok(self.valid)
    }

    /// Decrypt the next chunk, second reading: what the client gets of the plaintext from us, when
    /// everything behind it is verified. `context` binds the answer to its request.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] unless the tag was found right.
    pub fn chunk(
        &mut self,
        rep: &mut Rep3,
        key: &GcmKey,
        context: &[u8],
        ciphertext: &[u8],
    ) -> Result<Answer, Abort> {
        let all = self.slice(rep, key, ciphertext, 0..ciphertext.len())?;
        answer(rep, context, vec![all], ciphertext.len())
    }

    /// Decrypt whole blocks of the next chunk, second reading: the columns of that part of the plaintext,
    /// verified, for [`answer`].
    ///
    /// # Errors
    /// As [`Opening::chunk`]; [`Abort::Misuse`] unless the part follows the one before.
    pub fn slice(
        &mut self,
        rep: &mut Rep3,
        key: &GcmKey,
        chunk: &[u8],
        part: Range<usize>,
    ) -> Result<Verified<Vec<Byte>>, Abort> {
        if !self.valid {
            let what = "a text whose tag was not verified";
            return Err(Abort::Misuse { step: ORDER, what }); // [M0.7, A23]
        }
        let place = (self.stream.done / CHUNK as u64) as usize;
        if self.first_reading.get(place) != Some(blake3::hash(chunk).as_bytes()) {
            return Err(Abort::Misuse { step: ORDER, what: "a second reading that differs from the first" });
        }
        let ciphertext =
            chunk.get(part.clone()).filter(|_| self.stream.done % CHUNK as u64 == part.start as u64);
        let misplaced =
            Abort::Misuse { step: ORDER, what: "a part of a chunk that does not follow the one before" };
        let ciphertext = ciphertext.ok_or(misplaced)?;
        let first = self.stream.next(ciphertext.len())?;
        let (mut text, _) =
            text_stream(rep, key.round_keys(), &self.stream.j0, first, ciphertext.len(), false)?;
        for (i, byte) in text.iter_mut().enumerate() {
            let column: Vec<u8> = ciphertext.iter().skip(i).step_by(16).copied().collect();
            if !column.is_empty() {
                rep.add_public(byte, &column)?;
            }
        }
        close(rep, text)
    }
}

/// What a client gets of a chunk's plaintext from us: of its parts, in order, each verified.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for parts that are not those of one chunk.
pub fn answer(
    rep: &mut Rep3,
    context: &[u8],
    mut parts: Vec<Verified<Vec<Byte>>>,
    bytes: usize,
) -> Result<Answer, Abort> {
    let whole = match parts.len() {
        1 => parts.pop(),
        _ => {
            let column = |i: usize| {
                let parts: Option<Vec<&Byte>> = parts.iter().map(|part| part.get().get(i)).collect();
                Byte::join(&parts?)
            };
            // joining is linear in what was verified
            let columns: Option<Vec<Byte>> = (0..16).map(column).collect();
            columns.map(|columns| close(rep, columns)).transpose()?
        }
    };
    let whole = whole.ok_or(Abort::Misuse { step: ORDER, what: "parts of different chunks" })?;
    rep.trio().answer_text(context, &whole, bytes)
}

/// What both directions begin with: the powers, and the associated data.
fn begin(rep: &mut Rep3, key: &mut GcmKey, aad: &[u8], length: u64) -> Result<gcm::GhashState<Block>, Abort> {
    let too_long = Abort::Misuse { step: TEXT, what: "a message longer than GCM allows" };
    let lengths = gcm::Lengths::new(aad.len() as u64, length).map_err(|_| too_long)?;
    key.powers(rep, lengths.hash_blocks())?;
    let mut hash = gcm::GhashState::new(Steps::STANDARD, lengths);
    hash.aad(rep, key.ready()?, aad)?;
    Ok(hash)
}

/// E_K(J_0), verified: made with the first chunk, or now.
fn mask(rep: &mut Rep3, key: &GcmKey, stream: &mut Stream) -> Result<Verified<Block>, Abort> {
    if let Some(mask) = stream.mask.take() {
        return Ok(mask);
    }
    let (_, mask) = text_stream(rep, key.round_keys(), &stream.j0, 1, 0, true)?;
    let mask = mask.ok_or(Abort::Misuse { step: ORDER, what: "the mask of the tag is missing" })?;
    close(rep, mask)
}

/// Whether each lane of `tags` equals the tag received, without opening the difference \[A23\].
///
/// # Errors
/// The abort that ends the session.
pub(crate) fn tags_match(
    rep: &mut Rep3,
    mut tags: Block,
    received: &[(gcm::TagLength, u128)],
) -> Result<Vec<bool>, Abort> {
    let n = tags.lanes();
    let received_elements: Vec<u128> = received.iter().map(|(_, element)| *element).collect();
    rep.add_public_block(&mut tags, &received_elements)?;
    let difference = truncate(rep, tags, received)?;
    // times a random block that nobody knows
    let r = rep.random_blocks(n);
    let masked = rep.multiply(&difference, &r)?;
    let bytes: [Byte; 16] = rep.convert(masked)?;
    let verified = close(rep, bytes.to_vec())?;
    rep.trio().session().observe(divisi_core::Check::A23);
    let opened = rep.trio().open(&verified)?;
    Ok((0..n).map(|l| opened.iter().fold(0, |any, column| any | column[l]) == 0).collect())
}

/// Zero the bytes of each lane that lie beyond its tag.
pub(crate) fn truncate(
    rep: &mut Rep3,
    tags: Block,
    received: &[(gcm::TagLength, u128)],
) -> Result<Block, Abort> {
    if received.iter().all(|(length, _)| length.bytes() == TAG) {
        return Ok(tags);
    }
    // a lane of the result is the lane of `tags`, or zero: bytes are picked from the tags and a zero
    // lane after them
    let n = tags.lanes();
    let zero = rep.public(&[0]);
    let bytes: [Byte; 16] = rep.convert(tags)?;
    let mut kept = Vec::with_capacity(16);
    for (i, byte) in bytes.into_iter().enumerate() {
        let with_zero = byte.with(&zero);
        let index: Vec<usize> = received
            .iter()
            .enumerate()
            .map(|(l, (length, _))| if i < length.bytes() { l } else { n })
            .collect();
        kept.extend(with_zero.and_then(|byte| byte.gather(&index)));
    }
    let kept = <[Byte; 16]>::try_from(kept);
    rep.convert(kept.map_err(|_| Abort::Misuse { step: ORDER, what: "lanes and tags differ in number" })?)
}
