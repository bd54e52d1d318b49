//! A public name has one meaning: no two types of the libraries have the same name.
//!
//! A type counts if a user of its crate reaches it: in modules that are all public, or by a re-export. What
//! is there for tests or with a feature alone does not count.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Before the name of a type.
const DEFINE: [&str; 5] = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub union "];

/// What stands behind a condition with one of these words is there for tests, with a feature, or stands for
/// its like on another processor.
const UNSEEN: [&str; 3] = ["test", "feature", "aarch64"];

/// What a crate's text says.
#[derive(Default)]
struct Crate {
    /// Types by the module that defines them.
    types: Vec<(String, Vec<String>)>,
    /// Modules that are declared public, and not for tests or a feature.
    public: BTreeSet<Vec<String>>,
    /// Modules that are there for tests or with a feature alone.
    hidden: BTreeSet<Vec<String>>,
    /// The words of each public re-export.
    exported: Vec<BTreeSet<String>>,
}

fn name_at(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

impl Crate {
    fn take(&mut self, folder: &Path, module: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let own = !["mod", "lib", "main"].contains(&stem.as_str());
            if own {
                module.push(stem);
            }
            if path.is_dir() {
                self.take(&path, module);
            } else if path.extension().is_some_and(|end| end == "rs") {
                self.read(&fs::read_to_string(&path).unwrap(), module);
            }
            if own {
                module.pop();
            }
        }
    }

    fn read(&mut self, text: &str, module: &[String]) {
        let mut before = "";
        for line in text.lines() {
            let hidden = before.starts_with("#[cfg(") && UNSEEN.iter().any(|word| before.contains(word));
            before = line;
            if hidden {
                let name = line.split("mod ").nth(1).map(name_at);
                self.hidden.extend(name.map(|name| module.iter().cloned().chain([name]).collect()));
                continue;
            }
            if let Some(rest) = DEFINE.iter().find_map(|define| line.strip_prefix(define)) {
                self.types.push((name_at(rest), module.to_vec()));
            }
            if let Some(rest) = line.strip_prefix("pub mod ") {
                self.public.insert(module.iter().cloned().chain([name_at(rest)]).collect());
            }
        }
        for export in text.split("\npub use ").skip(1) {
            let export = export.split(';').next().unwrap_or_default();
            let words = export.split(|c: char| !c.is_alphanumeric() && c != '_');
            self.exported.push(words.map(str::to_owned).collect());
        }
    }

    /// The types that a user of the crate reaches.
    fn reached(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        let open = |module: &[String]| (1..=module.len()).all(|end| self.public.contains(&module[..end]));
        let types = self.types.iter().map(|(name, module)| (name, module));
        let handed_on = |name: &String, module: &[String]| {
            let last = module.last();
            self.exported.iter().any(|words| words.contains(name) && last.is_some_and(|m| words.contains(m)))
        };
        let seen = |module: &[String]| (1..=module.len()).all(|end| !self.hidden.contains(&module[..end]));
        types.filter(move |(name, module)| seen(module) && (open(module) || handed_on(name, module)))
    }
}

#[test]
fn no_public_name_has_two_meanings() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let crate_name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        // the program's library is for the program
        if !folder.join("src/lib.rs").exists() || crate_name == "divisi-cli" {
            continue;
        }
        let mut text = Crate::default();
        text.take(&folder.join("src"), &mut Vec::new());
        for (name, module) in text.reached() {
            let place = format!("{crate_name}::{}", module.join("::"));
            places.entry(name.clone()).or_default().insert(place);
        }
    }
    assert!(places.len() > 200, "types are found: {}", places.len());
    places.retain(|_, places| places.len() > 1);
    let new: Vec<String> = places
        .iter()
        .map(|(name, places)| format!("{name}: {}", places.iter().cloned().collect::<Vec<_>>().join(", ")))
        .collect();
    assert!(new.is_empty(), "names with two meanings:\n{}", new.join("\n"));
}

#[test]
fn what_a_user_reaches_is_read_from_the_text() {
    let mut text = Crate::default();
    text.read(
        "pub mod a;\nmod b;\n#[cfg(feature = \"testing\")]\npub mod t;\n\npub use b::{\n    Out,\n};\n",
        &[],
    );
    text.read("pub struct Open<T>(T);\n#[cfg(test)]\npub enum ForTests {}\n", &["a".into()]);
    text.read("pub enum Out {}\npub trait Within {}\n", &["b".into()]);
    text.read("pub struct Lab;\n", &["t".into()]);
    let reached: Vec<&str> = text.reached().map(|(name, _)| name.as_str()).collect();
    assert_eq!(reached, ["Open", "Out"]);
}
