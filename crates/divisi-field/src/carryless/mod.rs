//! Carry-less products of 64-bit words, without special instructions and without tables.

pub(crate) mod pairs;

/// Masks that select every fourth bit, at four offsets.
const HOLES: [u128; 4] = {
    let first = u128::MAX / 15;
    [first, first << 1, first << 2, first << 3]
};

/// The product of two polynomials over GF(2) of degree below 64.
///
/// Each operand is divided into four parts, in which three zeros separate the bits. In the integer product of
/// two parts, a group of four bits counts pairs of bits. Its count is at most 15 if one of the parts has at
/// most 15 bits, so it does not overflow, and its lowest bit is the coefficient. The four highest bits of `y`
/// are therefore multiplied separately.
#[inline]
pub(crate) fn product(x: u64, y: u64) -> u128 {
    const LOW: u64 = u64::MAX >> 4;
    let part = |v: u64, k: usize| u128::from(v) & HOLES[k];
    let x_part = [part(x, 0), part(x, 1), part(x, 2), part(x, 3)];
    let y_part = [part(y & LOW, 0), part(y & LOW, 1), part(y & LOW, 2), part(y & LOW, 3)];
    let mut product = 0;
    for (k, hole) in HOLES.into_iter().enumerate() {
        let mut columns = 0;
        for (i, x_part) in x_part.iter().enumerate() {
            // both are below 2^64, so nothing wraps; `wrapping_mul` avoids a check that would cost more than
            // the product
            columns ^= x_part.wrapping_mul(y_part[(k + 4 - i) % 4]);
        }
        product ^= columns & hole;
    }
    for bit in 60..64 {
        let chosen = u128::from((y >> bit & 1).wrapping_neg());
        product ^= (u128::from(x) & chosen) << bit;
    }
    product
}

/// The product of two polynomials of degree below 128, as (low, high) halves; it takes three products of
/// words.
#[inline]
pub(crate) fn wide_product(x: u128, y: u128) -> (u128, u128) {
    let (x0, x1, y0, y1) = (x as u64, (x >> 64) as u64, y as u64, (y >> 64) as u64);
    let [low, high] = pairs::products([x0, x1], [y0, y1]);
    let middle = product(x0 ^ x1, y0 ^ y1) ^ low ^ high;
    (low ^ middle << 64, high ^ middle >> 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shift_and_add(x: u64, y: u64) -> u128 {
        (0..64).filter(|bit| y >> bit & 1 == 1).fold(0, |sum, bit| sum ^ u128::from(x) << bit)
    }

    #[test]
    fn full_operands_do_not_carry() {
        for x in [0, 1, u64::MAX, u64::MAX >> 1, 1 << 63, HOLES[0] as u64, HOLES[3] as u64] {
            for y in [0, 1, u64::MAX, u64::MAX >> 1, 1 << 63, HOLES[0] as u64, HOLES[3] as u64] {
                assert_eq!(product(x, y), shift_and_add(x, y));
                assert_eq!(pairs::products([x, y], [y, x]), [shift_and_add(x, y); 2]);
            }
        }
    }

    proptest! {
        #[test]
        fn product_is_shift_and_add(x: u64, y: u64) {
            prop_assert_eq!(product(x, y), shift_and_add(x, y));
        }

        #[test]
        fn pairs_are_shift_and_add(x: [u64; 2], y: [u64; 2], u: [u64; 2], v: [u64; 2]) {
            let expected = |x: [u64; 2], y: [u64; 2]| [0, 1].map(|i| shift_and_add(x[i], y[i]));
            prop_assert_eq!(pairs::products(x, y), expected(x, y));
            let mut sum = pairs::Sum::new();
            sum.add(x, y);
            sum.add(u, v);
            let all = expected(x, y).into_iter().chain(expected(u, v));
            prop_assert_eq!(sum.total(), all.fold(0, |sum, product| sum ^ product));
        }
    }
}
