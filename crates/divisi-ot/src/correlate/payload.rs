//! The kinds of payloads, and how they are masked.

use crate::delta::mask;
use crate::kept::Keep;

/// A kind of payload: how a row's payload is divided into words, and how each word is masked and sent. The
/// kind is public; only the words are secret.
pub trait Payload: Copy {
    /// One element of a payload.
    type Word: Keep;

    /// How many words a row has.
    fn words(&self) -> usize;
    /// How many blocks the pads of a row take.
    fn blocks(&self) -> usize;
    /// Whether the hash makes one block for a row, which a generator stretches to all blocks. For payloads
    /// longer than the hash's largest class; hashing every block would also be slow.
    fn is_stretched(&self) -> bool {
        false
    }
    /// How many bits a word takes in a message.
    fn wire_bits(&self, word: usize) -> u32;
    /// Whether the parameters are in range.
    fn is_sound(&self) -> bool;
    /// The pad of a word, from the row's blocks; its distribution is within 2^-64 of uniform.
    fn pad(&self, blocks: &[u128], word: usize) -> Self::Word;
    /// The sum.
    fn add(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The difference.
    fn sub(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The word if the lowest bit of `bit` is one, else zero; without a branch.
    fn times(&self, bit: u64, word: Self::Word) -> Self::Word;
    /// The word as the bits that are sent.
    fn on_wire(&self, word: Self::Word) -> u128;
    /// The word of these received bits; `None` if they encode no word.
    fn off_wire(&self, bits: u128) -> Option<Self::Word>;
    /// Zero exactly if `value` is a valid word at this place of a payload; without a branch.
    fn excess(&self, value: Self::Word, word: usize) -> u128;

    /// How many bits the payload of a row takes in a message.
    fn bits(&self) -> usize {
        (0..self.words()).map(|word| self.wire_bits(word) as usize).sum()
    }
}

/// Vectors of `width` bits, added bit by bit. A word has 128 of them, the first ones lowest; the last word
/// has the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitVectors {
    /// How many bits a row has.
    pub width: usize,
}

impl BitVectors {
    #[inline]
    fn low(&self, word: usize) -> u128 {
        u128::MAX >> (128 - self.wire_bits(word))
    }
}

impl Payload for BitVectors {
    type Word = u128;

    fn words(&self) -> usize {
        self.width.div_ceil(128)
    }

    fn blocks(&self) -> usize {
        self.words()
    }

    #[inline]
    fn wire_bits(&self, word: usize) -> u32 {
        (self.width - 128 * word).min(128) as u32
    }

    fn is_sound(&self) -> bool {
        self.width > 0
    }

    #[inline]
    fn pad(&self, blocks: &[u128], word: usize) -> u128 {
        blocks[word] & self.low(word)
    }

    #[inline]
    fn add(&self, a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline]
    fn sub(&self, a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline]
    fn times(&self, bit: u64, word: u128) -> u128 {
        mask(bit) & word
    }

    #[inline]
    fn on_wire(&self, word: u128) -> u128 {
        word
    }

    #[inline]
    fn off_wire(&self, bits: u128) -> Option<u128> {
        Some(bits)
    }

    #[inline]
    fn excess(&self, value: u128, word: usize) -> u128 {
        value & !self.low(word)
    }
}

/// Vectors of `count` numbers modulo a public p with 2 <= p < 2^64, each reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// p.
    pub modulus: u64,
    /// How many numbers a row has.
    pub count: usize,
}

impl Numbers {
    /// Reduces a sum below 2 p modulo p. The upper half of sum - p is all ones if that is negative, else
    /// zero: the mask under which p is added again. A minimum of 128-bit words would compile to a branch.
    #[inline(always)]
    fn reduced(&self, sum: u128) -> u64 {
        let difference = sum.wrapping_sub(u128::from(self.modulus));
        (difference as u64).wrapping_add(self.modulus & (difference >> 64) as u64)
    }
}

impl Payload for Numbers {
    type Word = u64;

    fn words(&self) -> usize {
        self.count
    }

    fn blocks(&self) -> usize {
        self.count
    }

    #[inline]
    fn wire_bits(&self, _: usize) -> u32 {
        64 - (self.modulus - 1).leading_zeros()
    }

    fn is_sound(&self) -> bool {
        self.modulus > 1 && self.count > 0
    }

    /// floor(block p / 2^128): each number comes from floor or ceil of 2^128 / p blocks, so that the distance
    /// from uniform is below p / 2^128, at most 2^-64. There is no division, whose time could depend on the
    /// block.
    #[inline]
    fn pad(&self, blocks: &[u128], word: usize) -> u64 {
        let (block, p) = (blocks[word], u128::from(self.modulus));
        let (low, high) = (u128::from(block as u64) * p, (block >> 64) * p);
        ((high + (low >> 64)) >> 64) as u64
    }

