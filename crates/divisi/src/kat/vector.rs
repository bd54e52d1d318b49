//! Vectors of modes of AES and of triple DES, in any file format.

use crate::engine::job::{Cipher, OneShot};
use divisi_symmetric::mode::one_shot::stealing::Variant;
use std::fmt;

/// The algorithm of a vector: a mode of AES or of triple DES, a hash or a MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum VectorAlgorithm {
    /// Galois/counter mode.
    Gcm,
    /// Galois/counter mode with extended packet numbers, whose IV is the sum of two parts.
    Xpn,
    /// One block at a time.
    Ecb,
    /// Counter mode.
    Ctr,
    /// Cipher block chaining.
    Cbc,
    /// Cipher block chaining with padding (PKCS #7), which the client adds and removes.
    CbcPadded,
    /// Cipher feedback, with segments of a byte.
    Cfb8,
    /// Cipher feedback, with segments of a block.
    Cfb128,
    /// Output feedback.
    Ofb,
    /// Triple DES, one block at a time.
    TripleEcb,
    /// Triple DES, cipher block chaining.
    TripleCbc,
    /// CMAC by triple DES.
    TripleCmac,
    /// A mode that processes a message as a whole.
    OneShot(OneShot),
    /// A hash or MAC.
    Function(divisi_symmetric::algorithm::Algorithm),
}

impl fmt::Display for VectorAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VectorAlgorithm::Gcm => "AES-GCM",
            VectorAlgorithm::Xpn => "AES-XPN",
            VectorAlgorithm::Ecb => "AES-ECB",
            VectorAlgorithm::Ctr => "AES-CTR",
            VectorAlgorithm::Cbc => "AES-CBC",
            VectorAlgorithm::CbcPadded => "AES-CBC-PKCS5",
            VectorAlgorithm::Cfb8 => "AES-CFB8",
            VectorAlgorithm::Cfb128 => "AES-CFB128",
            VectorAlgorithm::Ofb => "AES-OFB",
            VectorAlgorithm::TripleEcb => "TDES-ECB",
            VectorAlgorithm::TripleCbc => "TDES-CBC",
            VectorAlgorithm::TripleCmac => "TDES-CMAC",
            VectorAlgorithm::OneShot(mode) => match mode {
                OneShot::Kw { inverse: false } => "AES-KW",
                OneShot::Kw { inverse: true } => "AES-KW (inverse)",
                OneShot::Kwp { inverse: false } => "AES-KWP",
                OneShot::Kwp { inverse: true } => "AES-KWP (inverse)",
                OneShot::Siv => "AES-SIV",
                OneShot::Ccm => "AES-CCM",
                OneShot::GcmSiv => "AES-GCM-SIV",
                OneShot::Xts => "AES-XTS",
                OneShot::Stealing(Variant::Cs1) => "AES-CBC-CS1",
                OneShot::Stealing(Variant::Cs2) => "AES-CBC-CS2",
                OneShot::Stealing(Variant::Cs3) => "AES-CBC-CS3",
                OneShot::Cfb1 => "AES-CFB1",
            },
            VectorAlgorithm::Function(function) => return function.fmt(f),
        })
    }
}

impl VectorAlgorithm {
    /// Whether its cipher is triple DES; otherwise it is AES.
    pub(super) fn is_triple_des(self) -> bool {
        matches!(self, VectorAlgorithm::TripleEcb | VectorAlgorithm::TripleCbc | VectorAlgorithm::TripleCmac)
    }

    /// Whether its mode is Galois/counter mode.
    pub(super) fn is_gcm(self) -> bool {
        matches!(self, VectorAlgorithm::Gcm | VectorAlgorithm::Xpn)
    }

    /// The number of keys of its cipher that a key consists of.
    pub(super) fn keys(self) -> usize {
        if let VectorAlgorithm::OneShot(mode) = self { mode.keys() } else { 1 }
    }

    /// Whether the lengths of its messages are in bits and not in bytes.
    pub(super) fn counts_bits(self) -> bool {
        let whole = |mode| matches!(mode, OneShot::Xts | OneShot::Stealing(_) | OneShot::Cfb1);
        matches!(self, VectorAlgorithm::Ctr) || matches!(self, VectorAlgorithm::OneShot(mode) if whole(mode))
    }

    /// The bytes of a block of its cipher.
    pub(super) fn block_bytes(self) -> usize {
        if self.is_triple_des() { 8 } else { 16 }
    }
}

/// The directions in which a vector is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Ways {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
    /// Both directions.
    Both,
}

/// The expected outcome of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Expected {
    /// The right answer.
    Valid,
    /// A refusal.
    Invalid,
    /// The right answer or a refusal.
    Acceptable,
}

/// The parts of a message that are processed one by one: data units of XTS, blocks under counters of their
/// own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// The number of bits of each unit but the last, which has the rest.
    pub bits: usize,
    /// The tweaks or counter blocks of the units.
    pub tweaks: Vec<Vec<u8>>,
}

