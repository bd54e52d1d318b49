//! Encoding of slots. A plaintext is a polynomial modulo p, and its values at the N roots modulo p are N
//! slots. Sums and products of plaintexts are those of each slot.

use crate::ring::{Poly, Ring};
use divisi_core::wipe::WipedVec;
use divisi_field::kernel::vectorize;

/// The coefficients, centred around zero, of the polynomial with these slots; in constant time.
///
/// # Panics
/// If there are not N of them.
#[must_use]
pub fn coefficients(ring: &Ring, slots: &[u64]) -> WipedVec<i64> {
    let mut words = WipedVec::from(slots);
    ring.slots().inverse(&mut words);
    centred(ring, &words)
}

/// Coefficients modulo p as the equivalent numbers between -p/2 and p/2; in constant time.
#[must_use]
pub fn centred(ring: &Ring, words: &[u64]) -> WipedVec<i64> {
    let mut out = WipedVec::zeros(words.len());
    let plain = ring.plain();
    vectorize(
        #[inline(always)]
        || out.iter_mut().zip(words).for_each(|(out, word)| *out = plain.centred(*word)),
    );
    out
}

/// The plaintext with these slots, as values over the first `limbs` primes.
///
/// # Panics
/// If there are not N of them.
#[must_use]
pub fn encode(ring: &Ring, slots: &[u64], limbs: usize) -> Poly {
    ring.plaintext(&coefficients(ring, slots), limbs)
}

/// Replaces coefficients modulo p by the slots of their polynomial.
///
/// # Panics
/// If there are not N of them.
pub fn decode(ring: &Ring, coefficients: &mut [u64]) {
    ring.slots().forward(coefficients);
}

/// The signs 1 - 2 r modulo p of bits r: 1 or p - 1; in constant time.
#[must_use]
pub fn signs(ring: &Ring, bits: &[u64]) -> WipedVec<u64> {
    let mut out = WipedVec::zeros(bits.len());
    out.iter_mut().zip(bits).for_each(|(out, bit)| *out = ring.plain().sub(1, 2 * (bit & 1)));
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::keys::error;
    use crate::parameters::{Form, Operation, Parameters};
    use crate::sample::Sampler;
    use divisi_core::Prg;

    /// A plaintext and its noise, transformed together, are the sum of both transformed on their own.
    #[test]
    fn noise_and_plaintext_are_added_before_the_transform() {
        for plain in [divisi_field::zp::P32, divisi_field::zp::P16, divisi_field::zp::P62] {
            let p = Parameters::danger_insecure(Operation::Bits, Form::LeanTree, 4, plain).unwrap();
            let ring = Ring::new(p).unwrap();
            let sampler = || Sampler::of(Prg::new(&[7; 16]));
            let mut slots = sampler().elements(ring.plain(), ring.dimension());
            (slots[0], slots[1]) = (0, plain - 1);
            for limbs in 1..=ring.parameters().chain().len() {
                let mut sum = error(&ring, &mut sampler(), limbs, false);
                ring.add(&mut sum, &encode(&ring, &slots, limbs));
                let errors = sampler().errors(ring.dimension());
                let noisy = ring.noisy(&errors, &coefficients(&ring, &slots), limbs);
                assert!(noisy.words() == sum.words(), "{plain} {limbs}");
            }
        }
    }
}