    #[inline]
    fn add(&self, a: u64, b: u64) -> u64 {
        self.reduced(u128::from(a) + u128::from(b))
    }

    #[inline]
    fn sub(&self, a: u64, b: u64) -> u64 {
        self.reduced(u128::from(a) + u128::from(self.modulus) - u128::from(b))
    }

    #[inline]
    fn times(&self, bit: u64, word: u64) -> u64 {
        mask(bit) as u64 & word
    }

    #[inline]
    fn on_wire(&self, word: u64) -> u128 {
        u128::from(word)
    }

    #[inline]
    fn off_wire(&self, bits: u128) -> Option<u64> {
        (bits < u128::from(self.modulus)).then_some(bits as u64)
    }

    #[inline]
    fn excess(&self, value: u64, _: usize) -> u128 {
        let (_, below) = value.overflowing_sub(self.modulus);
        u128::from(!below)
    }
}

/// Vectors of `count` numbers modulo 65,537 = 2^16 + 1, each reduced, of any length. A generator stretches
/// the hash of a row, and each number takes half a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Long {
    /// How many numbers a row has.
    pub count: usize,
}

impl Long {
    /// The modulus 2^16 + 1.
    pub const MODULUS: u64 = (1 << 16) + 1;

    /// Reduces a number below 2 p modulo p.
    #[inline(always)]
    fn once(x: u64, p: u64) -> u64 {
        x.min(x.wrapping_sub(p))
    }
}

impl Payload for Long {
    type Word = u64;

    fn words(&self) -> usize {
        self.count
    }

    fn blocks(&self) -> usize {
        self.count.div_ceil(2)
    }

    fn is_stretched(&self) -> bool {
        true
    }

    #[inline]
    fn wire_bits(&self, _: usize) -> u32 {
        17
    }

    fn is_sound(&self) -> bool {
        self.count > 0
    }

    /// The half block modulo p. Because 2^16 = -1 modulo p this is an alternating sum of 16-bit digits. 2^64
    /// is 1 more than a multiple of p, so zero comes from one half block more than every other number; the
    /// distance from uniform is below 2^-64.
    #[inline(always)]
    fn pad(&self, blocks: &[u128], word: usize) -> u64 {
        let half = (blocks[word / 2] >> (64 * (word % 2))) as u64;
        let digit = |i: u32| half >> (16 * i) & 0xffff;
        let sum = digit(0) + digit(2) + 2 * Long::MODULUS - digit(1) - digit(3);
        Long::once(Long::once(sum, 2 * Long::MODULUS), Long::MODULUS)
    }

    #[inline(always)]
    fn add(&self, a: u64, b: u64) -> u64 {
        Long::once(a + b, Long::MODULUS)
    }

    #[inline(always)]
    fn sub(&self, a: u64, b: u64) -> u64 {
        Long::once(a + Long::MODULUS - b, Long::MODULUS)
    }

    #[inline(always)]
    fn times(&self, bit: u64, word: u64) -> u64 {
        mask(bit) as u64 & word
    }

    #[inline(always)]
    fn on_wire(&self, word: u64) -> u128 {
        u128::from(word)
    }

    #[inline(always)]
    fn off_wire(&self, bits: u128) -> Option<u64> {
        (bits < u128::from(Long::MODULUS)).then_some(bits as u64)
    }

