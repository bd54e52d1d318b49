//! Misuse does not compile: what the types alone forbid (M0.7, A13).
//!
//! Each program of `tests/misuse` begins with what the compiler must say about it. They are checked against
//! the very libraries that this test was built with; only the kind of error is compared, which is the same in
//! every version of the compiler.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The builds of a library beside this test, the latest first.
fn builds(of: &str) -> Vec<PathBuf> {
    let dir = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        name.starts_with(&format!("lib{of}-")) && name.ends_with(".rlib")
    };
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(ours).collect();
    all.sort_by_key(|path| std::cmp::Reverse(path.metadata().and_then(|m| m.modified()).ok()));
    all.truncate(8);
    all
}

/// Check one program against these builds: what the compiler says.
fn check(program: &Path, core: &Path, field: &Path, rep3: &Path) -> Result<(), String> {
    let beside = Path::new(env!("CARGO")).with_file_name("rustc");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("{}.rmeta", program.file_stem().unwrap().display()));
    let output = Command::new(if beside.exists() { beside } else { "rustc".into() })
        .args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--error-format=short", "-o"])
        .arg(out)
        .arg("-L")
        .arg(format!("dependency={}", rep3.parent().unwrap().display()))
        .args(["--extern", &format!("divisi_core={}", core.display())])
        .args(["--extern", &format!("divisi_field={}", field.display())])
        .args(["--extern", &format!("divisi_rep3={}", rep3.display())])
        .arg(program)
        .output()
        .unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn misuse_does_not_compile() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse");
    // the control: what the others get wrong, done right, compiles against builds that belong together
    let control = dir.join("right_use.rs");
    let (cores, fields, ours) = (builds("divisi_core"), builds("divisi_field"), builds("divisi_rep3"));
    let sets = ours
        .iter()
        .flat_map(|r| cores.iter().flat_map(|c| fields.iter().map(|f| (c.clone(), f.clone(), r.clone()))));
    let (core, field, rep3) = sets
        .into_iter()
        .find(|(c, f, r)| check(&control, c, f, r).is_ok())
        .expect("builds against which right use compiles");
    let mut programs = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path == control {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = text
            .strip_prefix("//! [")
            .and_then(|rest| rest.split(']').next())
            .expect("the error it must get");
        let said = check(&path, &core, &field, &rep3).expect_err("misuse");
        let errors: Vec<&str> =
            said.lines().filter(|l| l.contains(": error") && l.contains(path.to_str().unwrap())).collect();
        assert!(
            !errors.is_empty() && errors.iter().any(|e| e.contains(expected)),
            "{}: {said}",
            path.display()
        );
        assert!(!said.contains("E0432") && !said.contains("E0433"), "{}: {said}", path.display()); // no mistyped names
        programs += 1;
    }
    assert!(programs >= 49, "{programs} programs");
}
