//! A public name has one meaning: no two types have the same name, in the libraries or in the programs.
//!
//! A type counts if a user of its crate reaches it, with whatever features: in modules that are all public,
//! or by a re-export, also under another name. Of the programs, which nobody uses as libraries, every `pub`
//! type counts: who reads them reads the libraries' names beside theirs. What is there for tests alone does
//! not count. A build is for one processor, so the names are read for each processor in turn. Names that
//! users do not reach may repeat where private modules do the same for different engines.
//!
//! Types alone are read, with traits and aliases. Functions and constants stand behind the name of their
//! module or type wherever they are used (`bristol::read`, `Config::load`), which says whose they are; and
//! modules are named by their paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Before the name of a type.
const DEFINE: [&str; 5] = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub union "];

/// The processors that have code of their own.
const PROCESSORS: [&str; 2] = ["x86_64", "aarch64"];

/// What a crate's text says.
struct Crate {
    processor: &'static str,
    /// Types by the module that defines them.
    types: Vec<(String, Vec<String>)>,
    /// Modules that are declared public.
    public: BTreeSet<Vec<String>>,
    /// Modules that are there for tests or for another processor.
    hidden: BTreeSet<Vec<String>>,
    /// Each path that is re-exported, with the name that it has then.
    exported: Vec<(Vec<String>, String)>,
}

fn name_at(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The paths of a tree of re-exports, each with the name that it has afterwards.
fn exports(tree: &str, before: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut depth = 0;
    let within = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && c == ','
    };
    for part in tree.split(within).map(str::trim).filter(|part| !part.is_empty()) {
        let (path, inner) = match part.split_once('{') {
            Some((path, inner)) => (path, inner.rsplit_once('}').map(|(inner, _)| inner)),
            None => (part, None),
        };
        let (path, renamed) = path.split_once(" as ").map_or((path, None), |(path, to)| (path, Some(to)));
        let words = path.split("::").map(|word| word.trim().to_owned()).filter(|word| !word.is_empty());
        let path: Vec<String> = before.iter().cloned().chain(words.filter(|word| word != "self")).collect();
        match (inner, path.last()) {
            (Some(inner), _) => exports(inner, &path, found),
            (None, Some(last)) => {
                let name = renamed.map_or_else(|| last.clone(), |name| name.trim().to_owned());
                found.push((path, name));
            }
            (None, None) => {}
        }
    }
}

impl Crate {
    fn new(processor: &'static str) -> Crate {
        let (types, exported) = Default::default();
        Crate { processor, types, public: BTreeSet::new(), hidden: BTreeSet::new(), exported }
    }

    /// Whether what stands behind this line is there for tests alone, or for another processor.
    fn hides(&self, condition: &str) -> bool {
        let tests = ["#[cfg(test)]", "#[cfg(all(test,"].iter().any(|start| condition.starts_with(start));
        let mut others = PROCESSORS.iter().filter(|other| **other != self.processor);
        tests || others.any(|other| condition == format!("#[cfg(target_arch = \"{other}\")]"))
    }

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
            let hidden = self.hides(before);
            before = line;
            if hidden {
                let name = line.split("mod ").nth(1).map(name_at);
                self.hidden.extend(name.map(|name| module.iter().cloned().chain([name]).collect()));
                continue;
            }
            if let Some(rest) = DEFINE.iter().find_map(|define| line.trim_start().strip_prefix(define)) {
                // a macro's own parameter is no name
                let name = Some(name_at(rest)).filter(|name| !name.is_empty());
                self.types.extend(name.map(|name| (name, module.to_vec())));
            }
            if let Some(rest) = line.strip_prefix("pub mod ") {
                self.public.insert(module.iter().cloned().chain([name_at(rest)]).collect());
            }
        }
        let text = format!("\n{text}");
        for (at, _) in text.match_indices("\npub use ") {
            let condition = text[..at].lines().next_back().unwrap_or_default();
            if !self.hides(condition) {
                let tree = text[at + "\npub use ".len()..].split(';').next().unwrap_or_default();
                exports(tree, &[], &mut self.exported);
            }
        }
    }

    /// Each name by which a user of the crate reaches a type, with the module that defines the type.
    fn reached(&self) -> BTreeSet<(String, String)> {
        let whole = |module: &[String]| (1..=module.len()).all(|end| self.public.contains(&module[..end]));
        let seen = |module: &[String]| (1..=module.len()).all(|end| !self.hidden.contains(&module[..end]));
        let mut reached = BTreeSet::new();
        for (name, module) in self.types.iter().filter(|(_, module)| seen(module)) {
            let place = module.join("::");
            if whole(module) {
                reached.insert((name.clone(), place.clone()));
            }
            for (path, new) in &self.exported {
                if let [.., from, what] = &path[..]
                    && module.last() == Some(from)
                    && (what == name || what == "*")
                {
                    let new = if what == "*" { name } else { new };
                    reached.insert((new.clone(), place.clone()));
                }
            }
        }
        // a type of another crate under another name
        let renamed = self
            .exported
            .iter()
            .filter(|(path, new)| path[0].starts_with("divisi_") && path.last() != Some(new));
        let types = renamed.filter(|(_, new)| new.starts_with(char::is_uppercase));
        reached.extend(types.map(|(path, new)| (new.clone(), path.join("::"))));
        reached
    }

    /// Each `pub` type of a program.
    fn written(&self) -> BTreeSet<(String, String)> {
        self.types.iter().map(|(name, module)| (name.clone(), module.join("::"))).collect()
    }
}

