//! The arrows of ARCHITECTURE.md: a crate depends on these crates of the workspace and on no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const MAP: &[(&str, &[&str])] = &[
    ("divisi-field", &[]),
    ("divisi-fuzz", &[]),
    ("divisi-net", &[]),
    ("divisi-store", &[]),
    ("divisi-circuit", &[]),
    ("divisi-core", &["divisi-circuit", "divisi-field", "divisi-net"]),
    ("divisi-symmetric", &["divisi-circuit", "divisi-core", "divisi-field"]),
    ("divisi-bgv", &["divisi-core", "divisi-field"]),
    ("divisi-mixed", &["divisi-bgv", "divisi-circuit", "divisi-core", "divisi-field", "divisi-ot"]),
    (
        "divisi-mpgc",
        &["divisi-bgv", "divisi-circuit", "divisi-core", "divisi-field", "divisi-mixed", "divisi-ot"],
    ),
    (
        "divisi-program",
        &["divisi-bgv", "divisi-circuit", "divisi-core", "divisi-field", "divisi-mixed", "divisi-mpgc"],
    ),
    ("divisi-ot", &["divisi-core", "divisi-field", "divisi-net"]),
    ("divisi-garble", &["divisi-circuit", "divisi-core", "divisi-field", "divisi-net", "divisi-ot"]),
    (
        "divisi-spdz",
        &["divisi-circuit", "divisi-core", "divisi-field", "divisi-net", "divisi-ot", "divisi-store"],
    ),
    ("divisi-rep3", &["divisi-circuit", "divisi-core", "divisi-field", "divisi-net", "divisi-ot"]),
    (
        "divisi-symphony",
        &["divisi-circuit", "divisi-core", "divisi-field", "divisi-rep3", "divisi-symmetric"],
    ),
    (
        "divisi-node",
        &[
            "divisi-core",
            "divisi-field",
            "divisi-net",
            "divisi-rep3",
            "divisi-store",
            "divisi-symmetric",
            "divisi-symphony",
        ],
    ),
    (
        "divisi-measure",
        &[
            "divisi-bgv",
            "divisi-circuit",
            "divisi-core",
            "divisi-field",
            "divisi-garble",
            "divisi-mixed",
            "divisi-net",
            "divisi-ot",
            "divisi-rep3",
            "divisi-symmetric",
            "divisi-symphony",
        ],
    ),
    (
        "divisi",
        &[
            "divisi-bgv",
            "divisi-circuit",
            "divisi-core",
            "divisi-field",
            "divisi-garble",
            "divisi-mixed",
            "divisi-mpgc",
            "divisi-net",
            "divisi-node",
            "divisi-ot",
            "divisi-program",
            "divisi-rep3",
            "divisi-spdz",
            "divisi-store",
            "divisi-symmetric",
            "divisi-symphony",
        ],
    ),
    (
        "divisi-cli",
        &[
            "divisi",
            "divisi-bgv",
            "divisi-circuit",
            "divisi-core",
            "divisi-field",
            "divisi-mpgc",
            "divisi-net",
            "divisi-node",
            "divisi-ot",
            "divisi-program",
            "divisi-rep3",
            "divisi-symmetric",
        ],
    ),
];

/// What reads arguments and draws on terminals belongs to the command line.
const OF_THE_COMMAND_LINE: [&str; 3] = ["clap", "comfy-table", "indicatif"];

/// The workspace's crates under `[dependencies]` of a manifest.
fn arrows(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or("");
    let names = section.lines().map(|line| line.split(['.', ' ', '=']).next().unwrap_or(""));
    names.filter(|name| name.starts_with("divisi")).map(str::to_owned).collect()
}

#[test]
fn every_arrow_is_in_the_figure() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(crates).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let allowed = MAP.iter().find(|(krate, _)| *krate == name);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{name} is not on the map"));
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let drawn: BTreeSet<String> = allowed.iter().map(|arrow| (*arrow).to_owned()).collect();
        assert_eq!(arrows(&manifest), drawn, "{name}: the manifest, and the map");
        found.insert(name);
    }
    assert_eq!(found.len(), MAP.len());
}

/// The names of a package's dependencies, and of theirs, as cargo resolves them for a build.
fn tree(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(["--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
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
fn arrows_are_read_from_a_manifest() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\ndivisi-core.workspace = true\ndivisi-net = { path = \"..\" }\nserde = \"1\"\n\n[dev-dependencies]\ndivisi.workspace = true\n";
    assert_eq!(arrows(manifest), BTreeSet::from(["divisi-core".to_owned(), "divisi-net".to_owned()]));
}

/// The script of the emulator tries each engine twice: quickly, and with more vectors.
#[test]
fn the_emulator_tries_every_engine() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/arm");
    let script = fs::read_to_string(script).unwrap();
    let words: Vec<&str> = script.split(|c: char| !c.is_alphanumeric()).collect();
    for engine in divisi::engine::all() {
        let times = words.iter().filter(|word| **word == engine.name()).count();
        assert!(times >= 2, "{} is in .ci/arm {times} times", engine.name());
    }
}
