#![allow(clippy::unwrap_used)]

use super::tower::{E, norm, phi, phi_inverse, phi_inverse_scalar, phi_scalar};
use super::*;
use crate::bulk::{STEP, lengths};
use crate::kernel::{Task, available, run, with};
use crate::transpose::{from_planes, to_planes};
use crate::{Gf4, Plane};

crate::field_laws!(Gf8);

/// All bytes, or some of them under Miri.
fn all() -> impl Iterator<Item = u8> {
    (0..=255).step_by(STEP)
}

#[test]
fn scalars_agree_with_the_reference() {
    for (x, y) in all().flat_map(|x| all().map(move |y| (x, y))) {
        assert_eq!(Gf8(x) * Gf8(y), Gf8(reference::mul(x, y)));
    }
    assert_eq!(Gf8(0x57) * Gf8(0x83), Gf8(0xc1), "FIPS 197, section 4.2");
}

#[test]
fn scaled_sums_agree_with_scalars() {
    for (kernel, len) in
        available().into_iter().flat_map(|kernel| lengths().into_iter().map(move |len| (kernel, len)))
    {
        let x: Vec<Gf8> = (0..len).map(|i| Gf8((i * 7 + len) as u8)).collect();
        let before: Vec<Gf8> = (0..len).map(|i| Gf8((i * 29 + 3) as u8)).collect();
        for c in [0, 1, 2, 0x53, 0x80, 0xff].map(Gf8) {
            let mut out = before.clone();
            with(kernel, || add_scaled(&mut out, &x, c)).unwrap();
            let right: Vec<Gf8> = before.iter().zip(&x).map(|(y, x)| *y + c * *x).collect();
            assert!(out == right, "{kernel} {len} {c:?}");
        }
    }
}

#[test]
fn packed_bytes_agree_with_the_reference() {
    for kernel in available() {
        let longest = if cfg!(miri) { 5 } else { 31 * 64 };
        for length in lengths().into_iter().chain([longest]) {
            let x: Vec<u8> = (0..longest + 1).map(|i| (i * 167 + 13) as u8).collect();
            let y: Vec<u8> = (0..longest).map(|i| (i * 59 + i / 256) as u8).collect();
            let mut product = x.clone();
            with(kernel, || mul_slices(&mut product[..length], &y[..length])).unwrap();
            for i in 0..x.len() {
                let expected = if i < length { reference::mul(x[i], y[i]) } else { x[i] };
                assert_eq!(product[i], expected, "{kernel}, {length} bytes");
            }
        }
        for x in all() {
            let y: Vec<u8> = (0..=255).collect();
            let mut product = vec![x; 256];
            with(kernel, || mul_slices(&mut product, &y)).unwrap();
            assert!(y.iter().zip(product).all(|(y, product)| product == reference::mul(x, *y)));
        }
    }
}

/// Slices whose lengths end within a block, and one slice that is longer than the other.
#[test]
fn slices_of_elements_agree_with_the_reference() {
    for kernel in available() {
        for (ours, theirs) in [(0, 0), (1, 1), (255, 255), (256, 256), (257, 257), (700, 700), (300, 260)] {
            let x: Vec<Gf8> = (0..ours).map(|i| Gf8((i * 167 + 13) as u8)).collect();
            let y: Vec<Gf8> = (0..theirs).map(|i| Gf8((i * 59 + i / 256) as u8)).collect();
            let mut product = x.clone();
            with(kernel, || Gf8::multiply_each(&mut product, &y)).unwrap();
            for (i, found) in product.iter().enumerate() {
                let wanted = y.get(i).map_or(x[i], |y| Gf8(reference::mul(x[i].0, y.0)));
                assert_eq!(*found, wanted, "{kernel}, {i} of {ours}");
            }
        }
    }
}

/// All operations on one tile: 512 bytes x and 512 bytes y.
#[derive(Clone, Copy)]
struct Operations([Plane; 8], [Plane; 8]);

impl Task for Operations {
    type Output = Vec<[Plane; 8]>;

    #[inline(always)]
    fn run<W: Word>(self) -> Vec<[Plane; 8]> {
        let (x, y) = (W::load_all(&self.0), W::load_all(&self.1));
        let (h, l) = phi(&x);
        let results = [
            add(&x, &y),
            mul(&x, &y),
            square(&x),
            times_x(&x),
            add_constant(&affine_linear(&x), AFFINE_CONSTANT),
            add_constant(&inverse_affine_linear(&x), INVERSE_AFFINE_CONSTANT),
            [h[0], h[1], h[2], h[3], l[0], l[1], l[2], l[3]],
            phi_inverse(&h, &l),
        ];
        let scaled = all().map(|c| scale(&x, Gf8(c)));
        results.into_iter().chain(scaled).map(store).collect()
    }
}

