#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::prime::{is_prime, next_prime};
use super::*;
use proptest::prelude::*;

/// Small and large moduli, also at the limits of bit lengths.
pub(crate) const MODULI: [u64; 8] =
    [3, 17, P16, P32, (1 << 31) - 1, 562_949_953_421_381, 1_125_899_903_827_969, 1_125_899_906_842_597];

/// Moduli of more bits than those of ciphertexts: the least one, one of each length above 60, the largest.
const WIDE: [u64; 4] = [1_125_899_906_842_679, 2_305_843_009_213_693_967, P62, 4_611_686_018_427_387_847];

fn modulus(q: u64) -> Modulus {
    Modulus::new(q).unwrap()
}

/// Extreme elements, and others.
fn elements(q: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state ^ state >> 29) % q
    };
    let border = [0, 1, q - 1, q / 2, q / 2 + 1, 2 % q];
    let of = |i: usize, x: u64| if x.is_multiple_of(3) { border[i % border.len()] } else { x };
    (0..count).map(|i| of(i, next())).collect()
}

proptest! {
    #[test]
    fn scalars_agree_with_division(
        x: u128,
        y: u128,
        i in 0..MODULI.len() + WIDE.len(),
        s: i64,
        w: i128,
        low: u64,
    ) {
        let q = MODULI.iter().chain(&WIDE).copied().nth(i).unwrap();
        let m = modulus(q);
        let wide = u128::from(q);
        let (a, b) = ((x % wide) as u64, (y % wide) as u64);
        prop_assert_eq!(u128::from(m.mul(a, b)), x % wide * (y % wide) % wide);
        prop_assert_eq!(u128::from(m.add(a, b)), (x % wide + y % wide) % wide);
        prop_assert_eq!(u128::from(m.sub(a, b)), (x % wide + wide - y % wide) % wide);
        prop_assert_eq!(m.neg(a), (q - a) % q);
        prop_assert_eq!(m.reduce(x as u64), x as u64 % q);
        prop_assert_eq!(u128::from(m.reduce_wide(x)), x % wide);
        let words = [(x >> 64) as u64, x as u64, low];
        let rest = (x % wide) << 64 | u128::from(low);
        prop_assert_eq!(u128::from(m.reduce_words(words)), rest % wide);
        prop_assert_eq!(i128::from(m.of_signed(s)), i128::from(s).rem_euclid(wide as i128));
        prop_assert_eq!(i128::from(m.of_wide(w)), w.rem_euclid(wide as i128));
        let c = m.centred(a);
        prop_assert!(c.unsigned_abs() <= q / 2 && m.of_signed(c) == a);
    }
}

#[test]
fn inverses_and_borders() {
    for q in MODULI.into_iter().chain(WIDE) {
        let m = modulus(q);
        assert!(is_prime(q), "{q}");
        for x in [1, 2, q / 2, q - 1] {
            assert_eq!(m.mul(m.invert(x), x), 1);
        }
        assert_eq!((m.mul(q - 1, q - 1), m.reduce(u64::MAX)), (1, u64::MAX % q));
        assert_eq!((m.of_signed(i64::MIN), m.reduce_wide(u128::MAX)), {
            let wide = u128::from(q);
            ((i128::from(i64::MIN)).rem_euclid(wide as i128) as u64, (u128::MAX % wide) as u64)
        });
        assert_eq!((m.of_signed(0), m.of_wide(0), m.neg(0), m.centred(0)), (0, 0, 0, 0));
    }
    for q in [0, 1, 2, 4, 1 << 50, 1 << 62, (1 << 62) + 1, u64::MAX] {
        assert_eq!(Modulus::new(q), None);
    }
}

