//! Block ciphers, and blocks of them.

use super::encoding;
use divisi_core::Direction;
use divisi_symmetric::aes::KeySize;
use serde::{Deserialize, Serialize};

/// A block cipher.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(String, u32)", try_from = "(String, u32)")]
pub enum Cipher {
    /// AES, with keys of this size.
    Aes(KeySize),
    /// Triple DES, with two keys or three.
    TripleDes(DesKeys),
}

/// The keys of triple DES, of 64 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum DesKeys {
    /// K1, K2, and K1 again.
    Two,
    /// Three different keys.
    Three,
}

impl Cipher {
    /// The total length of its keys in bytes.
    #[must_use]
    pub fn key_bytes(self) -> usize {
        match self {
            Cipher::Aes(size) => size.bytes(),
            Cipher::TripleDes(DesKeys::Two) => 16,
            Cipher::TripleDes(DesKeys::Three) => 24,
        }
    }

    /// The length of a block in bytes.
    #[must_use]
    pub fn block_bytes(self) -> usize {
        match self {
            Cipher::Aes(_) => 16,
            Cipher::TripleDes(_) => 8,
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cipher::Aes(_) => "aes",
            Cipher::TripleDes(_) => "des3",
        }
    }

    /// The size of its keys, if it is AES.
    #[must_use]
    pub fn aes(self) -> Option<KeySize> {
        match self {
            Cipher::Aes(size) => Some(size),
            Cipher::TripleDes(_) => None,
        }
    }

    /// The cipher of that name with keys of this total length in bytes.
    #[must_use]
    pub fn from_key(name: &str, key_bytes: usize) -> Option<Self> {
        match (name, key_bytes) {
            ("aes", bytes) => KeySize::from_bytes(bytes).map(Cipher::Aes),
            ("des3", 16) => Some(Cipher::TripleDes(DesKeys::Two)),
            ("des3", 24) => Some(Cipher::TripleDes(DesKeys::Three)),
            _ => None,
        }
    }
}

/// Its name and the length of its keys, as it is sent.
impl From<Cipher> for (String, u32) {
    fn from(cipher: Cipher) -> Self {
        (cipher.name().to_owned(), cipher.key_bytes() as u32)
    }
}

impl TryFrom<(String, u32)> for Cipher {
    type Error = &'static str;

    fn try_from((name, key_bytes): (String, u32)) -> Result<Self, Self::Error> {
        Cipher::from_key(&name, key_bytes as usize).ok_or("no such cipher or key size")
    }
}

/// The name of a direction on the command line.
#[must_use]
pub fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Encrypt => "encrypt",
        Direction::Decrypt => "decrypt",
    }
}

/// Blocks of a cipher under one key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BlocksJob {
    /// The cipher.
    pub cipher: Cipher,
    /// The direction.
    #[serde(with = "encoding::is_decryption")]
    pub direction: Direction,
    /// The number of blocks.
    pub count: usize,
}
