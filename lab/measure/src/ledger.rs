//! The file of instruction counts: one line a measurement, sorted, after a head that names the compiler and
//! the version of Valgrind.

use std::collections::BTreeMap;
use std::fmt;

/// What a count may grow by before it is a regression, in thousandths: callgrind counts the same each time
/// but for the few instructions of threads that wait for each other.
pub const TOLERANCE: u64 = 30;

/// Counts by name, and the tools that made them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// What `rustc --version` says.
    pub compiler: String,
    /// What `valgrind --version` says.
    pub valgrind: String,
    /// Instructions.
    pub counts: BTreeMap<String, u64>,
}

/// How one count differs from the file: by more than the tolerance, or it is in one of the two alone. A count
/// that became smaller should be updated in the file: until then a later rise to the old one is not noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    name: String,
    /// What the file says.
    kept: Option<u64>,
    /// What was measured.
    found: Option<u64>,
}

impl Change {
    /// Whether less was found than the file says.
    pub fn is_better(&self) -> bool {
        self.found.is_some() && self.found < self.kept
    }

    /// Whether the guard fails because of it. A measurement that is gone guards nothing any more.
    pub fn fails(&self) -> bool {
        !self.is_better()
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { name, kept, found } = self;
        match (*kept, *found) {
            (Some(kept), Some(found)) => {
                let word = if self.is_better() { "improved " } else { "regressed" };
                let percent = 100.0 * (found as f64 / kept.max(1) as f64 - 1.0);
                write!(f, "{word}  {name}: {kept} -> {found} instructions ({percent:+.1} %)")
            }
            (None, found) => {
                write!(f, "new        {name}: {} instructions, not in the file", found.unwrap_or_default())
            }
            (Some(kept), None) => {
                write!(f, "gone       {name}: {kept} instructions in the file, not measured")
            }
        }
    }
}

impl Ledger {
    /// Read a file. The error is the first line that does not have the right form.
    pub fn parse(text: &str) -> Result<Ledger, String> {
        let mut ledger = Ledger::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(comment) = line.strip_prefix('#') {
                let comment = comment.trim();
                if comment.starts_with("rustc ") {
                    comment.clone_into(&mut ledger.compiler);
                } else if comment.starts_with("valgrind-") {
                    comment.clone_into(&mut ledger.valgrind);
                }
                continue;
            }
            let entry = line.split_once(char::is_whitespace);
            let entry = entry.and_then(|(count, name)| Some((name.trim(), count.parse().ok()?)));
            let (name, count) = entry.ok_or_else(|| format!("not a count and a name: {line:?}"))?;
            if ledger.counts.insert(name.to_owned(), count).is_some() {
                return Err(format!("twice in the file: {name:?}"));
            }
        }
        Ok(ledger)
    }

    /// How what was found differs from this, by more than the tolerance.
    pub fn compare(&self, found: &BTreeMap<String, u64>) -> Vec<Change> {
        // exactly: found / kept between 0.97 and 1.03
        let is_near = |kept: u64, found: u64| {
            (kept * (1000 - TOLERANCE)..=kept * (1000 + TOLERANCE)).contains(&(found * 1000))
        };
        let mut changes = Vec::new();
        for (name, found) in found {
            let kept = self.counts.get(name).copied();
            if !kept.is_some_and(|kept| is_near(kept, *found)) {
                changes.push(Change { name: name.clone(), kept, found: Some(*found) });
            }
        }
        let gone = self.counts.iter().filter(|(name, _)| !found.contains_key(*name));
        changes.extend(gone.map(|(name, kept)| Change {
            name: name.clone(),
            kept: Some(*kept),
            found: None,
        }));
        changes
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Instructions that each measurement executes, all its threads together, as callgrind counts them in the"
        )?;
        writeln!(
            f,
            "# release profile on x86-64. Made by `just instructions-update` (docs/measuring.md); not to be edited."
        )?;
        writeln!(f, "# {}", self.compiler)?;
        writeln!(f, "# {}", self.valgrind)?;
        self.counts.iter().try_for_each(|(name, count)| writeln!(f, "{count:>12}  {name}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ledger(counts: &[(&str, u64)]) -> Ledger {
        let counts = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Ledger { compiler: "rustc 1.0".to_owned(), valgrind: "valgrind-3.0".to_owned(), counts }
    }

    #[test]
    fn what_is_written_is_read() {
        let kept = ledger(&[("portable gf64 dot", 12), ("aes lut16 malicious, 512 blocks", 3_000_000_000)]);
        assert_eq!(Ledger::parse(&kept.to_string()).unwrap(), kept);
        assert!(Ledger::parse("12").is_err());
        assert!(Ledger::parse("x y").is_err());
        assert!(Ledger::parse("1 y\n1 y").is_err());
    }

    #[test]
    fn three_percent_is_the_border() {
        let kept = ledger(&[("a", 1000), ("b", 1000), ("c", 1000), ("d", 1000), ("gone", 5)]);
        let found = ledger(&[("a", 1030), ("b", 1031), ("c", 970), ("d", 969), ("new", 7)]);
        let changes = kept.compare(&found.counts);
        let change = |name: &str, kept, found| Change { name: name.to_owned(), kept, found };
        assert_eq!(
            changes,
            [
                change("b", Some(1000), Some(1031)),
                change("d", Some(1000), Some(969)),
                change("new", None, Some(7)),
                change("gone", Some(5), None),
            ]
        );
        assert_eq!(changes.iter().map(Change::fails).collect::<Vec<_>>(), [true, false, true, true]);
        let line = changes[0].to_string();
        assert!(["b", "1000", "1031", "+3.1 %"].iter().all(|part| line.contains(part)), "{line}");
        assert!(kept.compare(&kept.counts).is_empty());
    }

    #[test]
    fn the_committed_file_is_sorted_and_complete() {
        let text = include_str!("../instructions.txt");
        let kept = Ledger::parse(text).unwrap();
        assert_eq!(kept.to_string(), text);
        for kernel in ["portable", "avx2"] {
            for entry in crate::subjects::ALL {
                assert!(kept.counts.contains_key(&format!("{kernel} {}", entry.name)), "{}", entry.name);
            }
        }
        assert!(kept.compiler.starts_with("rustc ") && kept.valgrind.starts_with("valgrind-"));
    }
}
