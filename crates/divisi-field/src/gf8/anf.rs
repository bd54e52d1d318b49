//! The S-box of AES (FIPS 197, section 5.1.1), its inverse, and inversion in GF(2^4), as polynomials over
//! GF(2), for table lookups by monomials.
//!
//! `T(x) = sum over U of a_U x^U`. U is a set of index bits, given as a number with these bits set, and x^U
//! is the product of these bits of x. Everything here is public and is computed by the compiler.

use super::Gf8;

/// The S-box as a polynomial: bit b of entry U says whether output bit b has the monomial U.
pub const SBOX: [u8; 256] = monomials(sbox_table());

/// The inverse S-box as a polynomial.
pub const INVERSE_SBOX: [u8; 256] = monomials(inverse_sbox_table());

/// Inversion in GF(2^4), where 0 becomes 0, as a polynomial.
pub const GF4_INVERSE: [u8; 16] = monomials(gf4_inverse_table());

/// The coefficients of a table: that of U is the sum of the values at all subsets of U.
const fn monomials<const N: usize>(mut table: [u8; N]) -> [u8; N] {
    let mut bit = 1;
    while bit < N {
        let mut u = 0;
        while u < N {
            if u & bit != 0 {
                table[u] ^= table[u ^ bit];
            }
            u += 1;
        }
        bit <<= 1;
    }
    table
}

/// The product in F2[X] modulo `modulus`, of degree `degree`.
const fn product(x: u8, y: u8, modulus: u16, degree: u32) -> u8 {
    let (mut wide, mut i) = (0u16, 0);
    while i < degree {
        if y >> i & 1 == 1 {
            wide ^= (x as u16) << i;
        }
        i += 1;
    }
    i = 2 * degree - 1;
    while i >= degree {
        if wide >> i & 1 == 1 {
            wide ^= modulus << (i - degree);
        }
        i -= 1;
    }
    wide as u8
}

/// x^(2^degree - 2): the inverse, and 0 for 0.
const fn inverse(x: u8, modulus: u16, degree: u32) -> u8 {
    let (mut power, mut result, mut i) = (x, 1, 1);
    while i < degree {
        power = product(power, power, modulus, degree);
        result = product(result, power, modulus, degree);
        i += 1;
    }
    result
}

const fn sbox_table() -> [u8; 256] {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        let y = inverse(x as u8, 0x11b, 8);
        let turned = y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4);
        table[x] = y ^ turned ^ super::AFFINE_CONSTANT.0;
        x += 1;
    }
    table
}

const fn inverse_sbox_table() -> [u8; 256] {
    let (sbox, mut table, mut x) = (sbox_table(), [0; 256], 0);
    while x < 256 {
        table[sbox[x] as usize] = x as u8;
        x += 1;
    }
    table
}

const fn gf4_inverse_table() -> [u8; 16] {
    let (mut table, mut x) = ([0; 16], 0);
    while x < 16 {
        table[x] = inverse(x as u8, 0x13, 4);
        x += 1;
    }
    table
}

/// The value of a polynomial at a public point: for tests and reference code.
#[must_use]
pub fn value(monomials: &[u8], x: u8) -> Gf8 {
    let at = |u: usize| if usize::from(x) & u == u { monomials[u] } else { 0 };
    Gf8((0..monomials.len()).fold(0, |sum, u| sum ^ at(u)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, Gf4};

    #[test]
    fn the_polynomials_are_the_tables_of_the_standard() {
        assert_eq!([0x00, 0x01, 0x53, 0xff].map(|x| value(&SBOX, x).0), [0x63, 0x7c, 0xed, 0x16]);
        for x in 0..=255 {
            let y = Gf8(x).inverse().0;
            let turned = y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4);
            let s = value(&SBOX, x);
            assert_eq!(s.0, y ^ turned ^ 0x63);
            assert_eq!(value(&INVERSE_SBOX, s.0).0, x);
        }
    }

    #[test]
    fn the_small_inverse_is_the_fields() {
        for x in 0..16 {
            assert_eq!(value(&GF4_INVERSE, x).0, Gf4::new(x).inverse().bits());
        }
    }
}
