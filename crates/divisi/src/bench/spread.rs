//! How far the repetitions of a figure lie apart.

use super::BenchReport;
use crate::engine::{PhaseKind, Took};
use serde_json::{Value, json};

/// The least and the greatest value of a figure among the repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub greatest: f64,
}

impl Spread {
    /// The spread of values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let one = |value| Spread { least: value, greatest: value };
        values
            .into_iter()
            .map(one)
            .reduce(|a, b| Spread { least: a.least.min(b.least), greatest: a.greatest.max(b.greatest) })
    }

    /// The spread in another unit, or of a figure that is this one's inverse.
    #[must_use]
    pub fn map(self, of: impl Fn(f64) -> f64) -> Spread {
        let (a, b) = (of(self.least), of(self.greatest));
        Spread { least: a.min(b), greatest: a.max(b) }
    }

    /// The members `least` and `greatest`.
    #[must_use]
    pub fn to_json(self) -> Value {
        json!({ "least": self.least, "greatest": self.greatest })
    }
}

impl BenchReport {
    /// The spread of what a function makes of a repetition's times: those of each phase, in the order of the
    /// engine's phases.
    pub fn spread(&self, figure: impl Fn(&[Took]) -> f64) -> Option<Spread> {
        Spread::of(self.measured.repetitions.iter().map(|times| figure(times)))
    }

    /// The spread of the seconds of some phases together.
    #[must_use]
    pub fn seconds_spread(&self, phases: &[&str]) -> Option<Spread> {
        let clocks = self.measured.clocks;
        self.spread(|times| {
            let of = clocks.iter().zip(times).filter(|(clock, _)| phases.contains(&clock.name));
            of.map(|(_, took)| took.seconds).sum()
        })
    }

    /// The spread of [`BenchReport::online_per_second`].
    #[must_use]
    pub fn online_spread(&self) -> Option<Spread> {
        Some(self.latency_spread()?.map(|seconds| self.options.count() as f64 / seconds))
    }

    /// The spread of [`BenchReport::total_per_second`].
    #[must_use]
    pub fn total_spread(&self) -> Option<Spread> {
        let seconds = self.counted(|kind| kind != PhaseKind::Apart, |took| took.seconds)?;
        Some(seconds.map(|seconds| self.options.count() as f64 / seconds))
    }

    /// The spread of [`BenchReport::latency_seconds`].
    #[must_use]
    pub fn latency_spread(&self) -> Option<Spread> {
        self.counted(|kind| kind == PhaseKind::Online, |took| took.seconds)
    }

    /// The spread of [`BenchReport::cpu_us_per_block`].
    #[must_use]
    pub fn cpu_spread(&self) -> Option<Spread> {
        let seconds = self.counted(|kind| kind != PhaseKind::Apart, |took| took.cpu_seconds)?;
        Some(seconds.map(|seconds| seconds * 1e6 / self.options.count() as f64))
    }

    /// The spread of the sums over the phases that count.
    fn counted(&self, counts: impl Fn(PhaseKind) -> bool, of: fn(&Took) -> f64) -> Option<Spread> {
        let clocks = self.measured.clocks;
        self.spread(|times| {
            let phases = clocks.iter().zip(times).filter(|(clock, _)| counts(clock.kind));
            phases.map(|(_, took)| of(took)).sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_from_the_least_to_the_greatest() {
        let spread = Spread::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!(spread, Spread { least: 1.0, greatest: 3.0 });
        assert_eq!(Spread::of([7.0]), Some(Spread { least: 7.0, greatest: 7.0 }));
        assert_eq!(Spread::of([]), None);
        // the fastest repetition has the highest rate
        assert_eq!(spread.map(|seconds| 6.0 / seconds), Spread { least: 2.0, greatest: 6.0 });
        assert_eq!(spread.to_json(), json!({ "least": 1.0, "greatest": 3.0 }));
    }
}
