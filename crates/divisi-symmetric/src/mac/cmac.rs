//! The parts of CMAC (SP 800-38B) beside the cipher: subkeys and padding.

use divisi_circuit::Gates;

/// The length of a block in bytes.
pub const BLOCK: usize = 16;

/// A block times `x` in GF(2^128), where the highest bit of the first byte is the coefficient of `x^127`
/// (6.1): a left shift, and a reduction by `x^128 + x^7 + x^2 + x + 1`.
///
/// # Panics
/// If the block does not have 16 bytes.
pub fn double<G: Gates>(g: &mut G, block: &[[G::Bit; 8]]) -> Vec<[G::Bit; 8]> {
    assert_eq!(block.len(), BLOCK, "a block of CMAC");
    // coefficient i is bit i mod 8 of byte 15 - i / 8
    let coefficients: Vec<G::Bit> = block.iter().rev().flatten().copied().collect();
    let highest = coefficients[8 * BLOCK - 1];
    let mut doubled = coefficients;
    doubled.rotate_right(1);
    for i in [1, 2, 7] {
        doubled[i] = g.xor(doubled[i], highest);
    }
    doubled.as_chunks().0.iter().rev().copied().collect()
}

/// The padding after a message of this many bytes; empty if the last block is complete.
#[must_use]
pub fn padding(message_bytes: u64) -> Vec<u8> {
    // an empty message has an incomplete block
    let last = if is_complete(message_bytes) { BLOCK } else { (message_bytes % BLOCK as u64) as usize };
    filling(BLOCK, last)
}

/// The same for a block of any size.
#[must_use]
pub(crate) fn filling(block: usize, message_bytes: usize) -> Vec<u8> {
    if message_bytes > 0 && message_bytes.is_multiple_of(block) {
        return Vec::new();
    }
    let mut padding = vec![0; block - message_bytes % block];
    if let Some(first) = padding.first_mut() {
        *first = 0x80;
    }
    padding
}

/// Whether the last block of a message of this many bytes is complete; the first subkey is then used,
/// otherwise the second.
#[must_use]
pub fn is_complete(message_bytes: u64) -> bool {
    message_bytes > 0 && message_bytes.is_multiple_of(BLOCK as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::in_the_clear;

    /// SP 800-38B, D.1: L, K1 and K2.
    #[test]
    fn subkeys_are_those_of_the_example() {
        let l = hex::decode("7df76b0c1ab899b33e42f047b91b546f").unwrap();
        let k1 = in_the_clear(&l, double);
        assert_eq!(hex::encode(&k1), "fbeed618357133667c85e08f7236a8de");
        assert_eq!(hex::encode(in_the_clear(&k1, double)), "f7ddac306ae266ccf90bc11ee46d513b");
    }

    #[test]
    fn padding_fills_the_block_and_no_more() {
        for length in 0..64 {
            let padding = padding(length);
            assert_eq!(padding.is_empty(), is_complete(length));
            let whole = length + padding.len() as u64;
            assert!(whole.is_multiple_of(16) && whole > 0 && padding.len() <= 16);
        }
    }
}
