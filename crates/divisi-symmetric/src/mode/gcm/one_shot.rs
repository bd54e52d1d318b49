//! GCM of a message in memory, with an IV of any length.

use super::stream::{StreamOpener, StreamSealer};
use super::{MessagesKey, TagLength};
use crate::engines::GcmEngine;
use divisi_core::{Abort, Lanes, Misuse, Step, Verified, step};

const WHOLE: Step = step!("gcm");

/// The length of a chunk in bytes. It is longer than any message that GCM allows, so that the whole message
/// is one chunk.
const CHUNK: u64 = 1 << 40;

impl<E: GcmEngine> MessagesKey<E> {
    /// Encrypts a message: returns the ciphertext and the full tag (SP 800-38D, algorithm 4), which all
    /// parties learn, the ciphertext before the tag is computed. Column `i` of the message has a lane for
    /// each block with a byte at position `i` ([`lanes_at`](super::lanes_at)). If the IV does not have 96
    /// bits, the counter blocks are secret ([`long_iv`](super::long_iv)).
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the columns are not those of a message, the
    /// message is longer than GCM allows, or the IV is empty.
    pub fn seal(
        &mut self,
        e: &mut E,
        iv: &[u8],
        aad: &[u8],
        message: &[E::Byte],
    ) -> Result<(Vec<u8>, [u8; 16]), Abort> {
        let bytes = message.iter().map(|byte| byte.lanes() as u64).sum();
        let mut sealer = StreamSealer::new(e, self, iv, aad, bytes, CHUNK)?;
        let ciphertext = if bytes == 0 { Vec::new() } else { sealer.chunk(e, self, message)? };
        Ok((ciphertext, sealer.finish(e, self)?))
    }

    /// Decrypts a ciphertext (algorithm 5). If the tag is right: the columns of the plaintext, verified.
    /// Otherwise `None`, and nothing is decrypted. All parties learn whether the tag is right, and nothing
    /// else: the difference of the tags is not opened \[A23\].
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the message is longer than GCM allows, the tag
    /// has a length that GCM does not have, or the IV is empty.
    pub fn open(
        &mut self,
        e: &mut E,
        iv: &[u8],
        aad: &[u8],
        ciphertext: &[u8],
        received: &[u8],
    ) -> Result<Option<Verified<Vec<E::Byte>>>, Abort> {
        let length = TagLength::from_bits_even_short(8 * received.len()).ok();
        let received = length.and_then(|length| Some((length, length.element(received)?)));
        let received = received.ok_or_else(|| misuse(Misuse::LengthDiffers))?;
        let mut opener = StreamOpener::new(e, self, iv, aad, (ciphertext.len() as u64, CHUNK), received)?;
        if !ciphertext.is_empty() {
            opener.absorb(e, self, ciphertext)?;
        }
        if !opener.verify(e, self)? {
            return Ok(None);
        }
        if ciphertext.is_empty() {
            let columns = (0..16).map(|_| e.public(&[])).collect();
            return e.settled(columns).map(Some);
        }
        opener.chunk(e, self, ciphertext).map(Some)
    }
}

fn misuse(what: Misuse) -> Abort {
    Abort::Misuse { step: WHOLE, what }
}
