//! The table of all weakenings, a page of Markdown.

use crate::axes::{Axes, Cell, Cells, OPEN};
use crate::list::{Axis, ENGINES, List};
use std::fmt::Write;

const HEAD: &str = "\
# Weakened checks

Each row is a build in which one check is there but too weak: a value is equal where it must be independent,
or known too early; only part of something is compared; something is done once instead of twice; or a mask is
missing. The test in the last column fails in that build, and passes in the real one. `just weakened` runs
them all; `lab/attacks/weakened` says what each one changes.

Each engine begins with a table of the ways in which its checks can be too weak: it has a row for each check,
a column for each way (*axis*), and in each cell the number of builds. A letter stands for the reason why
there is no build; the reasons follow the table (`lab/attacks/weakened/axes-*.toml`). If a reason names other
checks, a test has made sure that one of them has a build in that column. A `?` is an axis that applies and
has no build yet.
";

/// The page, with the axes of each engine.
///
/// # Errors
/// If the axes of an engine are wrong, all that is wrong with them.
pub fn of(list: &List, axes: &[Axes]) -> Result<String, String> {
    let mut page = String::from(HEAD);
    for (engine, axes) in ENGINES.into_iter().zip(axes) {
        let mut rows: Vec<_> = list.0.iter().filter(|w| w.engine == engine).collect();
        rows.sort_by_key(|w| (order(&w.check), w.axis));
        // writing to a String cannot fail
        let _ = write!(page, "\n## {engine}: {} weakenings\n\n", rows.len());
        matrix(&mut page, &axes.cells(engine, list)?, axes);
        page.push_str(
            "| check | too weak in | what the weakened build does | test that notices |\n|---|---|---|---|\n",
        );
        for w in rows {
            let (check, axis) = (&w.check, w.axis.name());
            let _ = writeln!(page, "| {check} | {axis} | {} | `{}` |", w.what, w.killed_by);
        }
    }
    Ok(page)
}

/// The table of an engine's checks with their builds and reasons, and the list of the reasons.
fn matrix(page: &mut String, cells: &Cells, axes: &Axes) {
    page.push_str("| check |");
    Axis::all().for_each(|axis| _ = write!(page, " {} |", axis.name()));
    page.push_str("\n|---|");
    page.push_str(&"---|".repeat(Axis::all().count()));
    page.push('\n');
    let mut checks: Vec<_> = cells.iter().collect();
    checks.sort_by_key(|(check, _)| order(check));
    for (check, row) in checks {
        let _ = write!(page, "| {check} |");
        for cell in row {
            let _ = match cell {
                Cell::Builds(number) => write!(page, " {number} |"),
                Cell::Reason(letter) if letter == OPEN => write!(page, " ? |"),
                Cell::Reason(letter) => write!(page, " {letter} |"),
            };
        }
        page.push('\n');
    }
    page.push('\n');
    for (letter, reason) in &axes.reasons {
        let _ = write!(page, "- {letter}: {}", reason.why);
        match reason.there.as_slice() {
            [] => page.push('\n'),
            there => _ = writeln!(page, " Builds: {}.", there.join(", ")),
        }
    }
    page.push('\n');
}

/// A key by which checks are sorted: A8 comes before A10.
fn order(check: &str) -> (String, Vec<u32>) {
    let letters = check.chars().take_while(char::is_ascii_alphabetic).collect();
    let numbers = check.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    (letters, numbers)
}
