//! Misuse does not compile: what the types alone forbid (1.18, M0.7).

use divisi_core::testing::misuse::Misuse;
use std::fs;
use std::path::Path;

/// Write each function of these files as a program of its own: with what its file begins with, and under the
/// error that its comment begins with.
fn take_apart(files: &Path, programs: &Path) {
    let _ = fs::remove_dir_all(programs);
    fs::create_dir_all(programs).unwrap();
    for file in fs::read_dir(files).unwrap().map(|file| file.unwrap().path()) {
        if file.ends_with("right_use.rs") {
            fs::copy(&file, programs.join("right_use.rs")).unwrap();
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let (common, functions) = text.split_once("\n\n// [").unwrap();
        for part in functions.split("\n\n// [") {
            let (error, function) = part.split_once('\n').unwrap();
            let name = function.strip_prefix("fn ").and_then(|rest| rest.split('(').next()).unwrap();
            let name = format!("{}_{name}.rs", file.file_stem().unwrap().display());
            let head = format!("//! [{error}\n#![allow(unused_imports)]\n{common}");
            fs::write(programs.join(name), format!("{head}\n\n{function}\n\nfn main() {{}}\n")).unwrap();
        }
    }
}

#[test]
fn misuse_does_not_compile() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let programs = folder.join("spdz-misuse");
    take_apart(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse"), &programs);
    let misuse = Misuse {
        programs: &programs,
        libraries: &["divisi_core", "divisi_field", "divisi_store", "divisi_spdz"],
        folder,
        cargo: Path::new(env!("CARGO")),
    };
    misuse.does_not_compile(36);
}
