//! AES-GCM on a stored key, for clients. The mode itself, and what it opens, are in
//! [`divisi_symmetric::mode::gcm`]; here a client's plaintext comes in as parts of a sharing, or leaves as
//! such.
//!
//! Adversary: one malicious server, any client. Security: that of [`divisi_rep3`], with abort.
//!
//! What is opened, and when (docs/lookups.md, 6):
//! - **Sealing**: a chunk of ciphertext is opened when all products that it depends on are verified, and so
//!   is the tag.
//! - **Opening**: first the tag. The difference of the tag computed and the tag received is never opened
//!   (check A23): it is multiplied by a random block that nobody knows, that product and everything it
//!   depends on is verified, and then only the product is opened: zero for a right tag, uniform for a wrong
//!   one. After that chunks of plaintext leave, each when it is verified. A lie that would turn a valid tag
//!   into "invalid" is a wrong product: an abort, not an answer.
//!
//! A wrong tag passes if the random block is zero, with probability 2^-128.
//!
//! To be opened, a message is read twice, because servers keep none of it: the second reading must have the
//! same bytes as the first.
//!
//! Memory: a chunk of message, the powers of the hash key (160 KiB at most), and the memory of
//! [`crate::cipher`].

mod key;

pub use key::GcmKey;
pub(crate) use key::key_bytes;

use crate::settle::close;
use divisi_core::{Abort, Misuse, Step, Verified, step};
use divisi_rep3::deal::Part;
use divisi_rep3::open::Answer;
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::mode::gcm::{StreamOpener, StreamSealer, TAG_BYTES, TagLength};
use std::ops::Range;

/// Bytes of message in a chunk: every chunk but the last is full.
pub const CHUNK: usize = 131_072;

/// Bytes of a whole tag.
pub const TAG: usize = TAG_BYTES;

const ORDER: Step = step!("order");

/// This party's components of a message as 16 shared bytes, one for each position in a block, with a lane for
/// each block.
pub(crate) fn columns(rep: &mut Rep3, part: &Part) -> Result<Vec<Byte>, Abort> {
    let column = |bytes: &[u8], i: usize| bytes.iter().skip(i).step_by(16).copied().collect::<Vec<u8>>();
    (0..16)
        .map(|i| rep.trio().input(&Part { first: column(&part.first, i), second: column(&part.second, i) }))
        .collect()
}

/// One message being encrypted.
pub struct Sealing(StreamSealer<Rep3>);

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
        StreamSealer::new(rep, &mut key.0, &iv, aad, length, CHUNK as u64).map(Sealing)
    }

    /// Begin a message whose length [`Sealing::end_at`] says before its last chunk. The IV was drawn for this
    /// message alone.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn open_ended(rep: &mut Rep3, key: &mut GcmKey, iv: [u8; 12], aad: &[u8]) -> Result<Sealing, Abort> {
        StreamSealer::open_ended(rep, &mut key.0, &iv, aad, CHUNK as u64).map(Sealing)
    }

    /// Say how long an open-ended message is, before its last chunk. The length is agreed.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the length was known, or is not in the next chunk.
    pub fn end_at(&mut self, length: u64) -> Result<(), Abort> {
        self.0.end_at(length)
    }

    /// The number of bytes that were encrypted.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.0.done()
    }

    /// Encrypt the next chunk, or whole blocks of it. The ciphertext is opened to all three parties when
    /// everything that it depends on is verified.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn chunk(&mut self, rep: &mut Rep3, key: &GcmKey, part: &Part) -> Result<Vec<u8>, Abort> {
        let message = columns(rep, part)?;
        self.0.chunk(rep, &key.0, &message)
    }

    /// The tag, opened to all three parties when everything that it depends on is verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the message is not complete.
    pub fn finish(self, rep: &mut Rep3, key: &GcmKey) -> Result<[u8; TAG], Abort> {
        self.0.finish(rep, &key.0)
    }
}

/// One message being decrypted.
pub struct Opening {
    opener: StreamOpener<Rep3>,
    /// The digests of the chunks of the first reading: the second one must have the same.
    first_reading: Vec<[u8; 32]>,
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
        let unsupported = Abort::Misuse { step: ORDER, what: Misuse::LengthUnsupported };
        let size = TagLength::from_bits(8 * tag.len()).map_err(|_| unsupported.clone())?;
        let tag = (size, size.element(tag).ok_or(unsupported)?);
        let opener = StreamOpener::new(rep, &mut key.0, &iv, aad, (length, CHUNK as u64), tag)?;
        Ok(Opening { opener, first_reading: Vec::new() })
    }

    /// The next chunk of the ciphertext, first reading: it goes into the tag.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] after [`Opening::verify`].
    pub fn absorb(&mut self, rep: &mut Rep3, key: &GcmKey, ciphertext: &[u8]) -> Result<(), Abort> {
        self.opener.absorb(rep, &key.0, ciphertext)?;
        self.first_reading.push(*blake3::hash(ciphertext).as_bytes());
        Ok(())
    }

    /// Compare the tag inside the computation: true if it is right. All three parties get the same answer.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the ciphertext is not complete.
    pub fn verify(&mut self, rep: &mut Rep3, key: &GcmKey) -> Result<bool, Abort> {
        self.opener.verify(rep, &key.0)
    }

    /// Decrypt the next chunk, second reading. Returns this party's answer to the client about the plaintext,
    /// when everything that it depends on is verified. `context` binds the answer to its request.
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
    /// The errors of [`Opening::chunk`]; [`Abort::Misuse`] unless the part follows the one before.
    pub fn slice(
        &mut self,
        rep: &mut Rep3,
        key: &GcmKey,
        chunk: &[u8],
        part: Range<usize>,
    ) -> Result<Verified<Vec<Byte>>, Abort> {
        let done = self.opener.done();
        let place = (done / CHUNK as u64) as usize;
        if self.first_reading.get(place) != Some(blake3::hash(chunk).as_bytes()) {
            return Err(Abort::Misuse { step: ORDER, what: Misuse::InputsDiffer });
        }
        let ciphertext = chunk.get(part.clone()).filter(|_| done % CHUNK as u64 == part.start as u64);
        let misplaced = Abort::Misuse { step: ORDER, what: Misuse::OutOfOrder };
        self.opener.chunk(rep, &key.0, ciphertext.ok_or(misplaced)?)
    }
}

/// This party's answer to a client about the plaintext of a chunk, from its parts in order, each verified.
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
    let whole = whole.ok_or(Abort::Misuse { step: ORDER, what: Misuse::OutOfOrder })?;
    rep.trio().answer_message(context, &whole, bytes)
}
