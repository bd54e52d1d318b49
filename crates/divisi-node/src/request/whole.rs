//! Requests in the modes other than GCM.

use super::asked::Way;
use crate::wire::Blob;
use divisi_store::KeyName;
use serde::{Deserialize, Serialize};

/// The maximum length of a text for SIV, KW and KWP, in bytes.
pub const WHOLE: usize = 16_384;
/// The most bytes of associated data with SIV.
pub(crate) const WHOLE_AAD: usize = 1024;

/// A mode other than GCM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Cipher block chaining, of whole blocks (SP 800-38A).
    Cbc,
    /// Synthetic IV (RFC 5297).
    Siv,
    /// Key wrapping, RFC 3394.
    Kw,
    /// Key wrapping with padding, RFC 5649.
    Kwp,
}

impl Mode {
    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Cbc => "cbc",
            Mode::Siv => "siv",
            Mode::Kw => "kw",
            Mode::Kwp => "kwp",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A text in such a mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Whole {
    pub key: KeyName,
    pub mode: Mode,
    pub encrypts: bool,
    /// The associated data of SIV.
    pub aad: Blob,
    pub length: u64,
    /// For decryption the IV of CBC or SIV; else zeros.
    pub iv: [u8; 16],
    pub way: Way,
}

impl Whole {
    /// What the servers do with the text, as a verb for messages.
    pub fn verb(&self) -> &'static str {
        if self.encrypts { "encrypt" } else { "decrypt" }
    }
}
