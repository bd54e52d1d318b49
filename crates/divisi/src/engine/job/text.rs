//! Texts in a mode of a block cipher.

use super::cipher::Cipher;
use divisi_core::Direction;
use divisi_symmetric::mode::whole::stealing::Variant;

/// A mode of a block cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CipherMode {
    /// Galois/counter mode, an IV of any length.
    Gcm,
    /// One block at a time.
    Ecb,
    /// Counter mode, from a whole first counter block.
    Ctr,
    /// Cipher block chaining, of whole blocks. What is decrypted is public: it stands in
    /// [`PublicText::sealed`].
    Cbc,
    /// Cipher feedback with segments of so many bytes, of whole segments. What is decrypted is public: it
    /// stands in [`PublicText::sealed`].
    Cfb {
        /// Bytes of a segment.
        segment: usize,
    },
    /// Output feedback, which is the same both ways.
    Ofb,
    /// A tag (CMAC): made where the direction is to encrypt, else compared with the one in
    /// [`PublicText::sealed`].
    Cmac,
    /// A text as a whole. What is decrypted is public: it stands in [`PublicText::sealed`].
    Whole(Whole),
}

/// A mode that treats a text as a whole ([`divisi_symmetric::mode::whole`]). A row out begins with a byte: 0
/// if the text is refused, else 1 and the number of bytes at the end of the row that are no part of the
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Whole {
    /// Key wrapping.
    Kw {
        /// Whether the cipher is its inverse.
        inverse: bool,
    },
    /// Key wrapping with padding.
    Kwp {
        /// Whether the cipher is its inverse.
        inverse: bool,
    },
    /// Synthetic IV, of keys twice as long; the nonce, if there is one, is the last string.
    Siv,
    /// Counter mode and CBC-MAC.
    Ccm,
    /// GCM-SIV.
    GcmSiv,
    /// Sectors, of keys twice as long; the IV is the tweak.
    Xts,
    /// CBC with ciphertext stealing.
    Stealing(Variant),
    /// Cipher feedback, segments of a bit.
    Cfb1,
}

impl Whole {
    /// How many keys of the cipher its key has.
    #[must_use]
    pub fn keys(self) -> usize {
        if matches!(self, Whole::Siv | Whole::Xts) { 2 } else { 1 }
    }

    /// How many bytes come of a text of so many, with a tag of so many, beside the byte that says whether.
    #[must_use]
    pub fn answer_bytes(self, direction: Direction, bytes: usize, tag_bytes: usize) -> usize {
        let encrypts = direction == Direction::Encrypt;
        match self {
            Whole::Kw { .. } | Whole::Kwp { .. } if !encrypts => bytes.saturating_sub(8),
            Whole::Kw { .. } => bytes.saturating_add(8),
            Whole::Kwp { .. } => bytes.div_ceil(8).saturating_add(1).saturating_mul(8),
            Whole::Siv | Whole::Ccm | Whole::GcmSiv if encrypts => bytes.saturating_add(tag_bytes),
            _ => bytes,
        }
    }
}

/// Texts in a mode. A row in has the key, then the secret text (nothing where the text is public); a row out
/// of ECB, CBC and CTR the other text, of GCM a byte that is 1 if the text is authentic, then the other text,
/// then the tag that was made; of CMAC the tag, or a byte that is 1 if it is the one received.
#[derive(Clone, Debug)]
pub struct TextsJob {
    /// The mode.
    pub mode: CipherMode,
    /// The cipher.
    pub cipher: Cipher,
    /// The texts.
    pub texts: Vec<PublicText>,
}

impl TextsJob {
    /// How many bytes a key of these texts has.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        let keys = if let CipherMode::Whole(mode) = self.mode { mode.keys() } else { 1 };
        keys * self.cipher.key_bytes()
    }
}

/// What is public about a text.
#[derive(Clone, Debug)]
pub struct PublicText {
    /// The direction.
    pub direction: Direction,
    /// The IV, or the first counter block; empty where there is none.
    pub iv: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// The length of the text.
    pub bytes: usize,
    /// Bits at the low end of the last byte that are no part of it, of modes that count bits.
    pub spare_bits: usize,
    /// The length of the tag.
    pub tag_bytes: usize,
    /// Ciphertext and tag that are to be opened: both are public.
    pub sealed: Option<(Vec<u8>, Vec<u8>)>,
}

impl PublicText {
    /// How many bytes of the text are secret.
    #[must_use]
    pub fn secret_bytes(&self, mode: CipherMode) -> usize {
        if self.sealed.is_some() && mode != CipherMode::Cmac { 0 } else { self.bytes }
    }
}
