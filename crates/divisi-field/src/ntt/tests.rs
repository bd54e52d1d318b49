#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::kernel;
use crate::zp::prime::next_prime;
use crate::zp::{P16, P32, P62};

/// Random elements with extreme values among them.
fn elements(q: u64, n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        match state >> 60 {
            0 => 0,
            1 => q - 1,
            2 => q / 2,
            _ => (state ^ state >> 31) % q,
        }
    };
    (0..n).map(&mut next).collect()
}

/// Whether a test runs at this length: at every length, but only at short ones under Miri.
fn few(n: &usize) -> bool {
    !cfg!(miri) || *n <= 32
}

/// The transforms of this length over the plaintext primes, over the largest suitable prime, and over smaller
/// ones.
fn transforms(n: usize) -> Vec<Ntt> {
    let step = 2 * n as u64;
    let largest = ((1_u64 << 50) - step..1 << 50).rev().chain((0..1 << 20).map(|i| (1 << 50) - i * step + 1));
    let largest = largest.filter(|q| q % step == 1).find(|q| *q >> 50 == 0 && crate::zp::prime::is_prime(*q));
    let mut primes = vec![largest.unwrap(), next_prime(1 << 30, step, &[]).unwrap(), P32];
    primes.extend([P16, next_prime(3, step, &[]).unwrap()].into_iter().filter(|q| q % step == 1));
    primes.into_iter().map(|q| Ntt::new(q, n).unwrap()).collect()
}

#[test]
fn values_are_those_of_the_polynomial() {
    for n in [16, 32, 64, 128, 512].into_iter().filter(few) {
        for ntt in transforms(n) {
            let (m, q) = (ntt.modulus(), ntt.modulus().get());
            for x in [elements(q, n, 1), vec![q - 1; n], vec![0; n]] {
                let expected = reference::forward(m, ntt.root, &x);
                for kernel in kernel::available() {
                    let mut y = x.clone();
                    kernel::with(kernel, || ntt.forward(&mut y)).unwrap();
                    assert_eq!(y, expected, "{kernel} {q} {n}");
                    kernel::with(kernel, || ntt.inverse(&mut y)).unwrap();
                    assert_eq!(y, x, "{kernel} {q} {n}");
                }
                let (mut y, [forth, back]) = (x.clone(), ntt.factors(52));
                ifma::model::forward(m, &forth, &mut y);
                assert_eq!(y, expected, "model {q} {n}");
                ifma::model::inverse(m, &back, ntt.scale, &mut y);
                assert_eq!(y, x, "model {q} {n}");
            }
        }
    }
}

/// Primes of more than 50 bits: that of wide numbers, and the largest of all moduli.
fn wide_transforms(n: usize) -> [Ntt; 2] {
    let step = 2 * n as u64;
    let largest = (1..).map(|i| (1 << 62) - i * step + 1).find(|q| crate::zp::prime::is_prime(*q));
    [P62, largest.unwrap()].map(|q| Ntt::new(q, n).unwrap())
}

/// Over a prime with two spare bits of a word, also for the largest values.
#[test]
fn wide_values_are_those_of_the_polynomial() {
    for n in [16, 32, 64, 128, 512].into_iter().filter(few) {
        for ntt in wide_transforms(n) {
            let q = ntt.modulus().get();
            for x in [elements(q, n, 1), vec![q - 1; n], vec![0; n]] {
                let expected = reference::forward(ntt.modulus(), ntt.root, &x);
                for kernel in kernel::available() {
                    let mut y = x.clone();
                    kernel::with(kernel, || ntt.forward(&mut y)).unwrap();
                    assert_eq!(y, expected, "{kernel} {q} {n}");
                    kernel::with(kernel, || ntt.inverse(&mut y)).unwrap();
                    assert_eq!(y, x, "{kernel} {q} {n}");
                }
            }
        }
    }
    for n in [16384, 32768].into_iter().filter(few) {
        for ntt in wide_transforms(n) {
            let q = ntt.modulus().get();
            for x in [elements(q, n, 4), vec![q - 1; n]] {
                let mut all = Vec::new();
                for kernel in kernel::available() {
                    let mut y = x.clone();
                    kernel::with(kernel, || ntt.forward(&mut y)).unwrap();
                    all.push(y.clone());
                    kernel::with(kernel, || ntt.inverse(&mut y)).unwrap();
                    assert!(y == x, "{kernel} {q} {n}");
                }
                assert!(all.iter().flatten().all(|y| *y < q), "{q} {n}");
                assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{q} {n}");
            }
        }
    }
}

#[test]
fn products_of_values_are_products_of_polynomials() {
    for n in [16, 64, 256].into_iter().filter(few) {
        for ntt in transforms(n).into_iter().chain(wide_transforms(n)) {
            let (m, q) = (ntt.modulus(), ntt.modulus().get());
            let (x, y) = (elements(q, n, 2), elements(q, n, 3));
            let (mut a, mut b) = (x.clone(), y.clone());
            ntt.forward(&mut a);
            ntt.forward(&mut b);
            m.mul_assign(&mut a, &b);
            ntt.inverse(&mut a);
            assert_eq!(a, reference::product(m, &x, &y));
        }
    }
}

/// At the lengths in use all implementations agree, also for extreme values.
#[test]
fn long_transforms_agree_in_all_rooms() {
    for n in [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131_072].into_iter().filter(few) {
        for ntt in transforms(n).into_iter().filter(|ntt| n < 65536 || ntt.modulus().bits() != 31) {
            let (m, q) = (ntt.modulus(), ntt.modulus().get());
            for x in [elements(q, n, 4), vec![q - 1; n]] {
                let mut all = Vec::new();
                for kernel in kernel::available() {
                    let mut y = x.clone();
                    kernel::with(kernel, || ntt.forward(&mut y)).unwrap();
                    all.push(y.clone());
                    kernel::with(kernel, || ntt.inverse(&mut y)).unwrap();
                    assert!(y == x, "{kernel} {q} {n}");
                }
                let mut y = x.clone();
                ifma::model::forward(m, &ntt.factors(52)[0], &mut y);
                assert!(all.iter().all(|other| *other == y), "{q} {n}");
                ifma::model::inverse(m, &ntt.factors(52)[1], ntt.scale, &mut y);
                assert!(y == x, "model {q} {n}");
            }
        }
    }
}

#[test]
fn what_has_no_transform_is_refused() {
    assert!(Ntt::new(P32, 65536).is_some() && Ntt::new(P16, 32768).is_some());
    assert!(Ntt::new(P16, 65536).is_none(), "not 1 mod 2N");
    assert!(Ntt::new(P32, 48).is_none() && Ntt::new(P32, 8).is_none() && Ntt::new(P32, 1 << 18).is_none());
    assert!(Ntt::new(3361, 16).is_some() && Ntt::new(3361, 32).is_none(), "3361 = 1 + 32 * 105");
    assert!(Ntt::new((1 << 62) + 97, 16).is_none(), "beyond 62 bits");
    assert!(Ntt::new(P62, 1 << 17).is_some());
    let ntt = Ntt::new(P32, 16).unwrap();
    assert!(std::panic::catch_unwind(|| ntt.forward(&mut [0; 8])).is_err());
    assert!(std::panic::catch_unwind(|| ntt.inverse(&mut [0; 32])).is_err());
    assert!(ntt.len() == 16 && !ntt.is_empty());
}
