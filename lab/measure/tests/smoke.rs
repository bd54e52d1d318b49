//! Quick tests that the guards work at all; the guards themselves are commands (docs/measuring.md).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_divisi-measure");

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// Whether Valgrind is here; where it is not, a test says that it was skipped.
fn valgrind() -> bool {
    let here = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !here {
        println!("skipped: valgrind is not here");
    }
    here
}

#[test]
fn a_machine_without_valgrind_is_told_so() {
    for arguments in [&["instructions"][..], &["instructions", "--update"], &["poison"]] {
        let output = run(Command::new(PROGRAM).args(arguments).env("PATH", ""));
        assert_eq!(output.status.code(), Some(2));
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(words.contains("valgrind is not here"), "{words}");
    }
}

#[test]
fn wrong_usage_is_told_so() {
    let calls: [&[&str]; 4] =
        [&[], &["dudect", "--short"], &["child-instructions", "all"], &["child-poison", "all"]];
    for arguments in calls {
        let output = run(Command::new(PROGRAM).args(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// What follows secrets is another build, from a copy of the project: in this one nothing marks them.
#[test]
fn nothing_is_marked_in_this_build() {
    if !valgrind() {
        return;
    }
    let output = run(Command::new("valgrind")
        .args(["--tool=none", "--quiet", PROGRAM, "child-poison", "all"])
        .env("DIVISI_KERNEL", "portable"));
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("nothing marks secrets in this build"), "{words}");
}

/// The count of one kernel, as callgrind writes it.
fn instructions(folder: &Path) -> u64 {
    let output = run(Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", folder.join("out").display()))
        .args([PROGRAM, "child-instructions", "gf4 mul"])
        .env("DIVISI_KERNEL", "portable"));
    assert!(output.status.success(), "{output:?}");
    let mut files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let dump = files.find(|text| text.contains("Client Request: gf4 mul")).unwrap();
    let summary = dump.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap();
    summary.trim().parse().unwrap()
}

#[test]
fn a_kernel_counts_the_same_twice() {
    if !valgrind() {
        return;
    }
    let counts = [0, 1].map(|_| instructions(tempfile::tempdir().unwrap().path()));
    assert!(counts[0] > 1000 && counts[0] == counts[1], "{counts:?}");
}

/// The clock of this machine tells inputs of the planted leaks apart.
#[test]
fn the_clock_sees_planted_leaks() {
    let output = run(Command::new(PROGRAM).args(["dudect", "--smoke"]));
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{words}");
    assert!(words.contains("both planted leaks seen, and 0 kernels"), "{words}");
}
