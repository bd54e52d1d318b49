//! Random one-hot vectors of length 256, replicated (MAESTRO Protocol 5).
//!
//! The paper multiplies bit by bit, in 7 rounds. Here the two nibbles of r have their monomials first, as in
//! Protocol 8 ([`super::nibble`]), and then all 15 x 15 products of a monomial of the one with a monomial of
//! the other in a third round: the same 247 products in 3 rounds (docs/lookups.md, 2; test
//! `one_hot_vectors_cost_what_the_paper_says`).
//!
//! Verified by one multiplication over GF(2^64) a vector instead of the paper's seven: `(sum alpha_S m_S)
//! (sum beta_T m_T) = sum alpha_S beta_T m_{S or T}`, S over the 15 sets of the low nibble and {4}, {5},
//! {4,5}, {6}, T over the 15 of the high nibble and {1}, {2}, {3}, {2,3}. Each of the 361 products on the
//! left is a monomial again, and every one of the 247 products that the protocol makes is among them
//! (`every_product_is_on_the_left`): those across the nibbles in the way they are made, those within a nibble
//! from its own sets on one side and its four sets on the other. alpha and beta come from the coin of the
//! batch, tossed after the barrier: wrong products leave a bilinear form in alpha and beta. It is not the
//! zero form, because some product m_S m_T differs from its claim, so it is zero at a random point with
//! probability at most 2/2^64 \[A17\]. alpha and beta are used for one batch; the coefficients of its vectors
//! come in addition.

use super::nibble::{self, Multiply, NIBBLE_PLANES, NIBBLES_PLANES, Product};
use crate::checks;
use crate::coin::next_words;
use crate::record::{Kind, Records};
use crate::relation::Relation;
use crate::trio::Trio;
use crate::wire::Shape;
use divisi_core::{Abort, Prg, Step, step};
use divisi_field::Gf64;
use divisi_field::kernel::run;
use std::sync::Arc;

/// Planes of a vector: those of its two nibbles, then their products, the low nibble's set changing fastest.
pub(crate) const BYTE_PLANES: usize = 255;

/// Sets on each side of the relation.
const SIDE: usize = 19;

const TENSOR: Step = step!("m_S m_T");

/// The plane of the monomial of a set, which is not empty: its low four bits are the low nibble's set, the
/// others the high nibble's.
pub(crate) const fn plane(set: usize) -> usize {
    match (set & 15, set >> 4) {
        (low, 0) => nibble::plane(2, 0, low),
        (0, high) => nibble::plane(2, 1, high),
        (low, high) => NIBBLES_PLANES + NIBBLE_PLANES * (high - 1) + low - 1,
    }
}

/// The planes of all monomials by their sets; the entry of the empty one means nothing.
pub(crate) const PLANES: [usize; 256] = {
    let (mut planes, mut set) = ([0; 256], 1);
    while set < 256 {
        planes[set] = plane(set);
        set += 1;
    }
    planes
};

/// Vectors for `layers` layers of this shape: all in the same three rounds.
pub(crate) fn make(
    trio: &mut Trio,
    layers: usize,
    shape: &Shape,
) -> Result<impl Iterator<Item = Arc<Records<BYTE_PLANES>>> + use<>, Abort> {
    let mut made: Vec<Records<BYTE_PLANES>> = (0..layers).map(|_| Records::new(&trio.pool, shape)).collect();
    nibble::monomials(trio, &mut made, 2, shape)?;
    let cross = (1..16).flat_map(|high| (1..16).map(move |low| [low | high << 4, low, high << 4].map(plane)));
    let cross: Vec<Product> = cross.collect();
    for record in made.iter_mut().flat_map(|layer| layer.iter_mut()) {
        run(Multiply { record, products: &cross });
    }
    trio.reshare_within(TENSOR, &mut made, NIBBLES_PLANES..BYTE_PLANES, shape)?;
    Ok(made.into_iter().map(Arc::new))
}

/// The sets on the left and on the right of the product.
fn sides() -> [[usize; SIDE]; 2] {
    let side = |own: fn(usize) -> usize, others: [usize; 4]| {
        std::array::from_fn(|i| if i < 15 { own(i + 1) } else { others[i - 15] })
    };
    [
        side(|low| low, [0b0001, 0b0010, 0b0011, 0b0100].map(|set| set << 4)),
        side(|high| high << 4, [0b0010, 0b0100, 0b1000, 0b1100]),
    ]
}

