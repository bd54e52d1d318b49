//! Random polynomials for secrets and noise, as small integers; in constant time.

use crate::purposes;
use divisi_core::wipe::WipedVec;
use divisi_core::{Prg, Session};
use divisi_field::kernel::vectorize;
use divisi_field::zp::{MODULUS_BITS, Modulus};
use zeroize::{Zeroize, Zeroizing};

/// The variance of an error: the difference of two sums of 21 bits, deviation 3.24.
pub const ERROR_VARIANCE: f64 = 10.5;
const ERROR_BITS: u32 = 21;
/// How many field elements are drawn at a time.
const PIECE: usize = 512;
/// The mask of the lower digit of a word, of 32 bits.
const DIGIT: u64 = u32::MAX as u64;

/// A generator of a party's own randomness.
pub struct Sampler(Prg);

/// What hides the plaintext of an encryption: the errors of its components, and v.
pub struct Hiding {
    /// e_0 and e_1.
    pub errors: [WipedVec<i64>; 2],
    /// The ternary factor of both halves of the public key.
    pub v: WipedVec<i64>,
}

impl Sampler {
    /// A generator with fresh entropy of this party.
    #[must_use]
    pub fn new(session: &Session) -> Sampler {
        let mut key = Zeroizing::new([0; 16]);
        session.entropy(purposes::SAMPLER_SEED, key.as_mut_slice());
        Sampler::of(Prg::of(purposes::SAMPLER, &key))
    }

    /// A generator that is seeded already.
    pub(crate) fn of(prg: Prg) -> Sampler {
        Sampler(prg)
    }

    /// The generator itself.
    pub(crate) fn prg(&mut self) -> &mut Prg {
        &mut self.0
    }

    /// The next words: not what callers ask for, but what it is made of.
    fn words(&mut self, out: &mut [u64]) {
        self.0.words(out);
    }

    /// Coefficients that are uniform in {-1, 0, 1}: four digits of base three from each word, each within
    /// 2^-57 of uniform.
    #[cfg_attr(feature = "testing", track_caller)]
    #[must_use]
    pub fn ternary(&mut self, n: usize) -> WipedVec<i64> {
        let mut words = WipedVec::zeros(n.div_ceil(4));
        self.words(&mut words);
        let mut out = WipedVec::zeros(n);
        for (out, word) in out.chunks_mut(4).zip(words.iter()) {
            let mut rest = *word;
            for out in out {
                let product = u128::from(rest) * 3;
                *out = (product >> 64) as i64 - 1;
                rest = product as u64;
            }
        }
        purposes::TERNARY.numbers(&mut out, |x, _| if x == 1 { -1 } else { x + 1 });
        purposes::TERNARY.drawn(|| bytes(&out));
        out
    }

    /// Errors: centred binomial coefficients of 42 bits.
    #[cfg_attr(feature = "testing", track_caller)]
    #[must_use]
    pub fn errors(&mut self, n: usize) -> WipedVec<i64> {
        let mut words = WipedVec::<u64>::zeros(n);
        self.words(&mut words);
        let mut out = WipedVec::zeros(n);
        let mask = (1 << ERROR_BITS) - 1;
        vectorize(
            #[inline(always)]
            || {
                for (out, word) in out.iter_mut().zip(words.iter()) {
                    let (up, down) = (word & mask, word >> ERROR_BITS & mask);
                    *out = i64::from(up.count_ones()) - i64::from(down.count_ones());
                }
            },
        );
        purposes::ERRORS.numbers(&mut out, |e, _| e + (1 << 24));
        purposes::ERRORS.drawn(|| bytes(&out));
        out
    }

    /// What hides one encryption of n coefficients. A hop rounds its errors away at once, so that only here
    /// can their draw be seen in ciphertexts: all encryptions share it.
    #[cfg_attr(feature = "testing", track_caller)]
    #[must_use]
    pub fn hiding(&mut self, n: usize) -> Hiding {
        Hiding { errors: [self.errors(n), self.errors(n)], v: self.ternary(n) }
    }

