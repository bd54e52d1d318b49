//! The pseudo-random generator of all correlated randomness: AES-128 in counter mode.
//!
//! Computational security: 128 bits (keys), with a 64-bit counter of blocks that starts at zero and never
//! repeats. A stream belongs to one key, and a key to one purpose of one strand of one session
//! ([`crate::Session::prg`]), or to the draw that gave the key ([`Prg::of`]).

use crate::DrawPurpose;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128Enc, Block};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use divisi_field::counter::Counter;
use zeroize::Zeroize;

/// How many words are made at once: enough to fill the widest pipelines.
const BATCH: usize = 128;

/// A stream of pseudo-random bytes, each given out once.
pub struct Prg {
    cipher: Cipher,
    /// The counter of the next block.
    block: u64,
    buffer: [u64; BATCH],
    /// The number of bytes of the buffer that were given out.
    used: usize,
    /// The record of draws, if a test asked for one.
    #[cfg(feature = "testing")]
    record: Option<crate::draws::StreamRecord>,
}

/// Two implementations of the same stream.
enum Cipher {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Vector(Counter),
    Blocks(Box<Blocks>),
}

/// The cipher of the crate `aes`, and the blocks that it works on.
struct Blocks {
    cipher: Aes128Enc,
    blocks: [Block; BATCH / 2],
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.as_mut_slice().zeroize());
    }
}

impl Cipher {
    fn new(key: &[u8; 16]) -> Self {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(counter) = Counter::new(key) {
            return Cipher::Vector(counter);
        }
        let cipher = Aes128Enc::new(&(*key).into());
        Cipher::Blocks(Box::new(Blocks { cipher, blocks: [Block::default(); BATCH / 2] }))
    }

    /// Write the stream to `out`, beginning with block number `block`; `out` may end within a block.
    fn words(&mut self, mut block: u64, out: &mut [u64]) {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Cipher::Vector(counter) => counter.words(block, out),
            Cipher::Blocks(own) => {
                let Blocks { cipher, blocks } = &mut **own;
                for out in out.chunks_mut(BATCH) {
                    let blocks = &mut blocks[..out.len().div_ceil(2)];
                    for b in blocks.iter_mut() {
                        *b = u128::from(block).to_le_bytes().into();
                        block += 1;
                    }
                    cipher.encrypt_blocks(blocks);
                    let (pairs, last) = out.as_chunks_mut::<2>();
                    let words = |b: &Block| [0, 1].map(|i| u64::from_le_bytes(b.as_chunks::<8>().0[i]));
                    for (pair, b) in pairs.iter_mut().zip(blocks.iter()) {
                        *pair = words(b);
                    }
                    if let ([last], Some(b)) = (last, blocks.last()) {
                        *last = words(b)[0];
                    }
                }
            }
        }
    }
}

impl Prg {
    /// The stream of a key, which must not be used for anything else, and for one purpose.
    #[cfg_attr(feature = "testing", track_caller)]
    #[must_use]
    pub fn of(purpose: &'static DrawPurpose, key: &[u8; 16]) -> Self {
        #[cfg(feature = "testing")]
        if let Some((key, record)) = crate::draws::stream(purpose, key, std::panic::Location::caller()) {
            return Prg::recorded(&key, record);
        }
        #[cfg(not(feature = "testing"))]
        let _ = purpose;
        Prg::seeded(key)
    }

