//! The program `divisi`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    divisi_cli::main()
}
