//! Random one-hot vectors of length 16, one or two in a record (MAESTRO Protocol 8, appendix A).
//!
//! Cost: 11 products of bits in 2 rounds a vector (test `one_hot_vectors_cost_what_the_paper_says`).
//!
//! Verified by one multiplication over GF(2^64) a vector instead of the paper's two (Eq. 5 and 6), which keep
//! to degree 8: with A = r0 + r1 X + r0r1 X^2 + r2 X^3 and B = r1 + r2 X^4 + r3 X^8 + r2r3 X^12 all 16
//! coefficients of AB are monomials, they hold each of the 11 products, and the degree is 15
//! (docs/lookups.md, 2). The relation fails exactly when one of the products is wrong \[A17\]: the test
//! below tries all 2^4 places and 2^11 errors.

use crate::checks;
use crate::multiply::mult_local;
use crate::record::{Kind, Records};
use crate::relation::{Relation, power};
use crate::small::{FACTOR, PRODUCT, Small, bits4};
use crate::tile::Tile;
use crate::trio::Trio;
use crate::wire::Shape;
use divisi_core::{Abort, Step, step};
use divisi_field::kernel::{Task, run};
use divisi_field::{Gf64, Plane, Word};
use std::sync::Arc;

/// Planes of a vector.
pub(crate) const NIBBLE_PLANES: usize = 15;
/// Planes of two of them.
pub(crate) const NIBBLES_PLANES: usize = 2 * NIBBLE_PLANES;

/// The sets of bits in the order of their planes: those of step 1, of step 2, and of steps 3 and 4 of
/// Protocol 8. With two nibbles each of the three parts is there twice, the low nibble's first.
const SETS: [usize; NIBBLE_PLANES] = [
    0b0001, 0b0010, 0b0100, 0b1000, //
    0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100, //
    0b0111, 0b1011, 0b1101, 0b1110, 0b1111,
];
/// Where the parts begin and end.
const PARTS: [usize; 4] = [0, 4, 10, 15];

/// The plane of monomial `set` of nibble number `nibble`, in records of `nibbles` nibbles.
pub(crate) const fn plane(nibbles: usize, nibble: usize, set: usize) -> usize {
    let mut at = 0;
    while SETS[at] != set {
        at += 1;
    }
    let mut part = 0;
    while at >= PARTS[part + 1] {
        part += 1;
    }
    let size = PARTS[part + 1] - PARTS[part];
    nibbles * PARTS[part] + nibble * size + at - PARTS[part]
}

/// The planes of the monomials of a vector, by their sets; the entry of the empty one means nothing.
pub(crate) const PLANES_OF_ONE: [usize; 16] = planes(1, 0);
/// The planes of the monomials of each of two vectors.
pub(crate) const PLANES_OF_TWO: [[usize; 16]; 2] = [planes(2, 0), planes(2, 1)];

const fn planes(nibbles: usize, nibble: usize) -> [usize; 16] {
    let (mut planes, mut set) = ([0; 16], 1);
    while set < 16 {
        planes[set] = plane(nibbles, nibble, set);
        set += 1;
    }
    planes
}

/// The sets of two monomials whose product is the monomial of `set`, which has at least two bits: a single
/// bit and the rest; for all four bits, two pairs.
const fn factors(set: usize) -> (usize, usize) {
    if set == 0b1111 { (0b1100, 0b0011) } else { (set & set.wrapping_neg(), set & (set - 1)) }
}

const SECOND: Step = step!("r_i r_j");
const FOURTH: Step = step!("r_i r_j r_k");

/// Vectors for `layers` layers of this shape, of K / 15 nibbles each: all in the same two rounds.
pub(crate) fn make<const K: usize>(
    trio: &mut Trio,
    layers: usize,
    shape: &Shape,
) -> Result<impl Iterator<Item = Arc<Records<K>>> + use<K>, Abort> {
    let mut made: Vec<Records<K>> = (0..layers).map(|_| Records::new(&trio.pool, shape)).collect();
    monomials(trio, &mut made, K / NIBBLE_PLANES, shape)?;
    Ok(made.into_iter().map(Arc::new))
}

/// Makes all monomials of this many random nibbles, in the first planes of each record.
pub(crate) fn monomials<const K: usize>(
    trio: &mut Trio,
    made: &mut [Records<K>],
    nibbles: usize,
    shape: &Shape,
) -> Result<(), Abort> {
    // 1. r
    for layer in made.iter_mut() {
        trio.streams.rand_planes(layer, 0..nibbles * PARTS[1], shape);
    }
    // 2. the products of two bits; 3, 4. of three, and of all
    for (part, step) in [(1, SECOND), (2, FOURTH)] {
        let products: Vec<Product> = (0..nibbles)
            .flat_map(|nibble| {
                SETS[PARTS[part]..PARTS[part + 1]].iter().map(move |set| {
                    let (s, t) = factors(*set);
                    [*set, s, t].map(|set| plane(nibbles, nibble, set))
                })
            })
            .collect();
        for record in made.iter_mut().flat_map(|layer| layer.iter_mut()) {
            run(Multiply { record, products: &products });
        }
        trio.reshare_within(step, made, nibbles * PARTS[part]..nibbles * PARTS[part + 1], shape)?;
    }
    Ok(())
}

