//! The lengths of messages and tags that GCM allows and that this crate supports.

use super::element;
use std::fmt;

/// The most blocks that a message has: `len(P) <= 2^39 - 256` bits (SP 800-38D, 5.2.1.1).
pub const MAX_BLOCKS: u64 = (1 << 32) - 2;

/// The lengths of a message, which are within GCM's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lengths {
    aad: u64,
    message: u64,
}

impl Lengths {
    /// The lengths of associated data and message in bytes.
    ///
    /// # Errors
    /// [`TooLong`] if they are beyond GCM's limits.
    pub fn new(aad: u64, message: u64) -> Result<Self, TooLong> {
        if aad >= 1 << 61 {
            return Err(TooLong { what: "associated data", bytes: aad, limit: (1 << 61) - 1 });
        }
        if message > 16 * MAX_BLOCKS {
            return Err(TooLong { what: "message", bytes: message, limit: 16 * MAX_BLOCKS });
        }
        Ok(Lengths { aad, message })
    }

    /// Bytes of associated data.
    #[must_use]
    pub fn aad(self) -> u64 {
        self.aad
    }

    /// Bytes of the message.
    #[must_use]
    pub fn message(self) -> u64 {
        self.message
    }

    /// Blocks of the message, including an incomplete one; the key stream has one block more, for the tag.
    #[must_use]
    pub fn message_blocks(self) -> u64 {
        self.message.div_ceil(16)
    }

    /// Blocks that GHASH processes: both parts, each padded with zeros, and the block of lengths.
    #[must_use]
    pub fn hash_blocks(self) -> u64 {
        self.aad.div_ceil(16) + self.message_blocks() + 1
    }

    /// The last block of GHASH: both lengths in bits, 64 bits each (SP 800-38D, algorithm 4, step 5).
    #[must_use]
    pub fn length_block(self) -> [u8; 16] {
        (u128::from(8 * self.aad) << 64 | u128::from(8 * self.message)).to_be_bytes()
    }
}

/// A message is longer than GCM allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    what: &'static str,
    bytes: u64,
    limit: u64,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} has {} bytes, GCM allows {}: split it", self.what, self.bytes, self.limit)
    }
}

impl std::error::Error for TooLong {}

/// The supported lengths of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a standard has these and no others")]
pub enum TagLength {
    /// 32 bits: SP 800-38D, appendix C, restricts the use of such a key. Servers do not support it.
    Bits32,
    /// 64 bits: the same holds.
    Bits64,
    /// 96 bits.
    Bits96,
    /// 104 bits.
    Bits104,
    /// 112 bits.
    Bits112,
    /// 120 bits.
    Bits120,
    /// 128 bits: the whole tag.
    Bits128,
}

impl TagLength {
    /// The lengths for general use.
    pub const ALL: [TagLength; 5] =
        [TagLength::Bits96, TagLength::Bits104, TagLength::Bits112, TagLength::Bits120, TagLength::Bits128];

    /// The lengths for some applications only (SP 800-38D, appendix C).
    pub const SHORT: [TagLength; 2] = [TagLength::Bits32, TagLength::Bits64];

    /// The length of this many bits, also a short one: for callers that know the restrictions of short tags,
    /// such as tests of known answers.
    ///
    /// # Errors
    /// [`UnsupportedTag`] if it is not supported.
    pub fn from_bits_even_short(bits: usize) -> Result<Self, UnsupportedTag> {
        let short = Self::SHORT.into_iter().find(|length| length.bits() == bits);
        short.map_or_else(|| Self::from_bits(bits), Ok)
    }

    /// The length of this many bits, for general use.
    ///
    /// # Errors
    /// [`UnsupportedTag`] if it is not one of these.
    pub fn from_bits(bits: usize) -> Result<Self, UnsupportedTag> {
        Self::ALL.into_iter().find(|length| length.bits() == bits).ok_or(UnsupportedTag { bits })
    }

    /// Its length in bits.
    #[must_use]
    pub const fn bits(self) -> usize {
        8 * self.bytes()
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            TagLength::Bits32 => 4,
            TagLength::Bits64 => 8,
            TagLength::Bits96 => 12,
            TagLength::Bits104 => 13,
            TagLength::Bits112 => 14,
            TagLength::Bits120 => 15,
            TagLength::Bits128 => 16,
        }
    }

    /// The coefficients of a block that belong to the tag. The comparison demands that those of the
    /// difference are zero. MSB_t keeps the first `t` bits of the string (SP 800-38D, algorithm 4, step 6),
    /// which are the lowest coefficients.
    #[must_use]
    pub const fn mask(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }

    /// A received tag as a field element, to be added to the computed one; `None` if it has another length.
    #[must_use]
    pub fn element(self, tag: &[u8]) -> Option<u128> {
        let mut block = [0; 16];
        block.get_mut(..self.bytes()).filter(|place| place.len() == tag.len())?.copy_from_slice(tag);
        Some(element(block))
    }
}

/// The length of a tag is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedTag {
    bits: usize,
}

impl fmt::Display for UnsupportedTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tag of {} bits is not supported: choose 96, 104, 112, 120 or 128", self.bits)
    }
}

impl std::error::Error for UnsupportedTag {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_limits_of_the_standard() {
        assert!(Lengths::new(0, 16 * MAX_BLOCKS).is_ok() && Lengths::new((1 << 61) - 1, 0).is_ok());
        assert!(Lengths::new(0, 16 * MAX_BLOCKS + 1).is_err() && Lengths::new(1 << 61, 0).is_err());
        let lengths = Lengths::new(20, 33).unwrap();
        assert_eq!((lengths.message_blocks(), lengths.hash_blocks()), (3, 2 + 3 + 1));
        let mut block = [0; 16];
        (block[7], block[14], block[15]) = (160, 1, 8);
        assert_eq!(lengths.length_block(), block);
        assert_eq!(
            Lengths::new((1 << 61) - 1, 16 * MAX_BLOCKS).unwrap().hash_blocks(),
            (1 << 57) + MAX_BLOCKS + 1
        );
        let message = Lengths::new(0, u64::MAX).unwrap_err().to_string();
        assert_eq!(message, "the message has 18446744073709551615 bytes, GCM allows 68719476704: split it");
    }

    #[test]
    fn tags_of_96_to_128_bits_and_no_others() {
        let lengths: Vec<usize> = (0..=256).filter(|&bits| TagLength::from_bits(bits).is_ok()).collect();
        assert_eq!(lengths, [96, 104, 112, 120, 128]);
        assert!(TagLength::from_bits(64).unwrap_err().to_string().contains("64 bits is not supported"));
        let short = |bits| TagLength::from_bits_even_short(bits).map(TagLength::bits);
        assert_eq!((short(32), short(64), short(120)), (Ok(32), Ok(64), Ok(120)));
        assert!(short(40).is_err() && TagLength::from_bits(32).is_err());
        for length in TagLength::SHORT.into_iter().chain(TagLength::ALL) {
            let tag: Vec<u8> = (0..length.bytes()).map(|i| 0xff - i as u8).collect();
            let kept = length.element(&tag).unwrap();
            let mut longer = [0x5a; 16];
            longer[..tag.len()].copy_from_slice(&tag);
            assert_eq!(element(longer) & length.mask(), kept);
            assert_eq!(kept.count_ones(), tag.iter().map(|byte| byte.count_ones()).sum());
            assert_eq!((length.element(&tag[1..]), length.element(&[0; 17])), (None, None));
        }
    }
}