/// How many weights the relation draws.
pub(crate) const DRAWN: usize = 2 * SIDE;

/// What must hold of a vector: its factors are in no small field.
pub(crate) static KIND: Kind<BYTE_PLANES> = Kind {
    checks: &[checks::A17],
    drawn: DRAWN,
    relations: |expansion| vec![relation(expansion)],
    products: &[None],
};

/// The relation of a batch, with alpha and beta as the next elements of its expansion.
pub(crate) fn relation(expansion: &mut Prg) -> Relation {
    let mut drawn = [Gf64(0); DRAWN];
    next_words(expansion, &mut drawn);
    let (alpha, beta) = drawn.split_at(SIDE);
    let [left, right] = sides();
    let mut z = vec![Gf64(0); BYTE_PLANES];
    for (s, alpha) in left.iter().zip(alpha) {
        for (t, beta) in right.iter().zip(beta) {
            z[plane(s | t)] = z[plane(s | t)] + *alpha * *beta;
        }
    }
    let weighed = |sets: [usize; SIDE], weights: &[Gf64]| {
        sets.iter().zip(weights).map(|(set, weight)| (plane(*set), *weight)).collect()
    };
    let z = z.into_iter().enumerate().collect();
    // its factors are no elements of a small field: it is multiplied in the large one
    Relation { x: weighed(left, alpha), y: weighed(right, beta), z, product: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_monomial_has_a_plane() {
        assert_eq!((1..256).map(plane).collect::<BTreeSet<_>>(), (0..255).collect());
    }

    /// The bilinear form that errors leave is not zero: for every place and for every error of a sample, some
    /// product on the left differs from its claim, and then the coefficients of the form, one for each pair
    /// (S, T), are not all zero.
    #[test]
    fn a_wrong_product_leaves_a_form_that_is_not_zero() {
        let [left, right] = sides();
        let missed = |m: &[bool; 256]| left.iter().any(|s| right.iter().any(|t| (m[*s] & m[*t]) != m[s | t]));
        let monomials = |r: usize, error: &dyn Fn(usize) -> bool| -> [bool; 256] {
            std::array::from_fn(|set| {
                let right = set > 0 && r & set == set;
                if set > 0 && !set.is_power_of_two() { right ^ error(set) } else { right }
            })
        };
        for r in 0..256 {
            assert!(!missed(&monomials(r, &|_| false)));
            for wrong in (1..256usize).filter(|set| !set.is_power_of_two()) {
                assert!(missed(&monomials(r, &|set| set == wrong)), "{r} {wrong:08b}");
            }
        }
        // many wrong products at once, of whatever pattern
        let mut x = 1u64;
        for _ in 0..200_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (r, seed, density) = ((x >> 40) as usize & 255, x >> 20, x >> 60);
            let error =
                |set: usize| (seed.rotate_left(set as u32 * 7) ^ (set as u64 * 0x9e37)) % 16 <= density;
            if (1..256usize).any(|set| !set.is_power_of_two() && error(set)) {
                assert!(missed(&monomials(r, &error)));
            }
        }
    }

    /// No weight is fixed, small or equal to another: over 64 batches each bit of each weight takes both
    /// values.
    #[test]
    fn every_weight_is_drawn_from_the_whole_field() {
        let mut seen = vec![(0, 0); DRAWN];
        let mut all = BTreeSet::new();
        for batch in 0..64 {
            let relation = relation(&mut Prg::new(&[batch; 16]));
            let weights = relation.x.iter().chain(&relation.y).map(|(_, weight)| weight.0);
            for ((ones, zeros), weight) in seen.iter_mut().zip(weights) {
                (*ones, *zeros) = (*ones | weight, *zeros | !weight);
                all.insert(weight);
            }
        }
        assert!(seen.iter().all(|seen| *seen == (u64::MAX, u64::MAX)));
        assert_eq!(all.len(), 64 * DRAWN);
    }

    /// Each product that the protocol makes is a product of the left with the right.
    #[test]
    fn every_product_is_on_the_left() {
        let [left, right] = sides();
        let unions: BTreeSet<usize> = left.iter().flat_map(|s| right.iter().map(move |t| s | t)).collect();
        assert!((1..256usize).filter(|set| !set.is_power_of_two()).all(|set| unions.contains(&set)));
    }
}
