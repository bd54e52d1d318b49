//! The ring of rows, and the conditions under which rows decrypt (docs/linear-garbling.md, 2 and 3).
//!
//! p = 65,537, N = 1024, q = 67,104,769. q is prime, 1 modulo 2N, and has 26 bits, the most that the
//! guidelines of 2024 allow for N = 1024 with ternary secrets at 128 bits of classical security. (The paper
//! has N = 4096 and 45 bits.) Rows are only added, n at a time, and never multiplied; so the plaintext needs
//! no slots, and the modulus no levels.

use divisi_bgv::sample::ERROR_VARIANCE;
use divisi_field::zp::P16;

/// The ring dimension N.
pub const DIMENSION: usize = 1024;
/// The ciphertext modulus q.
pub const MODULUS: u64 = 67_104_769;
/// The plaintext modulus p.
pub const PLAIN: u64 = P16;
/// The number of bits of q.
pub const BITS: u32 = 26;
/// Bytes of a row: N coefficients of exactly 26 bits.
pub const ROW_BYTES: usize = DIMENSION * BITS as usize / 8;
/// Bytes of a key share in a message: N ternary coefficients of two bits.
pub const SHARE_BYTES: usize = DIMENSION / 4;
/// The largest number of gates that a session garbles.
pub const MOST_GATES: u64 = 1 << 24;
/// The most ANDs whose keys are looked up in one chain of messages. AES-128 has 6,400. Each has four lookups,
/// and until its rows are made a party holds a share of 4 kB for each lookup.
pub const LOOKED_UP: usize = 8192;
/// Instances are garbled together, in one chain of messages, while they have no more wires than this: a wire
/// takes 2 kB of key shares.
pub const TOGETHER_WIRES: usize = 1 << 16;
/// A session may fail to decrypt a row with probability at most 2 to minus this.
pub const FAILURE_BITS: f64 = 64.0;

/// A bound on the probability that one of `rows` rows, each the sum of `parties` contributions, does not
/// decrypt; as minus its binary logarithm.
///
/// A row holds p E + M: M is the sum of n message shares between -p/2 and p/2, E the sum of n errors. It
/// decrypts if its absolute value is at most (q - 1)/2. Errors are sums of 42 signed half bits. Of the
/// shares, n - 1 are independent and uniform (or ternary). Both are sub-Gaussian with their variance, so
/// Hoeffding's bound is exact in the exponent. The last share is at most p/2.
#[must_use]
pub fn failure_bits(parties: usize, rows: u64) -> f64 {
    let (n, p) = (parties as f64, PLAIN as f64);
    let margin = ((MODULUS - 1) as f64 / 2.0 - p / 2.0) / p;
    let variance = n * ERROR_VARIANCE + (n - 1.0) / 12.0;
    let exponent = margin * margin / (2.0 * variance) * std::f64::consts::LOG2_E;
    exponent - 1.0 - (DIMENSION as f64).log2() - (rows.max(1) as f64).log2()
}

/// Whether this number of parties can garble: a key, which is a sum of ternary shares, can be lifted from its
/// residue modulo p (n < p/2), and all rows of a session decrypt except with probability 2^-64.
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
        // there is no larger suitable prime below 2^26
        let larger = (MODULUS + 1..1 << 26).filter(|q| (q - 1) % 2048 == 0).find(|q| is_prime(*q));
        assert_eq!(larger, None);
    }

    #[test]
    fn rows_decrypt_among_so_many() {
        assert!((2..=180).all(fits) && !fits(181) && !fits(255));
        assert!(failure_bits(128, MOST_GATES) > 100.0);
        // the exponent computed by hand for n = 100: the room is 511.4, the variance 1058.25
        let exponent = 511.46_f64.powi(2) / (2.0 * 1058.25) / std::f64::consts::LN_2;
        assert!((failure_bits(100, 1) - (exponent - 11.0)).abs() < 0.1);
    }
}
