//! Prints the cost of the hot operations under every kernel that this processor runs.
//!
//! `cargo run --release -p divisi-field --example kernels`

use std::hint::black_box;
use std::time::{Duration, Instant};

use divisi_field::kernel::{self, vectorized};
use divisi_field::{BigField, Gf64, Gf128, Plane, gf4, gf8, gf8::tower, gf64, transpose};

fn main() {
    println!("ns per unit, the best of {ROUNDS} rounds\n");
    print!("{:<44}", "operation");
    kernel::available().iter().for_each(|kernel| print!("{:>12}", kernel.name()));
    println!();
    big::<Gf64>("gf64");
    big::<Gf128>("gf128");
    weigh();
    small();
    bytes();
}

const ROUNDS: usize = 15;

/// One line: `units` are what one call of `f` does.
fn line(name: &str, units: usize, mut f: impl FnMut()) {
    print!("{name:<44}");
    for kernel in kernel::available() {
        let mut measured = || {
            let mut best = f64::MAX;
            for _ in 0..ROUNDS {
                let mut calls = 0;
                let start = Instant::now();
                while calls < 8 || start.elapsed() < Duration::from_millis(2) {
                    (0..8).for_each(|_| f());
                    calls += 8;
                }
                best = best.min(start.elapsed().as_nanos() as f64 / f64::from(calls));
            }
            best
        };
        if let Ok(best) = kernel::with(kernel, &mut measured) {
            print!("{:>12.4}", best / units as f64);
        }
    }
    println!();
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

fn big<F: BigField>(name: &str) {
    const N: usize = 1024;
    let (mut x, y) = (elements::<F>(N), elements::<F>(N));
    let mut out = vec![F::ZERO; N / 2];
    line(&format!("{name} dot, a product"), N, || _ = black_box(F::dot(black_box(&x), &y)));
    line(&format!("{name} fold, an element out"), N / 2, || F::fold(black_box(&x), y[0], &mut out));
    line(&format!("{name} mul_assign, a product"), N, || F::mul_assign(black_box(&mut x), &y));
    line(&format!("{name} scale, a product"), N, || F::scale(black_box(&mut x), y[0]));
    line(&format!("{name} product of the one before"), N, || {
        _ = black_box(x.iter().fold(black_box(y[0]), |product, x| product * *x));
    });
}

fn weigh() {
    let planes = planes::<16>();
    let planes: Vec<&Plane> = planes.iter().collect();
    let weights = elements(16);
    let mut out = elements(Plane::LANES);
    for count in [4, 8, 16] {
        let units = count * Plane::LANES;
        line(&format!("gf64 weigh of {count} planes, a plane and lane"), units, || {
            gf64::weigh(black_box(&mut out), &planes[..count], &weights[..count]);
        });
    }
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

fn small() {
    let (mut x, y) = ([planes::<4>(); TILES], [planes::<4>(); TILES]);
    line("gf4 product of 512 lanes", TILES, || mul4(black_box(&mut x), &y));
    let (mut x, y) = ([planes::<8>(); TILES], [planes::<8>(); TILES]);
    line("gf8 product of 512 lanes", TILES, || mul8(black_box(&mut x), &y));
    line("gf8 inversion of 512 lanes in the tower", TILES, || invert(black_box(&mut x)));
}

fn bytes() {
    let mut x = vec![0x5a; 4096];
    let y = vec![0xc3; 4096];
    line("gf8 packed product, a byte", x.len(), || gf8::mul_slices(black_box(&mut x), &y));
    let mut planes = planes::<8>();
    line("512 bytes to planes", 1, || transpose::to_planes(black_box(&x[..512]), &mut planes));
    line("512 bytes from planes", 1, || transpose::from_planes(black_box(&planes), &mut x[..512]));
}
