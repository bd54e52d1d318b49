//! How many bits each prime of a level has.

use super::PRIME_BITS;

/// Divides a number of bits among primes of at most 49.9 bits: evenly, but the first one has at least
/// `first`.
pub(super) fn cut(bits: f64, first: f64) -> Vec<f64> {
    let count = (bits / PRIME_BITS).ceil().max(1.0);
    let even = bits / count;
    if first <= even {
        return vec![even; count as usize];
    }
    let rest = (count - 1.0).max(1.0);
    let mut all = vec![((bits - first) / rest).max(20.0); rest as usize];
    all.insert(0, first);
    all
}

/// Divides the bits of the bottom among its primes: those to which answers are switched have at least
/// `answer` bits together.
pub(super) fn cut_bottom(bits: f64, answer: f64) -> Vec<f64> {
    let answers = (answer / PRIME_BITS).ceil();
    if answers <= 1.0 {
        let even = cut(bits, 0.0);
        return if even.len() == 2 { even } else { cut(bits, answer) };
    }
    // as few primes as possible, for speed; then the primes of answers are as short as the others allow
    let rest = ((bits / PRIME_BITS).ceil() - answers).max(1.0);
    let first = (bits - rest * PRIME_BITS).max(answer);
    let mut all = vec![first / answers; answers as usize];
    all.resize(all.len() + rest as usize, ((bits - first) / rest).max(20.0));
    all
}
