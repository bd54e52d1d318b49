//! The tests that need hooks: those that only the copy has, those that are others there, and those that run
//! an attack on a mutant, too.

use divisi_attacks::compile::{Program, Programs, Targets, ended};
use divisi_attacks::mirror::Source;
use proc_macro2::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use syn::spanned::Spanned;

/// A program that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(1200);

/// The tests of a program run on so many threads: many of them wait for time limits.
const THREADS: &str = "6";

/// What a file of tests has that runs an attack on a mutant where there are hooks: `divisi_core::mutants` or
/// `divisi_core::testing::kills`.
const MUTANTS: [&str; 2] = ["mutants! {", "kills("];

/// A module of a program, and which of its tests: those at these paths in it, or all if there is no list.
struct Chosen {
    module: String,
    tests: Option<BTreeSet<String>>,
}

/// The tests that need hooks, by package and target.
pub struct Hooked(BTreeMap<(String, String), Vec<Chosen>>);

impl Hooked {
    /// Finds them: what the copy has beside the project, and all modules with mutants.
    pub fn find(project: &Path, source: &Source) -> Result<Hooked, String> {
        let mut found: BTreeMap<_, Vec<Chosen>> = BTreeMap::new();
        for (file, text) in source.texts() {
            let Some((package, target, module)) = module_of(file) else { continue };
            let tests = if MUTANTS.iter().any(|of_mutants| text.contains(of_mutants)) {
                None
            } else {
                // a file that the project does not have has no tests there
                let plain = std::fs::read_to_string(project.join(file)).unwrap_or_default();
                let tests = if plain == text { BTreeSet::new() } else { others(file, text, &plain)? };
                if tests.is_empty() {
                    continue;
                }
                Some(tests).filter(|tests| !tests.contains(ANY))
            };
            found.entry((package.into(), target.into())).or_default().push(Chosen { module, tests });
        }
        Ok(Hooked(found))
    }

    /// The programs that have them.
    pub fn targets(&self) -> Targets {
        let mut targets = Targets::new();
        for (package, target) in self.0.keys() {
            targets.entry(package.clone()).or_default().insert(target.clone());
        }
        targets
    }

    /// Runs them, one program after another. Whether all pass.
    pub fn run(&self, programs: &Programs) -> Result<bool, String> {
        let (mut run, mut failed) = (0, Vec::new());
        for (of, chosen) in &self.0 {
            let name = format!("{}/{}", of.0, of.1);
            let program = programs.get(of).ok_or(format!("{name} is not built"))?;
            let tests = named(&name, &program.tests()?, chosen)?;
            if tests.is_empty() {
                continue;
            }
            println!("\nhooked: {} tests of {name}", tests.len());
            run += tests.len();
            if !passes(program, &tests)? {
                failed.push(name);
            }
        }
        match failed.as_slice() {
            [] => println!("hooked: {run} tests, of which none failed"),
            failed => println!("hooked: {run} tests; FAILED: {}", failed.join(", ")),
        }
        Ok(failed.is_empty())
    }
}

/// Package, target and module of a file of Rust: `crates/NAME/src/a/b.rs` is the module `a::b` of the unit
/// tests, `crates/NAME/tests/it/a/mod.rs` the module `a` of the target `it`.
fn module_of(file: &str) -> Option<(&str, &str, String)> {
    let path = file.strip_suffix(".rs")?;
    let (package, path) = match path.strip_prefix("crates/") {
        Some(path) => path.split_once('/')?,
        None => (env!("CARGO_PKG_NAME"), path.strip_prefix("lab/attacks/")?),
    };
    let (target, module) = match path.strip_prefix("src/") {
        Some(module) => ("lib", module),
        None => {
            let path = path.strip_prefix("tests/")?;
            path.split_once('/').unwrap_or((path, "main"))
        }
    };
    let module = match module {
        "lib" | "main" | "mod" => "",
        module => module.strip_suffix("/mod").unwrap_or(module),
    };
    Some((package, target, module.replace('/', "::")))
}

/// Stands for any test of a file.
const ANY: &str = "*";

/// The tests of a text, by their paths in it, that the other text does not have, or has otherwise.
fn others(file: &str, text: &str, plain: &str) -> Result<BTreeSet<String>, String> {
    let read = |text: &str| tests(text).map_err(|e| format!("{file}: {e}"));
    let plain = read(plain)?;
    let all = read(text)?.into_iter().filter(|(name, test)| plain.get(name) != Some(test));
    Ok(all.map(|(name, _)| if name.ends_with('!') { ANY.into() } else { name }).collect())
}

