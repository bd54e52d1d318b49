//! All hashes with digests of fixed length, in one form: a state, a step for each block, and a digest that is
//! the beginning of the last state. The functions here process whole messages. An engine that hashes long
//! messages, or many, runs [`step_program`](Hash::step_program) block by block.

use crate::gates::{Adder, byte_program, public_bytes};
use crate::sha1;
use crate::sha2::Sha2;
use crate::sha3::{STATE_BYTES, Sha3};
use divisi_circuit::{Gates, Program};

/// A hash with a digest of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Hash {
    /// FIPS 180-4; only for old data and one-time passwords, because collisions are known.
    Sha1,
    /// FIPS 180-4.
    Sha2(Sha2),
    /// FIPS 202.
    Sha3(Sha3),
}

impl Hash {
    /// All of them.
    pub const ALL: [Hash; 11] = [
        Hash::Sha2(Sha2::Sha224),
        Hash::Sha2(Sha2::Sha256),
        Hash::Sha2(Sha2::Sha384),
        Hash::Sha2(Sha2::Sha512),
        Hash::Sha2(Sha2::Sha512_224),
        Hash::Sha2(Sha2::Sha512_256),
        Hash::Sha3(Sha3::Sha3_224),
        Hash::Sha3(Sha3::Sha3_256),
        Hash::Sha3(Sha3::Sha3_384),
        Hash::Sha3(Sha3::Sha3_512),
        Hash::Sha1,
    ];

    /// Its name in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Hash::Sha1 => "sha1-for-old-data",
            Hash::Sha2(Sha2::Sha224) => "sha224",
            Hash::Sha2(Sha2::Sha256) => "sha256",
            Hash::Sha2(Sha2::Sha384) => "sha384",
            Hash::Sha2(Sha2::Sha512) => "sha512",
            Hash::Sha2(Sha2::Sha512_224) => "sha512-224",
            Hash::Sha2(Sha2::Sha512_256) => "sha512-256",
            Hash::Sha3(Sha3::Sha3_224) => "sha3-224",
            Hash::Sha3(Sha3::Sha3_256) => "sha3-256",
            Hash::Sha3(Sha3::Sha3_384) => "sha3-384",
            Hash::Sha3(Sha3::Sha3_512) => "sha3-512",
        }
    }

    /// The hash of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.name() == name)
    }

    /// The length of the digest in bytes.
    #[must_use]
    pub const fn digest_bytes(self) -> usize {
        match self {
            Hash::Sha1 => sha1::DIGEST_BYTES,
            Hash::Sha2(hash) => hash.digest_bytes(),
            Hash::Sha3(hash) => hash.digest_bytes(),
        }
    }

    /// The length of a block in bytes.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            Hash::Sha1 => sha1::BLOCK_BYTES,
            Hash::Sha2(hash) => hash.block_bytes(),
            Hash::Sha3(hash) => hash.sponge().rate(),
        }
    }

    /// The length of the state in bytes.
    #[must_use]
    pub const fn state_bytes(self) -> usize {
        match self {
            Hash::Sha1 => sha1::DIGEST_BYTES,
            Hash::Sha2(hash) => hash.state_bytes(),
            Hash::Sha3(_) => STATE_BYTES,
        }
    }

    /// The state before the first block.
    #[must_use]
    pub fn initial(self) -> Vec<u8> {
        match self {
            Hash::Sha1 => sha1::initial(),
            Hash::Sha2(hash) => hash.initial(),
            Hash::Sha3(_) => vec![0; STATE_BYTES],
        }
    }

    /// The padding after a message of this many bytes.
    #[must_use]
    pub fn padding(self, message_bytes: u64) -> Vec<u8> {
        match self {
            // SHA-1's blocks and lengths are those of SHA-256
            Hash::Sha1 => Sha2::Sha256.padding(message_bytes),
            Hash::Sha2(hash) => hash.padding(message_bytes),
            Hash::Sha3(hash) => hash.sponge().padding(message_bytes),
        }
    }

    /// The padding after a message of this many bits, from the byte on in which it ends; where that byte has
    /// bits of the message, the padding is zero.
    #[must_use]
    pub fn padding_of_bits(self, message_bits: u128) -> Vec<u8> {
        match self {
            Hash::Sha1 => Sha2::Sha256.padding_of_bits(message_bits),
            Hash::Sha2(hash) => hash.padding_of_bits(message_bits),
            Hash::Sha3(hash) => hash.sponge().closing(message_bits, &[]),
        }
    }

    /// The next state, from a state and a block. `adder` is for SHA-1 and SHA-2; SHA-3 has no additions.
    ///
    /// # Panics
    /// If the length of the state is not [`state_bytes`](Hash::state_bytes), or that of the block not
    /// [`block_bytes`](Hash::block_bytes).
    pub fn step<G: Gates>(
        self,
        g: &mut G,
        adder: Adder,
        state: &[[G::Bit; 8]],
        block: &[[G::Bit; 8]],
    ) -> Vec<[G::Bit; 8]> {
        match self {
            Hash::Sha1 => sha1::compress(g, adder, state, block),
            Hash::Sha2(hash) => hash.compress(g, adder, state, block),
            Hash::Sha3(hash) => hash.sponge().absorb(g, state, block),
        }
    }

    /// [`step`](Hash::step) as a program; the inputs are the state and the block, the output is the next
    /// state. Bytes are in order, the lowest bit of each first.
    #[must_use]
    pub fn step_program(self, adder: Adder) -> Program {
        byte_program([self.state_bytes(), self.block_bytes()], |g, [state, block]| {
            self.step(g, adder, state, block)
        })
    }

    /// The digest of a message whose first `before` bytes (whole blocks) made the state; `message` is the
    /// rest.
    ///
    /// # Panics
    /// If the length of the state is not [`state_bytes`](Hash::state_bytes).
    pub fn resume<G: Gates>(
        self,
        g: &mut G,
        adder: Adder,
        state: &[[G::Bit; 8]],
        before: u64,
        message: &[[G::Bit; 8]],
    ) -> Vec<[G::Bit; 8]> {
        let mut message = message.to_vec();
        message.extend(public_bytes(g, &self.padding(before + message.len() as u64)));
        let blocks = message.chunks_exact(self.block_bytes());
        let mut state = blocks.fold(state.to_vec(), |state, block| self.step(g, adder, &state, block));
        state.truncate(self.digest_bytes());
        state
    }

    /// The digest of a message.
    pub fn digest<G: Gates>(self, g: &mut G, adder: Adder, message: &[[G::Bit; 8]]) -> Vec<[G::Bit; 8]> {
        let state = public_bytes(g, &self.initial());
        self.resume(g, adder, &state, 0, message)
    }
}
