//! Checks of speed and constant time, as commands for developers of Divisi. Nothing depends on this crate.
//!
//! | command | what it tells | with |
//! |---|---|---|
//! | `instructions` | whether a kernel or a protocol executes more instructions than it did | callgrind |
//! | `poison` | whether a branch or an address depends on what no protocol opened | memcheck |
//! | `dudect` | whether timings tell secret inputs apart, where memcheck knows no instructions | the processor's clock |
//!
//! What each shows, and what it does not: docs/measuring.md.
#![deny(unsafe_code)]

mod calls;
mod dudect;
mod following;
mod garbling;
mod instructions;
mod lattices;
mod ledger;
#[allow(unsafe_code)]
mod machine;
mod mixing;
mod noise;
mod one_shot;
mod openings;
mod poison;
mod runs;
mod subjects;
mod tables;
mod valgrind;
mod welch;

use std::fmt;
use std::process::ExitCode;

const USAGE: &str =
    "usage: divisi-measure instructions [--update] | poison [--only NAME] | dudect [--smoke | --long]";

/// Why a command did not end well.
#[derive(Debug)]
enum Failure {
    /// What is guarded does not hold.
    Broken(String),
    /// It could not be measured.
    Unable(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Broken(what) | Failure::Unable(what) => f.write_str(what),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["instructions"] => instructions::check(),
        ["instructions", "--update"] => instructions::update(),
        ["poison"] => poison::check(poison::ALL),
        ["poison", "--only", what] => poison::check(what),
        ["dudect"] => dudect::check(&dudect::SHORT),
        ["dudect", "--smoke"] => dudect::check(&dudect::SMOKE),
        ["dudect", "--long"] => dudect::check(&dudect::LONG),
        // what the commands run under valgrind, and .ci/arm-instructions under an emulator
        [instructions::CHILD, what] => instructions::child(what),
        [instructions::MARKED_CHILD, what] => instructions::marked_child(what),
        [poison::CHILD, what] => following::child(what),
        _ => Err(Failure::Unable(USAGE.to_owned())),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(match failure {
                Failure::Broken(_) => 1,
                Failure::Unable(_) => 2,
            })
        }
    }
}
