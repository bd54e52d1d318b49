//! Words of any processor.

use super::unreduced::Unreduced;
use super::{Gf64, reduce};
use crate::Plane;
use crate::carryless::product;

pub(super) use super::weigh_portable::{matrices, weigh, weigh_bytes};

pub(super) fn mul(x: Gf64, y: Gf64) -> Gf64 {
    reduce(product(x.0, y.0))
}

pub(super) fn dot(x: &[Gf64], y: &[Gf64]) -> Gf64 {
    reduce(x.iter().zip(y).fold(0, |sum, (x, y)| sum ^ product(x.0, y.0)))
}

pub(super) fn line_products(x: &[Gf64], y: &[Gf64]) -> (Gf64, Gf64) {
    let (x, _) = x.as_chunks::<2>();
    let (y, _) = y.as_chunks::<2>();
    let (one, leading) = x.iter().zip(y).fold((0, 0), |(one, leading), ([x0, x1], [y0, y1])| {
        (one ^ product(x1.0, y1.0), leading ^ product(x0.0 ^ x1.0, y0.0 ^ y1.0))
    });
    (reduce(one), reduce(leading))
}

pub(super) fn mul_assign(x: &mut [Gf64], y: &[Gf64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = mul(*x, *y);
    }
}

pub(super) fn scale(x: &mut [Gf64], c: Gf64) {
    for x in x {
        *x = mul(*x, c);
    }
}

pub(super) fn fold(x: &[Gf64], r: Gf64, out: &mut [Gf64]) {
    let (pairs, _) = x.as_chunks::<2>();
    for (out, [x0, x1]) in out.iter_mut().zip(pairs) {
        *out = *x0 + mul(r, *x0 + *x1);
    }
}

pub(super) fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]) {
    for (sum, plane) in sums.iter_mut().zip(planes) {
        for (w, (word, c)) in plane.0.iter().zip(coefficients).enumerate() {
            let product = product(*word, c.0);
            sum.0[w & !1] ^= product as u64;
            sum.0[w | 1] ^= (product >> 64) as u64;
        }
    }
}
