#![allow(clippy::unwrap_used)]

use super::*;
use crate::Plane;
use crate::kernel::{Task, available, run, with};

crate::field_laws!(Gf4);

/// All 256 pairs: lane 16 x + y has x and y.
fn pairs() -> [[Plane; 4]; 2] {
    let mut planes = [[Plane::ZERO; 4]; 2];
    for (plane, shift) in planes.as_flattened_mut().iter_mut().zip([4, 5, 6, 7, 0, 1, 2, 3]) {
        (0..256).for_each(|lane| plane.set_lane(lane, (lane >> shift) as u64));
    }
    planes
}

fn element(planes: &[Plane; 4], lane: usize) -> Gf4 {
    Gf4::new((0..4).fold(0, |sum, i| sum | (planes[i].lane(lane) as u8) << i))
}

struct Operations;

impl Task for Operations {
    type Output = Vec<[Plane; 4]>;

    #[inline(always)]
    fn run<W: Word>(self) -> Vec<[Plane; 4]> {
        let [x, y] = pairs().map(|planes| W::load_all(&planes));
        let results = [add(&x, &y), mul(&x, &y), square(&x), times_x(&x)];
        let scaled = (0..16).map(|c| scale(&x, Gf4::new(c)));
        results.into_iter().chain(scaled).map(store).collect()
    }
}

#[inline(always)]
fn store<W: Word>(words: [W; 4]) -> [Plane; 4] {
    let mut planes = [Plane::ZERO; 4];
    W::store_all(&words, &mut planes);
    planes
}

#[test]
fn planes_agree_with_scalars() {
    let by_kernel = available().into_iter().map(|kernel| with(kernel, || run(Operations)).unwrap());
    for results in by_kernel.chain([Operations.run::<Plane>()]) {
        for lane in 0..256 {
            let (x, y) = (Gf4::new((lane >> 4) as u8), Gf4::new(lane as u8));
            let result = |i: usize| element(&results[i], lane);
            assert_eq!(result(0), x + y);
            assert_eq!(result(1), x * y);
            assert_eq!(result(2), x.square());
            assert_eq!(result(3), x * Gf4::new(2));
            for c in 0..16 {
                assert_eq!(result(4 + usize::from(c)), x * Gf4::new(c));
            }
        }
    }
}

/// The scalar product by its definition: shift, add, and long division by X^4 + X + 1.
#[test]
fn scalars_agree_with_long_division() {
    for (x, y) in (0..16_u8).flat_map(|x| (0..16).map(move |y| (x, y))) {
        let mut wide = (0..4).filter(|i| y >> i & 1 == 1).fold(0, |sum, i| sum ^ x << i);
        for i in (4..7).rev() {
            if wide >> i & 1 == 1 {
                wide ^= 0b10011 << (i - 4);
            }
        }
        assert_eq!((Gf4::new(x) * Gf4::new(y)).bits(), wide);
    }
}
