//! Whether what an adversary saw of two kinds of runs looks alike.

use super::harness::{MessageDirection, Recording, many};
use divisi_core::Abort;
use std::collections::BTreeMap;

/// What was seen of a run: for each place where something is seen, a number below 16.
pub type Features = Vec<((u32, usize), usize)>;

/// The value that a chi-square of `freedom` degrees exceeds by chance with probability 1e-8 (Wilson and
/// Hilferty): for all that a test computes together this stays below 1e-6.
#[must_use]
pub fn chi_square_limit(freedom: f64) -> f64 {
    let nine = 2.0 / (9.0 * freedom);
    freedom * (1.0 - nine + 5.61 * nine.sqrt()).powi(3)
}

/// The chi-square of counts that ought to be equal.
#[must_use]
pub fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|n| (*n as f64 - expected).powi(2) / expected).sum()
}

/// What the corrupt party 1 saw of a run, and how it ended for the others.
#[must_use]
pub fn features(seen: &Recording, results: &[Result<(), Abort>]) -> Features {
    let hello = divisi_core::Step::new("divisi_core::session::agree/hello").id;
    let mut count = BTreeMap::new();
    let mut all = Vec::new();
    for s in seen.read().into_iter().filter(|s| s.way == MessageDirection::In && s.frame.step != hello) {
        let n: &mut usize = count.entry((s.frame.step, s.peer)).or_default();
        let place = 64 * *n + 8 * s.peer.index();
        *n += 1;
        all.extend([0, 1].map(|i| ((s.frame.step, place + i), usize::from(s.frame.body[i] & 0xf))));
    }
    all.extend(results[1..].iter().enumerate().map(|(i, r)| ((0, i), usize::from(r.is_err()))));
    all
}

/// Compare two samples of `runs` runs each, made in turn. Returns the largest chi-square over all places,
/// divided by its limit. If nothing was seen at a place, this counts as a value, because it is chance whether
/// a message still arrives before an abort.
pub fn difference(runs: usize, run: impl Fn(usize) -> Features + Sync) -> f64 {
    const NOTHING: usize = 16;
    let mut counts: BTreeMap<(u32, usize), [[u64; NOTHING + 1]; 2]> = BTreeMap::new();
    for (i, seen) in many(2 * runs, 4, |i| run(i % 2)).into_iter().enumerate() {
        seen.into_iter().for_each(|(place, value)| counts.entry(place).or_default()[i % 2][value] += 1);
    }
    let mut worst = 0_f64;
    for counts in counts.values_mut() {
        counts.iter_mut().for_each(|sample| sample[NOTHING] = runs as u64 - sample.iter().sum::<u64>());
        let [a, b] = *counts;
        let both = a.iter().zip(b).filter(|(a, b)| **a + b > 0);
        let x: f64 = both.clone().map(|(a, b)| (*a as f64 - b as f64).powi(2) / (a + b) as f64).sum();
        worst = worst.max(x / chi_square_limit((both.count() as f64 - 1.0).max(1.0)));
    }
    worst
}
