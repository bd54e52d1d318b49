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

/// What builds for tests are built with.
const OF_TEST_BUILDS: [&str; 2] = ["testing", "fault"];

/// The strings of a list, if it is one.
fn strings(list: Option<&toml::Value>) -> impl Iterator<Item = &str> {
    list.and_then(|list| list.as_array()).into_iter().flatten().filter_map(|string| string.as_str())
}

/// The tables of dependencies of a manifest: those of the package, of the workspace, and of single targets.
fn dependencies(manifest: &toml::Table) -> Vec<&toml::Table> {
    let mut owners = vec![manifest];
    owners.extend(manifest.get("workspace").and_then(|workspace| workspace.as_table()));
    let targets = manifest.get("target").and_then(|targets| targets.as_table());
    owners.extend(targets.into_iter().flat_map(|targets| targets.values()).filter_map(|one| one.as_table()));
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    owners.iter().flat_map(|owner| tables.iter().filter_map(|name| owner.get(*name)?.as_table())).collect()
}

/// What a manifest asks for in builds that ship, and may not.
fn wrong(manifest: &toml::Table) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, dependency) in dependencies(manifest).into_iter().flatten() {
        let package = dependency.get("package").and_then(|package| package.as_str()).unwrap_or(name);
        let asks = strings(dependency.get("features")).filter(|feature| OF_TEST_BUILDS.contains(feature));
        wrong.extend(
            asks.filter(|_| package.starts_with("divisi")).map(|feature| format!("{name}: {feature}")),
        );
    }
    // a feature of the same kind asks for it below, and no other
    let features = manifest.get("features").and_then(|features| features.as_table());
    for (name, parts) in features.into_iter().flatten() {
        if OF_TEST_BUILDS.contains(&name.as_str()) {
            continue;
        }
        let parts = strings(Some(parts)).filter(|part| {
            OF_TEST_BUILDS.contains(part)
                || part.rsplit_once('/').is_some_and(|(_, f)| OF_TEST_BUILDS.contains(&f))
        });
        wrong.extend(parts.map(|part| format!("feature {name}: {part}")));
    }
    wrong
}

/// No manifest of the workspace asks for them, but a feature of the same kind.
#[test]
fn no_manifest_asks_for_features_of_test_builds() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut manifests = vec![crates.parent().unwrap().join("Cargo.toml")];
    manifests.extend(fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("Cargo.toml")));
    manifests.retain(|path| path.exists());
    assert!(manifests.len() > 15, "manifests are found: {}", manifests.len());
    for path in manifests {
        let manifest: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        assert_eq!(wrong(&manifest), [""; 0], "{}", path.display());
    }
}

#[test]
fn a_request_is_found_wherever_a_manifest_can_have_it() {
    let asks = r#"{ path = "../divisi-core", features = ["fault"] }"#;
    for table in [
        "dependencies",
        "dev-dependencies",
        "build-dependencies",
        "workspace.dependencies",
        "target.'cfg(unix)'.dependencies",
        "target.x86_64-unknown-linux-gnu.dev-dependencies",
    ] {
        let manifest = format!("[{table}]\ndivisi-core = {asks}\n").parse().unwrap();
        assert_eq!(wrong(&manifest), ["divisi-core: fault"], "{table}");
    }
    let renamed = r#"dependencies.core = { package = "divisi-core", version = "1", features = ["testing"] }"#;
    assert_eq!(wrong(&renamed.parse().unwrap()), ["core: testing"]);
    let default =
        "[features]\ndefault = ['divisi-core/fault', 'testing']\ntesting = ['divisi-core/testing']\n";
    let found = wrong(&default.parse().unwrap());
    assert_eq!(found, ["feature default: divisi-core/fault", "feature default: testing"]);
    assert_eq!(wrong(&"[dependencies]\nserde = { features = ['fault'] }\n".parse().unwrap()), [""; 0]);
}
