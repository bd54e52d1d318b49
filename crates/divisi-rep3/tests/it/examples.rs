//! The examples, run.

#[path = "../../examples/exponential.rs"]
mod exponential;
#[path = "../../examples/minifloat.rs"]
mod minifloat;
#[path = "../../examples/noise.rs"]
mod noise;

use divisi_fuzz::repetitions;
use divisi_rep3::adversary::compare::chi_square_limit;
use noise::{FINE_INDEX, INDEX, Noise, Source, noisy_sums, noisy_sums_of};
use std::collections::BTreeMap;

const NOISES: [(Noise, f64); 2] =
    [(Noise::Gaussian { sigma: 4.0 }, -11.0), (Noise::Laplace { scale: 4.0 }, -10.0)];

/// How often each value is in a table.
fn frequencies(noise: Noise, index: usize) -> BTreeMap<i32, f64> {
    let quantiles = noise.quantiles(index);
    let mut all = BTreeMap::new();
    for v in &quantiles {
        *all.entry(*v).or_insert(0.0) += 1.0 / quantiles.len() as f64;
    }
    all
}

/// The distance that the example's header states: by its formula, as a power of two, and as it is.
#[test]
fn the_table_is_as_near_as_is_stated() {
    let fine = [(NOISES[0].0, -14.0), (NOISES[1].0, -14.0)].map(|(noise, log2)| (noise, log2, FINE_INDEX));
    for (noise, log2, index) in NOISES.map(|(noise, log2)| (noise, log2, INDEX)).into_iter().chain(fine) {
        let table = frequencies(noise, index);
        let formula = (table.len() + 1) as f64 / f64::from(1 << (index + 1));
        let off = |(v, p): (i32, f64)| (p - table.get(&v).copied().unwrap_or(0.0)).abs();
        let distance = noise.distribution().into_iter().map(off).sum::<f64>() / 2.0;
        println!("{noise:?}: {} values, distance 2^{:.1}", table.len(), distance.log2());
        assert!(distance > 0.0 && distance <= formula && formula <= f64::exp2(log2), "{noise:?}");
    }
}

/// Noise that was added to sums that are known here is distributed as the table says; the sums are those of
/// the counts.
#[test]
fn noise_has_the_distribution_of_its_table() {
    let sums = repetitions(3000, 6000);
    let counts = [5, 70_000, 1_000_000].map(|count| vec![count; sums]);
    for (noise, fine) in NOISES.into_iter().flat_map(|(noise, _)| [(noise, false), (noise, true)]) {
        let noisy = match fine {
            false => noisy_sums(&counts, noise).unwrap(),
            true => noisy_sums_of(&counts, &Source::fine(noise).unwrap()).unwrap(),
        };
        let drawn: Vec<i32> = noisy.iter().map(|sum| sum - 1_070_005).collect();
        // neighbours together until ten are expected
        let (mut x, mut freedom, mut expected, mut found) = (0.0, -1.0, 0.0, 0.0);
        let table = frequencies(noise, if fine { FINE_INDEX } else { INDEX });
        for (v, p) in &table {
            expected += p * sums as f64;
            found += drawn.iter().filter(|d| *d == v).count() as f64;
            if expected > 10.0 {
                x += f64::powi(found - expected, 2) / expected;
                freedom += 1.0;
                (expected, found) = (0.0, 0.0);
            }
        }
        assert!(drawn.iter().all(|d| table.contains_key(d)));
        assert!(freedom > 15.0 && x < chi_square_limit(freedom), "{noise:?}: {x} of {freedom}");
        // the test would see another distribution: half of the variance is far beyond the limit
        let variance = drawn.iter().map(|d| f64::from(*d).powi(2)).sum::<f64>() / sums as f64;
        let expected: f64 = table.iter().map(|(v, p)| p * f64::from(*v).powi(2)).sum();
        assert!((variance / expected - 1.0).abs() < 0.2, "{variance} {expected}");
    }
}

