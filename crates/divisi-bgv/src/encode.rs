//! Slots: a plaintext is a polynomial modulo p, and its values at the roots modulo p are N slots, that add
//! and multiply each by itself.

use crate::hidden::Hidden;
use crate::ring::{Poly, Ring};

/// The coefficients, centred, of the polynomial that has these slots; constant time.
///
/// # Panics
/// If there are not N of them.
#[must_use]
pub fn coefficients(ring: &Ring, slots: &[u64]) -> Hidden<i64> {
    let mut words = Hidden::from(slots);
    ring.slots().inverse(&mut words);
    centred(ring, &words)
}

/// Coefficients modulo p as numbers of at most half of it in size; constant time.
#[must_use]
pub fn centred(ring: &Ring, words: &[u64]) -> Hidden<i64> {
    let mut out = Hidden::zeros(words.len());
    out.iter_mut().zip(words).for_each(|(out, word)| *out = ring.plain().centred(*word));
    out
}

/// The plaintext with these slots, as values over so many primes.
///
/// # Panics
/// If there are not N of them.
#[must_use]
pub fn encode(ring: &Ring, slots: &[u64], limbs: usize) -> Poly {
    ring.plaintext(&coefficients(ring, slots), limbs)
}

/// The slots of a polynomial with these coefficients modulo p.
///
/// # Panics
/// If there are not N of them.
pub fn decode(ring: &Ring, coefficients: &mut [u64]) {
    ring.slots().forward(coefficients);
}

/// 1 - 2 r, of bits: 1 or p - 1; constant time.
#[must_use]
pub fn signs(ring: &Ring, bits: &[u64]) -> Hidden<u64> {
    let mut out = Hidden::zeros(bits.len());
    out.iter_mut().zip(bits).for_each(|(out, bit)| *out = ring.plain().sub(1, 2 * (bit & 1)));
    out
}