    #[inline(always)]
    fn excess(&self, value: u64, _: usize) -> u128 {
        let (_, below) = value.overflowing_sub(Long::MODULUS);
        u128::from(!below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULI: [u64; 6] = [2, 3, 65_537, 3_221_225_473, 0xffff_ffff_0000_0001, u64::MAX];

    #[test]
    fn numbers_are_added_modulo_p() {
        for modulus in MODULI {
            let (p, numbers) = (u128::from(modulus), Numbers { modulus, count: 1 });
            let values = [0, 1, 2, modulus / 2, modulus / 2 + 1, modulus - 2, modulus - 1];
            for a in values.map(|a| a % modulus) {
                assert_eq!((numbers.times(0, a), numbers.times(1, a)), (0, a));
                assert_eq!(numbers.off_wire(numbers.on_wire(a)), Some(a));
                assert!(a == 0 || a.ilog2() < numbers.wire_bits(0));
                for b in values.map(|b| b % modulus) {
                    assert_eq!(u128::from(numbers.add(a, b)), (u128::from(a) + u128::from(b)) % p);
                    assert_eq!(u128::from(numbers.sub(a, b)), (u128::from(a) + p - u128::from(b)) % p);
                }
            }
            assert_eq!((numbers.off_wire(p), numbers.off_wire(u128::MAX)), (None, None));
        }
    }

    /// All blocks, in order, are divided into p nearly equal ranges, one for each number. The first block of
    /// a number's range is ceil(number 2^128 / p), so no range has two blocks more than another.
    #[test]
    fn pads_are_uniform_within_2_to_the_minus_64() {
        for modulus in MODULI {
            let numbers = Numbers { modulus, count: 1 };
            let p = u128::from(modulus);
            for number in [0, 1, modulus / 3, modulus / 2, modulus - 1] {
                // number 2^128 / p by two steps of long division
                let (high, rest) = ((u128::from(number) << 64) / p, (u128::from(number) << 64) % p);
                let least = high << 64 | (rest << 64).div_ceil(p);
                assert_eq!(numbers.pad(&[least], 0), number, "{modulus} {number}");
                if let Some(before) = least.checked_sub(1) {
                    assert_eq!(numbers.pad(&[before], 0), number.wrapping_sub(1), "{modulus} {number}");
                }
            }
            assert_eq!((numbers.pad(&[0], 0), numbers.pad(&[u128::MAX], 0)), (0, modulus - 1));
        }
    }

    /// The pad of a half block is the half block modulo p, and 2^64 = 1 modulo p: every number comes from
    /// equally many half blocks, and zero from one more.
    #[test]
    fn long_pads_are_halves_modulo_p() {
        let (long, p) = (Long { count: 5 }, Long::MODULUS);
        assert_eq!((1_u128 << 64) % u128::from(p), 1);
        assert_eq!((long.blocks(), long.bits()), (3, 5 * 17));
        let mut half = 1_u64;
        for i in 0..2000 {
            half = half.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(i);
            for half in [half, half | 0xffff << 16, half & !0xffff, u64::MAX - i, i] {
                let block = u128::from(half) << 64 | u128::from(!half);
                assert_eq!(long.pad(&[0, block], 3), half % p);
                assert_eq!(long.pad(&[0, block], 2), !half % p);
            }
        }
        for a in [0, 1, 2, 77, p / 2, p - 2, p - 1] {
            assert_eq!((long.excess(a, 0), long.off_wire(long.on_wire(a))), (0, Some(a)));
            for b in [0, 1, 2, 78, p / 2 + 1, p - 2, p - 1] {
                assert_eq!((long.add(a, b), long.sub(a, b)), ((a + b) % p, (a + p - b) % p));
            }
        }
        assert!((p..p + 3).all(|x| long.excess(x, 0) != 0 && long.off_wire(x.into()).is_none()));
    }

    #[test]
    fn words_have_no_excess() {
        for modulus in MODULI {
            let numbers = Numbers { modulus, count: 2 };
            for value in [0, 1, modulus / 2, modulus - 1, modulus, modulus.saturating_add(1), u64::MAX] {
                let fits = numbers.off_wire(numbers.on_wire(value)).is_some();
                assert_eq!(numbers.excess(value, 1) == 0, fits, "{value} modulo {modulus}");
            }
        }
        for width in [1_usize, 40, 127, 128, 129, 300] {
            let bits = BitVectors { width };
            for word in 0..bits.words() {
                let at = bits.wire_bits(word);
                assert!(
                    (0..128).all(|bit| (bits.excess(1 << bit, word) == 0) == (bit < at)),
                    "{width} {word}"
                );
                assert_eq!(bits.excess(bits.low(word), word), 0);
            }
        }
    }

    #[test]
    fn pads_of_bits_are_as_wide_as_they() {
        for width in [1, 7, 127, 128, 129, 300] {
            let bits = BitVectors { width };
            let all: u32 = (0..bits.words()).map(|w| bits.pad(&[u128::MAX; 3], w).count_ones()).sum();
            assert_eq!((all as usize, bits.bits()), (width, width));
            // each word has its own block
            let blocks = [u128::MAX / 3, u128::MAX / 5, u128::MAX / 7];
            assert!((0..bits.words()).all(|w| bits.pad(&blocks, w) == blocks[w] & bits.low(w)));
            let numbers = Numbers { modulus: u64::MAX, count: 3 };
            let pads = [0, 1, 2].map(|w| numbers.pad(&blocks, w));
            assert!(pads == blocks.map(|block| numbers.pad(&[block], 0)) && pads[0] != pads[1]);
        }
    }
}
