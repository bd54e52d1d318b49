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

/// This program, built in this profile.
pub fn build(profile: &str, features: &str) -> Result<PathBuf, Failure> {
    let unable = |what: String| Failure::Unable(format!("cargo build --profile {profile}: {what}"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // beside what the project builds, if nobody has named another folder
    let built = std::env::var_os("CARGO_TARGET_DIR");
    let built = built.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../target").into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "-p", "divisi-measure", "--message-format", "json-render-diagnostics"])
        .args(["--profile", profile, "--features", features, "--target-dir"])
        .arg(built)
        // the tool names functions and lines also where the compiler has joined functions
        .env(format!("CARGO_PROFILE_{}_DEBUG", profile.to_uppercase().replace('-', "_")), "1")
        .stderr(Stdio::inherit())
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
