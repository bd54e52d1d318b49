//! Reports on standard error about tests that take long: their progress, and the estimated time left.

use std::time::{Duration, Instant};

/// When the first word is said: an estimate from what was done until then.
const FIRST: Duration = Duration::from_secs(2);
/// How often a word is said after that.
const EVERY: Duration = Duration::from_secs(10);

/// How far a test is.
pub(super) struct Progress {
    name: String,
    what: &'static str,
    begun: Instant,
    said: Option<Instant>,
}

impl Progress {
    /// A test by its name, which goes through so many of `what`.
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
        eprintln!("divisi: {}: {done} of {all} {}, about {} to go", self.name, self.what, span(left));
    }
}

/// A time in a unit that people read it in.
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
