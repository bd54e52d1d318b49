//! SHA-3 (FIPS 202) and its derived functions (SP 800-185) over gates, on messages whose length is public.
//!
//! All of them are a [`Sponge`] over Keccak-f\[1600\]. They differ in the rate, in the bits after the
//! message, and in public blocks before it.

mod encode;
mod keccak;
mod sponge;
mod xof;

pub use encode::{bytepad, encode_string, left_encode, right_encode};
pub use keccak::{STATE_BYTES, keccak_f, permutation_program};
pub use sponge::Sponge;
pub use xof::Xof;

/// The hashes of SHA-3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum Sha3 {
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
}

impl Sha3 {
    /// All of them.
    pub const ALL: [Sha3; 4] = [Sha3::Sha3_224, Sha3::Sha3_256, Sha3::Sha3_384, Sha3::Sha3_512];

    /// The length of the digest in bytes.
    #[must_use]
    pub const fn digest_bytes(self) -> usize {
        match self {
            Sha3::Sha3_224 => 28,
            Sha3::Sha3_256 => 32,
            Sha3::Sha3_384 => 48,
            Sha3::Sha3_512 => 64,
        }
    }

    /// `KECCAK[2 d]`, with the bits 01 after the message (FIPS 202, 6.1). A digest is shorter than the rate,
    /// so it is the beginning of the state after the last block.
    #[must_use]
    pub const fn sponge(self) -> Sponge {
        Sponge::new(2 * self.digest_bytes(), 0b10, 2)
    }
}
