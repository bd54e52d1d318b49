//! The slow reference: shift and add, one element at a time.

use super::Gf64;
use crate::Plane;

pub(super) fn mul(x: Gf64, y: Gf64) -> Gf64 {
    let mut wide = (0..64).filter(|i| y.0 >> i & 1 == 1).fold(0_u128, |sum, i| sum ^ u128::from(x.0) << i);
    for i in (64..127).rev() {
        if wide >> i & 1 == 1 {
            wide ^= (1 << 64 | 0x1b) << (i - 64);
        }
    }
    Gf64(wide as u64)
}

pub(super) fn weigh(out: &mut [Gf64], planes: &[&Plane], weights: &[Gf64]) {
    for (lane, out) in out.iter_mut().enumerate() {
        for (plane, weight) in planes.iter().zip(weights) {
            if plane.lane(lane) == 1 {
                *out += *weight;
            }
        }
    }
}
