//! Operations on slices in portable code, one element at a time.

use super::Modulus;

pub(super) fn mul_assign(m: Modulus, x: &mut [u64], y: &[u64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = m.mul(*x, *y));
}

pub(super) fn add_product(m: Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
    sum.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum = m.add(*sum, m.mul(*x, *y)));
}

pub(super) fn scale(m: Modulus, x: &mut [u64], c: u64) {
    x.iter_mut().for_each(|x| *x = m.mul(*x, c));
}

pub(super) fn sum_of_products(m: Modulus, x: &mut [u64], y: &[u64], z: &[u64], w: &[u64]) {
    mul_assign(m, x, y);
    add_product(m, x, z, w);
}

pub(super) fn scaled_sum(m: Modulus, x: &mut [u64], c: u64, y: &[u64], d: u64) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = m.add(m.mul(*x, c), m.mul(*y, d)));
}
