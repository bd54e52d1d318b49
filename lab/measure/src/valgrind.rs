//! Building this program and running it under a tool of Valgrind.

use crate::Failure;
use divisi_field::kernel::{Kernel, VARIABLE};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The kernels whose instructions Valgrind knows.
pub const KERNELS: [Kernel; 2] = [Kernel::Portable, Kernel::Avx2];

/// What `valgrind --version` says.
pub fn version() -> Result<String, Failure> {
    let output = Command::new("valgrind").arg("--version").stdin(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success());
    let missing = || {
        Failure::Unable(
            "valgrind is not here: install it (Debian and Ubuntu: apt-get install valgrind) and try again; nothing was measured"
                .to_owned(),
        )
    };
    Ok(text(&output.ok_or_else(missing)?.stdout).trim().to_owned())
}

/// What `rustc --version` says, of the compiler that cargo calls.
pub fn compiler() -> Result<String, Failure> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc).arg("--version").output();
    let output = output.map_err(|e| Failure::Unable(format!("{} --version: {e}", rustc.display())))?;
    Ok(text(&output.stdout).trim().to_owned())
}

/// The folder of the laboratory's workspace.
pub fn own_lab() -> PathBuf {
    above(1)
}

/// The folder this many levels above this package's.
fn above(levels: usize) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(levels).map(Path::to_path_buf).unwrap_or_default()
}

/// The same folder in a copy of the project in which marks of secrets are told to this program: the runner of
/// the attacks writes it.
pub fn tainted_lab() -> Result<PathBuf, Failure> {
    let unable = |what: String| Failure::Unable(format!("cargo run -p divisi-attacks -- --taint: {what}"));
    let output = cargo("run", &own_lab())
        .args(["--quiet", "-p", "divisi-attacks", "--", "--taint"])
        .output()
        .map_err(|e| unable(e.to_string()))?;
    if !output.status.success() {
        return Err(unable(output.status.to_string()));
    }
    Ok(Path::new(text(&output.stdout).trim()).join("lab"))
}

/// A command of cargo on a laboratory's workspace. What it builds lies beside what the project builds, if
/// nobody has named another folder.
fn cargo(command: &str, lab: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let built = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let built = built.unwrap_or_else(|| above(2).join("target"));
    cargo.arg(command).current_dir(lab).arg("--target-dir").arg(built).stderr(Stdio::inherit());
    cargo
}

/// This program, built in this laboratory and this profile.
pub fn build(lab: &Path, profile: &str) -> Result<PathBuf, Failure> {
    let unable = |what: String| Failure::Unable(format!("cargo build --profile {profile}: {what}"));
    let output = cargo("build", lab)
        .args(["-p", "divisi-measure", "--message-format", "json-render-diagnostics", "--profile", profile])
        // the tool names functions and lines also where the compiler has joined functions
        .env(format!("CARGO_PROFILE_{}_DEBUG", profile.to_uppercase().replace('-', "_")), "1")
        .output()
        .map_err(|e| unable(e.to_string()))?;
    if !output.status.success() {
        return Err(unable(output.status.to_string()));
    }
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == "divisi-measure").then_some(())?;
        message["executable"].as_str().map(PathBuf::from)
    };
    let found = text(&output.stdout).lines().filter_map(executable).next_back();
    found.ok_or_else(|| unable("cargo built no program".to_owned()))
}

/// Runs a program under a tool, with this kernel, and returns its output. The tool's own output goes to
/// `log`.
pub fn run(
    tool: &[&str],
    kernel: Kernel,
    log: &Path,
    program: &Path,
    arguments: &[&str],
) -> Result<Output, Failure> {
    let unable = |what: String| Failure::Unable(format!("valgrind {}: {what}", tool.join(" ")));
    let output = Command::new("valgrind")
        .args(tool)
        .arg(format!("--log-file={}", log.display()))
        .arg(program)
        .args(arguments)
        .env(VARIABLE, kernel.name())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| unable(e.to_string()))?;
    match output.status.code() {
        Some(0) => Ok(output),
        Some(2) => Err(unable("the program could not measure".to_owned())),
        _ => {
            let log = std::fs::read_to_string(log).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(20).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            Err(unable(format!("{}\n{}", output.status, tail.join("\n"))))
        }
    }
}

/// Output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
