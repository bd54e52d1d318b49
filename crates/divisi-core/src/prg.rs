//! The pseudo-random generator behind every correlated random value: AES-128 in counter mode.
//!
//! Computational security 128 bits (keys) with a 128-bit counter that starts at zero and never repeats: a stream belongs
//! to one key, and a key to one purpose of one strand of one session ([`crate::Session::prg`]).

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};
use zeroize::Zeroize;

/// How many blocks are made at once: enough to fill the widest pipelines.
const BATCH: usize = 64;

/// A stream of pseudo-random bytes, each given out once.
pub struct Prg {
    cipher: Aes128Enc,
    counter: u128,
    buffer: [Block; BATCH],
    /// How many bytes of the buffer were given out.
    used: usize,
}

impl Prg {
    /// The stream of a key that serves this purpose only.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        let cipher = Aes128Enc::new(&(*key).into());
        Prg { cipher, counter: 0, buffer: [Block::default(); BATCH], used: BATCH * 16 }
    }

    /// The next bytes of the stream.
    pub fn fill(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.used == BATCH * 16 {
                self.refill();
            }
            let (block, at) = (&self.buffer[self.used / 16], self.used % 16);
            let n = out.len().min(16 - at);
            let (now, later) = out.split_at_mut(n);
            now.copy_from_slice(&block[at..at + n]);
            self.used += n;
            out = later;
        }
    }

    /// The next 64-bit words of the stream, little-endian.
    pub fn words(&mut self, mut out: &mut [u64]) {
        while !out.is_empty() {
            if self.used == BATCH * 16 {
                self.refill();
            }
            if !self.used.is_multiple_of(16) {
                // within a block: as bytes, up to its end
                let mut word = [0; 8];
                self.fill(&mut word);
                out[0] = u64::from_le_bytes(word);
                out = &mut out[1..];
                continue;
            }
            let blocks = &self.buffer[self.used / 16..];
            let (pairs, rest) = out.as_chunks_mut::<2>();
            let n = pairs.len().min(blocks.len());
            for (pair, block) in pairs.iter_mut().zip(blocks) {
                let (halves, _) = block.as_chunks::<8>();
                *pair = [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])];
            }
            self.used += n * 16;
            if n == pairs.len() {
                if let [last] = rest {
                    let mut word = [0; 8];
                    self.fill(&mut word);
                    *last = u64::from_le_bytes(word);
                }
                return;
            }
            out = &mut out[2 * n..];
        }
    }

    fn refill(&mut self) {
        for block in &mut self.buffer {
            *block = self.counter.to_le_bytes().into();
            self.counter += 1;
        }
        self.cipher.encrypt_blocks(&mut self.buffer);
        self.used = 0;
    }
}

impl Drop for Prg {
    fn drop(&mut self) {
        self.buffer.iter_mut().for_each(|block| block.as_mut_slice().zeroize());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_does_not_depend_on_how_it_is_read() {
        let mut whole = vec![0; 5000];
        Prg::new(&[7; 16]).fill(&mut whole);
        let mut parts = vec![0; 5000];
        let mut prg = Prg::new(&[7; 16]);
        let mut at = 0;
        for n in [0, 1, 15, 16, 17, 1023, 1024, 1025, 1879] {
            prg.fill(&mut parts[at..at + n]);
            at += n;
        }
        assert_eq!(at, 5000);
        assert_eq!(whole, parts);
    }

    #[test]
    fn words_are_the_same_stream() {
        for skip in [0, 3, 8, 16, 24] {
            let mut bytes = vec![0; 8 * 1000];
            let (mut of_bytes, mut of_words) = (Prg::new(&[9; 16]), Prg::new(&[9; 16]));
            of_bytes.fill(&mut bytes[..skip]);
            of_words.fill(&mut bytes[..skip]);
            of_bytes.fill(&mut bytes);
            let mut words = vec![0; 1000];
            let mut at = 0;
            for n in [0, 1, 2, 3, 127, 128, 129, 610] {
                of_words.words(&mut words[at..at + n]);
                at += n;
            }
            assert_eq!(at, 1000);
            assert!(words.iter().zip(bytes.chunks(8)).all(|(w, b)| w.to_le_bytes() == b), "{skip}");
        }
    }

    #[test]
    fn the_stream_is_aes_in_counter_mode() {
        let mut out = [0; 16];
        Prg::new(&[0; 16]).fill(&mut out);
        assert_eq!(hex(&out), "66e94bd4ef8a2c3b884cfa59ca342b2e");
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }
}
