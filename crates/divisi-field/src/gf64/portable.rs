//! GF(2^64) in portable code.

use super::unreduced::Unreduced;
use super::{Gf64, reduce};
use crate::Plane;
use crate::carryless::pairs::{Sum, products};
use crate::carryless::product;

pub(super) use super::weigh_portable::{matrices, weigh, weigh_bytes};

pub(super) fn mul(x: Gf64, y: Gf64) -> Gf64 {
    reduce(product(x.0, y.0))
}

pub(super) fn dot(x: &[Gf64], y: &[Gf64]) -> Gf64 {
    let (x, x_rest) = x.as_chunks::<2>();
    let (y, y_rest) = y.as_chunks::<2>();
    let mut sum = Sum::new();
    for (x, y) in x.iter().zip(y) {
        sum.add(x.map(word), y.map(word));
    }
    reduce(x_rest.iter().zip(y_rest).fold(sum.total(), |sum, (x, y)| sum ^ product(x.0, y.0)))
}

pub(super) fn line_products(x: &[Gf64], y: &[Gf64]) -> (Gf64, Gf64) {
    let (x, _) = x.as_chunks::<2>();
    let (y, _) = y.as_chunks::<2>();
    let (mut one, mut leading) = (0, 0);
    for ([x0, x1], [y0, y1]) in x.iter().zip(y) {
        let both = products([x1.0, x0.0 ^ x1.0], [y1.0, y0.0 ^ y1.0]);
        (one, leading) = (one ^ both[0], leading ^ both[1]);
    }
    (reduce(one), reduce(leading))
}

pub(super) fn mul_assign(x: &mut [Gf64], y: &[Gf64]) {
    let (x, x_rest) = x.as_chunks_mut::<2>();
    let (y, y_rest) = y.as_chunks::<2>();
    for (x, y) in x.iter_mut().zip(y) {
        *x = products(x.map(word), y.map(word)).map(reduce);
    }
    for (x, y) in x_rest.iter_mut().zip(y_rest) {
        *x = mul(*x, *y);
    }
}

pub(super) fn scale(x: &mut [Gf64], c: Gf64) {
    let (x, rest) = x.as_chunks_mut::<2>();
    for x in x {
        *x = products(x.map(word), [c.0; 2]).map(reduce);
    }
    for x in rest {
        *x = mul(*x, c);
    }
}

pub(super) fn fold(x: &[Gf64], r: Gf64, out: &mut [Gf64]) {
    let (x, x_rest) = x.as_chunks::<4>();
    let (out, out_rest) = out.as_chunks_mut::<2>();
    for ([x0, x1, x2, x3], out) in x.iter().zip(out) {
        let [first, second] = products([x0.0 ^ x1.0, x2.0 ^ x3.0], [r.0; 2]).map(reduce);
        *out = [*x0 + first, *x2 + second];
    }
    if let ([x0, x1, ..], [out, ..]) = (x_rest, out_rest) {
        *out = *x0 + mul(r, *x0 + *x1);
    }
}

pub(super) fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]) {
    let (coefficients, _) = coefficients.as_chunks::<2>();
    for (sum, plane) in sums.iter_mut().zip(planes) {
        let (words, _) = plane.0.as_chunks::<2>();
        let (places, _) = sum.0.as_chunks_mut::<2>();
        for ((place, words), c) in places.iter_mut().zip(words).zip(coefficients) {
            let [first, second] = products(*words, c.map(word));
            let product = first ^ second;
            place[0] ^= product as u64;
            place[1] ^= (product >> 64) as u64;
        }
    }
}

#[inline(always)]
fn word(x: Gf64) -> u64 {
    x.0
}
