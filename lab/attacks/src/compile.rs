//! Compiles test programs of a copy of the project.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A compiled test program.
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// The folder of its package, in which it runs.
    pub folder: PathBuf,
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

/// Compiles these test targets in one build, with these environment variables for cargo. A target of one
/// package is built for each of them that has it. The inner error is what the compiler refuses.
///
/// # Errors
/// If there is no compiler.
pub fn tests(
    copy: &Path,
    built: &Path,
    wanted: &Targets,
    variables: &[(&str, &str)],
) -> Result<Result<Programs, Errors>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--no-run", "--message-format=json"]).arg("--target-dir").arg(built);
    cargo.envs(variables.iter().copied()).current_dir(copy);
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
        self.places.extend(spans.filter(|span| span["is_primary"] == true).filter_map(place));
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
    use super::package;

    #[test]
    fn a_package_is_named_by_its_id() {
        assert_eq!(package("path+file:///tree/crates/divisi-rep3#0.1.0"), Some("divisi-rep3"));
        assert_eq!(package("path+file:///tree/lab/attacks#divisi-attacks@0.1.0"), Some("divisi-attacks"));
    }
}
