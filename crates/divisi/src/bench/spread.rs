//! The figures of each repetition of a benchmark, which show how far apart they lie.

use super::BenchReport;
use crate::engine::{PhaseKind, Took};
use serde_json::{Map, Value, json};

/// The most repetitions of which a report tells.
const MOST: usize = 1000;

impl BenchReport {
    /// The member `repetitions` of the report: for each figure that follows from times those of the first
    /// thousand repetitions. `online_per_second`, `total_per_second`, `latency_seconds` and
    /// `cpu_us_per_block_and_party` are named as the figures of all repetitions; of each phase there are
    /// `NAME_seconds` and `NAME_cpu_seconds_per_party`. A rate of no time at all is null.
    pub(super) fn by_repetition(&self) -> Value {
        let clocks = self.measured.clocks;
        let count = self.options.count() as f64;
        let sum = |times: &[Took], counts: fn(PhaseKind) -> bool, of: fn(&Took) -> f64| -> f64 {
            let phases = clocks.iter().zip(times).filter(|(clock, _)| counts(clock.kind));
            phases.map(|(_, took)| of(took)).sum()
        };
        let repetitions = || self.measured.repetitions.iter().take(MOST);
        let series =
            |of: &dyn Fn(&[Took]) -> f64| -> Value { repetitions().map(|times| json!(of(times))).collect() };
        let online = |times: &[Took]| sum(times, |kind| kind == PhaseKind::Online, |took| took.seconds);
        let total = |times: &[Took]| sum(times, |kind| kind != PhaseKind::Apart, |took| took.seconds);
        let cpu = |times: &[Took]| sum(times, |kind| kind != PhaseKind::Apart, |took| took.cpu_seconds);
        let mut all = Map::from_iter([
            ("online_per_second".to_owned(), series(&|times| count / online(times))),
            ("total_per_second".to_owned(), series(&|times| count / total(times))),
            ("latency_seconds".to_owned(), series(&online)),
            ("cpu_us_per_block_and_party".to_owned(), series(&|times| cpu(times) * 1e6 / count)),
        ]);
        for (place, clock) in clocks.iter().enumerate() {
            let of = |times: &[Took]| times.get(place).copied().unwrap_or_default();
            all.insert(format!("{}_seconds", clock.name), series(&|times| of(times).seconds));
            let name = format!("{}_cpu_seconds_per_party", clock.name);
            all.insert(name, series(&|times| of(times).cpu_seconds));
        }
        all.into()
    }
}
