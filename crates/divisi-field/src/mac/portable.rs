//! Words of any processor.

use super::{Narrow, reduce};
use crate::carryless::product;

pub(super) fn mul<F: Narrow>(x: F, y: F) -> F {
    reduce(product(x.word(), y.word()))
}

pub(super) fn dot<F: Narrow>(x: &[F], y: &[F]) -> F {
    reduce(x.iter().zip(y).fold(0, |sum, (x, y)| sum ^ product(x.word(), y.word())))
}

pub(super) fn mul_assign<F: Narrow>(x: &mut [F], y: &[F]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = mul(*x, *y);
    }
}

pub(super) fn scale<F: Narrow>(x: &mut [F], c: F) {
    for x in x {
        *x = mul(*x, c);
    }
}

pub(super) fn combine<F: Narrow>(out: &mut [F], c: &[F], rows: &[&[F]]) {
    for (i, out) in out.iter_mut().enumerate() {
        let terms = c.iter().zip(rows).map(|(c, row)| product(c.word(), row[i].word()));
        *out = reduce(terms.fold(0, |sum, term| sum ^ term));
    }
}