/// All implementations that this processor can run, and the model of IFMA's registers, at lengths around
/// their widths.
#[test]
fn vectors_agree_with_scalars() {
    for q in MODULI.into_iter().chain(WIDE) {
        let m = modulus(q);
        let lengths = [0, 1, 3, 4, 5, 7, 8, 9, 31, 32, 33, 124, 248, 1000];
        for len in lengths.into_iter().filter(|len| !cfg!(miri) || *len < 10) {
            let (x, y, z) = (elements(q, len, 1), elements(q, len, 2), elements(q, len, 3));
            let each = |f: &dyn Fn(usize) -> u64| (0..len).map(f).collect::<Vec<_>>();
            let product = each(&|i| m.mul(x[i], y[i]));
            let sum = each(&|i| m.add(z[i], product[i]));
            let scaled = each(&|i| m.mul(x[i], q - 1));
            let products = each(&|i| m.add(product[i], m.mul(z[i], x[i])));
            let mixed = each(&|i| m.add(scaled[i], m.mul(y[i], q / 2)));
            let mut kernels = kernel::available();
            kernels.dedup();
            for kernel in kernels {
                let (mut a, mut b, mut c) = (x.clone(), z.clone(), x.clone());
                kernel::with(kernel, || {
                    m.mul_assign(&mut a, &y);
                    m.add_product(&mut b, &x, &y);
                    m.scale(&mut c, q - 1);
                })
                .unwrap();
                assert!(a == product && b == sum && c == scaled, "{kernel} {q} {len}");
                let (mut a, mut b) = (x.clone(), x.clone());
                kernel::with(kernel, || {
                    m.sum_of_products(&mut a, &y, &z, &x);
                    m.scaled_sum(&mut b, q - 1, &y, q / 2);
                })
                .unwrap();
                assert!(a == products && b == mixed, "{kernel} {q} {len}");
                let (mut a, mut b, mut c) = (x.clone(), x.clone(), x.clone());
                kernel::with(kernel, || {
                    m.add_assign(&mut a, &y);
                    m.sub_assign(&mut b, &y);
                    m.neg_assign(&mut c);
                })
                .unwrap();
                assert_eq!(a, each(&|i| m.add(x[i], y[i])));
                assert_eq!(b, each(&|i| m.sub(x[i], y[i])));
                assert_eq!(c, each(&|i| m.neg(x[i])));
            }
            if WIDE.contains(&q) {
                continue;
            }
            let (mut a, mut b, mut c) = (x.clone(), z.clone(), x.clone());
            ifma::model::mul_assign(m, &mut a, &y);
            ifma::model::add_product(m, &mut b, &x, &y);
            ifma::model::scale(m, &mut c, q - 1);
            assert!(a == product && b == sum && c == scaled, "model {q} {len}");
            let (mut a, mut b) = (x.clone(), x.clone());
            ifma::model::sum_of_products(m, &mut a, &y, &z, &x);
            ifma::model::scaled_sum(m, &mut b, q - 1, &y, q / 2);
            assert!(a == products && b == mixed, "model {q} {len}");
        }
    }
}

#[test]
fn primes_are_what_a_sieve_finds() {
    let mut composite = vec![false; if cfg!(miri) { 200 } else { 20_000 }];
    for i in 2..composite.len() {
        assert_eq!(is_prime(i as u64), !composite[i], "{i}");
        (i * i..composite.len()).step_by(i).for_each(|j| composite[j] = true);
    }
    // composite numbers that pass the test with the first bases, or with the first nine
    for q in [3_215_031_751, 3_825_123_056_546_413_051, 341_550_071_728_321] {
        assert!(!is_prime(q));
    }
    assert!(!is_prime(0) && !is_prime(1) && is_prime(18_446_744_073_709_551_557));
    let first = next_prime(1 << 40, 1 << 17, &[]).unwrap();
    let second = next_prime(1 << 40, 1 << 17, &[first]).unwrap();
    assert!(first > 1 << 40 && second > first && first % (1 << 17) == 1 && is_prime(first));
    assert!((1 << 40..first - 1).step_by(1 << 17).all(|q| !is_prime(q + 1)));
    assert_eq!(next_prime((1 << 50) - 5, 1 << 17, &[]), None);
    assert_eq!(next_prime(u64::MAX, 1 << 17, &[]), None);
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let m = modulus(P32);
    let refused = |f: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err();
    assert!(refused(&|| m.add_assign(&mut [1], &[])));
    assert!(refused(&|| m.sub_assign(&mut [1], &[])));
    assert!(refused(&|| m.mul_assign(&mut [1], &[])));
    assert!(refused(&|| m.add_product(&mut [1], &[1], &[])));
    assert!(refused(&|| m.add_product(&mut [], &[1], &[1])));
}
