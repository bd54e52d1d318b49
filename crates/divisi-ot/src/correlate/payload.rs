//! The kinds of payloads, and how they are masked.

use super::wire::PayloadWord;
use divisi_field::kernel::vectorize;

/// A kind of payload: how a row's payload is divided into words, and how each word is masked and sent. The
/// kind is public; only the words are secret.
///
/// Operations on words are inlined into loops over many words, which the compiler turns into vector code. So
/// they have neither branches nor products of 128 bits.
pub trait Payload: Copy {
    /// One element of a payload.
    type Word: PayloadWord;

    /// How many words a row has.
    fn words(&self) -> usize;
    /// How many blocks of the hash the pads of a row are made from.
    fn blocks(&self) -> usize;
    /// How many bits a word takes in a message.
    fn wire_bits(&self, word: usize) -> u32;
    /// Whether the parameters are in range.
    fn is_sound(&self) -> bool;
    /// The pads of all words of some rows, from the rows' blocks; their distribution is within 2^-64 of
    /// uniform.
    fn pads(&self, blocks: &[u128], out: &mut [Self::Word]);
    /// The sum.
    fn add(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The difference.
    fn sub(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Zero exactly if `value` is a valid word at this place of a payload; without a branch.
    fn excess(&self, value: Self::Word, word: usize) -> u64;

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

    fn pads(&self, blocks: &[u128], out: &mut [u128]) {
        let words = self.words();
        if words == 1 {
            let low = self.low(0);
            return vectorize(
                #[inline(always)]
                || out.iter_mut().zip(blocks).for_each(|(out, block)| *out = block & low),
            );
        }
        for (blocks, out) in blocks.chunks(words).zip(out.chunks_mut(words)) {
            out.iter_mut().enumerate().for_each(|(word, out)| *out = blocks[word] & self.low(word));
        }
    }

    #[inline(always)]
    fn add(&self, a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline(always)]
    fn sub(&self, a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline(always)]
    fn excess(&self, value: u128, word: usize) -> u64 {
        let excess = value & !self.low(word);
        excess as u64 | (excess >> 64) as u64
    }
}

/// Vectors of `count` numbers modulo a public p with 2 <= p < 2^64, each reduced: at most 64 of them, or 32
/// for p from 2^50 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The modulus p.
    pub modulus: u64,
    /// How many numbers a row has.
    pub count: usize,
}

impl Numbers {
    /// The pad of a block: floor(block p / 2^128). Each number comes from floor or ceil of 2^128 / p blocks,
    /// so that the distance from uniform is below p / 2^128, at most 2^-78 for p below 2^50. There is no
    /// division, whose time could depend on the block.
    #[inline(always)]
    fn wide(&self, block: u128) -> u64 {
        self.wider([block, 0])
    }

    /// The same from 192 bits, those of a block and the upper half of another: floor(bits p / 2^192), within
    /// p / 2^192 of uniform. A session may mask so many numbers that 128 bits are too few for a large p.
    #[inline(always)]
    fn wider(&self, [first, second]: [u128; 2]) -> u64 {
        let p = u128::from(self.modulus);
        let low = u128::from(first as u64) * p + (((second >> 64) * p) >> 64);
        let high = (first >> 64) * p;
        ((high + (low >> 64)) >> 64) as u64
    }

    /// Whether a pad is made of two blocks.
    fn takes_two(&self) -> bool {
        self.modulus >> 50 != 0
    }

    /// The same for p below 2^32, digit by digit: no product is longer than 64 bits, so that vector
    /// instructions can make it.
    #[inline(always)]
    fn narrow(&self, block: u128) -> u64 {
        let p = u64::from(self.modulus as u32);
        let digit = |i: u32| u64::from((block >> (32 * i)) as u32);
        (0..4).fold(0, |carry, i| (digit(i) * p + carry) >> 32)
    }
}

impl Payload for Numbers {
    type Word = u64;

    fn words(&self) -> usize {
        self.count
    }

