//! A sum over all lanes of several planes, where the coefficient of a lane is a product: one factor for the
//! byte of eight lanes that it is in, one for its place in the byte.
//!
//! The weights of planes and the factors of places are multiplied in advance. Then a byte of every plane is
//! mapped to a sum of 64-bit words, by a linear map that is the same for all bytes. So 512 lanes cost 64
//! carry-less products, whatever the number of planes.

use super::lane_weights::LaneWeights;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::{Gf64, portable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::dispatch;
use crate::{BigField, Plane};

impl LaneWeights {
    /// The weight of lane `8 a + b` of plane p is `weights[p] * factors[b]`. Both must be public, because
    /// they determine which table entries are read.
    #[must_use]
    pub fn new(weights: &[Gf64], factors: &[Gf64; 8]) -> Self {
        let mut products = vec![*factors; weights.len()];
        products.iter_mut().zip(weights).for_each(|(products, weight)| Gf64::scale(products, *weight));
        let weights = products;
        let matrices = dispatch!(matrices(&weights));
        LaneWeights { weights, matrices, kernel: crate::kernel::active() }
    }

    /// How many planes there are.
    #[must_use]
    pub fn planes(&self) -> usize {
        self.weights.len()
    }
}

/// `sum over a, b, p of coefficients[a] * weights[p] * factors[b] * planes[p][8 a + b]`.
///
/// # Panics
/// If the number of planes is not that of weights, or if the weights were made for another kernel.
#[must_use]
pub fn combine(planes: &[&Plane], weights: &LaneWeights, coefficients: &[Gf64; 64]) -> Gf64 {
    assert_eq!(planes.len(), weights.planes(), "a weight for each plane");
    // the tables of another kernel have another format
    let kernel = crate::kernel::active();
    assert_eq!(kernel, weights.kernel, "weights made for another kernel");
    let mut words = [Gf64(0); 64];
    dispatch!(weigh_bytes(&mut words, planes, weights));
    Gf64::dot(&words, coefficients)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::kernel;

    fn noise(seed: u64) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(seed), |x| {
            Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
        })
        .skip(1)
        .map(|x| x ^ x >> 29)
    }

    #[test]
    fn every_kernel_combines_as_the_definition_says() {
        for count in [0, 1, 2, 4, 7, 12, 20, 33] {
            let mut noise = noise(count as u64 + 1);
            let mut next = || Gf64(noise.next().unwrap());
            let planes: Vec<Plane> = (0..count).map(|_| Plane([(); 8].map(|()| next().0))).collect();
            let weights: Vec<Gf64> = (0..count).map(|_| next()).collect();
            let factors = [(); 8].map(|()| next());
            let coefficients = [(); 64].map(|()| next());
            let mut expected = Gf64(0);
            for (plane, weight) in planes.iter().zip(&weights) {
                for lane in (0..512).filter(|lane| plane.lane(*lane) == 1) {
                    expected += coefficients[lane / 8] * *weight * factors[lane % 8];
                }
            }
            let planes: Vec<&Plane> = planes.iter().collect();
            for kernel in kernel::available() {
                let found = kernel::with(kernel, || {
                    combine(&planes, &LaneWeights::new(&weights, &factors), &coefficients)
                });
                assert_eq!(found.unwrap(), expected, "{kernel} {count}");
            }
        }
    }

    #[test]
    fn weights_of_another_kernel_are_refused() {
        let kernels = kernel::available();
        let made = kernel::with(kernels[0], || LaneWeights::new(&[Gf64(3)], &[Gf64(1); 8])).unwrap();
        for kernel in &kernels[1..] {
            let used = || kernel::with(*kernel, || combine(&[&Plane::ONES], &made, &[Gf64(1); 64]));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(used)).is_err(), "{kernel}");
        }
    }
}
