//! Primes that are 1 modulo twice a power of two. All numbers here are public.

use super::MODULUS_BITS;

/// Whether a number below 2^64 is prime: the Miller-Rabin test with twelve bases, which is always right for
/// such numbers.
#[must_use]
pub fn is_prime(q: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if q < 2 {
        return false;
    }
    if let Some(divides) = BASES.iter().find(|b| q.is_multiple_of(**b)) {
        return q == *divides;
    }
    let (odd, twos) = ((q - 1) >> (q - 1).trailing_zeros(), (q - 1).trailing_zeros());
    let mul = |x: u64, y: u64| (u128::from(x) * u128::from(y) % u128::from(q)) as u64;
    let pow = |x: u64, mut e: u64| {
        let (mut power, mut square) = (1, x);
        while e > 0 {
            if e & 1 == 1 {
                power = mul(power, square);
            }
            square = mul(square, square);
            e >>= 1;
        }
        power
    };
    BASES.iter().all(|base| {
        let mut x = pow(*base, odd);
        if x == 1 || x == q - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = mul(x, x);
            x == q - 1
        })
    })
}

/// The least prime that is at least `from`, 1 modulo `step`, below 2^50, and not in `taken`.
#[must_use]
pub fn next_prime(from: u64, step: u64, taken: &[u64]) -> Option<u64> {
    let first = from.saturating_sub(1).checked_next_multiple_of(step)?.checked_add(1)?;
    (first..1 << MODULUS_BITS)
        .step_by(usize::try_from(step).ok()?)
        .find(|q| !taken.contains(q) && is_prime(*q))
}
