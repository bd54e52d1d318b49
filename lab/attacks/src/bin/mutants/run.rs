//! Runs tests against mutants.

use crate::concern::parts;
use crate::reach::Reach;
use crate::table::Outcome;
use divisi_attacks::compile::{MUTANT, Programs, kill, start};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The time that all tests of a mutant together may take, or `SLOWER` times what they take without one, if
/// that is more; tests that have not ended by then have noticed nothing.
pub const LIMIT: Duration = Duration::from_secs(150);
/// Tests hang if they take more than `SLOWER` times as long as without a mutant, and `LONGER` in addition:
/// the machine may have much else to do.
const SLOWER: u32 = 3;
const LONGER: Duration = Duration::from_secs(10);
/// The memory that a test may use, in KiB: a mutant may allocate without end.
const MEMORY: &str = "12000000";

/// Tests of one program that run together.
pub struct Job {
    /// The words that name them (`concern`): a target, or a module of one.
    pub target: String,
    /// Their paths.
    pub names: Vec<String>,
}

/// The outcome for the mutant of this number, or for the one that is built in if there is no number, by these
/// targets.
pub fn mutant(
    programs: &Programs,
    targets: &[String],
    reach: &Reach,
    number: Option<usize>,
) -> Result<Outcome, String> {
    let start = Instant::now();
    let jobs = reach.jobs(targets, number);
    let limit = LIMIT.max(SLOWER * jobs.iter().map(|(_, takes)| *takes).sum::<Duration>());
    let left = || limit.saturating_sub(start.elapsed());
    for (job, takes) in &jobs {
        let hangs = SLOWER * *takes + LONGER;
        let mut passed = passes(programs, job, number, &[], left().min(hangs))?;
        if passed.is_none() && !left().is_zero() {
            // without a mutant it is through long before
            if number.is_none() || passes(programs, job, None, &[], hangs / SLOWER)? == Some(None) {
                return Ok(Outcome::Hung(job.target.clone()));
            }
            // the machine has become slower since the times were taken
            passed = passes(programs, job, number, &[], left())?;
        }
        match passed {
            Some(None) => {}
            Some(Some(test)) => return Ok(Outcome::Caught(format!("{} {test}", job.target))),
            None => break,
        }
    }
    Ok(Outcome::Survived(jobs.iter().map(|(job, _)| job.names.len()).sum()))
}

/// Runs tests with these variables, to the first that fails: `Some(None)` if none does, else its path, if it
/// has said it; `None` if they do not end in time.
pub fn passes(
    programs: &Programs,
    job: &Job,
    number: Option<usize>,
    variables: &[(&str, &OsStr)],
    within: Duration,
) -> Result<Option<Option<String>>, String> {
    let (package, target, _) = parts(&job.target);
    let program =
        programs.get(&(package.into(), target.into())).ok_or(format!("{}: no such test", job.target))?;
    let path = &program.path;
    let mut command = program.command("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]).arg(path);
    command.arg("--exact").args(&job.names).envs(variables.iter().copied());
    number.map(|number| command.env(MUTANT, number.to_string()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = start(&mut command)?;
    let (tell, said) = channel();
    let out = child.stdout.take().ok_or("a program without output")?;
    std::thread::spawn(move || {
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let failed = lines.find_map(|line| {
            let test = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
            Some(test.to_owned())
        });
        // whoever asked may have stopped waiting
        let _ = tell.send(failed);
    });
    let said = said.recv_timeout(within);
    if said != Ok(None) {
        kill(&mut child);
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    Ok(match said {
        Ok(None) if status.success() => Some(None),
        Ok(failed) => Some(Some(failed.unwrap_or_default())),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Some(String::new())),
    })
}

/// The paths of the tests of a target or of one of its modules, of which there is at least one.
pub fn names(programs: &Programs, target: &str) -> Result<Vec<String>, String> {
    let (package, name, module) = parts(target);
    let program = programs.get(&(package.into(), name.into())).ok_or(format!("{target}: no such test"))?;
    let mut tests = program.tests()?;
    let inside =
        |test: &str, module: &str| test.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"));
    tests.retain(|test| module.is_none_or(|module| inside(test, module)));
    if tests.is_empty() { Err(format!("{:?} has no test of {target}", program.path)) } else { Ok(tests) }
}
