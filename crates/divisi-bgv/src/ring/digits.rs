//! Digits of relinearisation: a few primes of the chain each, whose product is small.
//!
//! As in hybrid key switching (Han, Ki 2020), with one special prime: a digit may be as long as noise
//! allows, and fewer digits make a smaller key and fewer transforms.

use super::residues::reduced;
use super::{Poly, Ring};
use crate::hidden::Hidden;
use divisi_field::ntt::Ntt;
use divisi_field::zp::Modulus;
use std::ops::Range;

/// One of them.
pub(super) struct Digit {
    limbs: Range<usize>,
    /// For each of its primes the product of the others: its inverse modulo the prime, and itself modulo
    /// every prime.
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

    /// Parts of the chain scaled by the special prime: what a digit of the relinearisation key is multiplied
    /// by. Only the parts of this digit are left.
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

    /// One digit of a polynomial in coefficients, spread over its primes and the special one, as values: for
    /// a digit of one prime its residue, for one of K primes what is congruent to all their residues, from 0
    /// to K times their product.
    pub(crate) fn spread(&self, x: &Poly, digit: usize) -> Poly {
        let (n, digit) = (self.dimension(), &self.digits[digit]);
        let mut parts = Hidden::from(&x.words[digit.limbs.start * n..digit.limbs.end * n]);
        let single = digit.limbs.len() == 1;
        let moduli = digit.limbs.clone().map(|limb| self.modulus(limb));
        let terms = parts.chunks_exact_mut(n).zip(moduli.clone()).zip(&digit.others);
        if !single {
            terms.for_each(|((part, modulus), (inverse, _))| modulus.scale(part, *inverse));
        }
        let (last, mut term) = (self.transforms.len() - 1, Hidden::zeros(if single { 0 } else { n }));
        let mut out = self.zero(x.limbs, true);
        self.each(&mut out, |ntt, words, at| {
            let m = ntt.modulus();
            let index = if at < x.limbs * n { at / n } else { last };
            for (k, ((part, from), (_, others))) in
                parts.chunks_exact(n).zip(moduli.clone()).zip(&digit.others).enumerate()
            {
                let place = if k == 0 { &mut *words } else { &mut *term };
                reduced(m, from.get(), place, part);
                if !single {
                    m.scale(place, others[index]);
                }
                if k > 0 {
                    m.add_assign(words, &term);
                }
            }
            ntt.forward(words);
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ring;
    use crate::parameters::{Form, Operation, Parameters};
    use divisi_field::zp::P32;

    /// A digit is the number from 0 to K times the product of its primes that the sum over them says, modulo
    /// every prime.
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
                let mut spread = ring.spread(&x, digit);
                ring.to_coefficients(&mut spread);
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
