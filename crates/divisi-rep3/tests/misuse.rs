//! Misuse does not compile: what the types alone forbid (M0.7, A13; ASSURANCE 1.18).
//!
//! Each program of `tests/misuse` begins with what the compiler must say about it. They are checked in a crate of their own, by
//! the compiler that built this test; only the kind of error is compared, which is the same in every version of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What each program says of itself, by name.
fn programs() -> BTreeMap<String, (String, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse");
    let one = |path: std::path::PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let text = std::fs::read_to_string(&path).ok()?;
        let expected = text.strip_prefix("//! [")?.split(']').next()?.to_owned();
        Some((name, (expected, text)))
    };
    std::fs::read_dir(dir).unwrap().map(|entry| one(entry.unwrap().path()).expect("a program with its error")).collect()
}

#[test]
fn misuse_does_not_compile() {
    let programs = programs();
    assert!(programs.len() > 20);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let root = crates.parent().unwrap();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuse");
    std::fs::create_dir_all(place.join("src/bin")).unwrap();
    for (name, (_, text)) in &programs {
        std::fs::write(place.join(format!("src/bin/{name}.rs")), text).unwrap();
    }
    // the same versions and profiles as the workspace, so that what is built already is not built again
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let profiles = workspace.find("[profile.").map_or("", |at| &workspace[at..]);
    let dependency = |name: &str| format!("{name} = {{ path = {:?} }}\n", crates.join(name));
    let manifest = format!(
        "[package]\nname = \"misuse\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{}{}{}\n[workspace]\n\n{profiles}",
        dependency("divisi-core"),
        dependency("divisi-field"),
        dependency("divisi-rep3"),
    );
    std::fs::write(place.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(root.join("Cargo.lock"), place.join("Cargo.lock")).unwrap();

    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--bins", "--keep-going", "--message-format=short", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuse-target"))
        .current_dir(&place)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    for (name, (expected, _)) in &programs {
        let file = format!("src/bin/{name}.rs:");
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with(&file) && line.contains(": error")).collect();
        if expected == "compiles" {
            assert!(errors.is_empty() && said.contains("could not compile"), "{name}: {errors:?}\n{said}");
        } else {
            assert!(!errors.is_empty() && errors.iter().all(|line| line.contains(expected.as_str())), "{name}: {errors:?}\n{said}");
        }
    }
}