/// One test vector.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its number in the file.
    pub id: u64,
    /// The key.
    pub key: Vec<u8>,
    /// The IV, or the first counter block; empty where there is none.
    pub iv: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// The plaintext.
    pub plaintext: Vec<u8>,
    /// The ciphertext.
    pub ciphertext: Vec<u8>,
    /// The tag; empty where there is none.
    pub tag: Vec<u8>,
    /// The number of bits at the low end of the last byte of plaintext and ciphertext that do not belong to
    /// them, for modes whose lengths are in bits.
    pub spare_bits: usize,
    /// The parts of a message that has several; `None` for one that is processed as a whole.
    pub units: Option<Units>,
    /// The directions in which it is run.
    pub ways: Ways,
    /// The expected outcome.
    pub expected: Expected,
}

/// Vectors that an engine runs in one call: one algorithm, and keys of one size.
#[derive(Clone, Debug)]
pub struct Group {
    /// The algorithm.
    pub algorithm: VectorAlgorithm,
    /// The cipher.
    pub cipher: Cipher,
    /// The vectors.
    pub vectors: Vec<Vector>,
}

/// The answer in one direction: the message, and the tag if there is one; `None` if it was refused.
pub(super) type Answer = Option<(Vec<u8>, Vec<u8>)>;

impl Vector {
    pub(super) fn encrypts(&self) -> bool {
        self.expected == Expected::Valid && self.ways != Ways::Decrypt
    }

    /// A vector that is not valid is run as a decryption, whatever direction the file has; the decryption
    /// must refuse an invalid one.
    pub(super) fn decrypts(&self) -> bool {
        self.expected != Expected::Valid || self.ways != Ways::Encrypt
    }

    /// The pieces of a message of `bytes` bytes that are processed separately: the IV of each, its first
    /// bit, and its number of bits.
    pub(super) fn pieces(&self, bytes: usize) -> Vec<(&[u8], usize, usize)> {
        let bits = (8 * bytes).saturating_sub(self.spare_bits);
        let Some(units) = &self.units else { return vec![(&self.iv, 0, bits)] };
        let piece = |(i, tweak)| {
            let from = i * units.bits;
            let last = i + 1 == units.tweaks.len();
            (tweak, from, if last { bits.saturating_sub(from) } else { units.bits })
        };
        units.tweaks.iter().map(Vec::as_slice).enumerate().map(piece).collect()
    }

    pub(super) fn is_right(&self, encrypted: &Answer, decrypted: &Answer) -> bool {
        let sealed =
            encrypted.as_ref().is_some_and(|(text, tag)| *text == self.ciphertext && *tag == self.tag);
        let opened = decrypted.as_ref().is_some_and(|(text, _)| *text == self.plaintext);
        let back = match self.expected {
            Expected::Valid => opened,
            Expected::Invalid => decrypted.is_none(),
            Expected::Acceptable => opened || decrypted.is_none(),
        };
        (sealed || !self.encrypts()) && (back || !self.decrypts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector is right if each direction in which it runs gives all of the text, to its last byte, and all
    /// of the tag; an invalid one, if it is refused.
    #[test]
    fn whatever_differs_from_the_file_is_wrong() {
        let (text, sealed, tag) = (vec![1; 20], vec![2; 20], vec![3; 16]);
        let right = [Some((sealed.clone(), tag.clone())), Some((text.clone(), Vec::new()))];
        let with_last = |bytes: &[u8]| [&bytes[..bytes.len() - 1], &[9]].concat();
        for ways in [Ways::Both, Ways::Encrypt, Ways::Decrypt] {
            for expected in [Expected::Valid, Expected::Invalid, Expected::Acceptable] {
                let vector = Vector {
                    id: 1,
                    key: Vec::new(),
                    iv: Vec::new(),
                    aad: Vec::new(),
                    plaintext: text.clone(),
                    ciphertext: sealed.clone(),
                    tag: tag.clone(),
                    spare_bits: 0,
                    units: None,
                    ways,
                    expected,
                };
                let is_right = |of: [&Answer; 2]| vector.is_right(of[0], of[1]);
                let is_valid = expected == Expected::Valid;
                let (there, back) = (is_valid && ways != Ways::Decrypt, !is_valid || ways != Ways::Encrypt);
                assert_eq!([vector.encrypts(), vector.decrypts()], [there, back]);
                assert_eq!(is_right([&right[0], &right[1]]), expected != Expected::Invalid);
                let wrong = [(with_last(&sealed), tag.clone()), (sealed.clone(), with_last(&tag))];
                for wrong in wrong.map(Some).iter().chain([&None]) {
                    assert_eq!(is_right([wrong, &right[1]]), !there && expected != Expected::Invalid);
                }
                assert_eq!(is_right([&right[0], &None]), !is_valid || !back);
                assert_eq!(is_right([&right[0], &Some((with_last(&text), Vec::new()))]), !back);
            }
        }
    }
}
