//! The ring of rows, and when a row decrypts (docs/linear-garbling.md, 2 and 3).
//!
//! p = 65,537, N = 1024, q = 67,104,769: prime, 1 modulo 2N, and under the 26 bits that the guidelines of
//! 2024 leave N = 1024 for ternary secrets at 128 bits of classical security. (The paper: N = 4096 and 45
//! bits.) Each row is fresh, and nothing is ever computed on it but sums of n, so that the plaintext needs no
//! slots and the modulus no levels.

use divisi_bgv::sample::ERROR_VARIANCE;
use divisi_field::zp::P16;

/// N.
pub const DIMENSION: usize = 1024;
/// q.
pub const MODULUS: u64 = 67_104_769;
/// p.
pub const PLAIN: u64 = P16;
/// The bits of q.
pub const BITS: u32 = 26;
/// What a row takes: N coefficients in exactly 26 bits.
pub const ROW_BYTES: usize = DIMENSION * BITS as usize / 8;
/// What a key share takes on the wire: N ternary coefficients, two bits each.
pub const SHARE_BYTES: usize = DIMENSION / 4;
/// The most gates that a session garbles.
pub const MOST_GATES: u64 = 1 << 24;
/// ANDs whose keys are looked up together: four lookups of 8 kB each.
pub const LOOKED_UP: usize = 128;
/// The most failures that a session may have, as minus the binary logarithm.
pub const FAILURE_BITS: f64 = 64.0;

/// Minus the binary logarithm of a bound on the probability that one of so many rows, each a sum of so many
/// contributions, does not decrypt.
///
/// A row holds p E + M, M the sum of n message shares of at most p/2 in size and E of n errors; it decrypts
/// if that is at most (q - 1)/2 in size. Errors are sums of 42 signed half bits, and n - 1 of the shares are
/// independent and uniform, if they are not ternary: both are sub-Gaussian with their variance, so that
/// Hoeffding's bound is exact in the exponent. The last share is p/2 at most.
#[must_use]
pub fn failure_bits(parties: usize, rows: u64) -> f64 {
    let (n, p) = (parties as f64, PLAIN as f64);
    let room = ((MODULUS - 1) as f64 / 2.0 - p / 2.0) / p;
    let variance = n * ERROR_VARIANCE + (n - 1.0) / 12.0;
    let exponent = room * room / (2.0 * variance) * std::f64::consts::LOG2_E;
    exponent - 1.0 - (DIMENSION as f64).log2() - (rows.max(1) as f64).log2()
}

/// Whether so many parties can garble: every key, a sum of ternary shares, is lifted from its residue modulo
/// p (n < p/2), and all rows that a session evaluates decrypt but for 2^-64.
#[must_use]
pub fn fits(parties: usize) -> bool {
    2 * parties as u64 + 2 < PLAIN && failure_bits(parties, MOST_GATES) >= FAILURE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_field::zp::prime::is_prime;

    #[test]
    fn the_ring_is_what_it_is_said_to_be() {
        assert!(is_prime(MODULUS) && is_prime(PLAIN));
        assert_eq!((MODULUS - 1) % (2 * DIMENSION as u64), 0);
        assert_eq!(64 - MODULUS.leading_zeros(), BITS);
        assert!((MODULUS as f64).log2() <= 26.0);
        assert_eq!((ROW_BYTES, SHARE_BYTES), (3328, 256));
        // no larger prime fits under 26 bits
        let larger = (MODULUS + 1..1 << 26).filter(|q| (q - 1) % 2048 == 0).find(|q| is_prime(*q));
        assert_eq!(larger, None);
    }

    #[test]
    fn rows_decrypt_among_so_many() {
        assert!((2..=180).all(fits) && !fits(181) && !fits(255));
        assert!(failure_bits(128, MOST_GATES) > 100.0);
        // the exponent once more, by hand, for n = 100: room 511.4, variance 1058.25
        let exponent = 511.46_f64.powi(2) / (2.0 * 1058.25) / std::f64::consts::LN_2;
        assert!((failure_bits(100, 1) - (exponent - 11.0)).abs() < 0.1);
    }
}