    /// Uniform bits, one in each word.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn bits(&mut self, out: &mut [u64]) {
        for out in out.chunks_mut(64) {
            let mut word = [0];
            self.words(&mut word);
            out.iter_mut().enumerate().for_each(|(i, out)| *out = word[0] >> i & 1);
            word.zeroize();
        }
        purposes::SAMPLER.numbers(out, |bit, _| 1 - bit);
    }

    /// Field elements: floor(u q / 2^128) of numbers u of 128 bits, whose distance from uniform is at most q
    /// / 2^128. For a modulus of more than 32 bits it is u modulo q, which takes longer; its distance from
    /// uniform is at most 2^-78. For one of more than 50 bits it is floor(u q / 2^192) of numbers of 192
    /// bits, for a distance of at most 2^-130: all masks of a session, up to 2^36, are together as good as
    /// those of a shorter modulus.
    #[cfg_attr(feature = "testing", track_caller)]
    #[must_use]
    pub fn elements(&mut self, modulus: Modulus, n: usize) -> WipedVec<u64> {
        let mut out = WipedVec::zeros(n);
        let each = if modulus.bits() > MODULUS_BITS { 3 } else { 2 };
        let mut words = WipedVec::<u64>::zeros(each * PIECE);
        for out in out.chunks_mut(PIECE) {
            // the highest words of the numbers, then the lower ones
            self.words(&mut words);
            let (high, low) = words.split_at(PIECE);
            if each == 3 {
                let (middle, low) = low.split_at(PIECE);
                scaled_wide(modulus.get(), out, [high, middle, low]);
            } else if modulus.bits() > 32 {
                for (out, (high, low)) in out.iter_mut().zip(high.iter().zip(low)) {
                    *out = modulus.reduce_wide(u128::from(*high) << 64 | u128::from(*low));
                }
            } else {
                scaled(modulus.get(), out, high, low);
            }
        }
        let half = modulus.get() / 2;
        purposes::SAMPLER.numbers(&mut out, |x, last| modulus.add(x, if last { half } else { 1 }));
        out
    }
}

/// Numbers as a record of draws has them.
fn bytes(numbers: &[i64]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
}

/// floor(u q / 2^128) for q below 2^32: a product of 32-bit digits, the lowest first, of which only the carry
/// is kept. One function for all kernels; no sum is above 2^64, as (2^32 - 1)^2 + 2^32 - 1 is below it.
fn scaled(q: u64, out: &mut [u64], high: &[u64], low: &[u64]) {
    vectorize(
        #[inline(always)]
        || {
            for (out, (high, low)) in out.iter_mut().zip(high.iter().zip(low)) {
                let carry = ((low & DIGIT) * q) >> 32;
                let carry = ((low >> 32) * q + carry) >> 32;
                let carry = ((high & DIGIT) * q + carry) >> 32;
                *out = ((high >> 32) * q + carry) >> 32;
            }
        },
    );
}

/// floor(u q / 2^192) for q below 2^62 and numbers u of three words, the highest first: as [`scaled`], but q
/// has two digits, and so has the carry. It is below q, and no sum is above 2^64.
fn scaled_wide(q: u64, out: &mut [u64], [high, middle, low]: [&[u64]; 3]) {
    vectorize(
        #[inline(always)]
        || {
            for (out, ((high, middle), low)) in out.iter_mut().zip(high.iter().zip(middle).zip(low)) {
                *out = carried(q, carried(q, carried(q, 0, *low), *middle), *high);
            }
        },
    );
}

