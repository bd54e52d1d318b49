//! What ships has no API of tests: no check of it can be switched off, and nothing be declared verified.
//!
//! The tests of this workspace are one build, in which the crates of engines have such an API (`testing`).
//! Cargo turns features on for development dependencies only where it builds tests.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The features of a package and of all beneath it, as cargo resolves them along these edges: lines such as
/// `divisi-core feature "testing"`.
fn features(package: &str, edges: &str) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--package", package, "--edges", edges])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_program_and_every_library_ship_without_the_api_of_tests() {
    let of_tests = |tree: &str| {
        let asks = |line: &&str| {
            OF_TEST_BUILDS
                .iter()
                .any(|name| line.trim_end_matches(" (*)").ends_with(&format!("feature \"{name}\"")))
        };
        tree.lines().filter(asks).map(str::to_owned).collect::<Vec<_>>()
    };
    for package in ["divisi-cli", "divisi", "divisi-node"] {
        let shipped = features(package, "normal,build,features");
        assert!(shipped.contains("divisi-core"), "{package}: {shipped}");
        assert_eq!(of_tests(&shipped), [""; 0], "{package}");
    }
    // the same words are found where a build has it
    assert_ne!(of_tests(&features("divisi-spdz", "normal,dev,features")), [""; 0]);
}

/// The program that these tests start has it, and says so.
#[test]
fn a_build_for_tests_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_divisi")).arg("--version").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let version = concat!("divisi ", env!("CARGO_PKG_VERSION"));
    if divisi_core::TEST_BUILD {
        assert_eq!(printed.trim(), format!("{version}, a test build: never use it with real secrets"));
    } else {
        assert_eq!(printed.trim(), version);
    }
}

/// What builds for tests are built with.
const OF_TEST_BUILDS: [&str; 2] = ["testing", "fault"];

/// The strings of a list, if it is one.
fn strings(list: Option<&toml::Value>) -> impl Iterator<Item = &str> {
    list.and_then(|list| list.as_array()).into_iter().flatten().filter_map(|string| string.as_str())
}

/// The tables of dependencies of a manifest: those of the package, of the workspace, and of single targets,
/// without those of its tests.
fn dependencies(manifest: &toml::Table) -> Vec<&toml::Table> {
    let mut owners = vec![manifest];
    owners.extend(manifest.get("workspace").and_then(|workspace| workspace.as_table()));
    let targets = manifest.get("target").and_then(|targets| targets.as_table());
    owners.extend(targets.into_iter().flat_map(|targets| targets.values()).filter_map(|one| one.as_table()));
    let tables = ["dependencies", "build-dependencies"];
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

/// No manifest of the workspace asks for them, but a feature of the same kind, and for its own tests.
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
        "build-dependencies",
        "workspace.dependencies",
        "target.'cfg(unix)'.dependencies",
        "target.x86_64-unknown-linux-gnu.dependencies",
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
    let own = format!("[dev-dependencies]\ndivisi-core = {asks}\n");
    assert_eq!(wrong(&own.parse().unwrap()), [""; 0]);
    assert_eq!(wrong(&"[dependencies]\nserde = { features = ['fault'] }\n".parse().unwrap()), [""; 0]);
}
