//! AES (FIPS 197) over [`Bytes`](divisi_core::Bytes).
//!
//! The state is an array of 16 secret bytes in the standard's order: byte `r + 4c` is row `r` of column `c`.
//! Each of them holds this byte of all blocks of a batch, in lanes. SubBytes is one S-box layer on the whole
//! state, and the only step that costs communication; ShiftRows only renames bytes; MixColumns and
//! AddRoundKey are linear.

mod cipher;
mod schedule;

pub use cipher::{decrypt, encrypt};
pub use schedule::{RoundKeys, expand};

/// The three key sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum KeySize {
    /// 128 bits, 10 rounds.
    Aes128,
    /// 192 bits, 12 rounds.
    Aes192,
    /// 256 bits, 14 rounds.
    Aes256,
}

impl KeySize {
    /// All of them.
    pub const ALL: [KeySize; 3] = [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256];

    /// The key size of this many bits, if there is one.
    #[must_use]
    pub fn from_bits(bits: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.bits() == bits)
    }

    /// The key size of this many bytes, if there is one.
    #[must_use]
    pub fn from_bytes(bytes: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.bytes() == bytes)
    }

    /// The length of the key in bits.
    #[must_use]
    pub const fn bits(self) -> usize {
        8 * self.bytes()
    }

    /// The length of the key in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        4 * self.words()
    }

    /// `Nk`, the length of the key in words of four bytes.
    const fn words(self) -> usize {
        match self {
            KeySize::Aes128 => 4,
            KeySize::Aes192 => 6,
            KeySize::Aes256 => 8,
        }
    }

    /// How many layers of SubWord the key schedule has.
    #[must_use]
    pub const fn sub_words(self) -> usize {
        match self {
            KeySize::Aes128 => 10,
            KeySize::Aes192 => 8,
            KeySize::Aes256 => 13,
        }
    }

    /// `Nr`, the number of rounds.
    #[must_use]
    pub const fn rounds(self) -> usize {
        self.words() + 6
    }
}
