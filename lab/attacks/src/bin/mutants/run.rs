//! Runs tests against mutants.

use crate::concern::parts;
use crate::table::Outcome;
use divisi_attacks::compile::{MUTANT, Program, Programs};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The time that all tests of a mutant together may take, or `SLOWER` times what they take without one, if
/// that is more; tests that have not ended by then have noticed nothing.
const LIMIT: Duration = Duration::from_secs(150);
/// A test hangs if it takes more than `SLOWER` times as long as without a mutant, and `LONGER` in addition:
/// the machine may have much else to do.
const SLOWER: u32 = 3;
const LONGER: Duration = Duration::from_secs(10);
/// The memory that a test may use, in KiB: a mutant may allocate without end.
const MEMORY: &str = "12000000";

/// How long each test takes without a mutant.
pub type Times = BTreeMap<String, Duration>;

/// Checks that these tests pass without a mutant, each of them once, and notes how long they take.
pub fn sound(programs: &Programs, tests: &[String], times: &mut Times) -> Result<(), String> {
    for test in tests {
        if times.contains_key(test) {
            continue;
        }
        let start = Instant::now();
        if passes(programs, test, None, 10 * LIMIT)? != Some(true) {
            return Err(format!("{test} fails without a mutant"));
        }
        times.insert(test.clone(), start.elapsed());
        eprintln!("{test} takes {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// The outcome for the mutant of this number, or for the one that is built in if there is no number. The
/// quickest tests run first.
pub fn mutant(
    programs: &Programs,
    tests: &[String],
    times: &Times,
    number: Option<usize>,
) -> Result<Outcome, String> {
    let start = Instant::now();
    let default = |test: &str| times.get(test).copied().unwrap_or(LIMIT);
    let limit = LIMIT.max(SLOWER * tests.iter().map(|test| default(test)).sum::<Duration>());
    let mut tests: Vec<&String> = tests.iter().collect();
    tests.sort_by_key(|test| default(test));
    let left = || limit.saturating_sub(start.elapsed());
    for test in tests {
        let hangs = SLOWER * default(test) + LONGER;
        let mut passed = passes(programs, test, number, left().min(hangs))?;
        if passed.is_none() && !left().is_zero() {
            if number.is_none() || quick(programs, test, hangs)? {
                return Ok(Outcome::Hung(test.clone()));
            }
            // the machine has become slower since the times were taken
            passed = passes(programs, test, number, left())?;
        }
        match passed {
            Some(true) => {}
            Some(false) => return Ok(Outcome::Caught(test.clone())),
            None => break,
        }
    }
    Ok(Outcome::Survived)
}

/// Whether a test without a mutant is still through long before it would be said to hang.
fn quick(programs: &Programs, test: &str, hangs: Duration) -> Result<bool, String> {
    Ok(passes(programs, test, None, hangs / SLOWER)? == Some(true))
}

/// Whether all tests of a target, or of one of its modules, pass; `None` if they do not end in time. It ends
/// with the first test that fails.
fn passes(
    programs: &Programs,
    test: &str,
    number: Option<usize>,
    within: Duration,
) -> Result<Option<bool>, String> {
    let (package, target, module) = parts(test);
    let program = programs.get(&(package.into(), target.into())).ok_or(format!("{test}: no such test"))?;
    let path = &program.path;
    let mut command = program.command("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]).arg(path);
    if let Some(module) = module {
        command.arg("--exact").args(those_of(program, module)?);
    }
    number.map(|number| command.env(MUTANT, number.to_string()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| format!("{path:?}: {e}"))?;
    let (tell, said) = channel();
    let out = child.stdout.take().ok_or("a program without output")?;
    std::thread::spawn(move || {
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let failed = lines.any(|line| line.starts_with("test ") && line.ends_with("FAILED"));
        // whoever asked may have stopped waiting
        let _ = tell.send(failed);
    });
    let said = said.recv_timeout(within);
    if said != Ok(false) {
        // it may have ended in between
        let _ = child.kill();
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    Ok(match said {
        Ok(failed) => Some(!failed && status.success()),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(false),
    })
}

/// The paths of the tests of a module, of which there is at least one.
fn those_of(program: &Program, module: &str) -> Result<Vec<String>, String> {
    let mut tests = program.tests()?;
    tests.retain(|test| test.strip_prefix(module).is_some_and(|rest| rest.starts_with("::")));
    if tests.is_empty() { Err(format!("{:?} has no test of {module}", program.path)) } else { Ok(tests) }
}
