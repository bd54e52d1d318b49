//! The program that these tests start is the one that ships: no check of it can be switched off, and nothing
//! be declared verified.
//!
//! Features of one build are shared by all its packages: a dependency of any test of the workspace that
//! turned one on would turn it on in the program, too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn neither_the_program_nor_its_tests_are_a_build_for_tests() {
    const { assert!(!divisi_core::TEST_BUILD) };
    let output = Command::new(env!("CARGO_BIN_EXE_divisi")).arg("--version").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.trim(), concat!("divisi ", env!("CARGO_PKG_VERSION")));
}

/// No manifest of the workspace asks for them, but a feature of the same kind.
#[test]
fn no_manifest_asks_for_features_of_test_builds() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for entry in fs::read_dir(crates).unwrap() {
        let path = entry.unwrap().path().join("Cargo.toml");
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let manifest: toml::Table = text.parse().unwrap();
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let none = toml::Table::new();
            let section = manifest.get(section).and_then(|section| section.as_table()).unwrap_or(&none);
            for (name, dependency) in section.iter().filter(|(name, _)| name.starts_with("divisi")) {
                let features = dependency.get("features").and_then(|features| features.as_array());
                let features: Vec<&str> = features.into_iter().flatten().filter_map(|f| f.as_str()).collect();
                let wrong = features.iter().any(|feature| ["testing", "fault"].contains(feature));
                assert!(!wrong, "{}: {name} with {features:?}", path.display());
            }
        }
    }
}
