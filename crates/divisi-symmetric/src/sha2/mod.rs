//! SHA-2 (FIPS 180-4) over gates, on messages whose length is public.

mod compress;
mod constants;

use crate::gates::{Adder, in_the_clear};
use compress::compress;
use divisi_circuit::Gates;
use std::sync::LazyLock;

/// The hashes of SHA-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum Sha2 {
    /// SHA-224: words of 32 bits.
    Sha224,
    /// SHA-256: words of 32 bits.
    Sha256,
    /// SHA-384: words of 64 bits.
    Sha384,
    /// SHA-512: words of 64 bits.
    Sha512,
    /// SHA-512/224: words of 64 bits.
    Sha512_224,
    /// SHA-512/256: words of 64 bits.
    Sha512_256,
}

impl Sha2 {
    /// All of them.
    pub const ALL: [Sha2; 6] =
        [Sha2::Sha224, Sha2::Sha256, Sha2::Sha384, Sha2::Sha512, Sha2::Sha512_224, Sha2::Sha512_256];

    const fn word_bytes(self) -> usize {
        match self {
            Sha2::Sha224 | Sha2::Sha256 => 4,
            Sha2::Sha384 | Sha2::Sha512 | Sha2::Sha512_224 | Sha2::Sha512_256 => 8,
        }
    }

    /// The length of the digest in bytes.
    #[must_use]
    pub const fn digest_bytes(self) -> usize {
        match self {
            Sha2::Sha224 | Sha2::Sha512_224 => 28,
            Sha2::Sha256 | Sha2::Sha512_256 => 32,
            Sha2::Sha384 => 48,
            Sha2::Sha512 => 64,
        }
    }

    /// The length of a block in bytes.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        16 * self.word_bytes()
    }

    /// The length of the state in bytes.
    #[must_use]
    pub const fn state_bytes(self) -> usize {
        8 * self.word_bytes()
    }

    /// The state before the first block (FIPS 180-4, 5.3): its words in big-endian order.
    #[must_use]
    pub fn initial(self) -> Vec<u8> {
        let words = |words: [u64; 8]| words.map(u64::to_be_bytes).concat();
        let halves = |high: bool| {
            let half = if high { 0..4 } else { 4..8 };
            move |word: u64| word.to_be_bytes()[half.clone()].to_vec()
        };
        match self {
            Sha2::Sha224 => constants::roots_of_second_primes().map(halves(false)).concat(),
            Sha2::Sha256 => constants::roots_of_first_primes().map(halves(true)).concat(),
            Sha2::Sha384 => words(constants::roots_of_second_primes()),
            Sha2::Sha512 => words(constants::roots_of_first_primes()),
            Sha2::Sha512_224 => {
                static INITIAL: LazyLock<Vec<u8>> = LazyLock::new(|| truncated(b"SHA-512/224"));
                INITIAL.clone()
            }
            Sha2::Sha512_256 => {
                static INITIAL: LazyLock<Vec<u8>> = LazyLock::new(|| truncated(b"SHA-512/256"));
                INITIAL.clone()
            }
        }
    }

    /// The padding after a message of this many bytes (FIPS 180-4, 5.1).
    #[must_use]
    pub fn padding(self, message_bytes: u64) -> Vec<u8> {
        self.padding_of_bits(8 * u128::from(message_bytes))
    }

    /// The padding after a message of this many bits, from the byte on in which it ends. The message's bits
    /// are at the high end of that byte, where the padding is zero.
    #[must_use]
    pub fn padding_of_bits(self, message_bits: u128) -> Vec<u8> {
        let (block, length) = (self.block_bytes(), 2 * self.word_bytes());
        let filled = (message_bits / 8 % block as u128) as usize;
        let zeros = (2 * block - filled - 1 - length) % block;
        let mut padding = vec![0x80 >> (message_bits % 8)];
        padding.resize(1 + zeros, 0);
        padding.extend_from_slice(&message_bits.to_be_bytes()[16 - length..]);
        padding
    }

    /// The compression function (FIPS 180-4, 6.2.2 and 6.4.2): the next state, from a state and a block.
    ///
    /// Cost, words of 32 bits: 22,573 ANDs with [`Adder::FewestAnds`], at most 500 levels with
    /// [`Adder::LowDepth`] (tests `sha2_with_fewest_ands` and `sha2_with_low_depth`, 64 bits likewise).
    ///
    /// # Panics
    /// If the length of the state is not [`state_bytes`](Sha2::state_bytes), or that of the block not
    /// [`block_bytes`](Sha2::block_bytes).
    pub fn compress<G: Gates>(
        self,
        g: &mut G,
        adder: Adder,
        state: &[[G::Bit; 8]],
        block: &[[G::Bit; 8]],
    ) -> Vec<[G::Bit; 8]> {
        assert_eq!((state.len(), block.len()), (self.state_bytes(), self.block_bytes()), "{self:?}");
        compress(g, self.word_bytes(), adder, state, block)
    }
}

/// The initial state of a truncated SHA-512 (5.3.6): the digest of its name by a modified SHA-512.
fn truncated(name: &[u8]) -> Vec<u8> {
    let start: Vec<u8> = Sha2::Sha512.initial().iter().map(|byte| byte ^ 0xa5).collect();
    let block = [name, &Sha2::Sha512.padding(name.len() as u64)].concat();
    in_the_clear(&[start, block].concat(), |g, bytes| {
        let (start, block) = bytes.split_at(Sha2::Sha512.state_bytes());
        Sha2::Sha512.compress(g, Adder::FewestAnds, start, block)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_states_are_those_of_the_standard() {
        // FIPS 180-4, 5.3: the first word of each.
        let first = |hash: Sha2| hash.initial()[..hash.word_bytes()].to_vec();
        assert_eq!(first(Sha2::Sha224), 0xc105_9ed8_u32.to_be_bytes());
        assert_eq!(first(Sha2::Sha256), 0x6a09_e667_u32.to_be_bytes());
        assert_eq!(first(Sha2::Sha384), 0xcbbb_9d5d_c105_9ed8_u64.to_be_bytes());
        assert_eq!(first(Sha2::Sha512), 0x6a09_e667_f3bc_c908_u64.to_be_bytes());
        assert_eq!(first(Sha2::Sha512_224), 0x8c3d_37c8_1954_4da2_u64.to_be_bytes());
        assert_eq!(first(Sha2::Sha512_256), 0x2231_2194_fc2b_f72c_u64.to_be_bytes());
    }

    #[test]
    fn padding_fills_the_block_and_no_more() {
        for hash in Sha2::ALL {
            let block = hash.block_bytes();
            for message in 0..3 * block {
                let padding = hash.padding(message as u64);
                assert_eq!((message + padding.len()) % block, 0);
                let least = 1 + 2 * hash.word_bytes();
                assert!((least..least + block).contains(&padding.len()));
            }
        }
    }

    /// The length of a message stands in its padding whole, up to the longest one.
    #[test]
    fn padding_has_the_whole_length() {
        for hash in Sha2::ALL {
            let word = hash.word_bytes();
            for bytes in [1 << 5, 1 << 13, 1 << 21, 1 << 29, (1 << 45) + 3, u64::MAX / 8] {
                let padding = hash.padding(bytes);
                let length = &padding[padding.len() - 2 * word..];
                assert_eq!(length, &(8 * u128::from(bytes)).to_be_bytes()[16 - 2 * word..], "{bytes}");
            }
            if word == 8 {
                assert_eq!(
                    hash.padding(u64::MAX).last_chunk(),
                    Some(&(8 * u128::from(u64::MAX)).to_be_bytes())
                );
            }
        }
    }
}
