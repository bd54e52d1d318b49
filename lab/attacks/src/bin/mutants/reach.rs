//! Which tests reach which mutant. Each test of a build runs once by itself, without a mutant; the mutants
//! that are asked about on its way are those that it reaches. So a mutant is judged only by tests that it can
//! concern, the quickest first, and one that no test reaches is a survivor at once.

use crate::run::{self, Job};
use divisi_attacks::compile::{self, Programs};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

/// The variable that names the file for the numbers of what is asked about (`switch/whether.rs`).
const REACHED: &str = "DIVISI_REACHED";
/// What makes a list that a test compares with what it finds.
const WRITE: (&str, &str) = ("DIVISI_NETS", "write");
/// Mutants with a number from here on are not noted there: every test may reach them.
const NOTED: usize = 4096;
/// A test runs at most so long.
const LIMIT: Duration = Duration::from_secs(1500);
/// Tests that run together take at most so long together, unless it is one.
const TOGETHER: Duration = Duration::from_secs(2);

/// A test of a build, as it was without a mutant.
struct Test {
    /// Its path in its program.
    name: String,
    takes: Duration,
    /// The mutants that it reaches; `None` if it may reach each.
    reaches: Option<BTreeSet<usize>>,
}

/// The tests of a build, by the words that name them (`concern`): a target, or a module of one.
#[derive(Default)]
pub struct Reach(BTreeMap<String, Vec<Test>>);

impl Reach {
    /// Checks that the tests of these targets pass without a mutant, each of them once, and notes how long
    /// they take and what they reach; `folder` is for files.
    pub fn of(
        programs: &Programs,
        targets: &BTreeSet<&str>,
        at_once: usize,
        folder: &Path,
    ) -> Result<Reach, String> {
        std::fs::create_dir_all(folder).map_err(|e| format!("{folder:?}: {e}"))?;
        let mut jobs = Vec::new();
        for target in targets {
            for name in run::names(programs, target)? {
                jobs.push(Job { target: (*target).to_owned(), names: vec![name] });
            }
        }
        let (mut reach, start) = (Reach::default(), Instant::now());
        let measured = |i: usize, job: &Job| measured(programs, job, &folder.join(i.to_string()));
        // most of those that take long wait for something
        compile::at_once(&jobs, 2 * at_once, measured, |i, test| {
            reach.0.entry(jobs[i].target.clone()).or_default().push(test?);
            Ok(())
        })?;
        eprintln!("{} tests pass, in {:.0} s", jobs.len(), start.elapsed().as_secs_f64());
        Ok(reach)
    }

    /// Adds the tests of these targets that it does not know, as tests that may reach each mutant.
    pub fn add(&mut self, programs: &Programs, targets: &[String]) -> Result<(), String> {
        for target in targets {
            if !self.0.contains_key(target) {
                let names = run::names(programs, target)?.into_iter();
                let tests = names.map(|name| Test { name, takes: run::LIMIT, reaches: None });
                self.0.insert(target.clone(), tests.collect());
            }
        }
        Ok(())
    }

    /// How many tests of these targets reach a mutant.
    pub fn count(&self, targets: &[String], number: usize) -> usize {
        self.jobs(targets, Some(number)).iter().map(|(job, _)| job.names.len()).sum()
    }

    /// The tests of these targets that reach a mutant, or all if it has no number: jobs of tests that run
    /// together, each with the time that it takes, the quickest first.
    pub fn jobs(&self, targets: &[String], number: Option<usize>) -> Vec<(Job, Duration)> {
        let mut jobs = Vec::new();
        for target in targets {
            let reaches = |test: &&Test| match (&test.reaches, number) {
                (Some(reached), Some(number)) if number < NOTED => reached.contains(&number),
                _ => true,
            };
            let mut tests: Vec<&Test> = self.0.get(target).into_iter().flatten().filter(reaches).collect();
            tests.sort_by_key(|test| test.takes);
            let mut last: Option<(Job, Duration)> = None;
            for test in tests {
                match &mut last {
                    Some((job, takes)) if *takes + test.takes <= TOGETHER => {
                        job.names.push(test.name.clone());
                        *takes += test.takes;
                    }
                    _ => {
                        let job = Job { target: target.clone(), names: vec![test.name.clone()] };
                        jobs.extend(last.replace((job, test.takes)));
                    }
                }
            }
            jobs.extend(last);
        }
        jobs.sort_by_key(|(_, takes)| *takes);
        jobs
    }
}

/// Runs a test by itself. A test that fails may compare with a list of places, which are others in a text of
/// switches: the list is written anew, and then it has to pass.
fn measured(programs: &Programs, job: &Job, file: &Path) -> Result<Test, String> {
    let test = reaching(programs, job, file);
    let written = [(WRITE.0, OsStr::new(WRITE.1))];
    if test.is_err() && run::passes(programs, job, None, &written, LIMIT)? == Some(None) {
        return reaching(programs, job, file);
    }
    test
}

/// Runs a test by itself. A test that fails while what it reaches is noted may mind that somebody writes a
/// file; it has to pass without.
fn reaching(programs: &Programs, job: &Job, file: &Path) -> Result<Test, String> {
    let name = job.names.concat();
    let start = Instant::now();
    let noted = [(REACHED, file.as_os_str())];
    let reaches = match run::passes(programs, job, None, &noted, LIMIT)? {
        Some(None) => {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            Some(text.lines().filter_map(|line| line.parse().ok()).collect())
        }
        _ if run::passes(programs, job, None, &[], LIMIT)? == Some(None) => None,
        _ => return Err(format!("{} of {} fails without a mutant", name, job.target)),
    };
    // it is not there if the test reaches nothing
    let _ = std::fs::remove_file(file);
    Ok(Test { name, takes: start.elapsed(), reaches })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that reach a mutant come together, up to two seconds, and before what takes longer.
    #[test]
    fn a_mutant_is_judged_by_what_reaches_it() {
        let test = |name: &str, tenths: u64, reaches: Option<&[usize]>| Test {
            name: name.into(),
            takes: Duration::from_millis(100 * tenths),
            reaches: reaches.map(|numbers| numbers.iter().copied().collect()),
        };
        let a = vec![test("long", 30, Some(&[7])), test("b", 12, Some(&[7])), test("a", 9, Some(&[7, 8]))];
        let b = vec![test("c", 11, None), test("d", 1, Some(&[]))];
        let reach = Reach([("p/lib".to_owned(), a), ("p/it".to_owned(), b)].into());
        let of = |number| {
            let jobs = reach.jobs(&["p/it".into(), "p/lib".into()], number);
            jobs.into_iter().map(|(job, _)| job.names.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(of(Some(7)), ["a", "c", "b", "long"]);
        assert_eq!(of(Some(8)), ["a", "c"]);
        assert_eq!(of(Some(9)), ["c"]);
        assert_eq!(of(Some(NOTED)), ["a", "d c", "b", "long"]);
        assert_eq!(of(None), of(Some(NOTED)));
    }
}
