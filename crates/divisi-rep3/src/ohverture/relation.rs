//! One multiplication over GF(2^64) for all products of a vector, of any length \[A17\].
//!
//! `(sum alpha_S m_S) (sum beta_T m_T) = sum alpha_S beta_T m_{S or T}`, S over the sets of the low half of
//! the bits and the single bits of the high half, T over the sets of the high half and the single bits of the
//! low. alpha and beta are drawn from the coin after all products are fixed, and are different for each batch
//! of vectors.
//!
//! *If every term holds, every product is right*: m_{T or b} = m_T m_b for all sets T and bits b of the same
//! half gives, bit by bit, all sets of a half, and then m_{S or T} = m_S m_T gives those across. *If one does
//! not*, the difference of both sides is a bilinear form in alpha and beta that is not zero: zero at a random
//! point with probability at most 2/2^64. A coefficient of its own for each vector adds 1/2^64 for any number
//! of them. (Tests `all_products_are_right_if_every_term_is` and
//! `a_wrong_product_leaves_a_form_that_is_not_zero`.)

use super::make::{Monomials, mask, masks};
use crate::coin::next_words;
use crate::share::Rep;
use crate::verify::{Statement, Sum, next_element};
use divisi_core::Prg;
use divisi_field::{Field, Gf64};
use std::sync::Arc;

/// The products of vectors that were made together.
pub(crate) struct Products(pub(crate) Arc<Monomials>);

/// The sets on the left and on the right.
pub(super) fn sides(k: usize) -> [Vec<usize>; 2] {
    let low = k.div_ceil(2);
    let sets = |bits: usize, at: usize| (1..1 << bits).map(move |set: usize| set << at);
    let singles = |from: usize, to: usize| (from..to).map(|i| 1 << i);
    [sets(low, 0).chain(singles(low, k)).collect(), sets(k - low, low).chain(singles(0, low)).collect()]
}

/// The sum of the weights of the sets that are in a vector, by the same operations whatever the vector is.
fn weighed(vector: &[u64], weights: &[Gf64]) -> Gf64 {
    let mut sum = 0;
    for (word, weights) in vector.iter().zip(weights.chunks(64)) {
        for (weight, mask) in weights.iter().zip(masks(*word)) {
            sum ^= weight.0 & mask;
        }
    }
    Gf64(sum)
}

/// The same for a few sets.
fn weighed_sets(vector: &[u64], sets: &[usize], weights: &[Gf64]) -> Gf64 {
    Gf64(sets.iter().zip(weights).fold(0, |sum, (set, weight)| sum ^ (weight.0 & mask(vector, *set))))
}

impl Statement<Gf64> for Products {
    fn add(&self, expansion: &mut Prg, sum: &mut Sum<Gf64>) {
        let made = &self.0;
        let sides = sides(made.k);
        let [alpha, beta] = sides.each_ref().map(|sets| {
            let mut drawn = vec![Gf64::ZERO; sets.len()];
            next_words(expansion, &mut drawn);
            drawn
        });
        let mut weights = vec![Gf64::ZERO; 1 << made.k];
        for (s, alpha) in sides[0].iter().zip(&alpha) {
            for (t, beta) in sides[1].iter().zip(&beta) {
                weights[s | t] += *alpha * *beta;
            }
        }
        for l in 0..made.count {
            let c: Gf64 = next_element(expansion);
            let [first, second] = [0, 1].map(|side| {
                let vector = made.vector(side, l);
                let [x, y] =
                    [(&sides[0], &alpha), (&sides[1], &beta)].map(|(s, w)| weighed_sets(vector, s, w));
                (c * x, y, c * weighed(vector, &weights))
            });
            sum.x.extend(&Rep { a: vec![first.0], b: vec![second.0] });
            sum.y.extend(&Rep { a: vec![first.1], b: vec![second.1] });
            sum.claim(first.2, second.2);
        }
    }