    fn blocks(&self) -> usize {
        if self.takes_two() { self.count.saturating_mul(2) } else { self.count }
    }

    #[inline]
    fn wire_bits(&self, _: usize) -> u32 {
        64 - (self.modulus - 1).leading_zeros()
    }

    fn is_sound(&self) -> bool {
        self.modulus > 1 && self.count > 0
    }

    fn pads(&self, blocks: &[u128], out: &mut [u64]) {
        if u32::try_from(self.modulus).is_ok() {
            return vectorize(
                #[inline(always)]
                || out.iter_mut().zip(blocks).for_each(|(out, block)| *out = self.narrow(*block)),
            );
        }
        if self.takes_two() {
            let pairs = blocks.as_chunks::<2>().0;
            return out.iter_mut().zip(pairs).for_each(|(out, pair)| *out = self.wider(*pair));
        }
        out.iter_mut().zip(blocks).for_each(|(out, block)| *out = self.wide(*block));
    }

    #[inline(always)]
    fn add(&self, a: u64, b: u64) -> u64 {
        self.sub(a, self.modulus - b)
    }

    /// p is added again under a mask that is all ones if the difference is negative. b may be p.
    #[inline(always)]
    fn sub(&self, a: u64, b: u64) -> u64 {
        let (difference, below) = a.overflowing_sub(b);
        difference.wrapping_add(self.modulus & u64::from(below).wrapping_neg())
    }

