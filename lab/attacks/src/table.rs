//! The table of all weakenings, a page of Markdown.

use crate::list::{ENGINES, List};
use std::fmt::Write;

const HEAD: &str = "\
# Weakened checks

Each row is a build in which one check is there but too weak, and which no rule makes: the third column says
why. The test in the last column fails in that build, and passes in the real one. `just rows` runs them all;
`lab/attacks/weakened` says what each one changes.
";

/// The page.
pub fn of(list: &List) -> String {
    let mut page = String::from(HEAD);
    for engine in ENGINES {
        let mut rows: Vec<_> = list.0.iter().filter(|w| w.engine == engine).collect();
        rows.sort_by_key(|w| (order(&w.check), w.why));
        // writing to a String cannot fail
        let _ = write!(page, "\n## {engine}: {} weakenings\n\n", rows.len());
        page.push_str(
            "| check | what the weakened build does | by hand for | test that notices |\n|---|---|---|---|\n",
        );
        for w in rows {
            let _ = writeln!(page, "| {} | {} | {} | `{}` |", w.check, w.what, w.why.words(), w.killed_by);
        }
    }
    page
}

/// A key by which checks are sorted: A8 comes before A10.
fn order(check: &str) -> (String, Vec<u32>) {
    let letters = check.chars().take_while(char::is_ascii_alphabetic).collect();
    let numbers = check.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    (letters, numbers)
}
