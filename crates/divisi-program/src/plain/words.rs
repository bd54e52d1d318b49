//! Words of bits, the lowest first, in the clear: sums, products, order.

use std::iter::repeat_n;

/// x + y + carry modulo 2^W.
pub(super) fn added(x: &[bool], y: &[bool], mut carry: bool) -> Vec<bool> {
    let bit = |(x, y): (&bool, &bool)| {
        let sum = u8::from(*x) + u8::from(*y) + u8::from(carry);
        carry = sum > 1;
        sum & 1 == 1
    };
    x.iter().zip(y).map(bit).collect()
}

/// x y modulo 2^W: the sum of the shifted copies of x for the bits of y.
pub(super) fn multiplied(x: &[bool], y: &[bool]) -> Vec<bool> {
    let mut sum = vec![false; x.len()];
    for (place, _) in y.iter().enumerate().filter(|(_, bit)| **bit) {
        let copy: Vec<bool> = repeat_n(false, place).chain(x.iter().copied()).take(x.len()).collect();
        sum = added(&sum, &copy, false);
    }
    sum
}

pub(super) fn not(x: &[bool]) -> Vec<bool> {
    x.iter().map(|bit| !bit).collect()
}

/// Compares both as unsigned numbers.
pub(super) fn compare(x: &[bool], y: &[bool]) -> std::cmp::Ordering {
    x.iter().rev().cmp(y.iter().rev())
}
