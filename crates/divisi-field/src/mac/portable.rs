//! These fields in portable code.

use super::{Narrow, reduce};
use crate::carryless::pairs::{Sum, products};
use crate::carryless::product;

pub(super) fn mul<F: Narrow>(x: F, y: F) -> F {
    reduce(product(x.word(), y.word()))
}

pub(super) fn dot<F: Narrow>(x: &[F], y: &[F]) -> F {
    let (x, x_rest) = x.as_chunks::<2>();
    let (y, y_rest) = y.as_chunks::<2>();
    let mut sum = Sum::new();
    for (x, y) in x.iter().zip(y) {
        sum.add(words(x), words(y));
    }
    let rest = x_rest.iter().zip(y_rest);
    reduce(rest.fold(sum.total(), |sum, (x, y)| sum ^ product(x.word(), y.word())))
}

pub(super) fn mul_assign<F: Narrow>(x: &mut [F], y: &[F]) {
    let (x, x_rest) = x.as_chunks_mut::<2>();
    let (y, y_rest) = y.as_chunks::<2>();
    for (x, y) in x.iter_mut().zip(y) {
        *x = products(words(x), words(y)).map(reduce);
    }
    for (x, y) in x_rest.iter_mut().zip(y_rest) {
        *x = mul(*x, *y);
    }
}

pub(super) fn scale<F: Narrow>(x: &mut [F], c: F) {
    let (x, rest) = x.as_chunks_mut::<2>();
    for x in x {
        *x = products(words(x), [c.word(); 2]).map(reduce);
    }
    for x in rest {
        *x = mul(*x, c);
    }
}

pub(super) fn combine<F: Narrow>(out: &mut [F], c: &[F], rows: &[&[F]]) {
    let (c, c_rest) = c.as_chunks::<2>();
    let (pairs, row_rest) = rows.as_chunks::<2>();
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = Sum::new();
        for (c, [first, second]) in c.iter().zip(pairs) {
            sum.add(words(c), [first[i].word(), second[i].word()]);
        }
        let rest = c_rest.iter().zip(row_rest);
        *out = reduce(rest.fold(sum.total(), |sum, (c, row)| sum ^ product(c.word(), row[i].word())));
    }
}

#[inline(always)]
fn words<F: Narrow>(x: &[F; 2]) -> [u64; 2] {
    [x[0].word(), x[1].word()]
}
