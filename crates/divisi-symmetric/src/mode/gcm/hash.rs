//! GHASH of GCM's input: associated data and ciphertext, each padded with zeros, and their lengths.

use super::{Lengths, element};
use crate::mode::ghash::{Ghash, Powers, Steps};
use divisi_core::{Abort, Blocks, Lanes, Misuse, Step, step};

const HASH: Step = step!("hash");

/// GHASH of one message, in pieces: first associated data, then ciphertext, then the lengths.
pub struct GhashState<B> {
    /// For an open-ended message the message is taken to be as long as it may be, until it ends.
    lengths: Lengths,
    is_open: bool,
    ghash: Ghash<B>,
    padding: Padding,
    aad: u64,
    message: u64,
}

impl<B: Lanes + Clone> GhashState<B> {
    /// Begins the hash of a message with these lengths.
    #[must_use]
    pub fn new(steps: Steps, lengths: Lengths) -> Self {
        let ghash = Ghash::new(steps, lengths.hash_blocks());
        GhashState { lengths, is_open: false, ghash, padding: Padding::default(), aad: 0, message: 0 }
    }

    /// Begins the hash of a message whose message ends where [`GhashState::end_at`] says; `longest` has the
    /// length of its associated data, and the largest length of its message.
    #[must_use]
    pub fn open_ended(steps: Steps, longest: Lengths) -> Self {
        let ghash = Ghash::open_ended(steps);
        GhashState { lengths: longest, is_open: true, ghash, padding: Padding::default(), aad: 0, message: 0 }
    }

    /// Says how long the message is, before its last bytes are processed.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the length was known, or if more or as many bytes were processed, unless there
    /// are none.
    pub fn end_at(&mut self, message: u64) -> Result<(), Abort> {
        let fits = message > self.message || (message, self.message) == (0, 0);
        if !self.is_open || !fits || message > self.lengths.message() {
            return Err(misuse(Misuse::LengthDiffers));
        }
        self.is_open = false;
        let lengths = Lengths::new(self.lengths.aad(), message);
        self.lengths = lengths.map_err(|_| misuse(Misuse::TooLarge))?;
        Ok(())
    }

    /// Processes the next bytes of the associated data.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if there are more bytes than announced, or if
    /// message has been processed already.
    pub fn aad<E>(&mut self, e: &mut E, powers: &Powers<B>, bytes: &[u8]) -> Result<(), Abort>
    where
        E: Blocks<Block = B> + ?Sized,
    {
        if self.message > 0 {
            return Err(misuse(Misuse::OutOfOrder));
        }
        self.aad = counted(self.aad, bytes, self.lengths.aad())?;
        let blocks = self.padding.push(bytes);
        let last = (self.aad == self.lengths.aad()).then(|| self.padding.close()).flatten();
        self.ghash.absorb(e, powers, &blocks)?;
        self.ghash.absorb(e, powers, last.as_slice())
    }

    /// Processes the next bytes of the ciphertext.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if there are more bytes than announced, or if
    /// associated data is missing.
    pub fn message<E>(&mut self, e: &mut E, powers: &Powers<B>, bytes: &[u8]) -> Result<(), Abort>
    where
        E: Blocks<Block = B> + ?Sized,
    {
        if self.aad != self.lengths.aad() {
            return Err(misuse(Misuse::LengthDiffers));
        }
        self.message = counted(self.message, bytes, self.lengths.message())?;
        let blocks = self.padding.push(bytes);
        let is_last = !self.is_open && self.message == self.lengths.message();
        let last = is_last.then(|| self.padding.close()).flatten();
        self.ghash.absorb(e, powers, &blocks)?;
        self.ghash.absorb(e, powers, last.as_slice())
    }

    /// Processes the block of lengths, and returns the hash in one lane.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if the message is shorter than announced.
    pub fn finish<E>(mut self, e: &mut E, powers: &Powers<B>) -> Result<B, Abort>
    where
        E: Blocks<Block = B> + ?Sized,
    {
        if self.is_open || (self.aad, self.message) != (self.lengths.aad(), self.lengths.message()) {
            return Err(misuse(Misuse::LengthDiffers));
        }
        self.ghash.absorb(e, powers, &[element(self.lengths.length_block())])?;
        self.ghash.finish_here(e, powers)
    }
}

/// GHASH of a complete message.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if the message is too long, or there are too few
/// powers.
pub fn hash<E>(e: &mut E, powers: &Powers<E::Block>, aad: &[u8], message: &[u8]) -> Result<E::Block, Abort>
where
    E: Blocks + ?Sized,
{
    let lengths = Lengths::new(aad.len() as u64, message.len() as u64);
    let lengths = lengths.map_err(|_| misuse(Misuse::TooLarge))?;
    let mut hash = GhashState::new(powers.steps(), lengths);
    hash.aad(e, powers, aad)?;
    hash.message(e, powers, message)?;
    hash.finish(e, powers)
}

/// Divides a stream of bytes into blocks for GHASH; the last one is padded with zeros.
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

    /// The last block of a part of the message, padded with zeros, if it is incomplete.
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

fn counted(before: u64, bytes: &[u8], limit: u64) -> Result<u64, Abort> {
    let now = before.checked_add(bytes.len() as u64).filter(|&now| now <= limit);
    now.ok_or(misuse(Misuse::LengthDiffers))
}

fn misuse(what: Misuse) -> Abort {
    Abort::Misuse { step: HASH, what }
}

#[cfg(test)]
mod tests {
    use super::*;

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