/// Names with more than one type, in what is built for this processor.
fn names_with_two_meanings(processor: &'static str) -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let folders = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path());
    for folder in folders.chain([crates.parent().unwrap().join("lab/measure")]) {
        let crate_name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let mut text = Crate::new(processor);
        text.take(&folder.join("src"), &mut Vec::new());
        let program = folder.join("src/main.rs").exists();
        for (name, module) in if program { text.written() } else { text.reached() } {
            places.entry(name).or_default().insert(format!("{crate_name}::{module}"));
        }
    }
    assert!(places.len() > 200, "types are found: {}", places.len());
    places.retain(|_, places| places.len() > 1);
    let told = |(name, places): (&String, &BTreeSet<String>)| {
        format!("{name}: {}", places.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    places.iter().map(told).collect()
}

#[test]
fn no_public_name_has_two_meanings() {
    for processor in PROCESSORS {
        let found = names_with_two_meanings(processor);
        assert!(found.is_empty(), "names with two meanings ({processor}):\n{}", found.join("\n"));
    }
}

#[test]
fn what_a_user_reaches_is_read_from_the_text() {
    let mut text = Crate::new("x86_64");
    text.read(
        "pub use e::*;\npub mod a;\nmod b;\nmod e;\n#[cfg(any(test, feature = \"testing\"))]\npub mod t;\n\
         #[cfg(target_arch = \"aarch64\")]\npub mod arm;\n#[cfg(target_arch = \"x86_64\")]\npub mod intel;\n\
         #[cfg(test)]\npub mod tests;\n#[cfg(test)]\npub use b::Within;\n\
         pub use b::{\n    Inner as Outer, Out, deeper::{self, Deep},\n};\n\
         pub use divisi_core::{Lab as ForeignLab, step};\n",
        &[],
    );
    text.read("pub struct Open<T>(T);\n#[cfg(test)]\npub enum ForTests {}\n", &["a".into()]);
    text.read("pub enum Out {}\npub trait Within {}\npub struct Inner;\n", &["b".into()]);
    text.read("pub struct Deep;\npub struct Deepest;\n", &["b".into(), "deeper".into()]);
    text.read("pub type All = u8;\npub(crate) struct Private;\n", &["e".into()]);
    for (module, name) in [("t", "Testing"), ("arm", "Arm"), ("intel", "Intel"), ("tests", "Tests")] {
        text.read(&format!("pub struct {name};\n"), &[module.into()]);
    }
    let reached = text.reached();
    let names: Vec<&str> = reached.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["All", "Deep", "ForeignLab", "Intel", "Open", "Out", "Outer", "Testing"]);
}
