//! The largest secure modulus for each ring dimension.

/// The classical security in bits that [`LIMITS`] leave, in the guideline's model.
pub const CLASSICAL_BITS: u32 = 128;

/// The largest log2 of the whole modulus, with special primes, at 128 bits of classical security, for
/// uniformly ternary secrets and errors of deviation 3.19 or more. Source: Bossuat, Cammarota, Chillotti,
/// Curtis, Dai, Gong, Hales, Kim, Kumar, Lee, Lu, Maple, Pedrouzo-Ulloa, Player, Polyakov, Lopez, Song, Yhee,
/// "Security Guidelines for Implementing Homomorphic Encryption" (2024).
pub const LIMITS: [(usize, f64); 5] =
    [(4096, 106.0), (8192, 214.0), (16384, 430.0), (32768, 868.0), (65536, 1747.0)];

/// The dimension of the ring for tests, which is not secure.
pub const INSECURE_TEST: usize = 1024;

/// The dimension of the ring in which ciphertexts are refreshed, if no ring has all hops in one chain.
pub const REFRESHING: usize = 32768;

/// The limit that the ring for tests is given: that of the largest ring, or of the one for refreshing.
pub(super) fn limit_of_tests(refreshes: bool) -> f64 {
    limit(if refreshes { REFRESHING } else { 65536 }).unwrap_or(f64::INFINITY)
}

/// The limit for a ring of this dimension; `None` if the table does not have it.
#[must_use]
pub fn limit(n: usize) -> Option<f64> {
    LIMITS.iter().find(|(dimension, _)| *dimension == n).map(|(_, limit)| *limit)
}