/// The texts of the tests of a file, by their paths in it; and with a `!` after it each text that a macro may
/// make tests of.
fn tests(text: &str) -> syn::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut modules = vec![(String::new(), syn::parse_file(text)?.items)];
    while let Some((path, items)) = modules.pop() {
        for item in items {
            let of = |span: Span| text.get(span.byte_range()).unwrap_or_default().to_owned();
            match item {
                syn::Item::Fn(test) if test.attrs.iter().any(|a| a.path().is_ident("test")) => {
                    found.insert(format!("{path}{}", test.sig.ident), of(test.span()));
                }
                syn::Item::Macro(item) if item.ident.is_none() => {
                    found.insert(format!("{path}{}!", of(item.span())), String::new());
                }
                syn::Item::Mod(syn::ItemMod { ident, content: Some((_, items)), .. }) => {
                    modules.push((format!("{path}{ident}::"), items));
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

/// The chosen ones among the tests of a program, each of which must be there.
fn named(name: &str, all: &[String], chosen: &[Chosen]) -> Result<BTreeSet<String>, String> {
    let mut named = BTreeSet::new();
    for Chosen { module, tests } in chosen {
        let path = if module.is_empty() { String::new() } else { format!("{module}::") };
        match tests {
            None => named.extend(all.iter().filter(|test| test.starts_with(&path)).cloned()),
            Some(tests) => {
                for test in tests {
                    let test = format!("{path}{test}");
                    if !all.contains(&test) {
                        return Err(format!("{name} has no test {test}, though a hook adds it"));
                    }
                    named.insert(test);
                }
            }
        }
    }
    Ok(named)
}

/// Whether these tests of a program pass, without a weakening. They print what they print.
fn passes(program: &Program, tests: &BTreeSet<String>) -> Result<bool, String> {
    let mut command = program.command(&program.path);
    command.arg("--exact").args(tests).env("RUST_TEST_THREADS", THREADS);
    let end = ended(&mut command, LIMIT)?;
    if end.is_none() {
        println!("ended after {} s", LIMIT.as_secs());
    }
    Ok(end.is_some_and(|status| status.success()))
}

#[cfg(test)]
mod unit_tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_belongs_to_a_module() {
        let module =
            |file| module_of(file).map(|(package, target, module)| format!("{package}/{target}::{module}"));
        for (file, expected) in [
            ("crates/divisi-ot/src/lib.rs", "divisi-ot/lib::"),
            ("crates/divisi-ot/src/vole/mod.rs", "divisi-ot/lib::vole"),
            ("crates/divisi-ot/src/vole/lies.rs", "divisi-ot/lib::vole::lies"),
            ("crates/divisi-ot/tests/it/main.rs", "divisi-ot/it::"),
            ("crates/divisi-ot/tests/it/mutants/mod.rs", "divisi-ot/it::mutants"),
            ("crates/divisi-rep3/tests/sweep/modules.rs", "divisi-rep3/sweep::modules"),
            ("crates/divisi-rep3/tests/key_in_memory.rs", "divisi-rep3/key_in_memory::"),
            ("lab/attacks/tests/ot_rows.rs", "divisi-attacks/ot_rows::"),
            ("lab/attacks/tests/rep3_checks/bits.rs", "divisi-attacks/rep3_checks::bits"),
        ] {
            assert_eq!(module(file).as_deref(), Some(expected), "{file}");
        }
        assert_eq!(module("crates/divisi-ot/Cargo.toml"), None);
        assert_eq!(module("docs/ot.rs"), None);
    }

    #[test]
    fn a_test_that_is_there_alone_or_otherwise_is_found() {
        let plain = "#[test]\nfn a() {}\nmod tests {\n    #[test]\n    fn b() {}\n}\n";
        let text =
            "#[test]\nfn a() {}\n#[test]\nfn c() {}\nmod tests {\n    #[test]\n    fn b() { loop {} }\n}\n";
        let names =
            |text: &str, plain: &str| others("file", text, plain).unwrap().into_iter().collect::<Vec<_>>();
        assert_eq!(names(text, plain), ["c", "tests::b"]);
        assert_eq!(names(plain, plain), [""; 0]);
        assert_eq!(names("proptest! { fn d() {} }", plain), [ANY]);
    }
}
