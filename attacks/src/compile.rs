//! Compiles test programs of a copy of the project.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name of this package.
const ATTACKS: &str = "divisi-attacks";

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

/// Compiles these test targets, those of this package last, with these environment variables for cargo. The
/// inner error is what the compiler refuses.
///
/// # Errors
/// If there is no compiler.
pub fn tests(
    copy: &Path,
    built: &Path,
    wanted: &Targets,
    variables: &[(&str, &str)],
) -> Result<Result<Programs, Errors>, String> {
    let mut programs = Programs::new();
    let (own, others): (Vec<_>, Vec<_>) = wanted.iter().partition(|(package, _)| *package == ATTACKS);
    for (package, targets) in others.into_iter().chain(own) {
        let folder = if package == ATTACKS { copy.join("attacks") } else { copy.to_path_buf() };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--no-run", "--message-format=json", "-p", package]);
        cargo.args(features(copy, package));
        cargo.envs(variables.iter().copied()).current_dir(&folder).arg("--target-dir").arg(built);
        for target in targets {
            match target.as_str() {
                "lib" => cargo.arg("--lib"),
                target => cargo.args(["--test", target]),
            };
        }
        let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| format!("cargo: {e}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let mut errors = Errors::default();
            printed.lines().for_each(|line| errors.add(line));
            return Ok(Err(errors));
        }
        for line in printed.lines() {
            if let Some((target, program)) = program(line) {
                programs.insert((package.clone(), target), program);
            }
        }
    }
    Ok(Ok(programs))
}

/// The features of test builds that a package of the project has: its tests need them.
fn features(copy: &Path, package: &str) -> Vec<String> {
    let manifest = copy.join("crates").join(package).join("Cargo.toml");
    // the manifest of this package is elsewhere, and has none of these features
    let manifest = std::fs::read_to_string(manifest).unwrap_or_default();
    let has = |feature: &&str| manifest.contains(&format!("\n{feature} = ["));
    ["testing", "fault"].iter().filter(|f| has(f)).map(|feature| format!("--features={feature}")).collect()
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
fn program(line: &str) -> Option<(String, Program)> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = PathBuf::from(message["executable"].as_str()?);
    let kind = message["target"]["kind"][0].as_str()?;
    let name = if kind == "test" { message["target"]["name"].as_str()? } else { "lib" };
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    Some((name.into(), Program { path, folder }))
}
