//! Runs the tests, without a weakening and with each.

use crate::list::{ENGINES, List, Weakening};
use crate::tree::VARIABLE;
use divisi_attacks::compile::{Program, Programs};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A run that takes longer counts as one that has noticed nothing.
const LIMIT: Duration = Duration::from_secs(120);

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    TimedOut,
    /// No test has this path.
    Missing,
}

/// Whether every test passes without a weakening, and fails with each that it is said to notice. Prints a
/// line for each weakening, and one at the end.
pub fn all(list: &List, programs: &Programs) -> Result<bool, String> {
    let mut tests: BTreeMap<&str, &Weakening> = BTreeMap::new();
    list.0.iter().for_each(|weakening| {
        tests.entry(&weakening.killed_by).or_insert(weakening);
    });
    let tests: Vec<&Weakening> = tests.into_values().collect();
    let as_it_is = in_parallel(&tests, |weakening| run(weakening, programs, None))?;
    let mut fine = true;
    for (weakening, end) in tests.iter().zip(&as_it_is).filter(|(_, end)| **end != End::Passed) {
        println!("without a weakening {}: {end:?}", weakening.killed_by);
        fine = false;
    }
    let weakened: Vec<&Weakening> = list.0.iter().collect();
    let ends = in_parallel(&weakened, |weakening| run(weakening, programs, Some(&weakening.id)))?;
    for (weakening, end) in list.0.iter().zip(&ends) {
        let said = match end {
            End::Failed => "killed  ",
            End::Passed => "SURVIVED",
            End::TimedOut => "HANGS   ",
            End::Missing => "NO TEST ",
        };
        println!("{said} {:5} {}: {}", weakening.check, weakening.id, weakening.killed_by);
    }
    let mut sums = Vec::new();
    for engine in ENGINES {
        let its = list.0.iter().zip(&ends).filter(|(weakening, _)| weakening.engine == engine);
        let killed = its.clone().filter(|(_, end)| **end == End::Failed).count();
        let all = its.count();
        fine &= killed == all;
        sums.push(format!("{engine} {killed} of {all}"));
    }
    println!("weakened: {} killed", sums.join(", "));
    Ok(fine)
}

/// Runs the jobs on all cores; returns the results in order.
fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<R, String>)>> = Mutex::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(i) else { break };
                    let result = work(job);
                    results.lock().unwrap_or_else(|e| e.into_inner()).push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

fn run(weakening: &Weakening, programs: &Programs, weakened: Option<&str>) -> Result<End, String> {
    let (package, target, path) = weakening.test()?;
    let Some(Program { path: program, folder }) = programs.get(&(package.into(), target.into())) else {
        return Ok(End::Missing);
    };
    let mut command = Command::new(program);
    command.args([path, "--exact", "--include-ignored"]).current_dir(folder);
    command.env("CARGO_MANIFEST_DIR", folder).env_remove(VARIABLE);
    weakened.map(|id| command.env(VARIABLE, id));
    let output = tempfile(weakening, weakened.is_some())?;
    let copy = output.try_clone().map_err(|e| e.to_string())?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(copy)
        .spawn()
        .map_err(|e| format!("{program:?}: {e}"))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if start.elapsed() > LIMIT => {
                // the process may have ended in between
                let _ = child.kill();
                let _ = child.wait();
                return Ok(End::TimedOut);
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if !status.success() {
        return Ok(End::Failed);
    }
    let printed = std::fs::read_to_string(printed(weakening, weakened.is_some())).unwrap_or_default();
    Ok(if printed.contains("running 1 test") { End::Passed } else { End::Missing })
}

/// Where a run's output is kept, to be read when something is not as expected.
fn printed(weakening: &Weakening, weakened: bool) -> std::path::PathBuf {
    let name = if weakened { weakening.id.clone() } else { weakening.killed_by.replace(['/', ':'], "-") };
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/weakened/output").join(name)
}

fn tempfile(weakening: &Weakening, weakened: bool) -> Result<std::fs::File, String> {
    let path = printed(weakening, weakened);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{folder:?}: {e}"))?;
    }
    std::fs::File::create(&path).map_err(|e| format!("{path:?}: {e}"))
}
