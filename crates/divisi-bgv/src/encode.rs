//! Encoding of slots. A plaintext is a polynomial modulo p, and its values at the N roots modulo p are N
//! slots. Sums and products of plaintexts are those of each slot.

use crate::hidden::Hidden;
use crate::ring::{Poly, Ring};

/// The coefficients, centred around zero, of the polynomial with these slots; in constant time.
///
/// # Panics
/// If there are not N of them.
#[must_use]
pub fn coefficients(ring: &Ring, slots: &[u64]) -> Hidden<i64> {
    let mut words = Hidden::from(slots);
    ring.slots().inverse(&mut words);
    centred(ring, &words)
}

/// Coefficients modulo p as the equivalent numbers between -p/2 and p/2; in constant time.
#[must_use]
pub fn centred(ring: &Ring, words: &[u64]) -> Hidden<i64> {
    let mut out = Hidden::zeros(words.len());
    out.iter_mut().zip(words).for_each(|(out, word)| *out = ring.plain().centred(*word));
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
pub fn signs(ring: &Ring, bits: &[u64]) -> Hidden<u64> {
    let mut out = Hidden::zeros(bits.len());
    out.iter_mut().zip(bits).for_each(|(out, bit)| *out = ring.plain().sub(1, 2 * (bit & 1)));
    out
}
