//! The examples, run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../examples/noise.rs"]
mod noise;

use divisi_rep3::adversary::compare::chi_square_limit;
use noise::{Noise, noisy_sums};
use std::collections::BTreeMap;

const NOISES: [(Noise, f64); 2] =
    [(Noise::Gaussian { sigma: 4.0 }, -11.0), (Noise::Laplace { scale: 4.0 }, -10.0)];

/// How often each value is in a table.
fn frequencies(noise: Noise) -> BTreeMap<i32, f64> {
    let quantiles = noise.quantiles();
    let mut all = BTreeMap::new();
    for v in &quantiles {
        *all.entry(*v).or_insert(0.0) += 1.0 / quantiles.len() as f64;
    }
    all
}

/// The distance that the example's header states: by its formula, as a power of two, and in truth.
#[test]
fn the_table_is_as_near_as_is_stated() {
    for (noise, log2) in NOISES {
        let table = frequencies(noise);
        let formula = (table.len() + 1) as f64 / f64::from(1 << 17);
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
    const SUMS: usize = 6000;
    let counts = [5, 70_000, 1_000_000].map(|count| vec![count; SUMS]);
    for (noise, _) in NOISES {
        let noisy = noisy_sums(&counts, noise).unwrap();
        let drawn: Vec<i32> = noisy.iter().map(|sum| sum - 1_070_005).collect();
        // neighbours together until ten are expected
        let (mut x, mut freedom, mut expected, mut found) = (0.0, -1.0, 0.0, 0.0);
        let table = frequencies(noise);
        for (v, p) in &table {
            expected += p * SUMS as f64;
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
        let variance = drawn.iter().map(|d| f64::from(*d).powi(2)).sum::<f64>() / SUMS as f64;
        let expected: f64 = table.iter().map(|(v, p)| p * f64::from(*v).powi(2)).sum();
        assert!((variance / expected - 1.0).abs() < 0.2, "{variance} {expected}");
    }
}

#[test]
fn noisy_sums_of_few_counts_are_near() {
    let noisy = noisy_sums(&[vec![10], vec![20], vec![30]], Noise::Gaussian { sigma: 4.0 }).unwrap();
    assert!(noisy.len() == 1 && (noisy[0] - 60).abs() < 40);
}
