//! The arrows of ARCHITECTURE.md: a crate depends on these crates of the workspace and on no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What every engine stands on. These crates know no engine: they depend on each other alone.
const COMMON: [&str; 9] = [
    "divisi-field",
    "divisi-fuzz",
    "divisi-net",
    "divisi-store",
    "divisi-circuit",
    "divisi-core",
    "divisi-symmetric",
    "divisi-engine",
    "divisi-ot",
];

/// What stands above the engines and may depend on each of them, and on those before it.
const ABOVE: [&str; 3] = ["divisi", "divisi-cli", "divisi-python"];

/// A crate between the two, that of an engine, depends on what is common, and on these others.
const ENGINES: [(&str, &[&str]); 6] = [
    ("divisi-mixed", &["divisi-bgv"]),
    ("divisi-mpgc", &["divisi-bgv", "divisi-mixed"]),
    ("divisi-program", &["divisi-bgv", "divisi-mixed", "divisi-mpgc"]),
    ("divisi-symphony", &["divisi-rep3"]),
    ("divisi-node", &["divisi-rep3", "divisi-symphony"]),
    ("divisi-gateway", &["divisi-node"]),
];

/// What reads arguments and draws on terminals belongs to the command line.
const OF_THE_COMMAND_LINE: [&str; 3] = ["clap", "comfy-table", "indicatif"];

/// What is loaded by an interpreter of Python belongs to the Python package.
const OF_PYTHON: &str = "pyo3";

/// HTTP and gRPC, and what they stand on, are dependencies of the gateway alone.
const OF_THE_GATEWAY: [&str; 3] = ["axum", "hyper", "tokio"];

/// The workspace's crates under `[dependencies]` of a manifest.
fn arrows(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or("");
    let names = section.lines().map(|line| line.split(['.', ' ', '=']).next().unwrap_or(""));
    names.filter(|name| name.starts_with("divisi")).map(str::to_owned).collect()
}

/// Whether a crate may depend on another one.
fn may_depend(name: &str, on: &str) -> bool {
    if ABOVE.contains(&name) {
        let place = |name: &str| ABOVE.iter().position(|above| *above == name);
        // the gateway is a program beside them
        return on != "divisi-gateway" && place(on).is_none_or(|on| place(name).is_some_and(|at| on < at));
    }
    let others = ENGINES.iter().filter(|(engine, _)| !COMMON.contains(&name) && *engine == name);
    COMMON.contains(&on) || others.flat_map(|(_, others)| others.iter()).any(|other| *other == on)
}

/// A new engine needs no line here: its crate stands on what is common.
#[test]
fn every_arrow_points_down() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    let folders = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path());
    for path in folders.chain([crates.parent().unwrap().join("python")]) {
        let folder = path.file_name().unwrap().to_str().unwrap();
        let name = if folder == "python" { "divisi-python".to_owned() } else { folder.to_owned() };
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        for on in arrows(&manifest) {
            assert!(may_depend(&name, &on), "{name} depends on {on}: ARCHITECTURE.md has no such arrow");
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen} arrows");
    assert!(!may_depend("divisi-engine", "divisi-rep3") && !may_depend("divisi-garble", "divisi-spdz"));
    assert!(!may_depend("divisi", "divisi-cli") && !may_depend("divisi-cli", "divisi-python"));
    assert!(!may_depend("divisi-rep3", "divisi") && !may_depend("divisi-ot", "divisi-bgv"));
}

/// What cargo resolves of packages and their dependencies along these edges, a line each in this format.
fn resolved(packages: &[&str], edges: &str, format: &str) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--edges", edges, "--format", format])
        .args(packages)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The names of a package's dependencies, and of theirs, as cargo resolves them for a build.
fn tree(package: &str) -> BTreeSet<String> {
    let text = resolved(&["--package", package], "normal", "{p}");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// The packages that tests build, with their features.
fn features(packages: &[&str]) -> BTreeSet<String> {
    let text = resolved(packages, "normal,build,dev", "{p}|{f}|");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

/// After `cargo test --workspace` the tests of one crate build no other crate again: each has the same
/// features there (divisi-fuzz asks for those of foreign crates).
#[test]
fn tests_of_one_crate_build_what_those_of_all_build() {
    let all = features(&["--workspace"]);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for entry in fs::read_dir(crates).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.as_str();
        let own: Vec<String> = features(&["--package", name]).difference(&all).cloned().collect();
        assert_eq!(own, [""; 0], "{name}: other features than in the workspace");
    }
}

#[test]
fn the_library_has_no_command_line_in_it() {
    let (library, program) = (tree("divisi"), tree("divisi-cli"));
    assert!(library.contains("divisi-rep3"), "{library:?}");
    for name in OF_THE_COMMAND_LINE {
        assert!(!library.contains(name) && program.contains(name), "{name}");
    }
}

#[test]
fn only_the_python_package_builds_for_an_interpreter() {
    let (package, program) = (tree("divisi-python"), tree("divisi-cli"));
    assert!(package.contains(OF_PYTHON) && !program.contains(OF_PYTHON));
    assert!(!tree("divisi-gateway").contains(OF_PYTHON));
}

#[test]
fn only_the_gateway_builds_http_and_grpc() {
    let (gateway, program) = (tree("divisi-gateway"), tree("divisi-cli"));
    for name in OF_THE_GATEWAY {
        assert!(!program.contains(name) && gateway.contains(name), "{name}");
    }
}

#[test]
fn arrows_are_read_from_a_manifest() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\ndivisi-core.workspace = true\ndivisi-net = { path = \"..\" }\nserde = \"1\"\n\n[dev-dependencies]\ndivisi.workspace = true\n";
    assert_eq!(arrows(manifest), BTreeSet::from(["divisi-core".to_owned(), "divisi-net".to_owned()]));
}
