//! The progress of a long command on standard error: a bar on a terminal, lines in a log if they are asked
//! for.

use super::Context;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a line is written.
const EVERY: Duration = Duration::from_secs(10);

/// The progress of a number of bytes.
pub struct Progress {
    bar: ProgressBar,
    lines: Option<Lines>,
}

struct Lines {
    total: u64,
    begun: Instant,
    last: Cell<Instant>,
}

impl Progress {
    /// The progress of `total` bytes: on a terminal a bar, if `total` is at least `least`; elsewhere a line
    /// every ten seconds with `--verbose`.
    pub fn new(context: &Context, total: u64, least: u64) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let bar = if total < least || !terminal {
            ProgressBar::hidden()
        } else {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            match ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        };
        let now = Instant::now();
        let lines = Lines { total, begun: now, last: Cell::new(now) };
        Progress { bar, lines: (context.verbose && !terminal).then_some(lines) }
    }

    /// A progress in percent: a bar on a terminal, nothing elsewhere.
    pub fn percent() -> Progress {
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
            match ProgressStyle::with_template("{bar:40} {percent} % {eta}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        } else {
            ProgressBar::hidden()
        };
        Progress { bar, lines: None }
    }

    /// Report the number of bytes done.
    pub fn at(&self, done: u64) {
        self.bar.set_position(done);
        let now = Instant::now();
        if let Some(lines) = self.lines.as_ref().filter(|lines| now.duration_since(lines.last.get()) >= EVERY)
        {
            lines.last.set(now);
            eprintln!("{}", line(done, lines.total, now.duration_since(lines.begun)));
        }
    }

    /// End the report.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // whatever ended it, the bar is no part of what follows
        self.end();
    }
}

/// How far it has come after so long, and how long it will take.
fn line(done: u64, total: u64, after: Duration) -> String {
    let rate = done as f64 / after.as_secs_f64().max(1e-3);
    let left = Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / rate.max(1e-3));
    format!(
        "{} of {}, {}/s, {} left",
        HumanBytes(done),
        HumanBytes(total),
        HumanBytes(rate as u64),
        left.map_or_else(|_| "long".into(), |left| HumanDuration(left).to_string())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_how_long() {
        let said = line(3 << 20, 12 << 20, Duration::from_secs(10));
        assert_eq!(said, "3.00 MiB of 12.00 MiB, 307.20 KiB/s, 30 seconds left");
        assert!(line(0, u64::MAX, Duration::ZERO).contains("0 B of 16.00 EiB"));
    }
}
