//! Which tests concern which file.

use divisi_attacks::compile::Targets;
use std::collections::{BTreeMap, BTreeSet};

/// Which tests concern which file: `package/target` each, `lib` for unit tests; or `package/target::module`,
/// the tests of one module of the target.
#[derive(Default)]
pub struct Tests(BTreeMap<String, Vec<String>>);

impl Tests {
    /// Says which tests concern a file.
    pub fn add(&mut self, file: &str, tests: Vec<String>) {
        self.0.insert(file.to_owned(), tests);
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The tests that concern a file.
    pub fn of(&self, file: &str) -> &[String] {
        self.0.get(file).map_or(&[], Vec::as_slice)
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

/// Package, target and module of such a test; no module if it is the whole target.
pub fn parts(test: &str) -> (&str, &str, Option<&str>) {
    let (package, rest) = test.split_once('/').unwrap_or((test, ""));
    match rest.split_once("::") {
        Some((target, module)) => (package, target, Some(module)),
        None => (package, rest, None),
    }
}
