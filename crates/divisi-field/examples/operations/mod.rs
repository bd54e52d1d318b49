//! The hot operations of this crate, each with the number of its units: one list for the benchmark and for
//! the printed table.

use std::hint::black_box;

use divisi_field::gf64::LaneWeights;
use divisi_field::kernel::vectorized;
use divisi_field::ntt::Ntt;
use divisi_field::zp::{P32, prime::next_prime};
use divisi_field::{BigField, Gf64, Gf128, Plane, gf4, gf8, gf8::tower, gf64, transpose};

/// Shows each operation to `visit`: its name, how many units one call does, and the call. Weights, which
/// belong to a kernel, are made by the kernel that is active when the operation is called.
pub fn each(visit: &mut dyn FnMut(&str, usize, &mut dyn FnMut())) {
    big::<Gf64>("gf64", visit);
    big::<Gf128>("gf128", visit);
    planes_of_gf64(visit);
    small(visit);
    bytes(visit);
    lattices(visit);
}

/// Transforms of 2^14 and of 2^16 coefficients over a prime of 50 bits, and products of values.
fn lattices(visit: &mut dyn FnMut(&str, usize, &mut dyn FnMut())) {
    let q = next_prime(1_125_899_000_000_000, 1 << 17, &[]).unwrap_or(P32);
    for n in [1 << 14, 1 << 16] {
        let Some(ntt) = Ntt::new(q, n) else { return };
        let mut x: Vec<u64> = elements::<Gf64>(n).into_iter().map(|x| x.0 % q).collect();
        let y = x.clone();
        visit(&format!("ntt {n} forward, a transform"), 1, &mut || ntt.forward(black_box(&mut x)));
        visit(&format!("ntt {n} inverse, a transform"), 1, &mut || ntt.inverse(black_box(&mut x)));
        visit(&format!("zp mul_assign of {n}, a product"), n, &mut || {
            ntt.modulus().mul_assign(black_box(&mut x), &y);
        });
    }
}

/// Elements without structure, from a multiplicative congruential sequence.
fn elements<F: BigField>(count: usize) -> Vec<F> {
    let mut state = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128;
    let mut next = || {
        state = state.wrapping_mul(0xda94_2042_e4dd_58b5);
        F::from_low_bits(state.rotate_right(64))
    };
    (0..count).map(|_| next()).collect()
}

fn planes<const N: usize>() -> [Plane; N] {
    let words = elements::<Gf64>(8 * N);
    core::array::from_fn(|i| Plane(core::array::from_fn(|w| words[8 * i + w].0)))
}

fn big<F: BigField>(name: &str, visit: &mut dyn FnMut(&str, usize, &mut dyn FnMut())) {
    const N: usize = 1024;
    let (mut x, y) = (elements::<F>(N), elements::<F>(N));
    let mut out = vec![F::ZERO; N / 2];
    visit(&format!("{name} dot, a product"), N, &mut || _ = black_box(F::dot(black_box(&x), &y)));
    visit(&format!("{name} lines, a product"), N, &mut || {
        _ = black_box(F::line_products(black_box(&x), &y));
    });
    visit(&format!("{name} fold, an element out"), N / 2, &mut || F::fold(black_box(&x), y[0], &mut out));
    visit(&format!("{name} mul_assign, a product"), N, &mut || F::mul_assign(black_box(&mut x), &y));
    visit(&format!("{name} scale, a product"), N, &mut || F::scale(black_box(&mut x), y[0]));
    visit(&format!("{name} product of the one before"), N, &mut || {
        _ = black_box(x.iter().fold(black_box(y[0]), |product, x| product * *x));
    });
}

fn planes_of_gf64(visit: &mut dyn FnMut(&str, usize, &mut dyn FnMut())) {
    let planes = planes::<24>();
    let planes: Vec<&Plane> = planes.iter().collect();
    let weights = elements(24);
    let mut out = elements(Plane::LANES);
    for count in [4, 8, 16] {
        let units = count * Plane::LANES;
        visit(&format!("gf64 weigh of {count} planes, a plane and lane"), units, &mut || {
            gf64::weigh(black_box(&mut out), &planes[..count], &weights[..count]);
        });
    }
    let factors: [Gf64; 8] = core::array::from_fn(|i| weights[i]);
    let coefficients: [Gf64; 64] = core::array::from_fn(|i| out[i]);
    // weights belong to the kernel that made them: each kernel's own are made when it first calls
    let mut made: Option<(divisi_field::kernel::Kernel, LaneWeights)> = None;
    visit("gf64 combine of 24 planes", 1, &mut || {
        let kernel = divisi_field::kernel::active();
        if made.as_ref().is_none_or(|(of, _)| *of != kernel) {
            made = Some((kernel, LaneWeights::new(&weights, &factors)));
        }
        if let Some((_, weights)) = &made {
            _ = black_box(gf64::combine(black_box(&planes), weights, &coefficients));
        }
    });
}

const TILES: usize = 16;

vectorized! {
    fn mul4<'a, W>(x: &'a mut [[Plane; 4]; TILES], y: &'a [[Plane; 4]; TILES]) {
        for (x, y) in x.iter_mut().zip(y) {
            W::store_all(&gf4::mul(&W::load_all(x), &W::load_all(y)), x);
        }
    }
}

vectorized! {
    fn mul8<'a, W>(x: &'a mut [[Plane; 8]; TILES], y: &'a [[Plane; 8]; TILES]) {
        for (x, y) in x.iter_mut().zip(y) {
            W::store_all(&gf8::mul(&W::load_all(x), &W::load_all(y)), x);
        }
    }
}

vectorized! {
    /// Eq. 1 and 2 of MAESTRO, the inverse of v as its 14th power.
    fn invert<'a, W>(x: &'a mut [[Plane; 8]; TILES]) {
        for x in x.iter_mut() {
            let (h, l) = tower::phi(&W::load_all(x));
            let squares = gf4::add(&gf4::scale(&gf4::square(&h), tower::E), &gf4::square(&l));
            let v2 = gf4::square(&gf4::add(&squares, &gf4::mul(&h, &l)));
            let v4 = gf4::square(&v2);
            let inverse = gf4::mul(&gf4::mul(&v2, &v4), &gf4::square(&v4));
            let (h, l) = (gf4::mul(&h, &inverse), gf4::mul(&gf4::add(&h, &l), &inverse));
            W::store_all(&tower::phi_inverse(&h, &l), x);
        }
    }
}

fn small(visit: &mut dyn FnMut(&str, usize, &mut dyn FnMut())) {
    let (mut x, y) = ([planes::<4>(); TILES], [planes::<4>(); TILES]);
    visit("gf4 product of 512 lanes", TILES, &mut || mul4(black_box(&mut x), &y));
    let (mut x, y) = ([planes::<8>(); TILES], [planes::<8>(); TILES]);
    visit("gf8 product of 512 lanes", TILES, &mut || mul8(black_box(&mut x), &y));
    visit("gf8 inversion of 512 lanes in the tower", TILES, &mut || invert(black_box(&mut x)));
}

fn bytes(visit: &mut dyn FnMut(&str, usize, &mut dyn FnMut())) {
    let mut x = vec![0x5a; 4096];
    let y = vec![0xc3; 4096];
    visit("gf8 packed product, a byte", x.len(), &mut || gf8::mul_slices(black_box(&mut x), &y));
    let mut planes = planes::<8>();
    visit("512 bytes to planes", 1, &mut || transpose::to_planes(black_box(&x[..512]), &mut planes));
    visit("512 bytes from planes", 1, &mut || transpose::from_planes(black_box(&planes), &mut x[..512]));
}
