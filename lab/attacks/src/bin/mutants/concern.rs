//! The table `lab/attacks/mutants/tests.toml`: which tests concern which file.

use divisi_attacks::compile::Targets;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// A line of the table: a file, and the tests that concern it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    /// `package/target` each, `lib` for unit tests; or `package/target::module`, the tests of one module of
    /// the target.
    tests: Vec<String>,
}

/// Which tests concern which file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tests {
    file: Vec<Line>,
}

impl Tests {
    pub fn read(path: &Path) -> Result<Tests, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{path:?}: {e}"))?;
        let tests: Tests = toml::from_str(&text).map_err(|e| format!("{path:?}: {e}"))?;
        match tests.file.iter().flat_map(|line| &line.tests).find(|test| !test.contains('/')) {
            Some(test) => Err(format!("{path:?}: {test} is no package/target")),
            None => Ok(tests),
        }
    }

    /// Adds a line.
    pub fn add(&mut self, name: &str, tests: Vec<String>) {
        self.file.push(Line { name: name.to_owned(), tests });
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.file.iter().map(|line| line.name.as_str())
    }

    /// The tests that concern a file.
    pub fn of(&self, file: &str) -> &[String] {
        self.file.iter().find(|line| line.name == file).map_or(&[], |line| &line.tests)
    }

    /// The targets that these files need.
    pub fn targets(&self, files: &BTreeSet<&str>) -> Targets {
        let mut targets = Targets::new();
        for test in files.iter().flat_map(|file| self.of(file)) {
            let (package, target, _) = parts(test);
            targets.entry(package.into()).or_default().insert(target.into());
        }
        targets
    }
}

/// Package, target and module of a test of the table; no module if it is the whole target.
pub fn parts(test: &str) -> (&str, &str, Option<&str>) {
    let (package, rest) = test.split_once('/').unwrap_or((test, ""));
    match rest.split_once("::") {
        Some((target, module)) => (package, target, Some(module)),
        None => (package, rest, None),
    }
}
