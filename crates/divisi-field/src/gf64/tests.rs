#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::*;
use crate::bulk::{STEP, agrees_with_reference, elements, lengths};
use crate::{Gf4, Gf8, kernel};

crate::field_laws!(Gf64);

#[test]
fn kernels_agree_with_the_reference() {
    agrees_with_reference(reference::mul);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn pairs_agree_with_the_reference() {
    avx2::in_pairs(|| agrees_with_reference(reference::mul));
}

#[test]
fn weigh_agrees_with_the_reference() {
    let plane = any::<[u64; 8]>().prop_map(Plane);
    // lengths around the blocks of lanes and the groups of planes of all kernels
    let around = [127, 128, 129, 255, 256, 257, 287, 288, 289, 511, 512];
    let around = if cfg!(miri) { &around[..3] } else { &around };
    for lanes in lengths().into_iter().chain(around.iter().copied()).filter(|lanes| *lanes <= Plane::LANES) {
        let counts = [0, 1, 4, 7, 8, 9, 15, 16, 17, 32, 33, 40, 64, 65, 130];
        for count in counts.into_iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
            let planes = proptest::collection::vec(plane.clone(), count);
            let mut runner =
                proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(if cfg!(miri) {
                    1
                } else {
                    2
                }));
            let input = (planes, elements::<Gf64>(count), elements::<Gf64>(lanes));
            let check = |(planes, weights, start): (Vec<Plane>, Vec<Gf64>, Vec<Gf64>)| {
                let planes: Vec<&Plane> = planes.iter().collect();
                let mut expected = start.clone();
                reference::weigh(&mut expected, &planes, &weights);
                for kernel in kernel::available() {
                    let mut out = start.clone();
                    kernel::with(kernel, || weigh(&mut out, &planes, &weights)).unwrap();
                    prop_assert_eq!(&out, &expected, "{}", kernel);
                }
                Ok(())
            };
            runner.run(&input, check).unwrap();
        }
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let refused = |f: fn()| std::panic::catch_unwind(f).is_err();
    assert!(refused(|| _ = Gf64::dot(&[Gf64::ONE], &[])));
    assert!(refused(|| Gf64::mul_assign(&mut [Gf64::ONE], &[])));
    assert!(refused(|| Gf64::add_assign(&mut [], &[Gf64::ONE])));
    assert!(refused(|| Gf64::fold(&[Gf64::ONE; 3], Gf64::ONE, &mut [Gf64::ZERO])));
    assert!(refused(|| weigh(&mut [Gf64::ZERO; 513], &[], &[])));
    assert!(refused(|| weigh(&mut [], &[&Plane::ZERO], &[])));
}

/// The image of an element under the map X -> root.
fn embed(x: impl Field, root: Gf64) -> Gf64 {
    let bits = x.to_bits();
    (0..8).rev().fold(Gf64::ZERO, |sum, i| sum * root + Gf64((bits >> i & 1) as u64))
}

fn embed4(x: Gf4) -> Gf64 {
    embed(x, PSI4)
}

fn embed8(x: Gf8) -> Gf64 {
    embed(x, PSI8)
}

/// A12: psi is a homomorphism of fields, on all pairs of these elements.
fn psi_embeds<F: Field>(root: Gf64, all: &[F]) {
    assert_eq!(embed(F::ONE, root), Gf64::ONE);
    for (x, y) in all.iter().flat_map(|x| all.iter().map(move |y| (*x, *y))) {
        assert_eq!(embed(x + y, root), embed(x, root) + embed(y, root));
        assert_eq!(embed(x * y, root), embed(x, root) * embed(y, root));
        assert_eq!(embed(x, root) == embed(y, root), x == y);
    }
}

#[test]
fn psi4_embeds_gf4() {
    psi_embeds(PSI4, &std::array::from_fn::<_, 16, _>(|i| Gf4::new(i as u8)));
}

#[test]
fn psi8_embeds_gf8() {
    psi_embeds(PSI8, &(0..=255).step_by(STEP).map(Gf8).collect::<Vec<_>>());
}

#[test]
fn embedding_by_weights_and_by_weighing_is_psi() {
    for x in (0..16).map(Gf4::new) {
        assert_eq!(Gf64::from(x), embed4(x));
    }
    let mut planes = [Plane::ZERO; 8];
    let bytes: [u8; 256] = core::array::from_fn(|l| l as u8);
    crate::transpose::to_planes(&bytes, &mut planes);
    for kernel in kernel::available() {
        let mut out = [Gf64::ZERO; 256];
        kernel::with(kernel, || weigh(&mut out, &planes.each_ref(), &PSI8_POWERS)).unwrap();
        for (x, out) in bytes.into_iter().zip(out) {
            assert_eq!(out, embed8(Gf8(x)));
            assert_eq!(out, Gf64::from(Gf8(x)));
        }
    }
}

/// A12: alpha^4 = alpha^2 + {5} alpha + {2} over the embedded GF(2^4).
#[test]
fn alpha_is_a_root_of_its_polynomial() {
    let alpha2 = ALPHA.square();
    assert_eq!(alpha2.square(), alpha2 + embed4(Gf4::new(5)) * ALPHA + embed4(Gf4::new(2)));
}

/// A12: no relation of degree 2 over the embedded GF(2^4): 1, alpha, alpha^2 are independent.
#[test]
fn alpha_has_degree_above_two() {
    for coefficients in (1..1 << 12).step_by(STEP) {
        let c = |i: u32| embed4(Gf4::new((coefficients >> (4 * i)) as u8));
        assert_ne!(c(0) + c(1) * ALPHA + c(2) * ALPHA.square(), Gf64::ZERO);
    }
}

/// A12: Y has degree 8 over the embedded GF(2^8): the 64 elements X^i Y^j are independent over GF(2).
#[test]
fn y_has_degree_eight_over_gf8() {
    let powers =
        |root: Gf64| core::iter::successors(Some(Gf64::ONE), move |power| Some(*power * root)).take(8);
    let products: Vec<u64> = powers(PSI8).flat_map(|x| powers(Gf64::Y).map(move |y| (x * y).0)).collect();
    assert_eq!(rank(products), 64);
}

/// The 16 elements Y^0 .. Y^15 are linearly independent over the embedded GF(2^4); the coefficients of words
/// rely on this.
#[test]
fn y_has_degree_sixteen_over_gf4() {
    let powers = |root: Gf64| core::iter::successors(Some(Gf64::ONE), move |power| Some(*power * root));
    let products: Vec<u64> =
        powers(PSI4).take(4).flat_map(|x| powers(Gf64::Y).take(16).map(move |y| (x * y).0)).collect();
    assert_eq!(rank(products), 64);
}

#[test]
fn rank_counts_independent_rows() {
    assert_eq!(rank(vec![3, 5, 6]), 2);
    assert_eq!(rank(vec![0, 1, 1 << 63]), 2);
}

fn rank(mut rows: Vec<u64>) -> usize {
    let mut rank = 0;
    for bit in 0..64 {
        if let Some(pivot) = (rank..rows.len()).find(|row| rows[*row] >> bit & 1 == 1) {
            rows.swap(rank, pivot);
            let pivot = rows[rank];
            rows.iter_mut().skip(rank + 1).filter(|row| **row >> bit & 1 == 1).for_each(|row| *row ^= pivot);
            rank += 1;
        }
    }
    rank
}