    /// A stream of a test's own, which no record has.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        Prg::seeded(key)
    }

    pub(crate) fn seeded(key: &[u8; 16]) -> Self {
        Prg {
            cipher: Cipher::new(key),
            block: 0,
            buffer: [0; BATCH],
            used: BATCH * 8,
            #[cfg(feature = "testing")]
            record: None,
        }
    }

    /// The stream of a key, with a record of each draw.
    #[cfg(feature = "testing")]
    pub(crate) fn recorded(key: &[u8; 16], record: crate::draws::StreamRecord) -> Self {
        let mut prg = Prg::seeded(key);
        prg.record = Some(record);
        prg
    }

    /// The number of the next byte.
    #[cfg(feature = "testing")]
    fn position(&self) -> u64 {
        // the first byte after those in the buffer, minus the number of bytes left in the buffer
        let left = (BATCH * 8 - self.used) as u64;
        (16 * self.block).wrapping_sub(left)
    }

    /// The next bytes of the stream.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn fill(&mut self, out: &mut [u8]) {
        #[cfg(feature = "testing")]
        let at = self.position();
        self.fill_bytes(out);
        #[cfg(feature = "testing")]
        if let Some(record) = &self.record {
            let caller = std::panic::Location::caller();
            record.part(caller, out, |byte, other| byte ^ (other >> 56) as u8);
            record.note(at, out.len(), out.iter().copied());
        }
    }

    #[inline(always)]
    fn fill_bytes(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.used == BATCH * 8 {
                self.refill();
            }
            let (word, at) = (self.buffer[self.used / 8].to_le_bytes(), self.used % 8);
            let n = out.len().min(8 - at);
            let (now, later) = out.split_at_mut(n);
            now.copy_from_slice(&word[at..at + n]);
            self.used += n;
            out = later;
        }
    }

    /// The next 64-bit words of the stream, little-endian.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn words(&mut self, out: &mut [u64]) {
        #[cfg(feature = "testing")]
        let at = self.position();
        self.fill_words(out);
        #[cfg(feature = "testing")]
        if let Some(record) = &self.record {
            // some use the low bits of a word, and others the high ones
            record.part(std::panic::Location::caller(), out, |word, other| word ^ other);
            record.note(at, 8 * out.len(), out.iter().flat_map(|word| word.to_le_bytes()));
        }
    }

    #[inline(always)]
    fn fill_words(&mut self, mut out: &mut [u64]) {
        if !self.used.is_multiple_of(8) {
            // the position is within a word: draw bytes
            for out in out {
                let mut word = [0; 8];
                self.fill_bytes(&mut word);
                *out = u64::from_le_bytes(word);
            }
            return;
        }
        let made = &self.buffer[self.used / 8..];
        let n = made.len().min(out.len());
        let (now, later) = out.split_at_mut(n);
        now.copy_from_slice(&made[..n]);
        self.used += n * 8;
        out = later;
        // what would fill whole buffers is made directly in `out`
        let (whole, rest) = out.split_at_mut(out.len() / BATCH * BATCH);
        if !whole.is_empty() {
            self.cipher.words(self.block, whole);
            self.block += whole.len() as u64 / 2;
        }
        if !rest.is_empty() {
            self.refill();
            rest.copy_from_slice(&self.buffer[..rest.len()]);
            self.used = rest.len() * 8;
        }
    }

    fn refill(&mut self) {
        self.cipher.words(self.block, &mut self.buffer);
        self.block += BATCH as u64 / 2;
        self.used = 0;
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

    /// Nor does it depend on how much is read at once, and nothing of it comes again behind a long draw.
    #[test]
    fn long_draws_are_the_same_stream() {
        let (mut at_once, mut in_pieces) = (Prg::new(&[9; 16]), Prg::new(&[9; 16]));
        for count in [1 << 14, (1 << 14) + 200, (1 << 18) + 1, 7, 1 << 17] {
            let mut words = [vec![0; count], vec![0; count]];
            at_once.words(&mut words[0]);
            words[1].chunks_mut(100).for_each(|piece| in_pieces.words(piece));
            assert!(words[0] == words[1], "{count}");
        }
    }

    #[test]
    fn the_stream_is_aes_in_counter_mode() {
        let mut out = [0; 16];
        Prg::new(&[0; 16]).fill(&mut out);
        assert_eq!(hex(&out), "66e94bd4ef8a2c3b884cfa59ca342b2e");
    }

    /// No block of a stream comes again, however long it is, whether bytes are drawn or many words at once.
    #[test]
    fn the_counter_goes_on_in_long_streams() {
        let cipher = Aes128Enc::new(&[5; 16].into());
        for start in (8..60).map(|log| (1_u64 << log) - BATCH as u64 / 2) {
            let (mut bytes, mut words) = (vec![0; 16 * BATCH], vec![0; 2 * BATCH]);
            let mut prg = Prg::new(&[5; 16]);
            prg.block = start;
            prg.fill(&mut bytes);
            let mut prg = Prg::new(&[5; 16]);
            prg.block = start;
            prg.words(&mut words);
            for (at, (bytes, words)) in (start..).zip(bytes.chunks(16).zip(words.chunks(2))) {
                let mut block: Block = u128::from(at).to_le_bytes().into();
                cipher.encrypt_block(&mut block);
                assert_eq!(bytes, block.as_slice(), "{at}");
                assert!(bytes.chunks(8).zip(words).all(|(bytes, word)| bytes == word.to_le_bytes()), "{at}");
            }
        }
    }

    /// Each implementation ends within a block where it is told to, and begins at any.
    #[test]
    fn a_cipher_ends_within_a_block() {
        let own =
            || Blocks { cipher: Aes128Enc::new(&[4; 16].into()), blocks: [Block::default(); BATCH / 2] };
        let mut ciphers = [Cipher::new(&[4; 16]), Cipher::Blocks(Box::new(own()))];
        let mut whole = vec![0; 3 * BATCH + 8];
        ciphers[0].words(0, &mut whole);
        for cipher in &mut ciphers {
            for length in [0, 1, 2, 3, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH + 5] {
                for block in [0, 1, 7] {
                    let mut out = vec![0; length];
                    cipher.words(block as u64, &mut out);
                    assert!(out == whole[2 * block..].iter().copied().take(length).collect::<Vec<u64>>());
                }
            }
        }
    }

    /// Parties on different processors draw the same.
    #[test]
    fn the_stream_does_not_depend_on_the_processor() {
        let mut streams = divisi_field::kernel::Kernel::ALL
            .into_iter()
            .filter(|kernel| kernel.is_available())
            .map(|kernel| {
                divisi_field::kernel::with(kernel, || {
                    let (mut prg, mut out) = (Prg::new(&[3; 16]), vec![0; 777]);
                    prg.words(&mut out[..5]);
                    prg.words(&mut out[5..]);
                    out
                })
                .unwrap()
            });
        let first = streams.next().unwrap();
        assert!(streams.all(|other| other == first));
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }
}
