//! The results of the vectors.

use super::content::Content;
use super::vector::VectorAlgorithm;
use crate::engine::job::Cipher;
use divisi_symmetric::des::has_equal_keys;
use serde::Serialize;
use std::collections::BTreeMap;

/// The reason that is counted for vectors of an unknown algorithm.
const NOT_KNOWN: &str = "an algorithm that is not in this version";

/// The results of the vectors of one algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The algorithm's name.
    pub algorithm: String,
    /// Vectors with the right answer.
    pub passed: u64,
    /// Vectors with a wrong answer.
    pub failed: u64,
    /// The number of vectors that were not run, by reason.
    pub unsupported: BTreeMap<String, u64>,
    /// The first ten vectors that failed, as file name and number.
    pub failures: Vec<String>,
}

/// The results of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KatReport {
    /// One for each algorithm.
    pub algorithms: Vec<Tally>,
    /// The number of calls of the engine.
    pub calls: u64,
    /// The number of values that the parties opened.
    pub openings: u64,
    /// The number of vectors of triple DES with K1 = K2 or K2 = K3, parity ignored: these are single DES.
    pub equal_keys: u64,
}

impl KatReport {
    /// Whether at least one vector ran, and none failed.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.algorithms.iter().all(|tally| tally.failed == 0)
            && self.algorithms.iter().any(|tally| tally.passed > 0)
    }
}

/// A report in the making.
#[derive(Default)]
pub(super) struct Account {
    tallies: BTreeMap<VectorAlgorithm, Tally>,
    calls: u64,
    openings: u64,
}

impl Account {
    fn of(&mut self, algorithm: VectorAlgorithm) -> &mut Tally {
        let new = || Tally { algorithm: algorithm.to_string(), ..Tally::default() };
        self.tallies.entry(algorithm).or_insert_with(new)
    }

    /// Count `n` vectors that were not run, with the reason.
    pub(super) fn lacks(&mut self, algorithm: VectorAlgorithm, reason: &str, n: u64) {
        *self.of(algorithm).unsupported.entry(reason.to_owned()).or_default() += n;
    }

    /// Count a call of the engine, and the values that it opened.
    pub(super) fn called(&mut self, openings: u64) {
        self.called_often(1, openings);
    }

    /// Count calls of the engine, and the values that it opened.
    pub(super) fn called_often(&mut self, calls: u64, openings: u64) {
        self.calls += calls;
        self.openings += openings;
    }

    /// Count the answer to vector `id` of this file as right or wrong.
    pub(super) fn answered(&mut self, algorithm: VectorAlgorithm, right: bool, file: &str, id: u64) {
        let tally = self.of(algorithm);
        if right {
            tally.passed += 1;
        } else {
            tally.failed += 1;
            if tally.failures.len() < 10 {
                tally.failures.push(format!("{file} #{id}"));
            }
        }
    }

    /// The complete report, with the vectors of algorithms that this version does not know.
    pub(super) fn report<'c>(self, contents: impl Iterator<Item = &'c Content> + Clone) -> KatReport {
        let triple = contents.clone().flat_map(|content| &content.groups);
        let triple = triple.filter(|group| matches!(group.cipher, Cipher::TripleDes(_)));
        let keys = triple.flat_map(|group| &group.vectors).map(|vector| &vector.key);
        let equal_keys = keys.filter(|key| has_equal_keys(key)).count() as u64;
        let mut unknown: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, n) in contents.flat_map(|content| &content.unknown) {
            *unknown.entry(name).or_default() += n;
        }
        let unknown = unknown.into_iter().map(|(name, n)| Tally {
            algorithm: name.to_owned(),
            unsupported: [(NOT_KNOWN.to_owned(), n)].into(),
            ..Tally::default()
        });
        let algorithms = self.tallies.into_values().chain(unknown).collect();
        KatReport { algorithms, calls: self.calls, openings: self.openings, equal_keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever algorithm fails, and however many pass, the report is no good one; nor is that of nothing.
    #[test]
    fn a_report_is_good_if_nothing_failed_and_something_passed() {
        for at in 0..3 {
            let mut report = Account::default().report([].iter());
            report.algorithms = vec![Tally::default(); 3];
            assert!(!report.is_good());
            report.algorithms[2 - at].passed = 1;
            assert!(report.is_good());
            report.algorithms[at].failed = 1;
            assert!(!report.is_good(), "{at}");
        }
    }
}
