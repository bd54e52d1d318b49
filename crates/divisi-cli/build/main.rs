//! Writes the commit into the program, for what it measures (`reproduce`).
//!
//! It does so only in optimised builds: nothing else is worth measuring, and the program would be compiled
//! again after each commit. Changes that are not committed are not seen.

mod commit;

use std::path::Path;
use std::{env, fs};

/// The variable that has the commit at compile time. Who builds where no repository is can set it.
const VARIABLE: &str = "DIVISI_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    if env::var_os(VARIABLE).is_some() || env::var_os("PROFILE").is_none_or(|profile| profile != "release") {
        return;
    }
    let Some(package) = env::var_os("CARGO_MANIFEST_DIR") else { return };
    // a published package lies in no repository of this project
    let root = Path::new(&package).join("../..");
    let Some(found) = commit::of(&root, |path| fs::read_to_string(path).ok()) else { return };
    println!("cargo::rustc-env={VARIABLE}={}", found.id);
    // of a file that is not there cargo says that it has changed
    for path in found.read.iter().filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}