#[inline(always)]
fn store<W: Word>(words: [W; 8]) -> [Plane; 8] {
    let mut planes = [Plane::ZERO; 8];
    W::store_all(&words, &mut planes);
    planes
}

#[test]
fn planes_agree_with_scalars() {
    for shift in (0..128).step_by(if cfg!(miri) { 128 } else { 1 }) {
        let x: [u8; 512] = core::array::from_fn(|lane| lane as u8);
        let y: [u8; 512] = core::array::from_fn(|lane| (lane + 2 * shift + lane / 256) as u8);
        let mut planes = [[Plane::ZERO; 8]; 2];
        to_planes(&x, &mut planes[0]);
        to_planes(&y, &mut planes[1]);
        let task = Operations(planes[0], planes[1]);
        let by_kernel = available().into_iter().map(|kernel| with(kernel, || run(task)).unwrap());
        for results in by_kernel.chain([task.run::<Plane>()]) {
            let results: Vec<[u8; 512]> = results
                .iter()
                .map(|planes| {
                    let mut bytes = [0; 512];
                    from_planes(planes, &mut bytes);
                    bytes
                })
                .collect();
            for lane in 0..512 {
                let (x, y) = (Gf8(x[lane]), Gf8(y[lane]));
                let (h, l) = phi_scalar(x);
                assert_eq!(results[0][lane], (x + y).0);
                assert_eq!(results[1][lane], (x * y).0);
                assert_eq!(results[2][lane], x.square().0);
                assert_eq!(results[3][lane], (x * Gf8(2)).0);
                assert_eq!(results[4][lane], affine(x.0));
                assert_eq!(affine(results[5][lane]), x.0);
                assert_eq!(results[6][lane], l.bits() << 4 | h.bits());
                assert_eq!(results[7][lane], x.0);
            }
            if shift == 0 {
                for (c, scaled) in all().zip(&results[8..]) {
                    assert!((0..256).all(|lane| scaled[lane] == (Gf8(lane as u8) * Gf8(c)).0));
                }
            }
        }
    }
}

/// FIPS 197, equation 5.2, bit by bit.
fn affine(b: u8) -> u8 {
    (0..8).fold(0, |sum, i| {
        let bit = [0, 4, 5, 6, 7].iter().fold(0x63 >> i & 1, |bit, d| bit ^ b >> ((i + d) % 8) & 1);
        sum | bit << i
    })
}

#[test]
fn sbox_of_fips_197() {
    assert_eq!(affine(Gf8(0x53).inverse().0), 0xed, "FIPS 197, section 5.1.1");
    assert_eq!(affine(Gf8(0x00).inverse().0), 0x63);
}

/// The product in GF((2^4)^2), by X^2 = X + {E}.
fn tower_product((xh, xl): (Gf4, Gf4), (yh, yl): (Gf4, Gf4)) -> (Gf4, Gf4) {
    (xh * yh + xh * yl + xl * yh, xl * yl + xh * yh * E)
}

#[test]
fn the_modulus_of_the_tower_is_irreducible() {
    assert!((0..16).map(Gf4::new).all(|x| x.square() + x + E != Gf4::ZERO));
}

#[test]
fn phi_is_an_isomorphism_of_fields() {
    assert_eq!(phi_scalar(Gf8::ONE), (Gf4::ZERO, Gf4::ONE));
    for x in all().map(Gf8) {
        let (h, l) = phi_scalar(x);
        assert_eq!(phi_inverse_scalar(h, l), x);
        for y in all().map(Gf8) {
            let (yh, yl) = phi_scalar(y);
            assert_eq!(phi_scalar(x + y), (h + yh, l + yl));
            assert_eq!(phi_scalar(x * y), tower_product((h, l), (yh, yl)));
        }
    }
}

/// Equations 1 and 2 of MAESTRO; the inverse of zero is zero.
#[test]
fn inversion_in_the_tower() {
    for x in all().map(Gf8) {
        let (h, l) = phi_scalar(x);
        let v_inverse = norm(h, l).inverse();
        assert_eq!(phi_inverse_scalar(h * v_inverse, (h + l) * v_inverse), x.inverse());
    }
}