    #[inline(always)]
    fn excess(&self, value: u64, _: usize) -> u64 {
        let (_, below) = value.overflowing_sub(self.modulus);
        u64::from(!below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULI: [u64; 6] = [2, 3, 65_537, 3_221_225_473, 0xffff_ffff_0000_0001, u64::MAX];

    /// The pad of this block, with zeros behind it if it is made of two.
    fn pad(numbers: &Numbers, block: u128) -> u64 {
        let mut pad = [0];
        numbers.pads(&[block, 0][..numbers.blocks()], &mut pad);
        pad[0]
    }

    /// However long a payload is, each of its words has a block of its own, in every row.
    #[test]
    fn every_word_has_its_own_block() {
        let blocks = |count: usize| -> Vec<u128> {
            let of = |i: u128| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            (0..count as u128).map(of).collect()
        };
        for width in [5, 128, 129, 512, 513, 1280, 8 * 1024] {
            let vectors = BitVectors { width };
            let (words, mut out) = (vectors.words(), vec![0; 3 * vectors.words()]);
            vectors.pads(&blocks(3 * words), &mut out);
            let right = blocks(3 * words).into_iter().enumerate().map(|(i, block)| {
                let bits = (width - 128 * (i % words)).min(128);
                block & u128::MAX >> (128 - bits)
            });
            assert!(out.into_iter().eq(right), "{width}");
        }
        for (modulus, count) in MODULI.into_iter().flat_map(|modulus| [1, 5, 64, 300].map(|n| (modulus, n))) {
            let numbers = Numbers { modulus, count };
            let (all, mut out) = (blocks(3 * numbers.blocks()), vec![0; 3 * count]);
            numbers.pads(&all, &mut out);
            let one = Numbers { modulus, count: 1 };
            let right = all.chunks(one.blocks()).map(|blocks| {
                let mut pad = [0];
                one.pads(blocks, &mut pad);
                pad[0]
            });
            assert!(out.into_iter().eq(right), "{modulus} {count}");
        }
    }

    #[test]
    fn numbers_are_added_modulo_p() {
        for modulus in MODULI {
            let (p, numbers) = (u128::from(modulus), Numbers { modulus, count: 1 });
            let values = [0, 1, 2, modulus / 2, modulus / 2 + 1, modulus - 2, modulus - 1];
            for a in values.map(|a| a % modulus) {
                assert_eq!(numbers.excess(a, 0), 0);
                assert!(a == 0 || a.ilog2() < numbers.wire_bits(0));
                for b in values.map(|b| b % modulus) {
                    assert_eq!(u128::from(numbers.add(a, b)), (u128::from(a) + u128::from(b)) % p);
                    assert_eq!(u128::from(numbers.sub(a, b)), (u128::from(a) + p - u128::from(b)) % p);
                }
            }
            assert_eq!(numbers.add(0, 0), 0);
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
                assert_eq!(pad(&numbers, least), number, "{modulus} {number}");
                if let Some(before) = least.checked_sub(1) {
                    assert_eq!(pad(&numbers, before), number.wrapping_sub(1), "{modulus} {number}");
                }
            }
            assert_eq!((pad(&numbers, 0), pad(&numbers, u128::MAX)), (0, modulus - 1));
        }
    }

    /// A pad of two blocks is floor(bits p / 2^192): the least bits of a number give it, and those before
    /// them the number before.
    #[test]
    fn pads_of_two_blocks_are_uniform_within_2_to_the_minus_128() {
        for modulus in [1 << 50, (1 << 62) - (1 << 46) + 1, u64::MAX] {
            let numbers = Numbers { modulus, count: 1 };
            assert_eq!(numbers.blocks(), 2);
            let (p, pad) = (u128::from(modulus), |[high, middle, low]: [u64; 3]| {
                let first = u128::from(high) << 64 | u128::from(middle);
                let mut pad = [0];
                numbers.pads(&[first, u128::from(low) << 64 | 0xffff], &mut pad);
                pad[0]
            });
            for number in [0, 1, modulus / 3, modulus / 2, modulus - 1] {
                // number 2^192 / p by three steps of long division
                let (mut digits, mut rest) = ([0; 3], u128::from(number));
                for digit in &mut digits {
                    rest <<= 64;
                    *digit = (rest / p) as u64;
                    rest %= p;
                }
                let next = |[high, middle, low]: [u64; 3]| {
                    let (low, over) = low.overflowing_add(1);
                    let (middle, over) = middle.overflowing_add(u64::from(over));
                    [high + u64::from(over), middle, low]
                };
                // rounded down, these bits are below the least ones of the number unless nothing is left
                let (least, before) = if rest == 0 { (digits, None) } else { (next(digits), Some(digits)) };
                assert_eq!(pad(least), number, "{modulus} {number}");
                assert_eq!(before.map(pad), before.map(|_| number.wrapping_sub(1)), "{modulus} {number}");
            }
            assert_eq!((pad([0; 3]), pad([u64::MAX; 3])), (0, modulus - 1));
        }
    }

    #[test]
    fn words_have_no_excess() {
        for modulus in MODULI {
            let numbers = Numbers { modulus, count: 2 };
            for value in [0, 1, modulus / 2, modulus - 1, modulus, modulus.saturating_add(1), u64::MAX] {
                assert_eq!(numbers.excess(value, 1) == 0, value < modulus, "{value} modulo {modulus}");
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
            let mut pads = vec![0; bits.words()];
            bits.pads(&[u128::MAX; 3][..bits.words()], &mut pads);
            let all: u32 = pads.iter().map(|pad| pad.count_ones()).sum();
            assert_eq!((all as usize, bits.bits()), (width, width));
            // each word has its own block
            let blocks = [u128::MAX / 3, u128::MAX / 5, u128::MAX / 7];
            bits.pads(&blocks[..bits.words()], &mut pads);
            assert!((0..bits.words()).all(|w| pads[w] == blocks[w] & bits.low(w)));
            let mut pads = [0; 3];
            for modulus in [3_221_225_473, (1 << 49) + 1] {
                let numbers = Numbers { modulus, count: 3 };
                numbers.pads(&blocks, &mut pads);
                assert!(pads == blocks.map(|block| numbers.wide(block)) && pads[0] != pads[1]);
            }
            let numbers = Numbers { modulus: u64::MAX, count: 3 };
            let pairs = blocks.map(|block| [block, block / 3]);
            numbers.pads(pairs.as_flattened(), &mut pads);
            assert!(pads == pairs.map(|pair| numbers.wider(pair)) && pads[0] != pads[1]);
        }
    }
}
