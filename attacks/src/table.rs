//! The table of all weakenings, for docs/weakened.md.

use crate::list::{ENGINES, List};
use std::fmt::Write;

const HEAD: &str = "\
# Weakened checks

Each row is a build in which one check is there and too weak: something is equal where it must be independent,
known too early, compared in part, done once instead of twice, or a mask is none. The test in the last column
fails in that build, and passes in the real one. `just weakened` runs them all; `attacks/weakened` says what
each one changes.

This page is written by `just weakened-table`.
";

/// The page.
pub fn of(list: &List) -> String {
    let mut page = String::from(HEAD);
    for engine in ENGINES {
        let mut rows: Vec<_> = list.0.iter().filter(|w| w.engine == engine).collect();
        rows.sort_by_key(|w| (order(&w.check), w.axis));
        // a String takes whatever is written
        let _ = write!(page, "\n## {engine}: {} weakenings\n\n", rows.len());
        page.push_str(
            "| check | too weak in | what the weakened build does | test that notices |\n|---|---|---|---|\n",
        );
        for w in rows {
            let (check, axis) = (&w.check, w.axis.name());
            let _ = writeln!(page, "| {check} | {axis} | {} | `{}` |", w.what, w.killed_by);
        }
    }
    page
}

/// A8 before A10.
fn order(check: &str) -> (String, Vec<u32>) {
    let letters = check.chars().take_while(char::is_ascii_alphabetic).collect();
    let numbers = check.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    (letters, numbers)
}
