//! Long payloads of numbers modulo 65,537.

use super::payload::Payload;
use crate::purposes;
use divisi_core::{Prg, wipe};
use divisi_field::kernel::vectorize;

/// Vectors of `count` numbers modulo 65,537 = 2^16 + 1, each reduced, of any length. The hash makes one block
/// for a row, which a generator stretches to 64 bits for each number: payloads are longer than the hash's
/// largest class, and hashing every block would also be slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Long {
    /// How many numbers a row has.
    pub count: usize,
}

/// The modulus p.
const P: u32 = Long::MODULUS as u32;

impl Long {
    /// The modulus 2^16 + 1.
    pub const MODULUS: u64 = (1 << 16) + 1;

    /// The pad that 64 random bits give: their number modulo p. Because 2^16 = -1 modulo p this is an
    /// alternating sum of 16-bit digits, which is reduced in the same way. 2^64 is 1 more than a multiple of
    /// p, so zero comes from one word more than every other number; the distance from uniform is below 2^-64.
    #[inline(always)]
    fn pad(bits: u64) -> u32 {
        // the digits with even numbers, minus the others
        let even = bits & 0xffff_0000_ffff;
        let odd = bits >> 16 & 0xffff_0000_ffff;
        let sum = (even as u32) + ((even >> 32) as u32) + 2 * P - (odd as u32) - ((odd >> 32) as u32);
        let rest = (sum & 0xffff).wrapping_sub(sum >> 16);
        rest.min(rest.wrapping_add(P))
    }
}

/// How many words of a stream are made together.
const TOGETHER: usize = 1024;

impl Payload for Long {
    type Word = u32;

    fn words(&self) -> usize {
        self.count
    }

    fn blocks(&self) -> usize {
        1
    }

    #[inline]
    fn wire_bits(&self, _: usize) -> u32 {
        17
    }

    fn is_sound(&self) -> bool {
        self.count > 0
    }

    fn pads(&self, blocks: &[u128], out: &mut [u32]) {
        let mut words = [0; TOGETHER];
        for (seed, out) in blocks.iter().zip(out.chunks_mut(self.count)) {
            // a seed serves one row
            let mut stream = Prg::of(purposes::LONG_PAD, &seed.to_le_bytes());
            for out in out.chunks_mut(TOGETHER) {
                let words = &mut words[..out.len()];
                stream.words(words);
                vectorize(
                    #[inline(always)]
                    || out.iter_mut().zip(words).for_each(|(out, bits)| *out = Long::pad(*bits)),
                );
            }
        }
        let used = self.count.min(TOGETHER);
        wipe::words(&mut words[..used]);
    }

    #[inline(always)]
    fn add(&self, a: u32, b: u32) -> u32 {
        let sum = a + b;
        sum.min(sum.wrapping_sub(P))
    }

    #[inline(always)]
    fn sub(&self, a: u32, b: u32) -> u32 {
        let difference = a.wrapping_sub(b);
        difference.min(difference.wrapping_add(P))
    }

    #[inline(always)]
    fn excess(&self, value: u32, _: usize) -> u64 {
        let (_, below) = value.overflowing_sub(P);
        u64::from(!below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pad of a word of the stream is the word modulo p, and 2^64 = 1 modulo p: every number comes from
    /// equally many words, and zero from one more.
    #[test]
    fn long_pads_are_words_modulo_p() {
        let (long, p) = (Long { count: 5 }, Long::MODULUS);
        assert_eq!((1_u128 << 64) % u128::from(p), 1);
        assert_eq!((long.blocks(), long.bits()), (1, 5 * 17));
        let mut word = 1_u64;
        for i in 0..2000 {
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(i);
            for word in [word, word | 0xffff << 16, word & !0xffff, u64::MAX - i, i, 0xffff << 16, P.into()] {
                assert_eq!(u64::from(Long::pad(word)), word % p);
            }
            let digits = [i, i >> 1, i >> 2, i >> 3].map(|i| (i & 1) * 0xffff);
            let word = digits.iter().fold(0, |word, digit| word << 16 | digit);
            assert_eq!(u64::from(Long::pad(word)), word % p);
        }
        for a in [0, 1, 2, 77, P / 2, P - 2, P - 1] {
            assert_eq!(long.excess(a, 0), 0);
            for b in [0, 1, 2, 78, P / 2 + 1, P - 2, P - 1] {
                assert_eq!((long.add(a, b), long.sub(a, b)), ((a + b) % P, (a + P - b) % P));
            }
        }
        assert!([P, P + 1, P + 2, 1 << 17, u32::MAX].iter().all(|x| long.excess(*x, 0) != 0));
    }

    /// Each row's pads are its own stream, for any length.
    #[test]
    fn long_pads_are_the_stream_of_their_row() {
        for count in [1, 2, 5, TOGETHER - 1, TOGETHER, 2 * TOGETHER + 3] {
            let mut pads = vec![0; 3 * count];
            Long { count }.pads(&[7, 8, 1 << 127], &mut pads);
            for (seed, pads) in [7_u128, 8, 1 << 127].iter().zip(pads.chunks(count)) {
                let mut bytes = vec![0; 8 * count];
                Prg::new(&seed.to_le_bytes()).fill(&mut bytes);
                let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
                assert!(pads.iter().map(|pad| u64::from(*pad)).eq(words.map(|word| word % Long::MODULUS)));
            }
        }
    }
}
