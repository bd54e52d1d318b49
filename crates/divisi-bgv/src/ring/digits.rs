//! Digits of relinearisation: each digit is a few neighbouring primes of the chain, whose product is small.
//!
//! As in hybrid key switching (Han, Ki 2020), with one special prime: a digit may be as long as noise
//! allows, and fewer digits make a smaller key and fewer transforms.

use super::residues::reduced;
use super::{Poly, Ring};
use divisi_core::wipe::WipedVec;
use divisi_field::ntt::Ntt;
use divisi_field::zp::Modulus;
use std::ops::Range;

/// One digit.
pub(super) struct Digit {
    limbs: Range<usize>,
    /// For each prime of the digit, about the product of its other primes: the inverse of the product modulo
    /// this prime, and the product modulo every prime.
    others: Vec<(u64, Vec<u64>)>,
}

impl Digit {
    pub(super) fn new(limbs: Range<usize>, transforms: &[Ntt]) -> Option<Digit> {
        let primes = transforms.get(limbs.clone())?;
        let others = primes.iter().map(|own| {
            let product = |m: Modulus| {
                let rest = primes.iter().filter(|other| other.modulus() != own.modulus());
                rest.fold(1, |product, other| m.mul(product, m.reduce(other.modulus().get())))
            };
            let inverse = own.modulus().invert(product(own.modulus()));
            (inverse, transforms.iter().map(|ntt| product(ntt.modulus())).collect())
        });
        Some(Digit { others: others.collect(), limbs })
    }
}

impl Ring {
    /// The digits of relinearisation that lie within this many primes.
    pub(crate) fn digits(&self, limbs: usize) -> usize {
        self.digits.iter().take_while(|digit| digit.limbs.end <= limbs).count()
    }

    /// w_j x, where w_j is the special prime modulo the primes of digit j, and zero modulo all other primes.
    /// This digit of the relinearisation key encrypts w_j s^2.
    pub(crate) fn digit(&self, x: &Poly, digit: usize) -> Poly {
        let (n, mut out) = (self.dimension(), self.zero(x.limbs, x.extended));
        let special = self.parameters.special().unwrap_or(1);
        for limb in self.digits[digit].limbs.clone() {
            let part = limb * n..(limb + 1) * n;
            out.words[part.clone()].copy_from_slice(&x.words[part.clone()]);
            self.transforms[limb].modulus().scale(&mut out.words[part], special);
        }
        out
    }

    /// Step 1 of taking digits of a polynomial in coefficients: where a digit has several primes, each part
    /// times the inverse of the other primes' product.
    fn to_digits(&self, x: &mut Poly) {
        let n = self.dimension();
        for digit in self.digits[..self.digits(x.limbs)].iter().filter(|digit| digit.limbs.len() > 1) {
            for (limb, (inverse, _)) in digit.limbs.clone().zip(&digit.others) {
                self.modulus(limb).scale(&mut x.words[limb * n..(limb + 1) * n], *inverse);
            }
        }
    }

    /// Step 2, for the prime of this transform: a digit of one prime is the residue modulo that prime; a
    /// digit of K primes is a number from 0 to K times their product that is congruent to the residues modulo
    /// all of them. `words` gets the digit modulo the prime of this transform; `term` is scratch space for
    /// one part.
    fn digit_of(&self, x: &Poly, digit: &Digit, transform: usize, words: &mut [u64], term: &mut [u64]) {
        let (n, m) = (self.dimension(), self.modulus(transform));
        for (k, (limb, (_, others))) in digit.limbs.clone().zip(&digit.others).enumerate() {
            let place = if k == 0 { &mut *words } else { &mut *term };
            reduced(m, self.modulus(limb).get(), place, &x.words[limb * n..(limb + 1) * n]);
            if digit.limbs.len() > 1 {
                m.scale(place, others[transform]);
            }
            if k > 0 {
                m.add_assign(words, term);
            }
        }
    }