/// (word q + carry) / 2^64 rounded down, digit by digit.
#[inline(always)]
fn carried(q: u64, carry: u64, word: u64) -> u64 {
    [word & DIGIT, word >> 32].into_iter().fold(carry, |carry, digit| {
        let low = digit * (q & DIGIT) + (carry & DIGIT);
        digit * (q >> 32) + (carry >> 32) + (low >> 32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flood::Width;
    use divisi_field::kernel;
    use divisi_field::zp::{P16, P32, P62};

    fn sampler(seed: u8) -> Sampler {
        Sampler(Prg::new(&[seed; 16]))
    }

    #[test]
    fn secrets_are_uniformly_ternary() {
        let n = 300_001;
        let secret = sampler(1).ternary(n);
        for value in -1..=1 {
            let count = secret.iter().filter(|x| **x == value).count() as f64;
            assert!((count - n as f64 / 3.0).abs() < 6.0 * (n as f64 * 2.0 / 9.0).sqrt(), "{value}: {count}");
        }
        // neighbouring coefficients, of one word and of two words, are independent
        for distance in 1..=5 {
            let sum: i64 = secret.iter().zip(&secret[distance..]).map(|(x, y)| x * y).sum();
            assert!((sum as f64).abs() < 6.0 * (n as f64 * 4.0 / 9.0).sqrt(), "{distance}");
        }
    }

    #[test]
    fn errors_have_their_variance() {
        let errors = sampler(2).errors(200_000);
        let mean = errors.iter().sum::<i64>() as f64 / 200_000.0;
        let square = errors.iter().map(|x| x * x).sum::<i64>() as f64 / 200_000.0;
        assert!(mean.abs() < 0.05 && (square - ERROR_VARIANCE).abs() < 0.2, "{mean} {square}");
        assert!(errors.iter().all(|x| x.abs() <= i64::from(ERROR_BITS)));
    }

    /// No coefficient is the same in all draws, wherever it stands.
    #[test]
    fn each_coefficient_is_drawn() {
        let modulus = Modulus::new(P32).unwrap();
        for n in [1, 4, 5, 9, 17] {
            let mut sampler = sampler(3);
            let draws: Vec<[Vec<i64>; 3]> = (0..64)
                .map(|_| {
                    let elements = sampler.elements(modulus, n).iter().map(|x| *x as i64).collect();
                    [sampler.ternary(n).to_vec(), sampler.errors(n).to_vec(), elements]
                })
                .collect();
            for (of, at) in (0..3).flat_map(|of| (0..n).map(move |at| (of, at))) {
                assert!(draws.iter().any(|draw| draw[of][at] != draws[0][of][at]), "{of}: {at} of {n}");
            }
        }
    }

    /// All kernels draw the same elements, which are those of the formula, also for words at the ends of
    /// their range.
    #[test]
    fn elements_are_those_of_the_formula() {
        let mut words = [Vec::new(), Vec::new()];
        let mut prg = Prg::new(&[4; 16]);
        for list in &mut words {
            list.resize(1003, 0);
            prg.words(list);
        }
        let ends = [0, 1, u64::MAX, u64::MAX - 1, DIGIT, DIGIT + 1, DIGIT << 32];
        for (i, (high, low)) in ends.iter().flat_map(|x| ends.map(|y| (*x, y))).enumerate() {
            (words[0][i], words[1][i]) = (high, low);
        }
        let [high, low] = words;
        for q in [3, 65_537, P32, DIGIT] {
            let wide = u128::from(q);
            let expected: Vec<u64> = high
                .iter()
                .zip(&low)
                .map(|(high, low)| {
                    ((wide * u128::from(*high) + ((wide * u128::from(*low)) >> 64)) >> 64) as u64
                })
                .collect();
            for kernel in kernel::available() {
                let mut out = vec![0; high.len()];
                kernel::with(kernel, || scaled(q, &mut out, &high, &low)).unwrap();
                assert_eq!(out, expected, "{q} {}", kernel.name());
            }
        }
        // between 32 and 50 bits they are the numbers of 128 bits modulo q
        let q = (1 << 40) - 87;
        let elements = sampler(5).elements(Modulus::new(q).unwrap(), 100);
        let (mut prg, mut high, mut low) = (Prg::new(&[5; 16]), [0; PIECE], [0; PIECE]);
        prg.words(&mut high);
        prg.words(&mut low);
        for (x, (high, low)) in elements.iter().zip(high.iter().zip(low)) {
            assert_eq!(u128::from(*x), (u128::from(*high) << 64 | u128::from(low)) % u128::from(q));
        }
        // the sampler draws these elements, also where a piece ends
        let modulus = Modulus::new(P32).unwrap();
        for kernel in kernel::available() {
            let elements = kernel::with(kernel, || sampler(5).elements(modulus, PIECE + 3)).unwrap();
            let mut prg = Prg::new(&[5; 16]);
            for (piece, elements) in elements.chunks(PIECE).enumerate() {
                let (mut high, mut low) = ([0; PIECE], [0; PIECE]);
                prg.words(&mut high);
                prg.words(&mut low);
                let mut out = vec![0; elements.len()];
                scaled(P32, &mut out, &high[..elements.len()], &low[..elements.len()]);
                assert_eq!(elements, out, "{piece} {}", kernel.name());
            }
        }
    }

    /// Those of a modulus of more than 50 bits are made of three words each: all kernels draw the same, which
    /// are those of the formula, also for words at the ends of their range.
    #[test]
    fn wide_elements_are_those_of_192_bits() {
        let of = |q: u64, words: [u64; 3]| {
            let carry = |carry: u128, word: u64| (u128::from(q) * u128::from(word) + carry) >> 64;
            words.iter().rev().fold(0, |rest, word| carry(rest, *word)) as u64
        };
        let ends = [0, 1, u64::MAX, u64::MAX - 1, DIGIT, DIGIT + 1, DIGIT << 32];
        let all: Vec<[u64; 3]> =
            ends.iter().flat_map(|x| ends.iter().flat_map(move |y| ends.map(|z| [*x, *y, z]))).collect();
        let [high, middle, low] = [0, 1, 2].map(|i| all.iter().map(|words| words[i]).collect::<Vec<u64>>());
        for kernel in kernel::available() {
            for q in [(1 << 51) + 1, P62, (1 << 62) - 1] {
                let mut out = vec![0; all.len()];
                kernel::with(kernel, || scaled_wide(q, &mut out, [&high, &middle, &low])).unwrap();
                assert!(
                    out.iter().zip(&all).all(|(out, words)| *out == of(q, *words)),
                    "{q} {}",
                    kernel.name()
                );
            }
            let modulus = Modulus::new(P62).unwrap();
            let elements = kernel::with(kernel, || sampler(6).elements(modulus, PIECE + 3)).unwrap();
            let mut prg = Prg::new(&[6; 16]);
            for elements in elements.chunks(PIECE) {
                let mut words = [[0; PIECE]; 3];
                words.iter_mut().for_each(|words| prg.words(words));
                for (i, element) in elements.iter().enumerate() {
                    assert_eq!(
                        *element,
                        of(P62, [words[0][i], words[1][i], words[2][i]]),
                        "{}",
                        kernel.name()
                    );
                }
            }
        }
    }

    /// Demands that no `window` numbers that follow each other occur twice.
    fn nothing_returns<T: Eq + std::hash::Hash>(list: &[T], window: usize, what: &str) {
        let different: std::collections::HashSet<&[T]> = list.windows(window).collect();
        assert_eq!(different.len(), list.len() + 1 - window, "{what}");
    }

    /// Whatever is drawn at once, up to the largest ring, has no part that returns.
    #[test]
    fn nothing_returns_within_a_draw() {
        let n = 1 << 16;
        nothing_returns(&sampler(7).ternary(n), 64, "secrets");
        nothing_returns(&sampler(7).errors(n), 32, "errors");
        for p in [P16, P32, (1 << 40) - 87, P62] {
            nothing_returns(&sampler(7).elements(Modulus::new(p).unwrap(), n), 8, "elements");
        }
        let mut bits = vec![0; n];
        sampler(7).bits(&mut bits);
        nothing_returns(&bits, 128, "bits");
        for deviation in [40.0, 66.0, 90.0] {
            let mut flood = vec![0; n];
            Width::at_least(deviation).unwrap().sample(sampler(7).prg(), &mut flood);
            nothing_returns(&flood, 8, "floods");
        }
        let hiding = sampler(7).hiding(n);
        let all = [&hiding.errors[0][..], &hiding.errors[1], &hiding.v].concat();
        nothing_returns(&all, 64, "what hides an encryption");
    }

    #[test]
    fn elements_are_uniform() {
        let modulus = Modulus::new(P32).unwrap();
        let elements = sampler(3).elements(modulus, 64_000);
        let mut bins = [0_i32; 64];
        elements.iter().for_each(|x| bins[(u128::from(*x) * 64 / u128::from(P32)) as usize] += 1);
        let square: f64 = bins.iter().map(|b| f64::from(b - 1000).powi(2) / 1000.0).sum();
        assert!(square < 140.0, "{square}");
    }
}
