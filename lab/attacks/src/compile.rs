//! Compiles test programs of a copy of the project, and runs them.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// A compiled test program.
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// The folder of its package, in which it runs.
    pub folder: PathBuf,
}

/// The variables by which a run of a program is told what is weakened in it, or changed.
pub const WEAKENED: &str = "DIVISI_WEAKENED";
/// The same for mutants.
pub const MUTANT: &str = "DIVISI_MUTANT";

impl Program {
    /// A command that runs where the tests of this program run, with nothing weakened or changed.
    #[must_use]
    pub fn command(&self, run: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(run);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).stdin(Stdio::null());
        command.env_remove(WEAKENED).env_remove(MUTANT);
        command
    }

    /// The paths of its tests.
    ///
    /// # Errors
    /// If it does not run.
    pub fn tests(&self) -> Result<Vec<String>, String> {
        let mut command = self.command(&self.path);
        let output = command.args(["--list", "--format", "terse"]).stderr(Stdio::null()).output();
        let output = output.map_err(|e| format!("{:?}: {e}", self.path))?;
        let listed = String::from_utf8_lossy(&output.stdout);
        Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }
}

/// Start a command as the head of a group of its own, which [`kill`] ends.
///
/// # Errors
/// If it cannot be run.
pub fn start(command: &mut Command) -> Result<Child, String> {
    command.process_group(0).spawn().map_err(|e| format!("{command:?}: {e}"))
}

/// End a child of [`start`], with the servers that it has started: they would outlive it.
pub fn kill(child: &mut Child) {
    let group = format!("kill -s KILL -- -{}", child.id());
    // the group may have ended in between
    let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
    let _ = child.kill();
}