    /// The digits of a polynomial in coefficients times their parts of the relinearisation key, summed up, as
    /// values over its primes and the special one. It goes prime by prime, so that digits and sums of one
    /// prime stay in the cache. The words of x are of no use afterwards.
    pub(crate) fn products_of_digits(&self, x: &mut Poly, key: &[[Poly; 2]]) -> [Poly; 2] {
        let (n, limbs, last) = (self.dimension(), x.limbs, self.transforms.len() - 1);
        self.to_digits(x);
        let (mut words, mut term) = (WipedVec::zeros(n), WipedVec::zeros(n));
        let mut sums = [self.zero(limbs, true), self.zero(limbs, true)];
        for part in 0..=limbs {
            let (transform, at) = (if part < limbs { part } else { last }, part * n);
            for (digit, key) in self.digits[..self.digits(limbs)].iter().zip(key) {
                self.digit_of(x, digit, transform, &mut words, &mut term);
                self.transforms[transform].forward(&mut words);
                for (sum, key) in sums.iter_mut().zip(key) {
                    let from = if part < limbs { at } else { key.limbs * n };
                    let (sum, key) = (&mut sum.words[at..at + n], &key.words[from..from + n]);
                    self.modulus(transform).add_product(sum, &words, key);
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ring;
    use crate::parameters::{Form, Operation, Parameters};
    use divisi_field::zp::P32;

    /// A digit has the same value modulo every prime: the sum over its K primes that the Chinese remainder
    /// theorem gives, a number from 0 to K times their product.
    #[test]
    fn digits_are_spread() {
        let (mut single, mut several) = (0, 0);
        for parties in [8, 64] {
            let p = Parameters::derive(Operation::Bits, Form::LeanTree, parties, P32).unwrap();
            let ring = Ring::new(p).unwrap();
            let (n, limbs) = (ring.dimension(), ring.parameters().limbs_of_products());
            let mut x = ring.zero(limbs, false);
            let moduli = ring.moduli(&x);
            for (i, word) in x.words_mut().iter_mut().enumerate() {
                *word = moduli[i / n].reduce((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            }
            let ranges = ring.parameters().digits();
            assert_eq!(ring.digits(limbs), ranges.len());
            assert_eq!(
                ranges.iter().flat_map(Clone::clone).collect::<Vec<_>>(),
                (0..limbs).collect::<Vec<_>>()
            );
            for (digit, range) in ranges.into_iter().enumerate() {
                if range.len() == 1 {
                    single += 1
                } else {
                    several += 1
                }
                let primes = &moduli[range.clone()];
                let product: u128 = primes.iter().map(|m| u128::from(m.get())).product();
                assert!(product < 1 << 52);
                let mut scaled = x.clone();
                ring.to_digits(&mut scaled);
                let mut spread = ring.zero(x.limbs, true);
                let (last, mut term) = (ring.transforms.len() - 1, vec![0; n]);
                for (part, words) in spread.words.chunks_exact_mut(n).enumerate() {
                    let transform = if part < x.limbs { part } else { last };
                    ring.digit_of(&scaled, &ring.digits[digit], transform, words, &mut term);
                }
                let all = ring.moduli(&spread);
                for i in 0..200 {
                    let number: u128 = primes
                        .iter()
                        .zip(range.clone())
                        .map(|(m, limb)| {
                            let rest = product / u128::from(m.get());
                            let inverse = m.invert((rest % u128::from(m.get())) as u64);
                            u128::from(m.mul(x.words()[limb * n + i], inverse)) * rest
                        })
                        .sum();
                    for (part, m) in all.iter().enumerate() {
                        let word = spread.words()[part * n + i];
                        assert_eq!(
                            u128::from(word),
                            number % u128::from(m.get()),
                            "{parties} {digit} {part}"
                        );
                    }
                    for (m, limb) in primes.iter().zip(range.clone()) {
                        assert_eq!((number % u128::from(m.get())) as u64, x.words()[limb * n + i]);
                    }
                }
            }
        }
        assert!(single > 2 && several > 2, "{single} digits of one prime, {several} of several");
    }
}