/// The planes of a product and of its factors.
pub(crate) type Product = [usize; 3];

/// Puts our shares of products of planes where their first components will be.
pub(crate) struct Multiply<'a, const K: usize> {
    pub(crate) record: &'a mut Tile<K>,
    pub(crate) products: &'a [Product],
}

impl<const K: usize> Task for Multiply<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        for [z, x, y] in self.products {
            let load = |at: usize| [[W::load(&self.record[0][at])], [W::load(&self.record[1][at])]];
            let product = mult_local(
                &load(*x),
                &load(*y),
                #[inline(always)]
                |x, y| [x[0] & y[0]],
            );
            product[0].store(&mut self.record[0][*z]);
        }
    }
}

/// The factors of AB, each with its degree.
const A: [(usize, usize); 4] = [(0b0001, 0), (0b0010, 1), (0b0011, 2), (0b0100, 3)];
const B: [(usize, usize); 4] = [(0b0010, 0), (0b0100, 4), (0b1000, 8), (0b1100, 12)];

/// What must hold of a vector.
pub(crate) static ONE: Kind<NIBBLE_PLANES> = Kind {
    checks: &[checks::A17],
    drawn: 0,
    relations: |_| relations::<1>().into(),
    products: &[Some(&Halves::<1, 0>)],
};

/// What must hold of two of them.
pub(crate) static TWO: Kind<NIBBLES_PLANES> = Kind {
    checks: &[checks::A17, checks::A18],
    drawn: 0,
    relations: |_| relations::<2>().into(),
    products: &[Some(&Halves::<2, 0>), Some(&Halves::<2, 1>)],
};

/// One relation for each of N nibbles of a record.
pub(crate) fn relations<const N: usize>() -> [Relation; N] {
    let y = |i: usize| power(Gf64::Y, i as u32);
    let relation = |nibble: usize| {
        let plane = |set: usize| plane(N, nibble, set);
        let both = || A.iter().flat_map(|(s, i)| B.iter().map(move |(t, j)| (s | t, i + j)));
        Relation {
            x: A.iter().map(|(s, i)| (plane(*s), y(*i))).collect(),
            y: B.iter().map(|(t, j)| (plane(*t), y(*j))).collect(),
            z: both().map(|(set, i)| (plane(set), y(i))).collect(),
            product: both().map(|(_, i)| y(i)).collect(),
        }
    };
    std::array::from_fn(relation)
}

/// A and B of nibble I of N, in GF(2).
pub(crate) struct Halves<const N: usize, const I: usize>;

impl<const K: usize, const N: usize, const I: usize> Small<K> for Halves<N, I> {
    const X: usize = 4;
    const Y: usize = 4;
    const Z: usize = 16;

    #[inline(always)]
    fn factors<W: Word>(record: &[Plane; K]) -> [[W; FACTOR]; 2] {
        let planes = const { planes(N, I) };
        let mut out = [[W::zero(); FACTOR]; 2];
        for i in 0..4 {
            out[0][i] = W::load(&record[planes[A[i].0]]);
            out[1][i] = W::load(&record[planes[B[i].0]]);
        }
        out
    }

    #[inline(always)]
    fn multiply<W: Word>(x: &[W; FACTOR], y: &[W; FACTOR]) -> [W; PRODUCT] {
        bits4(x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::tests::holds;
    use crate::small::agree;

    /// The monomials of r, with errors added to the products in the order of the protocol: each product is
    /// made of earlier ones and of their errors.
    fn record(r: usize, errors: usize) -> u64 {
        let mut m = [0usize; 16];
        (0..4).for_each(|i| m[1 << i] = r >> i & 1);
        for (k, set) in SETS[4..].iter().enumerate() {
            let (s, t) = factors(*set);
            m[*set] = m[s] & m[t] ^ errors >> k & 1;
        }
        (1..16).fold(0, |record, set| record | (m[set] as u64) << plane(1, 0, set))
    }

    /// Lemma A.2, for the one product AB: all places and all errors.
    #[test]
    fn the_relation_fails_exactly_when_a_product_is_wrong() {
        let [relation] = &relations::<1>();
        agree::<NIBBLE_PLANES, Halves<1, 0>>(relation);
        let [low, high] = &relations::<2>();
        agree::<NIBBLES_PLANES, Halves<2, 0>>(low);
        agree::<NIBBLES_PLANES, Halves<2, 1>>(high);
        for r in 0..16 {
            for errors in 0..1 << 11 {
                assert_eq!(holds(relation, record(r, errors)), errors == 0, "{r} {errors:b}");
            }
        }
    }

    #[test]
    fn every_monomial_has_a_plane_and_factors_that_come_before() {
        for nibbles in [1, 2] {
            let mut planes: Vec<usize> =
                (0..nibbles).flat_map(|n| (1..16).map(move |set| plane(nibbles, n, set))).collect();
            planes.sort_unstable();
            assert_eq!(planes, (0..15 * nibbles).collect::<Vec<_>>());
        }
        for part in 1..3 {
            for set in &SETS[PARTS[part]..PARTS[part + 1]] {
                let (s, t) = factors(*set);
                let before = &SETS[..PARTS[part]];
                assert!(s | t == *set && before.contains(&s) && before.contains(&t));
            }
        }
    }
}
