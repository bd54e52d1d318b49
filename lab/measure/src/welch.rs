//! Welch's t-test on two classes of timings, with croppings, after dudect (Reparaz, Balasch, Verbauwhede,
//! DATE 2017).
//!
//! If timings do not depend on the class, t is nearly normal: |t| above 5 does not happen by chance.
//! Interruptions make a long tail that hides small differences, so the test is made on all timings, and on
//! those below each of some percentiles of both classes together; the largest |t| counts.

/// Which shares of the timings are tested, in percent.
const CROPS: [usize; 6] = [100, 99, 95, 90, 75, 50];

/// Count, mean and sum of squared deviations, in one pass (Welford).
#[derive(Default)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn push(&mut self, x: f64) {
        self.n += 1.0;
        let off = x - self.mean;
        self.mean += off / self.n;
        self.squares += off * (x - self.mean);
    }

    /// The variance of the mean.
    fn error(&self) -> f64 {
        self.squares / (self.n - 1.0) / self.n
    }
}

/// How far two classes of timings are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Apart {
    /// |t|; 0 if there are too few timings to tell.
    pub t: f64,
    /// The difference of the means, in ticks.
    pub ticks: f64,
}

fn apart<'a>(timings: impl Iterator<Item = &'a (bool, u64)>) -> Apart {
    let mut classes = [Moments::default(), Moments::default()];
    for (class, ticks) in timings {
        classes[usize::from(*class)].push(*ticks as f64);
    }
    let [x, y] = &classes;
    if x.n < 2.0 || y.n < 2.0 {
        return Apart::default();
    }
    let error = (x.error() + y.error()).sqrt();
    let ticks = (x.mean - y.mean).abs();
    // timings without any spread: equal, or as different as can be
    let t = match (error > 0.0, ticks > 0.0) {
        (true, _) => ticks / error,
        (false, true) => f64::INFINITY,
        (false, false) => 0.0,
    };
    Apart { t, ticks }
}

/// The largest |t| over all croppings of timings, each with its class, and the difference of the means there.
pub fn largest(timings: &[(bool, u64)]) -> Apart {
    let mut sorted: Vec<u64> = timings.iter().map(|(_, ticks)| *ticks).collect();
    sorted.sort_unstable();
    let mut worst = Apart::default();
    for percent in CROPS {
        let last = (sorted.len() * percent / 100).saturating_sub(1);
        if let Some(&border) = sorted.get(last) {
            let found = apart(timings.iter().filter(|(_, ticks)| *ticks <= border));
            if found.t > worst.t {
                worst = found;
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::NoiseSource;

    /// Timings around 1000 with a long tail; class 1 takes `more` ticks longer in one of `every` cases.
    fn timings(n: usize, more: u64, every: u64) -> Vec<(bool, u64)> {
        let mut noise = NoiseSource::new(n as u64 + more);
        let mut one = || {
            let class = noise.next() & 1 == 1;
            let tail = if noise.next().is_multiple_of(100) { noise.next() % 100_000 } else { 0 };
            let late = if class && noise.next().is_multiple_of(every) { more } else { 0 };
            (class, 1000 + noise.next() % 40 + tail + late)
        };
        (0..n).map(|_| one()).collect()
    }

    #[test]
    fn equal_classes_are_not_told_apart_and_others_are() {
        assert!(largest(&timings(100_000, 0, 1)).t < 5.0);
        // a tail of 100,000 ticks hides 5 of them from the plain test, not from the cropped one
        let late = timings(100_000, 5, 1);
        assert!(apart(late.iter()).t < 5.0);
        let found = largest(&late);
        assert!(found.t > 50.0 && (4.0..6.0).contains(&found.ticks), "{found:?}");
        assert!(largest(&timings(100_000, 40, 8)).t > 5.0);
    }

    #[test]
    fn the_statistic_is_the_textbooks() {
        // means 2 and 5, variances 1 and 4, counts 3 and 3: t = 3 / sqrt(1/3 + 4/3)
        let timings = [(false, 1), (false, 2), (false, 3), (true, 3), (true, 5), (true, 7)];
        assert!((apart(timings.iter()).t - 3.0 / (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(apart([(false, 1), (true, 5)].iter()).t, 0.0);
        assert_eq!(largest(&[]), Apart::default());
    }

    #[test]
    fn timings_without_spread() {
        let same: Vec<(bool, u64)> = (0..100).map(|i| (i % 2 == 0, 7)).collect();
        assert_eq!(largest(&same), Apart::default());
        let far: Vec<(bool, u64)> = (0..100).map(|i| (i % 2 == 0, if i % 2 == 0 { 7 } else { 9 })).collect();
        assert_eq!(apart(far.iter()), Apart { t: f64::INFINITY, ticks: 2.0 });
    }
}
