//! `poison`: whether a branch or an address depends on a secret, by memcheck.
//!
//! Memcheck follows undefined memory through every instruction and reports where a branch or an address
//! depends on it. So inputs of kernels, shares of inputs and keys are declared undefined, and what a protocol
//! opens is declared defined again: what memcheck then reports depends on a secret (Langley, ctgrind). The
//! functions that say so ([`divisi_core::taint`]) are empty in the project: this program is built once more,
//! from a copy in which they report to it (`following`).

use crate::Failure;
use crate::valgrind;
use divisi_field::kernel::Kernel;
use std::path::Path;

/// The argument with which this program runs under memcheck.
pub const CHILD: &str = "child-poison";

/// What is followed if nothing is named.
pub const ALL: &str = "";

/// The profiles in which the program is built: one optimisation level below what is shipped, and as it is
/// shipped.
const PROFILES: [(&str, &str); 2] = [("measure-o2", "opt-level 2"), ("release", "opt-level 3")];

const TOOL: [&str; 7] = [
    "--tool=memcheck",
    "--error-limit=no",
    "--leak-check=no",
    "--expensive-definedness-checks=yes",
    "--fair-sched=yes",
    "--num-callers=16",
    concat!("--suppressions=", env!("CARGO_MANIFEST_DIR"), "/poison.supp"),
];

/// Follows the kernels and runs whose names contain `what`, and all controls. Fails if memcheck reports
/// anything but the planted leaks, or does not report these, or if something is opened that no protocol
/// opens.
pub fn check(what: &str) -> Result<(), Failure> {
    valgrind::version()?;
    let lab = valgrind::tainted_lab()?;
    let mut wrong = Vec::new();
    for (profile, level) in PROFILES {
        let program = valgrind::build(&lab, profile)?;
        for kernel in valgrind::KERNELS {
            println!("\n== kernel {kernel}, {level}");
            wrong.extend(
                follow(&program, kernel, what)?.into_iter().map(|what| format!("{kernel}, {level}: {what}")),
            );
        }
    }
    if wrong.is_empty() {
        println!("\nnothing but the planted leaks depends on a secret, and nothing else was opened");
        return Ok(());
    }
    Err(Failure::Broken(wrong.join("\n")))
}

/// Follows everything with one kernel; returns a sentence for each thing that is wrong.
fn follow(program: &Path, kernel: Kernel, what: &str) -> Result<Vec<String>, Failure> {
    let log = program.with_file_name(format!("poison-{kernel}.log"));
    let output = valgrind::run(&TOOL, kernel, &log, program, &[CHILD, what])?;
    let output = valgrind::text(&output.stdout);
    print!("{output}");
    let mut wrong: Vec<String> =
        output.lines().filter_map(|line| line.strip_prefix(WRONG)).map(str::to_owned).collect();
    if !output.lines().any(|line| line == COMPLETE) {
        wrong.push("the run did not come to its end".to_owned());
    }
    println!("where: {}", log.display());
    Ok(wrong)
}

/// The beginning of a line that reports something wrong.
pub const WRONG: &str = "WRONG: ";
/// The last line of a run that came to its end.
pub const COMPLETE: &str = "complete";
