//! The progress of a long command on standard error: a bar on a terminal; in a log lines if they are asked
//! for, and those of a reproduction always.

use super::Context;
use divisi::reproduce::Progress;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a line is written.
const EVERY: Duration = Duration::from_secs(10);

/// The progress of a number of bytes.
pub struct ProgressDisplay {
    bar: ProgressBar,
    lines: Option<Lines>,
}

struct Lines {
    /// The number of bytes in all; `None` for a progress in percent.
    total: Option<u64>,
    begun: Instant,
    last: Cell<Instant>,
}

impl Lines {
    /// The line that is due now, if one is.
    fn at(&self, done: u64, now: Instant) -> Option<String> {
        if now.saturating_duration_since(self.last.get()) < EVERY {
            return None;
        }
        self.last.set(now);
        Some(line(done, self.total, now.saturating_duration_since(self.begun)))
    }
}

impl ProgressDisplay {
    /// The progress of `total` bytes: on a terminal a bar, if `total` is at least `least`; elsewhere a line
    /// every ten seconds with `--verbose`.
    pub fn new(context: &Context, total: u64, least: u64) -> ProgressDisplay {
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
        let lines = Lines { total: Some(total), begun: now, last: Cell::new(now) };
        ProgressDisplay { bar, lines: (context.verbose && !terminal).then_some(lines) }
    }

    /// The progress of a stream whose length is not known: on a terminal a count.
    pub fn open_ended() -> ProgressDisplay {
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            match ProgressStyle::with_template("{bytes} {bytes_per_sec}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        } else {
            ProgressBar::hidden()
        };
        ProgressDisplay { bar, lines: None }
    }

    /// A progress in percent: a bar on a terminal; elsewhere a line every ten seconds with `--verbose`.
    pub fn percent(context: &Context) -> ProgressDisplay {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal {
            let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
            match ProgressStyle::with_template("{bar:40} {percent} % {eta}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        } else {
            ProgressBar::hidden()
        };
        let now = Instant::now();
        let lines = Lines { total: None, begun: now, last: Cell::new(now) };
        ProgressDisplay { bar, lines: (context.verbose && !terminal).then_some(lines) }
    }

    /// Report the number of bytes done.
    pub fn at(&self, done: u64) {
        self.bar.set_position(done);
        if let Some(line) = self.lines.as_ref().and_then(|lines| lines.at(done, Instant::now())) {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// End the report.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        // however the command ended, the bar is removed before anything else is printed
        self.end();
    }
}

/// The progress of a reproduction: on a terminal a bar, elsewhere a line at the begin of each run.
pub struct RunsDisplay {
    bar: Option<ProgressBar>,
}

impl RunsDisplay {
    /// The progress of runs, of which none has begun.
    pub fn new() -> RunsDisplay {
        if !std::io::stderr().is_terminal() {
            return RunsDisplay { bar: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(250));
        let style = ProgressStyle::with_template("{bar:16} {pos}/{len}, {elapsed} so far{wide_msg}");
        RunsDisplay { bar: Some(style.map_or(bar.clone(), |style| bar.with_style(style))) }
    }

    /// Report the run that begins.
    pub fn at(&self, now: &Progress) {
        let Some(bar) = &self.bar else {
            let mut stderr = std::io::stderr();
            let _ = writeln!(stderr, "{}", run_line(now)).and_then(|()| stderr.flush());
            return;
        };
        bar.set_length(now.of as u64);
        bar.set_position(now.done as u64);
        bar.set_message(format!("{}: {}", left(now), now.now));
    }
}

impl Drop for RunsDisplay {
    fn drop(&mut self) {
        // however the runs ended, the bar is removed before anything else is printed
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The line of the run that begins.
fn run_line(now: &Progress) -> String {
    format!("{} of {}: {}{}", now.done + 1, now.of, now.now, left(now))
}

fn left(now: &Progress) -> String {
    now.left.map_or(String::new(), |left| format!(", about {} left", HumanDuration(left)))
}

/// A line with the progress after this time, and the estimated time left.
fn line(done: u64, total: Option<u64>, after: Duration) -> String {
    let rate = done as f64 / after.as_secs_f64().max(1e-3);
    let left = total.unwrap_or(100).saturating_sub(done) as f64 / rate.max(1e-3);
    let left = Duration::try_from_secs_f64(left);
    let left = left.map_or_else(|_| "long".into(), |left| HumanDuration(left).to_string());
    match total {
        None => format!("{done} %, {left} left"),
        Some(total) => {
            let (done, total, rate) = (HumanBytes(done), HumanBytes(total), HumanBytes(rate as u64));
            format!("{done} of {total}, {rate}/s, {left} left")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_how_long() {
        let said = line(3 << 20, Some(12 << 20), Duration::from_secs(10));
        assert_eq!(said, "3.00 MiB of 12.00 MiB, 307.20 KiB/s, 30 seconds left");
        assert!(line(0, Some(u64::MAX), Duration::ZERO).contains("0 B of 16.00 EiB"));
        assert_eq!(line(25, None, Duration::from_secs(10)), "25 %, 30 seconds left");
    }

    #[test]
    fn a_line_of_a_run_says_which_of_how_many() {
        let mut now = Progress { done: 2, of: 40, now: "lut16, malicious, 1 block".into(), left: None };
        assert_eq!(run_line(&now), "3 of 40: lut16, malicious, 1 block");
        now.left = Some(Duration::from_secs(300));
        assert_eq!(run_line(&now), "3 of 40: lut16, malicious, 1 block, about 5 minutes left");
    }

    #[test]
    fn a_line_comes_every_ten_seconds() {
        let begun = Instant::now();
        let lines = Lines { total: None, begun, last: Cell::new(begun) };
        let said: Vec<u64> = (0..=35)
            .filter(|seconds| lines.at(*seconds, begun + Duration::from_secs(*seconds)).is_some())
            .collect();
        assert_eq!(said, [10, 20, 30]);
    }
}
