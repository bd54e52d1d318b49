//! The program as its user calls it: commands in a directory, what they say, and what is measured.

use divisi::bench::{self, BenchOptions, BenchReport, Phase};
use divisi::calibrate::Calibration;
use divisi::cleanup::Cleanup;
use divisi::local::PartyProgram;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_divisi");

/// That of a machine of which no test looks at the figures.
pub const CALIBRATION: Calibration = Calibration { aes_ctr_gb_s: 1.0, loopback_gbit_s: 1.0, clmul_ns: 1.0 };

/// A small circuit: an AND, and its inverse.
pub const NAND: &str = "2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n1 1 2 3 INV\n";

/// The circuit of one gate with two inputs.
pub fn gate(name: &str) -> String {
    format!("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 {name}\n")
}

/// A command of these words in a directory, which prints an object.
pub fn command(dir: &Path, words: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(dir).args(words.split_whitespace()).args(["--json", "--timeout", "60"]);
    command.env(divisi::calibrate::VARIABLE, "50");
    command
}

pub fn divisi(dir: &Path, words: &str) -> Output {
    command(dir, words).output().unwrap()
}

/// The object that a command prints.
pub fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// The object of a command that succeeds.
pub fn good(dir: &Path, words: &str) -> Value {
    let output = divisi(dir, words);
    assert!(output.status.success(), "{words}: {output:?}");
    told(&output)
}

/// Refused: exit 2, and one sentence that says this.
pub fn refused(dir: &Path, words: &str, says: &str) {
    let output = divisi(dir, words);
    assert_eq!(output.status.code(), Some(2), "{words}: {output:?}");
    let told = told(&output);
    let error = told["error"].as_str().unwrap();
    assert!(error.contains(says) && told["kind"] == "usage", "{words}: no {says:?} in {error}");
    // below it a tip of the parser may stand
    assert_eq!(error.lines().filter(|line| !line.starts_with("  tip: ")).count(), 1, "{error}");
}

/// The object of a phase in that of a benchmark.
pub fn phase<'t>(told: &'t Value, name: &str) -> &'t Value {
    let phases = told["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["name"] == name).unwrap()
}

/// The names of all phases.
pub fn phases(told: &Value) -> Vec<&str> {
    told["phases"].as_array().unwrap().iter().map(|phase| phase["name"].as_str().unwrap()).collect()
}

/// Check that an object has these members, with these values.
#[macro_export]
macro_rules! has {
    ($told:expr, $($members:tt)+) => {
        $crate::program::has_all(&$told, &serde_json::json!({ $($members)+ }))
    };
}

pub fn has_all(told: &Value, members: &Value) {
    for (name, value) in members.as_object().unwrap() {
        // an index would find null where there is no such member
        assert_eq!(told.get(name), Some(value), "{name}: {told}");
    }
}

/// A benchmark by processes of the program.
pub fn measure(options: &BenchOptions) -> BenchReport {
    bench::run(options, &PartyProgram::at(PROGRAM), CALIBRATION, &Cleanup::new(), &|_, _| {}).unwrap()
}

/// The figures of a phase of a benchmark.
pub fn measured(report: &BenchReport, name: &str) -> Phase {
    report.measured.phases.iter().find(|(n, _)| *n == name).unwrap().1
}
