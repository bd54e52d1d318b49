//! Embeddings of small fields into the fields of MACs.
//!
//! An embedding is given by a root of the small field's modulus. Of the conjugate roots it is the smallest as
//! an integer, which is also KOR+17's choice where the paper has one (y^5 + 1 in GF(2^40); y^14 + y^7 + 1 in
//! GF(2^42)). The tests compute the roots again.

use super::{Gf6, Gf40, Gf42, Gf48, Gf72, MODULUS_40, MODULUS_42, MODULUS_48, MODULUS_72};
use crate::{Field, Gf8};

/// A field that contains a copy of another field.
pub trait Holds<S: Field>: Field {
    /// The images of the powers 1, x, x^2, .. of the small field's generator.
    fn powers() -> &'static [Self];

    /// The image of an element. The map is a homomorphism of fields.
    fn embed(x: S) -> Self;

    /// The image of a public element, read from a table at an index that depends on the element.
    fn embed_public(x: S) -> Self;

    /// A map that is linear over GF(2) and inverts [`Holds::embed`]. If a sum of elements lies in the image
    /// of the small field, the projections of its terms add up to the small field's element, even if the
    /// terms lie elsewhere.
    fn project(self) -> S;
}

macro_rules! holds {
    ($large:ident($word:ty), $modulus:expr, $small:ty, $bits:literal, $root:literal) => {
        const _: () = {
            const POWERS: [u128; $bits] = powers($root, $modulus);
            const ELEMENTS: [$large; $bits] = {
                let mut all = [$large::ZERO; $bits];
                let mut i = 0;
                while i < $bits {
                    all[i] = match $large::new(POWERS[i] as $word) {
                        Some(element) => element,
                        None => $large::ZERO,
                    };
                    i += 1;
                }
                all
            };
            static IMAGES: [$large; 1 << $bits] = {
                let mut all = [$large::ZERO; 1 << $bits];
                let mut x = 0;
                while x < 1 << $bits {
                    all[x] = match $large::new(image(POWERS, x) as $word) {
                        Some(element) => element,
                        None => $large::ZERO,
                    };
                    x += 1;
                }
                all
            };
            const MASKS: [u128; $bits] = left_inverse(POWERS);

            impl Holds<$small> for $large {
                fn powers() -> &'static [Self] {
                    &ELEMENTS
                }

                #[inline(always)]
                fn embed(x: $small) -> Self {
                    let bits = x.to_bits();
                    let mut sum = 0;
                    for (i, power) in POWERS.iter().enumerate() {
                        sum ^= *power as $word & ((bits >> i & 1) as $word).wrapping_neg();
                    }
                    <$large>::from_low_bits(sum.into())
                }

                #[inline(always)]
                fn embed_public(x: $small) -> Self {
                    IMAGES[x.to_bits() as usize & ((1 << $bits) - 1)]
                }

                #[inline(always)]
                fn project(self) -> $small {
                    let all = self.to_bits() as $word;
                    let mut bits = 0;
                    for (i, mask) in MASKS.iter().enumerate() {
                        bits |= u128::from((all & *mask as $word).count_ones() & 1) << i;
                    }
                    <$small>::from_low_bits(bits)
                }
            }

            #[cfg(test)]
            impl Root<$small> for $large {
                const ROOT: u128 = $root;
            }
        };
    };
}

/// The root of an embedding, for its test.
#[cfg(test)]
pub(super) trait Root<S: Field>: Holds<S> {
    const ROOT: u128;
}

holds!(Gf40(u64), MODULUS_40, Gf8, 8, 0x21);
holds!(Gf42(u64), MODULUS_42, Gf6, 6, 0x4081);
holds!(Gf48(u64), MODULUS_48, Gf8, 8, 0x293e_f139_6c8c);
holds!(Gf48(u64), MODULUS_48, Gf6, 6, 0x0423_e448_631e);
holds!(Gf72(u128), MODULUS_72, Gf8, 8, 0x0001_2f43_96a5_8080_c4b3);
holds!(Gf72(u128), MODULUS_72, Gf6, 6, 0x0051_55e3_edd2_b28b_c7e3);

/// 1, root, root^2 and so on.
const fn powers<const N: usize>(root: u128, modulus: u128) -> [u128; N] {
    let degree = modulus.ilog2();
    let mut powers = [1; N];
    let mut i = 1;
    while i < N {
        let (mut x, mut product, mut bit) = (powers[i - 1], 0, 0);
        while bit < degree {
            if root >> bit & 1 == 1 {
                product ^= x;
            }
            x <<= 1;
            if x >> degree & 1 == 1 {
                x ^= modulus;
            }
            bit += 1;
        }
        powers[i] = product;
        i += 1;
    }
    powers
}

/// The sum of the powers that the bits of x select.
const fn image<const N: usize>(powers: [u128; N], x: usize) -> u128 {
    let (mut sum, mut i) = (0, 0);
    while i < N {
        sum ^= powers[i] * (x >> i & 1) as u128;
        i += 1;
    }
    sum
}

/// Masks such that the parity of `rows[j] & masks[i]` is one if i = j, else zero. Gaussian elimination finds
/// N columns in which the rows are independent, and inverts the matrix of these columns. If the rows are
/// dependent, the program does not compile.
const fn left_inverse<const N: usize>(rows: [u128; N]) -> [u128; N] {
    // rows[j] is the sum of the original rows whose bits are set in tracks[j]
    let (mut rows, mut tracks, mut columns) = (rows, [0_u32; N], [0; N]);
    let mut j = 0;
    while j < N {
        tracks[j] = 1 << j;
        j += 1;
    }
    let mut pivot = 0;
    while pivot < N {
        let column = rows[pivot].trailing_zeros();
        assert!(column < 128, "dependent powers");
        columns[pivot] = column;
        let mut other = 0;
        while other < N {
            if other != pivot && rows[other] >> column & 1 == 1 {
                rows[other] ^= rows[pivot];
                tracks[other] ^= tracks[pivot];
            }
            other += 1;
        }
        pivot += 1;
    }
    // each of these columns is one in a single row now, so an element of the span is the sum of y_k rows[k],
    // where y_k is its bit in column columns[k]; its coefficient of the original row j is the sum of those
    // y_k whose tracks contain j
    let mut masks = [0; N];
    let mut k = 0;
    while k < N {
        let mut j = 0;
        while j < N {
            if tracks[k] >> j & 1 == 1 {
                masks[j] |= 1 << columns[k];
            }
            j += 1;
        }
        k += 1;
    }
    masks
}
