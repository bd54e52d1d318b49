//! Reports on standard error about tests that take long: their progress, and the estimated time left.

use std::io::Write;
use std::time::{Duration, Instant};

/// The time after which the first report is printed, with an estimate from what is done by then.
const FIRST: Duration = Duration::from_secs(2);
/// The time between later reports.
const EVERY: Duration = Duration::from_secs(10);

/// The progress of a test.
pub(super) struct Progress {
    name: String,
    what: &'static str,
    begun: Instant,
    said: Option<Instant>,
}

impl Progress {
    /// Start the progress of a test with this name; `what` is the unit in which steps are counted.
    pub(super) fn new(name: String, what: &'static str) -> Self {
        Progress { name, what, begun: Instant::now(), said: None }
    }

    /// Report that `done` of `all` steps are done.
    pub(super) fn at(&mut self, done: u64, all: u64) {
        let due = self.said.map_or(self.begun.elapsed() >= FIRST, |said| said.elapsed() >= EVERY);
        if !due || done >= all {
            return;
        }
        self.said = Some(Instant::now());
        let left = self.begun.elapsed().as_secs_f64() / done.max(1) as f64 * (all - done) as f64;
        let (name, what, left) = (&self.name, self.what, span(left));
        let _ = writeln!(std::io::stderr(), "divisi: {name}: {done} of {all} {what}, about {left} to go");
    }
}

/// A time in seconds, minutes, hours or days.
fn span(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_a_unit_that_fits() {
        let told = [1.2, 119.0, 121.0, 7000.0, 7300.0, 180_000.0].map(span);
        assert_eq!(told, ["1 s", "119 s", "2 min", "117 min", "2 h", "2 days"]);
    }
}