/// How a command ends; `None` if it takes longer than this, and is killed.
///
/// # Errors
/// If it cannot be run.
pub fn ended(command: &mut Command, within: Duration) -> Result<Option<ExitStatus>, String> {
    let mut child = start(command)?;
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => return Ok(Some(status)),
            None if start.elapsed() > within => {
                kill(&mut child);
                let _ = child.wait();
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Does the jobs on so many threads, and tells the number and result of each when it is done.
///
/// # Errors
/// The first error of `done`, after which no other job begins.
pub fn at_once<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(usize, &J) -> R + Sync,
    mut done: impl FnMut(usize, R) -> Result<(), String>,
) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let (tell, said) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (tell, next, work) = (tell.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(i) else { break };
                    // the receiver stops when it meets an error
                    if tell.send((i, work(i, job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(tell);
        said.into_iter().try_for_each(|(i, result)| done(i, result))
    })
}

/// The number of cores.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The programs, by package and target.
pub type Programs = BTreeMap<(String, String), Program>;

/// Test targets by package, `lib` for the unit tests.
pub type Targets = BTreeMap<String, BTreeSet<String>>;

/// Where the compiler does not take something.
#[derive(Debug)]
pub struct ErrorSite {
    /// The file, by its path from the project's folder.
    pub file: PathBuf,
    /// The place in it, in bytes.
    pub at: Range<usize>,
    /// The number of the error.
    pub code: String,
}

/// What the compiler does not take.
#[derive(Debug, Default)]
pub struct Errors {
    /// The places of the errors.
    pub places: Vec<ErrorSite>,
    /// The compiler's messages.
    pub said: String,
}

/// The variable by which cargo is told where to keep what only it reads; versions before 1.91 do not know it,
/// and build all in the target folder.
const INTERMEDIATE: &str = "CARGO_BUILD_BUILD_DIR";

/// What is compiled for a few tests only is compiled in four fifths of the time at level 1 (235 s instead of
/// 298 s), and these tests take no longer (45 s).
const LEVEL: (&str, &str) = ("CARGO_PROFILE_DEV_OPT_LEVEL", "1");

/// Compiles these test targets in one build. A target of one package is built for each of them that has it.
/// What others wrote is taken from the project's own builds if it is there. The inner error is what the
/// compiler refuses.
///
/// # Errors
/// If there is no compiler, or the copy is no folder of a folder of `target`.
pub fn tests(copy: &Path, wanted: &Targets) -> Result<Result<Programs, Errors>, String> {
    if wanted.is_empty() {
        // cargo would build everything
        return Ok(Ok(Programs::new()));
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--no-run", "--message-format=json"]);
    let [Some(folder), Some(target)] = [1, 2].map(|above| copy.ancestors().nth(above)) else {
        return Err(format!("{copy:?} is no folder of a folder of `target`"));
    };
    cargo.arg("--target-dir").arg(folder.join("build")).env(INTERMEDIATE, target);
    cargo.env(LEVEL.0, LEVEL.1).current_dir(copy);
    wanted.keys().for_each(|package| _ = cargo.args(["-p", package]));
    let targets: BTreeSet<&str> = wanted.values().flatten().map(String::as_str).collect();
    for target in targets {
        match target {
            "lib" => cargo.arg("--lib"),
            target => cargo.args(["--test", target]),
        };
    }
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| format!("cargo: {e}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        Ok(Ok(printed.lines().filter_map(program).collect()))
    } else {
        let mut errors = Errors::default();
        printed.lines().for_each(|line| errors.add(line));
        Ok(Err(errors))
    }
}

impl Errors {
    /// Adds the error that a message of cargo reports, if it reports one.
    fn add(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let message = &message["message"];
        if message["level"] != "error" {
            return;
        }
        self.said.push_str(message["rendered"].as_str().unwrap_or_default());
        let place = |span: &Value| {
            let byte = |name: &str| span[name].as_u64().and_then(|at| usize::try_from(at).ok());
            let code = message["code"]["code"].as_str().unwrap_or_default().to_owned();
            let file = PathBuf::from(span["file_name"].as_str()?);
            Some(ErrorSite { file, at: byte("byte_start")?..byte("byte_end")?, code })
        };
        let spans = message["spans"].as_array().into_iter().flatten();
        // of what a macro makes, the place where it is used, too
        let used = |span: &Value| Some(span["expansion"]["span"].clone()).filter(Value::is_object);
        for span in spans.filter(|span| span["is_primary"] == true) {
            self.places
                .extend(std::iter::successors(Some(span.clone()), used).filter_map(|span| place(&span)));
        }
    }
}

/// The test program that a message of cargo tells of.
fn program(line: &str) -> Option<((String, String), Program)> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = PathBuf::from(message["executable"].as_str()?);
    if message["profile"]["test"] != true {
        return None;
    }
    let package = package(message["package_id"].as_str()?)?.to_owned();
    let kind = message["target"]["kind"][0].as_str()?;
    let name = if kind == "test" { message["target"]["name"].as_str()? } else { "lib" };
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    Some(((package, name.into()), Program { path, folder }))
}

/// The name in a package's id: `path+file:///folder#name@version`, or `path+file:///folder/name#version`.
fn package(id: &str) -> Option<&str> {
    let (place, rest) = id.rsplit_once('#')?;
    match rest.split_once('@') {
        Some((name, _)) => Some(name),
        None => place.rsplit('/').next(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Errors, Value, kill, package, start};
    use serde_json::json;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn an_error_in_a_macro_has_the_place_where_it_is_used() {
        let span = |file: &str, expansion: Value| {
            json!({
                "file_name": file, "byte_start": 3, "byte_end": 9, "is_primary": true, "expansion": expansion
            })
        };
        let used = json!({ "span": span("own.rs", Value::Null) });
        let message = json!({ "level": "error", "spans": [span("macros.rs", used)] });
        let mut errors = Errors::default();
        errors.add(&json!({ "message": message }).to_string());
        let files: Vec<_> =
            errors.places.iter().map(|place| (place.file.to_str(), place.at.clone())).collect();
        assert_eq!(files, [(Some("macros.rs"), 3..9), (Some("own.rs"), 3..9)]);
    }

    /// A server that a test has started ends with the test.
    #[test]
    fn whoever_is_killed_leaves_no_child() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo $!; wait"]).stdout(Stdio::piped());
        let mut child = start(&mut command).unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().parse::<u32>().is_ok());
        kill(&mut child);
        assert!(!child.wait().unwrap().success());
        // both have closed what they write to
        assert!(lines.next().is_none());
    }

    #[test]
    fn a_package_is_named_by_its_id() {
        assert_eq!(package("path+file:///tree/crates/divisi-rep3#0.1.0"), Some("divisi-rep3"));
        assert_eq!(package("path+file:///tree/lab/attacks#divisi-attacks@0.1.0"), Some("divisi-attacks"));
    }
}
