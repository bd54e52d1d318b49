//! Messages in a mode of a block cipher.

use super::cipher::Cipher;
use divisi_core::Direction;
use divisi_symmetric::mode::one_shot::stealing::Variant;

/// A mode of a block cipher.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherMode {
    /// Galois/counter mode, an IV of any length.
    Gcm,
    /// One block at a time.
    Ecb,
    /// Counter mode, from a whole first counter block.
    Ctr,
    /// Cipher block chaining, of whole blocks. A message to be decrypted is public: it is in
    /// [`ModeMessage::sealed`].
    Cbc,
    /// Cipher feedback with segments of this length, of whole segments. A message to be decrypted is public:
    /// it is in [`ModeMessage::sealed`].
    Cfb {
        /// The length of a segment in bytes.
        segment: usize,
    },
    /// Output feedback, whose encryption and decryption are the same.
    Ofb,
    /// A tag (CMAC): made in direction `Encrypt`, otherwise compared with the one in [`ModeMessage::sealed`].
    Cmac,
    /// A mode that processes a message as a whole. A message to be decrypted is public: it is in
    /// [`ModeMessage::sealed`].
    OneShot(OneShot),
}

/// A mode that processes a message as a whole ([`divisi_symmetric::mode::one_shot`]). An output row begins
/// with a byte: 0 if the mode rejects the message, else 1 plus the number of unused bytes at the end of the
/// row.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OneShot {
    /// Key wrapping.
    Kw {
        /// Whether the inverse of the cipher takes the cipher's place.
        inverse: bool,
    },
    /// Key wrapping with padding.
    Kwp {
        /// Whether the inverse of the cipher takes the cipher's place.
        inverse: bool,
    },
    /// Synthetic IV, with keys of double length; a nonce, if there is one, is the last string.
    Siv,
    /// Counter mode and CBC-MAC.
    Ccm,
    /// GCM-SIV.
    GcmSiv,
    /// XTS, with keys of double length; the IV is the tweak.
    Xts,
    /// CBC with ciphertext stealing.
    Stealing(Variant),
    /// Cipher feedback, with segments of one bit.
    Cfb1,
}

impl OneShot {
    /// The number of keys of the cipher in a key of the mode.
    #[must_use]
    pub fn keys(self) -> usize {
        if matches!(self, OneShot::Siv | OneShot::Xts) { 2 } else { 1 }
    }

    /// The length of the result for a message and a tag of these lengths in bytes, without the byte that says
    /// whether the message is refused.
    #[must_use]
    pub fn answer_bytes(self, direction: Direction, bytes: usize, tag_bytes: usize) -> usize {
        let encrypts = direction == Direction::Encrypt;
        match self {
            OneShot::Kw { .. } | OneShot::Kwp { .. } if !encrypts => bytes.saturating_sub(8),
            OneShot::Kw { .. } => bytes.saturating_add(8),
            OneShot::Kwp { .. } => bytes.div_ceil(8).saturating_add(1).saturating_mul(8),
            OneShot::Siv | OneShot::Ccm | OneShot::GcmSiv if encrypts => bytes.saturating_add(tag_bytes),
            _ => bytes,
        }
    }
}

/// Messages in a mode. An input row has the key, then the secret message (nothing if the message is public).
/// An output row has: for ECB, CBC, CFB, OFB and CTR the resulting message; for GCM a byte that is 1 if the
/// message is authentic, then the resulting message, then the tag that was made, or zeros if one was
/// received; for CMAC the tag, or a byte that is 1 if the received tag is right. For other modes see
/// [`OneShot`].
#[derive(Clone, Debug)]
pub struct ModesJob {
    /// The mode.
    pub mode: CipherMode,
    /// The cipher.
    pub cipher: Cipher,
    /// The messages.
    pub messages: Vec<ModeMessage>,
}

impl ModesJob {
    /// The length of a key of these messages, in bytes.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        let keys = if let CipherMode::OneShot(mode) = self.mode { mode.keys() } else { 1 };
        keys * self.cipher.key_bytes()
    }
}

/// The public data of a message.
#[derive(Clone, Debug)]
pub struct ModeMessage {
    /// The direction.
    pub direction: Direction,
    /// The IV, or the first counter block; empty where there is none.
    pub iv: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// The length of the message in bytes.
    pub bytes: usize,
    /// The number of bits at the low end of the last byte that do not belong to the message, for modes that
    /// count bits.
    pub spare_bits: usize,
    /// The length of the tag in bytes.
    pub tag_bytes: usize,
    /// Ciphertext and tag to be decrypted: both are public.
    pub sealed: Option<(Vec<u8>, Vec<u8>)>,
}

impl ModeMessage {
    /// The number of secret bytes of the message.
    #[must_use]
    pub fn secret_bytes(&self, mode: CipherMode) -> usize {
        if self.sealed.is_some() && mode != CipherMode::Cmac { 0 } else { self.bytes }
    }
}
