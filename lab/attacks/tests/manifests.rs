//! The laboratory is a workspace of its own, and builds the project as the project builds itself: with its
//! profiles, its lints and its versions of dependencies. A stranger's program has no feature of tests.

use divisi_attacks::mirror::project;
use std::collections::BTreeSet;
use std::process::Command;
use toml::{Table, Value};

const MANIFESTS: [&str; 2] = ["lab/Cargo.toml", "Cargo.toml"];

/// A file of TOML, by its path from the project's folder.
fn read(file: &str) -> Table {
    std::fs::read_to_string(project().unwrap().join(file)).unwrap().parse().unwrap()
}

/// The packages of a lock file.
fn packages(lock: &str) -> Vec<Value> {
    read(lock)["package"].as_array().unwrap().clone()
}

#[test]
fn profiles_are_the_projects() {
    let [mut own, mut expected] = MANIFESTS.map(|file| read(file)["profile"].as_table().unwrap().clone());
    assert!(own.remove("measure-o2").is_some(), "the one profile that the project does not have");
    let built = packages("lab/Cargo.lock");
    let is_built = |name: &str| built.iter().any(|package| package["name"].as_str() == Some(name));
    let lines = expected["dev"]["package"].as_table_mut().unwrap();
    // cargo warns of a line for a package that is not built
    lines.retain(|name, _| name == "*" || is_built(name));
    assert!(lines.len() > 40, "{lines:?}");
    assert_eq!(own, expected);
}

#[test]
fn lints_and_editions_are_the_projects() {
    let [own, expected] = MANIFESTS.map(|file| read(file)["workspace"].clone());
    for key in ["lints", "resolver"] {
        assert_eq!(own[key], expected[key], "{key}");
    }
    for key in ["edition", "license", "rust-version", "version"] {
        assert_eq!(own["package"][key], expected["package"][key], "{key}");
    }
}

#[test]
fn versions_are_the_projects() {
    let version = |package: &Value| ["name", "version", "checksum"].map(|key| package.get(key).cloned());
    let expected: Vec<_> = packages("Cargo.lock").iter().map(version).collect();
    let own = packages("lab/Cargo.lock");
    // what only the laboratory needs, as criterion does, has a version of its own
    let is_shared = |package: &[Option<Value>; 3]| expected.iter().any(|other| other[0] == package[0]);
    let shared = own.iter().map(version).filter(|package| package[2].is_some() && is_shared(package));
    let (equal, others): (Vec<_>, Vec<_>) = shared.partition(|package| expected.contains(package));
    assert!(equal.len() > 100 && others.is_empty(), "{others:?}");
}

/// The packages that are built with these, each with its features.
fn features(of: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--locked", "--prefix", "none", "--no-dedupe"]);
    cargo.args(["--edges", "normal,build,dev", "--format", "{p} [{f}]"]);
    of.iter().for_each(|package| _ = cargo.args(["--package", package]));
    let output = cargo.current_dir(project().unwrap().join("lab")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The checks build divisi-measure and the stranger's program together, so that the project is built once for
/// both.
#[test]
fn a_strangers_program_is_built_as_if_alone() {
    let alone = features(&["divisi-stranger"]);
    let of_tests = |line: &&String| line.starts_with("divisi") && !line.ends_with(" []");
    assert!(alone.iter().any(|line| line.starts_with("divisi-core ")));
    assert_eq!(alone.iter().find(of_tests), None, "no crate of the project has a feature");
    assert!(features(&["divisi-attacks"]).iter().any(|line| of_tests(&line)), "where one has, it is seen");
    let mut both = features(&["divisi-stranger", "divisi-measure"]);
    both.retain(|line| !line.starts_with("divisi-measure ") && !line.is_empty());
    assert_eq!(both, alone);
}
