//! The arrows of ARCHITECTURE.md: a crate depends on these crates of the workspace and on no others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const MAP: &[(&str, &[&str])] = &[
    ("divisi-field", &[]),
    ("divisi-fuzz", &[]),
    ("divisi-net", &[]),
    ("divisi-store", &[]),
    ("divisi-circuit", &[]),
    ("divisi-core", &["divisi-circuit", "divisi-field", "divisi-net"]),
    ("divisi-symmetric", &["divisi-circuit", "divisi-core", "divisi-field"]),
    ("divisi-bgv", &["divisi-core", "divisi-field"]),
    ("divisi-mixed", &["divisi-bgv", "divisi-core"]),
    ("divisi-ot", &["divisi-core", "divisi-field", "divisi-net"]),
    ("divisi-garble", &["divisi-circuit", "divisi-core", "divisi-field", "divisi-net", "divisi-ot"]),
    ("divisi-spdz", &["divisi-core", "divisi-field", "divisi-net", "divisi-ot"]),
    ("divisi-rep3", &["divisi-circuit", "divisi-core", "divisi-field", "divisi-net"]),
    (
        "divisi-node",
        &["divisi-core", "divisi-field", "divisi-net", "divisi-rep3", "divisi-store", "divisi-symmetric"],
    ),
    (
        "divisi-measure",
        &[
            "divisi-circuit",
            "divisi-core",
            "divisi-field",
            "divisi-garble",
            "divisi-net",
            "divisi-node",
            "divisi-ot",
            "divisi-rep3",
            "divisi-symmetric",
        ],
    ),
    (
        "divisi",
        &[
            "divisi-circuit",
            "divisi-core",
            "divisi-field",
            "divisi-garble",
            "divisi-net",
            "divisi-node",
            "divisi-ot",
            "divisi-rep3",
            "divisi-store",
            "divisi-symmetric",
        ],
    ),
];

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
        for arrow in arrows(&manifest) {
            assert!(allowed.contains(&arrow.as_str()), "{name} -> {arrow} is not on the map");
        }
        found.insert(name);
    }
    assert_eq!(found.len(), MAP.len());
}

#[test]
fn arrows_are_read_from_a_manifest() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\ndivisi-core.workspace = true\ndivisi-net = { path = \"..\" }\nserde = \"1\"\n\n[dev-dependencies]\ndivisi.workspace = true\n";
    assert_eq!(arrows(manifest), BTreeSet::from(["divisi-core".to_owned(), "divisi-net".to_owned()]));
}
