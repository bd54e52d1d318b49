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

/// What stands above the engines and may depend on each of them.
const ABOVE: [&str; 2] = ["divisi", "divisi-cli"];

/// A crate between the two, that of an engine, depends on what is common, and on these others.
const ENGINES: [(&str, &[&str]); 5] = [
    ("divisi-mixed", &["divisi-bgv"]),
    ("divisi-mpgc", &["divisi-bgv", "divisi-mixed"]),
    ("divisi-program", &["divisi-bgv", "divisi-mixed", "divisi-mpgc"]),
    ("divisi-symphony", &["divisi-rep3"]),
    ("divisi-node", &["divisi-rep3", "divisi-symphony"]),
];

/// What reads arguments and draws on terminals belongs to the command line.
const OF_THE_COMMAND_LINE: [&str; 3] = ["clap", "comfy-table", "indicatif"];

/// The workspace's crates under `[dependencies]` of a manifest.
fn arrows(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or("");
    let names = section.lines().map(|line| line.split(['.', ' ', '=']).next().unwrap_or(""));
    names.filter(|name| name.starts_with("divisi")).map(str::to_owned).collect()
}

/// Whether a crate may depend on another one.
fn may_depend(name: &str, on: &str) -> bool {
    if ABOVE.contains(&name) {
        return name != on && !(name == "divisi" && on == "divisi-cli");
    }
    let others = ENGINES.iter().filter(|(engine, _)| !COMMON.contains(&name) && *engine == name);
    COMMON.contains(&on) || others.flat_map(|(_, others)| others.iter()).any(|other| *other == on)
}

/// A new engine needs no line here: its crate stands on what is common.
#[test]
fn every_arrow_points_down() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(crates).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        for on in arrows(&manifest) {
            assert!(may_depend(&name, &on), "{name} depends on {on}: ARCHITECTURE.md has no such arrow");
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen} arrows");
    assert!(!may_depend("divisi-engine", "divisi-rep3") && !may_depend("divisi-garble", "divisi-spdz"));
    assert!(!may_depend("divisi-rep3", "divisi") && !may_depend("divisi-ot", "divisi-bgv"));
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
