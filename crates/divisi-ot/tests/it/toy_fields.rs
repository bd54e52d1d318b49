//! The error of the check of columns in a field that is small enough to try every coin: the best liar passes
//! as often as the bound says, and no liar more often.

use divisi_field::Gf8;

/// h of the errors that a maker put into a column's tiles, the sacrificed one last.
fn h(errors: &[u8], z: u8) -> u8 {
    errors.iter().fold(Gf8(0), |sum, e| sum * Gf8(z) + Gf8(*e)).0
}

/// For how many of the 256 coins the check does not detect the errors.
fn passes(errors: &[u8]) -> usize {
    (0..=255).filter(|z| h(errors, *z) == 0).count()
}

/// The coefficients of the product of z + a over all roots a, which is zero exactly if the coin z is one of
/// them.
fn with_roots(roots: impl Iterator<Item = u8>) -> Vec<u8> {
    roots.fold(vec![1], |product, a| {
        let mut next = product.clone();
        next.push(0);
        next[1..].iter_mut().zip(&product).for_each(|(n, p)| *n ^= (Gf8(*p) * Gf8(a)).0);
        next
    })
}

/// The best liar about T tiles errs by the coefficients of a polynomial with T - 1 roots, and passes with T -
/// 1 of the 2^8 coins. The bound of the meter is T in 2^f, one coin more. Liars chosen at random pass with
/// 2^-8 on average, and none of them more often than the best one.
#[test]
fn the_best_liar_passes_as_often_as_the_bound_says() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    for tiles in [2, 3, 9, 65, 200] {
        let best = with_roots((0..tiles as u8 - 1).map(|a| a.wrapping_mul(37)));
        assert_eq!(best.len(), tiles);
        assert_eq!(passes(&best), tiles - 1);
        let mut all = 0;
        for _ in 0..400 {
            let errors: Vec<u8> = (0..tiles).map(|_| random()).collect();
            if errors.iter().any(|e| *e != 0) {
                let passed = passes(&errors);
                assert!(passed < tiles);
                all += passed;
            }
        }
        // of 102,400 coins 400 are expected; three standard deviations, and the randomness is seeded
        assert!((all as f64 - 400.0).abs() < 60.0, "{tiles}: {all}");
    }
}
