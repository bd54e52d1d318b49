//! Sums of planes with coefficients, where each word of a plane is read as a field element. For planes of
//! bits a check may use such sums, because the errors of 64 lanes then form one field element.
//!
//! Word `w` of a plane has 64 lanes; lane `b` is the coefficient of `Y^b`. So `coefficient * word` is the sum
//! over the lanes of `coefficient * Y^b * bit`: one carry-less product for 64 lanes. Products are accumulated
//! unreduced.

#[cfg(target_arch = "aarch64")]
use super::neon;
use super::unreduced::Unreduced;
use super::{Gf64, portable};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::Plane;
use crate::kernel::dispatch;

/// `sums[p] += sum over w of coefficients[w] * planes[p].0[w]`.
///
/// # Panics
/// If the number of planes is not that of sums.
pub fn add_words(sums: &mut [Unreduced], planes: &[Plane], coefficients: &[Gf64; 8]) {
    assert_eq!(sums.len(), planes.len(), "a sum for each plane");
    dispatch!(add_words(sums, planes, coefficients));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::kernel;

    #[test]
    fn every_kernel_adds_words_as_the_definition_says() {
        words_are_added_as_the_definition_says();
        #[cfg(target_arch = "x86_64")]
        avx2::in_pairs(words_are_added_as_the_definition_says);
    }

    fn words_are_added_as_the_definition_says() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        for count in [0, 1, 2, 3, 17] {
            let mut planes: Vec<Plane> = (0..count).map(|_| Plane([(); 8].map(|()| next()))).collect();
            if let Some(plane) = planes.first_mut() {
                *plane = Plane::ONES;
            }
            let coefficients = [(); 8].map(|()| Gf64(next()));
            let expected: Vec<Gf64> = planes
                .iter()
                .map(|plane| {
                    let lanes = (0..Plane::LANES).filter(|lane| plane.lane(*lane) == 1);
                    let words = lanes.map(|lane| coefficients[lane / 64] * Gf64(1 << (lane % 64)));
                    words.fold(Gf64(0), |sum, term| sum + term)
                })
                .collect();
            for kernel in kernel::available() {
                let mut sums = vec![Unreduced::ZERO; count];
                kernel::with(kernel, || add_words(&mut sums, &planes, &coefficients)).unwrap();
                assert_eq!(sums.iter().map(Unreduced::reduce).collect::<Vec<_>>(), expected, "{kernel}");
                kernel::with(kernel, || add_words(&mut sums, &planes, &coefficients)).unwrap();
                assert!(sums.iter().all(|sum| sum.reduce() == Gf64(0)), "{kernel}");
            }
        }
    }
}
