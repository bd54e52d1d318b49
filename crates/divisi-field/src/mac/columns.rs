//! 128 elements as columns: word c has bit c of each element. A product by y moves every column up by one. So
//! a sum weighted by powers of y is a sum of shifted columns; the columns above the degree are then added to
//! lower ones, as the modulus says. This takes a few additions of words for 128 lanes, where products would
//! be needed for each lane.

use crate::kernel::vectorize;
use zeroize::Zeroize;

/// The largest number of summands, and of columns of an element.
const MOST: usize = 72;

/// `out[c]` gets column c of the sum of y^k times summand k, in a field of `out.len()` bits. `taps` are the
/// exponents of the modulus below the highest one.
pub(super) fn weigh(taps: &[u32], out: &mut [u128], summands: &[&[u128]]) {
    let bits = out.len();
    assert!(summands.iter().all(|columns| columns.len() == bits), "as many columns as bits");
    assert!(bits <= MOST && summands.len() <= MOST, "too many summands");
    // as halves, which are added at once
    let mut sums = [[0_u64; 2]; 2 * MOST];
    vectorize(
        #[inline(always)]
        || {
            for (k, columns) in summands.iter().enumerate() {
                for (sum, word) in sums[k..k + bits].iter_mut().zip(*columns) {
                    sum[0] ^= *word as u64;
                    sum[1] ^= (*word >> 64) as u64;
                }
            }
        },
    );
    // from the highest column down, because a column may be moved down more than once
    for c in (bits..bits + summands.len()).rev() {
        let high = sums[c];
        for tap in taps {
            let sum = &mut sums[c - bits + *tap as usize];
            *sum = [sum[0] ^ high[0], sum[1] ^ high[1]];
        }
    }
    for (out, [low, high]) in out.iter_mut().zip(sums) {
        *out = u128::from(low) | u128::from(high) << 64;
    }
    sums.zeroize();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::kernel::{available, with};
    use crate::{Field, Gf40, Gf42, Gf48, Gf72, MacField};

    /// Compares with products in each lane.
    fn agrees<F: MacField>() {
        let mut state = 1_u128;
        let mut element = || {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x5851);
            F::from_low_bits(state ^ state >> 61)
        };
        let counts = [0, 1, 2, 3, 8, 31, 32, 40];
        for count in counts.into_iter().filter(|count| !cfg!(miri) || *count < 4) {
            let lanes: Vec<Vec<F>> = (0..count).map(|_| (0..128).map(|_| element()).collect()).collect();
            let columns: Vec<Vec<u128>> = lanes
                .iter()
                .map(|of| {
                    let column = |c: usize| {
                        of.iter().enumerate().fold(0, |sum, (l, x)| sum | (x.to_bits() >> c & 1) << l)
                    };
                    (0..<F as Field>::BITS).map(column).collect()
                })
                .collect();
            let columns: Vec<&[u128]> = columns.iter().map(Vec::as_slice).collect();
            for kernel in available() {
                let mut out = vec![u128::MAX; <F as Field>::BITS];
                with(kernel, || F::weigh_columns(&mut out, &columns)).unwrap();
                for l in 0..128 {
                    let sum = lanes.iter().enumerate().fold(F::ZERO, |sum, (k, of)| {
                        sum + of[l] * (0..k).fold(F::ONE, |power, _| power * F::from_low_bits(2))
                    });
                    let made = out.iter().enumerate().fold(0, |bits, (c, word)| bits | (word >> l & 1) << c);
                    assert_eq!(made, sum.to_bits(), "{kernel} {count} {l}");
                }
            }
        }
    }

    #[test]
    fn columns_are_weighed_as_elements_are() {
        agrees::<Gf40>();
        agrees::<Gf42>();
        agrees::<Gf48>();
        agrees::<Gf72>();
    }
}