#[test]
fn noisy_sums_of_few_counts_are_near() {
    let noisy = noisy_sums(&[vec![10], vec![20], vec![30]], Noise::Gaussian { sigma: 4.0 }).unwrap();
    assert!(noisy.len() == 1 && (noisy[0] - 60).abs() < 40);
}

/// Values of every kind, the nearest result for each.
#[test]
fn exponentials_are_the_nearest() {
    let mut x: Vec<u16> = (0..300_u32).map(|i| (i * 219 + 7) as u16).collect();
    // zeros, ones, the borders of what is finite and of what is not zero, infinities, NaN
    x.extend([0, 0x8000, 0x3f80, 0xbf80, 0x42b1, 0x42b2, 0xc2cf, 0x7f80, 0xff80, 0x7fc0, 0x0001]);
    let y = exponential::exponentials(&x).unwrap();
    for (x, y) in x.iter().zip(&y) {
        let (x, y) = (f64::from(exponential::value(*x)), *y);
        let exact = x.exp();
        let got = f64::from(exponential::value(y));
        if x.is_nan() {
            assert!(got.is_nan());
        } else if got.is_finite() && got > 0.0 {
            // both neighbours are at least as far, but for the one rounding from 53 to 24 bits
            for other in [y - 1, y + 1].map(|y| f64::from(exponential::value(y))) {
                assert!((got - exact).abs() <= (other - exact).abs() * (1.0 + 1e-5), "exp({x}) is not {got}");
            }
        } else {
            assert!(if got > 0.0 { exact > 3.38e38 } else { exact < 1e-40 }, "exp({x}) is not {got}");
        }
    }
    assert_eq!([1.0, 2.5, f32::INFINITY].map(exponential::round), [0x3f80, 0x4020, 0x7f80]);
    // a tie goes to the even one, and what is above it up
    let ties = [0x3f80_8000, 0x3f81_8000, 0x3f80_8001].map(f32::from_bits).map(exponential::round);
    assert_eq!(ties, [0x3f80, 0x3f82, 0x3f81]);
    assert_eq!(exponential::round(f32::NAN), 0x7fc0);
}

/// The sum of each pair is the nearest number, as an independent search over all numbers finds it.
#[test]
fn sums_of_small_floats_are_the_nearest() {
    let numbers: Vec<(u8, i32)> = (0..=255).filter_map(|x| Some((x, minifloat::value(x)?))).collect();
    assert_eq!(numbers.len(), 254);
    for (x, y) in (0..=255_u8).flat_map(|x| (0..=255).map(move |y| (x, y))).step_by(7) {
        let sum = minifloat::sum(x, y);
        let (Some(a), Some(b)) = (minifloat::value(x), minifloat::value(y)) else {
            assert_eq!(sum & 0x7f, 0x7f);
            continue;
        };
        let Some(got) = minifloat::value(sum) else {
            // halfway from 448 to what would be 480, in units of 2^-9
            assert!((a + b).abs() > 464 << 9, "{x:x} {y:x}");
            continue;
        };
        let off = |value: i32| (value - a - b).abs();
        assert!((a + b).abs() <= 464 << 9);
        assert!(numbers.iter().all(|(_, other)| off(*other) >= off(got)), "{x:x} {y:x} {sum:x}");
        let ties = numbers.iter().filter(|(_, other)| off(*other) == off(got) && *other != got);
        assert!(ties.count() == 0 || sum & 1 == 0, "{x:x} {y:x} {sum:x}");
    }
    let (x, y): (Vec<u8>, Vec<u8>) = (0..700_u32).map(|i| ((i * 77 + 3) as u8, (i * 41 + 5) as u8)).unzip();
    let sums = minifloat::sums(&x, &y).unwrap();
    assert!(x.iter().zip(&y).zip(&sums).all(|((x, y), sum)| minifloat::sum(*x, *y) == *sum));
}
