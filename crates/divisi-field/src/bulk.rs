//! A test suite for all large fields: it compares every kernel with the slow reference, at lengths around
//! each register width.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::{BigField, kernel};

/// A test that goes through all elements takes every `STEP`-th: all of them, but only some under Miri, which
/// needs a thousand times as long.
pub(crate) const STEP: usize = if cfg!(miri) { 17 } else { 1 };

/// The lengths 0, 1, w-1, w, w+1 and 31w, for the widths w (in elements) of all registers, single and in
/// pairs; under Miri, which has no vector registers, only three lengths.
pub(crate) fn lengths() -> Vec<usize> {
    let around = [2, 4, 8, 16, 32, 64].into_iter().flat_map(|w| [w - 1, w, w + 1, 31 * w]);
    if cfg!(miri) { vec![0, 1, 5] } else { [0, 1].into_iter().chain(around).collect() }
}

/// Random vectors of one length.
pub(crate) fn elements<F: BigField>(length: usize) -> impl Strategy<Value = Vec<F>> {
    proptest::collection::vec(any::<[u8; 16]>().prop_map(F::from_uniform), length)
}

/// Compares the operations of [`BigField`] with their definitions, where `mul` is the reference product.
pub(crate) fn agrees_with_reference<F: BigField>(mul: fn(F, F) -> F) {
    for length in lengths() {
        // a new runner each time: a runner counts its cases over all runs, so its second run would test
        // nothing
        let mut runner = TestRunner::new(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 3 }));
        let input = (elements::<F>(2 * length), elements::<F>(2 * length), elements::<F>(1));
        runner.run(&input, |(x, y, c)| compare(&x, &y, c[0], mul)).unwrap();
    }
    let extreme = F::from_uniform([0xff; 16]);
    // elements that differ in any bit are not equal
    for bit in 0..F::BITS {
        let other = F::from_low_bits(extreme.to_bits() ^ 1 << bit);
        assert!(bool::from(extreme.ct_eq(&extreme) & !extreme.ct_eq(&other)), "bit {bit}");
    }
    // what is uniform uses every bit of the field
    assert_eq!(extreme, F::from_low_bits(u128::MAX));
    for bit in 0..F::BITS {
        assert_eq!(F::from_uniform((1_u128 << bit).to_le_bytes()).to_bits(), 1 << bit, "bit {bit}");
    }
    let many = &[extreme; 66][..if cfg!(miri) { 4 } else { 66 }];
    compare(many, many, extreme, mul).unwrap();
}

fn compare<F: BigField>(x: &[F], y: &[F], c: F, mul: fn(F, F) -> F) -> Result<(), TestCaseError> {
    let half = x.len() / 2;
    let products: Vec<F> = x.iter().zip(y).map(|(x, y)| mul(*x, *y)).collect();
    let dot = products.iter().fold(F::ZERO, |sum, product| sum + *product);
    let half_dot = products[..half].iter().fold(F::ZERO, |sum, product| sum + *product);
    let scaled: Vec<F> = x.iter().map(|x| mul(*x, c)).collect();
    let sums: Vec<F> = x.iter().zip(y).map(|(x, y)| *x + *y).collect();
    let lines = x.chunks(2).zip(y.chunks(2)).fold((F::ZERO, F::ZERO), |(one, leading), (x, y)| {
        (one + mul(x[1], y[1]), leading + mul(x[0] + x[1], y[0] + y[1]))
    });
    let folded: Vec<F> = x.chunks(2).map(|x| x[0] + mul(c, x[0] + x[1])).collect();
    for kernel in kernel::available() {
        let run = || {
            prop_assert_eq!(F::dot(x, y), dot);
            prop_assert_eq!(F::dot(&x[..half], &y[..half]), half_dot);
            let changed = |f: &dyn Fn(&mut [F]), length: usize| {
                let mut changed = x.to_vec();
                f(&mut changed[..length]);
                changed
            };
            for length in [x.len(), half] {
                let expected = |whole: &[F]| [&whole[..length], &x[length..]].concat();
                prop_assert_eq!(changed(&|x| F::mul_assign(x, &y[..length]), length), expected(&products));
                prop_assert_eq!(changed(&|x| F::scale(x, c), length), expected(&scaled));
                prop_assert_eq!(changed(&|x| F::add_assign(x, &y[..length]), length), expected(&sums));
            }
            prop_assert_eq!(F::line_products(x, y), lines);
            let mut out = y.to_vec();
            F::fold(x, c, &mut out[..half]);
            prop_assert_eq!(out, [&folded[..], &y[half..]].concat());
            for ((x, y), product) in x.iter().zip(y).zip(&products) {
                prop_assert_eq!(*x * *y, *product);
            }
            Ok(())
        };
        kernel::with(kernel, run).unwrap()?;
    }
    Ok(())
}
