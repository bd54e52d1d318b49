//! The constants of FIPS 180-4, computed from their definition: fractional parts of roots of the first primes
//! (4.2 and 5.3).

use std::sync::LazyLock;

/// `K` of SHA-512: the first 64 bits of the fractional parts of the cube roots of the first 80 primes. `K` of
/// SHA-256 is the upper halves of the first 64.
pub(super) fn round_constants() -> &'static [u64; 80] {
    static K: LazyLock<[u64; 80]> = LazyLock::new(|| {
        let mut primes = primes();
        std::array::from_fn(|_| fraction_of_root(3, primes.next().unwrap_or_default()))
    });
    &K
}

/// The same for the square roots of the first eight primes.
pub(super) fn roots_of_first_primes() -> [u64; 8] {
    static ROOTS: LazyLock<[u64; 8]> = LazyLock::new(|| roots(primes()));
    *ROOTS
}

/// The same for the square roots of the ninth to the sixteenth prime.
pub(super) fn roots_of_second_primes() -> [u64; 8] {
    static ROOTS: LazyLock<[u64; 8]> = LazyLock::new(|| roots(primes().skip(8)));
    *ROOTS
}

fn roots(mut primes: impl Iterator<Item = u64>) -> [u64; 8] {
    std::array::from_fn(|_| fraction_of_root(2, primes.next().unwrap_or_default()))
}

fn primes() -> impl Iterator<Item = u64> {
    (2..).filter(|&n| (2..n).all(|divisor| n % divisor != 0))
}

/// The first 64 bits after the point of the `degree`-th root of a small number.
fn fraction_of_root(degree: usize, number: u64) -> u64 {
    // The largest x with x^degree <= number * 2^(64 degree), found bit by bit from the top; the result is its
    // lower 64 bits. The roots in question have at most five bits before the point.
    let mut bound = [0; LIMBS];
    bound[2 * degree] = number as u32;
    let mut x: u128 = 0;
    for bit in (0..64 + 5).rev() {
        let candidate = x | 1 << bit;
        let limbs = limbs(candidate);
        let power = (1..degree).fold(limbs, |power, _| multiply(&power, &limbs));
        if power.iter().rev().le(bound.iter().rev()) {
            x = candidate;
        }
    }
    x as u64
}

/// The number of 32-bit limbs for the cube of a number of 69 bits, lowest first.
const LIMBS: usize = 7;

fn limbs(x: u128) -> [u32; LIMBS] {
    std::array::from_fn(|i| if i < 4 { (x >> (32 * i)) as u32 } else { 0 })
}

fn multiply(x: &[u32; LIMBS], y: &[u32; LIMBS]) -> [u32; LIMBS] {
    let mut product = [0; LIMBS];
    for (i, &x) in x.iter().enumerate() {
        let mut carry = 0;
        for (j, &y) in y[..LIMBS - i].iter().enumerate() {
            let sum = u64::from(x) * u64::from(y) + u64::from(product[i + j]) + carry;
            product[i + j] = sum as u32;
            carry = sum >> 32;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_standard() {
        let k = round_constants();
        assert_eq!((k[0], k[1]), (0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd));
        assert_eq!((k[63], k[79]), (0xc671_78f2_e372_532b, 0x6c44_198c_4a47_5817));
        assert_eq!(roots_of_first_primes()[7], 0x5be0_cd19_137e_2179);
        assert_eq!(roots_of_second_primes()[7], 0x47b5_481d_befa_4fa4);
    }
}
