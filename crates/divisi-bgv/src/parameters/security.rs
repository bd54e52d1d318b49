//! How large a modulus a ring carries.

/// The largest log2 of the whole modulus, special primes included, at 128 bits of classical security, for
/// secrets that are uniformly ternary and errors of deviation 3.19 or more: Bossuat, Cammarota, Chillotti,
/// Curtis, Dai, Gong, Hales, Kim, Kumar, Lee, Lu, Maple, Pedrouzo-Ulloa, Player, Polyakov, Lopez, Song, Yhee,
/// "Security Guidelines for Implementing Homomorphic Encryption" (2024).
pub const LIMITS: [(usize, f64); 5] =
    [(4096, 106.0), (8192, 214.0), (16384, 430.0), (32768, 868.0), (65536, 1747.0)];

/// The ring of tests, which is not secure.
pub const INSECURE_TEST: usize = 1024;

/// The limit for a ring of this dimension, if the table has it.
#[must_use]
pub fn limit(n: usize) -> Option<f64> {
    LIMITS.iter().find(|(dimension, _)| *dimension == n).map(|(_, limit)| *limit)
}
