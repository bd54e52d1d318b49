//! Random polynomials for secrets and noise, as small integers; in constant time.

use crate::hidden::Hidden;
use divisi_core::{Prg, Session};
use divisi_field::kernel::vectorize;
use divisi_field::zp::Modulus;
use zeroize::{Zeroize, Zeroizing};

/// The variance of an error: the difference of two sums of 21 bits, deviation 3.24.
pub const ERROR_VARIANCE: f64 = 10.5;
const ERROR_BITS: u32 = 21;

/// A generator of a party's own randomness.
pub struct Sampler(Prg);

impl Sampler {
    /// A generator with fresh entropy of this party.
    #[must_use]
    pub fn new(session: &Session) -> Sampler {
        let mut key = Zeroizing::new([0; 16]);
        session.entropy(key.as_mut_slice());
        Sampler::of(Prg::new(&key))
    }

    /// A generator that is seeded already.
    pub(crate) fn of(prg: Prg) -> Sampler {
        Sampler(prg)
    }

    /// The generator itself.
    pub(crate) fn prg(&mut self) -> &mut Prg {
        &mut self.0
    }

    /// Coefficients that are uniform in {-1, 0, 1}: four digits of base three from each word, each within
    /// 2^-57 of uniform.
    #[must_use]
    pub fn ternary(&mut self, n: usize) -> Hidden<i64> {
        let mut words = Hidden::zeros(n.div_ceil(4));
        self.0.words(&mut words);
        let mut out = Hidden::zeros(n);
        for (out, word) in out.chunks_mut(4).zip(words.iter()) {
            let mut rest = *word;
            for out in out {
                let product = u128::from(rest) * 3;
                *out = (product >> 64) as i64 - 1;
                rest = product as u64;
            }
        }
        out
    }

    /// Errors: centred binomial coefficients of 42 bits.
    #[must_use]
    pub fn errors(&mut self, n: usize) -> Hidden<i64> {
        let mut words = Hidden::<u64>::zeros(n);
        self.0.words(&mut words);
        let mut out = Hidden::zeros(n);
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
        out
    }

    /// Uniform bits, one in each word.
    pub fn bits(&mut self, out: &mut [u64]) {
        for out in out.chunks_mut(64) {
            let mut word = [0];
            self.0.words(&mut word);
            out.iter_mut().enumerate().for_each(|(i, out)| *out = word[0] >> i & 1);
            word.zeroize();
        }
    }

    /// Field elements, each within 2^-78 of uniform.
    #[must_use]
    pub fn elements(&mut self, modulus: Modulus, n: usize) -> Hidden<u64> {
        let mut out = Hidden::zeros(n);
        let mut words = [0; 256];
        for out in out.chunks_mut(128) {
            self.0.words(&mut words);
            for (out, pair) in out.iter_mut().zip(words.chunks_exact(2)) {
                *out = modulus.reduce_wide(u128::from(pair[0]) << 64 | u128::from(pair[1]));
            }
        }
        words.zeroize();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::zp::P32;

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
