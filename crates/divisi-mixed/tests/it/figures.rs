//! The table of figures at the top of lib.rs: every figure of the paper from the second on, and every
//! appendix with an algorithm, has functions there, and these exist.

use std::path::Path;

/// Whether a file below this folder defines this function.
fn defines(folder: &Path, name: &str) -> bool {
    let starts = [format!("fn {name}("), format!("fn {name}<")];
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return defines(&path, name);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        text.lines().any(|line| starts.iter().any(|start| line.contains(start.as_str())))
    })
}

/// The functions that a cell names: the crate and the last word of each path in it.
fn functions(cell: &str) -> Vec<(String, String)> {
    let paths = cell.split('`').skip(1).step_by(2).zip(cell.split('`').skip(2).step_by(2));
    let one = |(path, after): (&str, &str)| {
        // a link says where the path leads
        let link = after.strip_prefix("](").and_then(|rest| rest.split(')').next());
        let path = link.unwrap_or(path);
        let home = path.split("::").next().filter(|first| first.starts_with("divisi_"));
        let name = path.rsplit("::").next().unwrap_or_default();
        (home.unwrap_or("divisi_mixed").replace('_', "-"), name.to_owned())
    };
    paths.map(one).collect()
}

#[test]
fn every_figure_has_its_function() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let rows: Vec<(&str, &str)> = include_str!("../../src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! | "))
        .filter(|row| row.starts_with("Figure") || row.starts_with("Appendix"))
        .filter_map(|row| Some((row.split(" |").next()?, row.trim_end_matches(" |").rsplit("| ").next()?)))
        .collect();
    let figures = (2..=15).map(|figure| figure.to_string());
    for what in figures.chain(["A.1", "A.2", "A.3"].map(str::to_owned)) {
        let is_it = |title: &str| title.split([' ', ',']).any(|word| word == what);
        let row = rows.iter().find(|(title, _)| is_it(title)).unwrap_or_else(|| panic!("{what} has no row"));
        let functions = functions(row.1);
        assert!(!functions.is_empty(), "{what} names no function");
        for (home, name) in functions {
            assert!(defines(&crates.join(&home).join("src"), &name), "{what}: {home} has no function {name}");
        }
    }
}

#[test]
fn functions_are_read_from_a_cell() {
    let cell = "case 1: [`Mixed::b2a`], `divisi_mpgc::garble::garble`, [`Keys::e2a`](divisi_bgv::Keys::e2a)";
    let expected = [("divisi-mixed", "b2a"), ("divisi-mpgc", "garble"), ("divisi-bgv", "e2a")];
    assert_eq!(functions(cell), expected.map(|(home, name)| (home.to_owned(), name.to_owned())));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert!(defines(&source, "b2a") && !defines(&source, "b2"));
}
