//! The primes of answers to a decryption, and the size of the numbers in them.

use super::Parameters;
use super::noise::{Noise, plus};

/// The largest size, in bits, of a number that a signed one of 128 bits holds, with bits to spare.
const ANSWER_BITS: f64 = 126.0;
/// log2 of the part of the modulus of an answer that n roundings may take: n p / q' is at most 2 to this. q'
/// is the product of the primes to which answers are switched.
const ANSWER_CAPACITY: f64 = -4.0;

/// The least log2 of q': n roundings take a small part of it.
pub(super) fn answer_bits(noise: &Noise) -> f64 {
    noise.plain() + noise.parties().log2() - ANSWER_CAPACITY
}

impl Parameters {
    /// How many primes an answer has: the first ones of the chain, as many as hold the sum of n roundings.
    /// One, or two for a plaintext modulus of more than some 40 bits.
    #[must_use]
    pub fn answer_limbs(&self) -> usize {
        // the tolerance is for logarithms of primes
        let least = answer_bits(&self.bounds()) - 1e-6;
        let most = self.limbs(0).max(1);
        (1..most).find(|limbs| self.log2_of_first(*limbs) >= least).unwrap_or(most)
    }

    /// log2 of q'.
    pub(super) fn answer_log2(&self) -> f64 {
        self.log2_of_first(self.answer_limbs())
    }

    /// log2 of the product of the first primes.
    fn log2_of_first(&self, limbs: usize) -> f64 {
        self.chain.iter().take(limbs).map(|q| (*q as f64).log2()).sum()
    }

    /// Whether a signed number of 128 bits holds what an answer adds: p times its flood, and a share. If not,
    /// the sum is computed modulo each prime.
    pub(crate) fn answers_are_words(&self) -> bool {
        let plain = self.bounds().plain();
        plus(plain + self.flood.most(), plain) < ANSWER_BITS
    }
}
