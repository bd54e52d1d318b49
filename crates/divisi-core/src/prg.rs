//! The pseudo-random generator behind every correlated random value: AES-128 in counter mode.
//!
//! Computational security 128 bits (keys) with a 128-bit counter that starts at zero and never repeats: a stream belongs
//! to one key, and a key to one purpose of one strand of one session ([`crate::Session::key`]).

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};
use zeroize::{Zeroize, Zeroizing};

/// How many blocks are made at once: enough to fill the widest pipelines.
const BATCH: usize = 64;

/// A stream of pseudo-random bytes, each given out once.
pub struct Prg {
    cipher: Aes128Enc,
    counter: u128,
    buffer: [u8; BATCH * 16],
    used: usize,
}

impl Prg {
    /// The stream of a key that serves this purpose only.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        Prg { cipher: Aes128Enc::new(&(*key).into()), counter: 0, buffer: [0; BATCH * 16], used: BATCH * 16 }
    }

    /// The next bytes of the stream.
    pub fn fill(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.used == self.buffer.len() {
                self.refill();
            }
            let n = out.len().min(self.buffer.len() - self.used);
            let (now, later) = out.split_at_mut(n);
            now.copy_from_slice(&self.buffer[self.used..self.used + n]);
            self.used += n;
            out = later;
        }
    }

    /// The next 64-bit words of the stream.
    pub fn words(&mut self, out: &mut [u64]) {
        let mut bytes = Zeroizing::new([0u8; 512]);
        for chunk in out.chunks_mut(64) {
            let bytes = &mut bytes[..chunk.len() * 8];
            self.fill(bytes);
            for (word, b) in chunk.iter_mut().zip(bytes.chunks_exact(8)) {
                let mut le = [0; 8];
                le.copy_from_slice(b);
                *word = u64::from_le_bytes(le);
            }
        }
    }

    fn refill(&mut self) {
        let mut blocks = [Block::default(); BATCH];
        for block in &mut blocks {
            *block = self.counter.to_le_bytes().into();
            self.counter += 1;
        }
        self.cipher.encrypt_blocks(&mut blocks);
        for (out, block) in self.buffer.chunks_exact_mut(16).zip(&blocks) {
            out.copy_from_slice(block);
        }
        self.used = 0;
        blocks.as_mut_slice().iter_mut().for_each(|b| b.as_mut_slice().zeroize());
    }
}

impl Drop for Prg {
    fn drop(&mut self) {
        self.buffer.zeroize();
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
    fn the_stream_is_aes_in_counter_mode() {
        let mut out = [0; 16];
        Prg::new(&[0; 16]).fill(&mut out);
        assert_eq!(hex(&out), "66e94bd4ef8a2c3b884cfa59ca342b2e");
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }
}