    fn is_bilinear(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::tests::{are_whole, rank};

    /// Whether every term of the relation holds.
    fn holds(k: usize, m: &[bool]) -> bool {
        let [left, right] = sides(k);
        left.iter().all(|s| right.iter().all(|t| (m[*s] & m[*t]) == m[s | t]))
    }

    fn right(k: usize, r: usize) -> Vec<bool> {
        (0..1 << k).map(|set| set > 0 && r & set == set).collect()
    }

    #[test]
    fn all_products_are_right_if_every_term_is() {
        for k in 2..=9 {
            assert!((0..1 << k).all(|r| holds(k, &right(k, r))));
        }
        // every error of vectors of up to four bits
        for k in 2..=4_usize {
            let products: Vec<usize> = (1..1 << k).filter(|set: &usize| !set.is_power_of_two()).collect();
            for r in 0..1 << k {
                for error in 1..1_u32 << products.len() {
                    let mut m = right(k, r);
                    products.iter().enumerate().for_each(|(i, set)| m[*set] ^= error >> i & 1 == 1);
                    assert!(!holds(k, &m), "{k} {r} {error:b}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_product_leaves_a_form_that_is_not_zero() {
        let mut x = 1_u64;
        for k in 5..=11_usize {
            for _ in 0..3_000 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let r = (x >> 40) as usize & ((1 << k) - 1);
                let mut m = right(k, r);
                // one product, or some of whatever pattern
                let one = (x >> 20) as usize & ((1 << k) - 1);
                let wrong = |set: usize| match x >> 62 {
                    0 => (x.rotate_left(set as u32 * 7) ^ (set as u64 * 0x9e37)).is_multiple_of(16),
                    _ => set == one,
                };
                let errors = (1..1 << k).filter(|set: &usize| !set.is_power_of_two() && wrong(*set));
                let errors: Vec<usize> = errors.collect();
                errors.iter().for_each(|set| m[*set] ^= true);
                assert!(errors.is_empty() || !holds(k, &m), "{k} {r} {errors:?}");
            }
        }
    }

    /// A vector of two bits has its two bits on each side: its factors are sums of weights, and the first has
    /// a coefficient. No weight or coefficient is fixed, small or equal to another.
    #[test]
    fn weights_and_coefficients_are_drawn_from_the_whole_field() {
        let made = crate::local::run(|mut trio| {
            let mut made = super::super::make::make(&mut trio, &[2], 100)?;
            Ok(Arc::new(made.remove(0)))
        })
        .unwrap();
        // both factors of each vector, by the components of all three parties
        let factors = |batch: u8| -> Vec<[Gf64; 2]> {
            let sums = made.iter().map(|made| {
                let mut sum = Sum::<Gf64> { x: Rep::zero(0), y: Rep::zero(0), z: Rep::zero(1) };
                Products(Arc::clone(made)).add(&mut Prg::new(&[batch; 16]), &mut sum);
                sum
            });
            let sums: Vec<Sum<Gf64>> = sums.collect();
            (0..100)
                .map(|l| [sums.iter().map(|s| s.x.a[l]).sum(), sums.iter().map(|s| s.y.a[l]).sum()])
                .collect()
        };
        let number = |l: usize| made.iter().fold(0, |sum, made| sum ^ made.vector(0, l)[0]);
        // the weights of the second factor, which has no coefficient, over batches
        let vector = (0..100).find(|l| number(*l) != 0).unwrap();
        let weights: Vec<u64> = (0..64).map(|batch| factors(batch)[vector][1].0).collect();
        assert!(are_whole(&weights));
        // the coefficients of one batch: the first factor by its weights
        let mut alpha = [Gf64::ZERO; 2];
        next_words(&mut Prg::new(&[9; 16]), &mut alpha);
        let coefficients = factors(9).into_iter().enumerate().filter_map(|(l, [x, _])| {
            let bit = |i: usize| if number(l) >> (1 << i) & 1 == 1 { alpha[i] } else { Gf64::ZERO };
            let sum = bit(0) + bit(1);
            // x^(2^64 - 2) is the inverse
            let inverse = (1..64).fold((Gf64::ONE, sum), |(product, power), _| {
                let power = power.square();
                (product * power, power)
            });
            (sum != Gf64::ZERO).then(|| (x * inverse.0).0)
        });
        let coefficients: Vec<u64> = coefficients.collect();
        assert!(coefficients.len() > 40 && are_whole(&coefficients));
    }

    /// No weight of one coin is a sum of others of its side, nor a coefficient one of other vectors; and no
    /// product of two weights, one of each side, is a sum of other such products.
    #[test]
    fn weights_of_one_coin_are_independent() {
        // of so many vectors a single product is one
        let sums = |count: usize, l: usize, set: usize| {
            let mut made = Monomials::zero(4, count);
            made.vector_mut(0, l)[0] = 1 << set;
            let mut sum = Sum::<Gf64> { x: Rep::zero(0), y: Rep::zero(0), z: Rep::zero(1) };
            Products(Arc::new(made)).add(&mut Prg::new(&[7; 16]), &mut sum);
            [&sum.x, &sum.y, &sum.z].map(|sums| sums.a.iter().copied().sum::<Gf64>())
        };
        let all: Vec<_> = (1..16).map(|set| sums(1, 0, set)).collect();
        let [left, right, products] = [0, 1, 2].map(|part| {
            let nonzero = all.iter().map(|sums| sums[part]).filter(|sum| *sum != Gf64::ZERO);
            nonzero.collect::<Vec<_>>()
        });
        assert_eq!((left.len(), right.len(), products.len()), (5, 5, 15));
        assert_eq!([&left, &right, &products].map(|all| rank(all.iter().copied())), [5, 5, 15]);
        // two wrong terms do not make up for each other, even if one is the other with its sides exchanged
        assert_eq!(rank(left.iter().flat_map(|x| right.iter().map(move |y| *x * *y))), 25);
        assert_eq!(rank((0..40).map(|l| sums(40, l, 1)[2])), 40);
    }
}
