//! GF(2^128) in portable code.

use super::{Gf128, reduce};
use crate::carryless::wide_product;

pub(super) fn mul(x: Gf128, y: Gf128) -> Gf128 {
    reduce(wide_product(x.0, y.0))
}

pub(super) fn dot(x: &[Gf128], y: &[Gf128]) -> Gf128 {
    reduce(x.iter().zip(y).fold((0, 0), |(low, high), (x, y)| {
        let product = wide_product(x.0, y.0);
        (low ^ product.0, high ^ product.1)
    }))
}

pub(super) fn mul_assign(x: &mut [Gf128], y: &[Gf128]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = mul(*x, *y);
    }
}

pub(super) fn scale(x: &mut [Gf128], c: Gf128) {
    for x in x {
        *x = mul(*x, c);
    }
}

pub(super) fn fold(x: &[Gf128], r: Gf128, out: &mut [Gf128]) {
    let (pairs, _) = x.as_chunks::<2>();
    for (out, [x0, x1]) in out.iter_mut().zip(pairs) {
        *out = *x0 + mul(r, *x0 + *x1);
    }
}
