#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::subfield::Root;
use super::*;
use crate::bulk::{STEP, agrees_with_reference, elements, lengths};
use crate::{Gf8, kernel};
use proptest::prelude::*;

macro_rules! suite {
    ($($module:ident: $field:ident, $modulus:ident;)*) => { $(
        mod $module {
            use super::*;

            crate::field_laws!($field);

            #[test]
            fn kernels_agree_with_the_reference() {
                agrees_with_reference(reference::mul::<$field, $modulus>);
            }

            #[cfg(target_arch = "x86_64")]
            #[test]
            fn single_products_agree_with_the_reference() {
                avx2::without_vectors(|| {
                    agrees_with_reference(reference::mul::<$field, $modulus>);
                    combinations(reference::mul::<$field, $modulus>);
                });
            }

            #[test]
            fn combinations_agree_with_the_reference() {
                combinations(reference::mul::<$field, $modulus>);
            }

            #[test]
            fn the_modulus_is_irreducible_and_the_field_is_its() {
                assert!(reference::is_irreducible($modulus));
                assert_eq!($modulus.ilog2() as usize, $field::BITS);
                let top = $field::from_low_bits(1 << ($field::BITS - 1));
                let below = $modulus ^ 1 << $field::BITS;
                assert_eq!((top * $field::from_low_bits(2)).to_bits(), below);
            }

            #[test]
            fn only_elements_are_constructed() {
                assert!($field::new(1 << ($field::BITS - 1)).is_some());
                assert!($field::new(1 << $field::BITS).is_none());
            }
        }
    )* };
}

suite! {
    gf40: Gf40, MODULUS_40;
    gf42: Gf42, MODULUS_42;
    gf48: Gf48, MODULUS_48;
    gf72: Gf72, MODULUS_72;
}

fn combinations<F: MacField>(mul: fn(F, F) -> F) {
    for (length, rows) in lengths().into_iter().filter(|l| *l < 300).zip([0, 1, 2, 3, 17].into_iter().cycle())
    {
        let input = (elements::<F>(rows), proptest::collection::vec(elements::<F>(length + 2), rows));
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(if cfg!(miri) {
            1
        } else {
            2
        }));
        let check = |(c, rows): (Vec<F>, Vec<Vec<F>>)| {
            let rows: Vec<&[F]> = rows.iter().map(Vec::as_slice).collect();
            let sum = |i: usize| c.iter().zip(&rows).fold(F::ZERO, |sum, (c, row)| sum + mul(*c, row[i]));
            let expected: Vec<F> = (0..length).map(sum).collect();
            for kernel in kernel::available() {
                let mut out = vec![F::ONE; length];
                kernel::with(kernel, || F::combine(&mut out, &c, &rows)).unwrap();
                prop_assert_eq!(&out, &expected, "{}", kernel);
            }
            Ok(())
        };
        runner.run(&input, check).unwrap();
    }
    assert!(std::panic::catch_unwind(|| F::combine(&mut [F::ZERO], &[F::ONE], &[&[]])).is_err());
    assert!(std::panic::catch_unwind(|| F::combine(&mut [F::ZERO], &[F::ONE], &[])).is_err());
}

/// The paper's modulus of GF(2^42) is reducible: y^6 + y^3 + 1 divides it.
#[test]
fn the_printed_modulus_is_reducible() {
    assert!(!reference::is_irreducible(1 << 42 | 1 << 21 | 1));
}

/// K10: the embedding is a homomorphism of fields, tested exhaustively; its root is the smallest root of the
/// small field's modulus; and the projection is linear and inverts the embedding.
fn embedding<S: Field, F: Root<S> + MacField>(modulus: u32) {
    let elements = || (0..1_u128 << S::BITS).map(S::from_low_bits);
    let some = || elements().step_by(STEP);
    for (x, y) in some().flat_map(|x| some().map(move |y| (x, y))) {
        assert!(F::embed(x) + F::embed(y) == F::embed(x + y));
        assert!(F::embed(x) * F::embed(y) == F::embed(x * y));
    }
    assert!(F::embed(S::ONE) == F::ONE);
    assert_eq!(F::powers().len(), S::BITS);
    for (i, power) in F::powers().iter().enumerate() {
        assert!(*power == F::embed(S::from_low_bits(1 << i)));
    }
    // all non-zero elements of the small field are powers of one of them, which is a power of some element of
    // the large field
    let order = (1_u128 << S::BITS) - 1;
    let power = |x: F, mut e: u128| {
        let (mut square, mut product) = (x, F::ONE);
        while e > 0 {
            if e & 1 == 1 {
                product = product * square;
            }
            (square, e) = (square.square(), e >> 1);
        }
        product
    };
    let whole = ((1_u128 << (F::BITS - 1)) - 1) << 1 | 1;
    let generates =
        |t: &F| [3, 5, 7, 17].iter().all(|q| !order.is_multiple_of(*q) || power(*t, order / q) != F::ONE);
    let generator = (2..).map(|g| power(F::from_low_bits(g), whole / order)).find(generates).unwrap();
    let value = |x: F| {
        (0..=S::BITS).rev().fold(F::ZERO, |v, i| v * x + F::from_low_bits(u128::from(modulus >> i & 1)))
    };
    let roots = (0..order).map(|j| power(generator, j)).filter(|x| value(*x) == F::ZERO);
    let roots: Vec<u128> = roots.map(Field::to_bits).collect();
    assert_eq!(roots.len(), S::BITS);
    assert_eq!(roots.iter().min(), Some(&F::ROOT));
    // the projection
    for x in elements() {
        assert_eq!(F::embed(x).project(), x);
    }
    let mut runner = proptest::test_runner::TestRunner::default();
    let pairs = (any::<u128>(), any::<u128>());
    let linear = |(x, y): (u128, u128)| {
        let (x, y) = (F::from_low_bits(x), F::from_low_bits(y));
        prop_assert_eq!((x + y).project(), x.project() + y.project());
        Ok(())
    };
    runner.run(&pairs, linear).unwrap();
}

#[test]
fn gf8_lies_in_gf40_with_the_root_of_the_text() {
    embedding::<Gf8, Gf40>(0x11b);
    assert_eq!(<Gf40 as Root<Gf8>>::ROOT, 1 << 5 | 1);
}

#[test]
fn gf6_lies_in_gf42_with_the_corrected_root() {
    embedding::<Gf6, Gf42>(0x5b);
    assert_eq!(<Gf42 as Root<Gf6>>::ROOT, 1 << 14 | 1 << 7 | 1);
}

#[test]
fn gf8_and_gf6_lie_in_gf48_and_gf72() {
    embedding::<Gf8, Gf48>(0x11b);
    embedding::<Gf6, Gf48>(0x5b);
    embedding::<Gf8, Gf72>(0x11b);
    embedding::<Gf6, Gf72>(0x5b);
}

#[test]
fn words_give_elements() {
    let words = [u64::MAX, 5, 7, 1 << 63];
    let mut narrow = [Gf48::ZERO; 4];
    Gf48::from_words(&mut narrow, &words);
    assert_eq!(narrow.map(Field::to_bits), [(1 << 48) - 1, 5, 7, 0]);
    let mut wide = [Gf72::ZERO; 2];
    Gf72::from_words(&mut wide, &words);
    assert_eq!(wide.map(Field::to_bits), [u128::from(u64::MAX) | 5 << 64, 7]);
}
