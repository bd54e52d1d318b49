//! Runs the tests, without a weakening and with each.

use crate::list::{ENGINES, List, Weakening};
use divisi_attacks::compile::{Programs, WEAKENED, at_once, cores, ended};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    let as_it_is = in_parallel(&tests, programs, false)?;
    let mut fine = true;
    for (weakening, end) in tests.iter().zip(&as_it_is).filter(|(_, end)| **end != End::Passed) {
        println!("without a weakening {}: {end:?}", weakening.killed_by);
        fine = false;
    }
    let weakened: Vec<&Weakening> = list.0.iter().collect();
    let ends = in_parallel(&weakened, programs, true)?;
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

/// How the tests of these weakenings end, one for each, `weakened` or not.
fn in_parallel(of: &[&Weakening], programs: &Programs, weakened: bool) -> Result<Vec<End>, String> {
    let mut ends = vec![End::Missing; of.len()];
    at_once(
        of,
        cores(),
        |_, weakening| run(weakening, programs, weakened),
        |i, end| {
            ends[i] = end?;
            Ok(())
        },
    )?;
    Ok(ends)
}

fn run(weakening: &Weakening, programs: &Programs, weakened: bool) -> Result<End, String> {
    let (package, target, path) = weakening.test()?;
    let Some(program) = programs.get(&(package.into(), target.into())) else { return Ok(End::Missing) };
    let mut command = program.command(&program.path);
    command.args([path, "--exact", "--include-ignored"]);
    if weakened {
        command.env(WEAKENED, &weakening.id);
    }
    let printed = printed(weakening, weakened);
    let output = created(&printed).map_err(|e| format!("{printed:?}: {e}"))?;
    command.stdout(output.try_clone().map_err(|e| e.to_string())?).stderr(output);
    Ok(match ended(&mut command, LIMIT)? {
        None => End::TimedOut,
        Some(status) if !status.success() => End::Failed,
        Some(_) => {
            let printed = std::fs::read_to_string(printed).unwrap_or_default();
            if printed.contains("running 1 test") { End::Passed } else { End::Missing }
        }
    })
}

/// Where a run's output is kept, to be read when something is not as expected.
fn printed(weakening: &Weakening, weakened: bool) -> PathBuf {
    let name = if weakened { weakening.id.clone() } else { weakening.killed_by.replace(['/', ':'], "-") };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/weakened/output").join(name)
}

fn created(path: &Path) -> std::io::Result<File> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    File::create(path)
}
