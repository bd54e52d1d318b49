//! A public name has one meaning: no two types that the crates make public have the same name.
//!
//! A `pub` type counts if its module is public or a `pub use` of its crate names it: private modules that do
//! the same for different engines may use the same names. Of a program, which nobody uses as a library, all
//! `pub` types count. Types alone are read, with traits and aliases. Functions and constants stand behind the
//! name of their module or type wherever they are used (`bristol::read`, `Config::load`), which says whose
//! they are; and modules are named by their paths.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Before the name of a type.
const DEFINE: [&str; 5] = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub union "];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What the files of a crate say: types with their modules, and names that are public.
#[derive(Default)]
struct Crate {
    types: Vec<(String, PathBuf)>,
    public: BTreeSet<String>,
}

impl Crate {
    fn read(&mut self, path: &Path) {
        if path.is_dir() {
            return fs::read_dir(path).unwrap().for_each(|entry| self.read(&entry.unwrap().path()));
        }
        // a build is for one processor, which has one of the two
        let neon = path.ends_with("neon.rs");
        let module = if neon { path.with_file_name("x86") } else { path.with_extension("") };
        let named = ["mod", "main"].iter().all(|name| !module.ends_with(name));
        let module = if named { module } else { module.parent().unwrap().to_owned() };
        self.take(&fs::read_to_string(path).unwrap(), &module);
    }

    fn take(&mut self, text: &str, module: &Path) {
        let after = |define: &str| text.lines().filter_map(move |line| line.strip_prefix(define)).collect();
        let names = |define| -> Vec<String> {
            let rest: Vec<&str> = after(define);
            rest.into_iter().filter_map(|rest| words(rest).next().map(str::to_owned)).collect()
        };
        self.types.extend(DEFINE.into_iter().flat_map(names).map(|name| (name, module.to_owned())));
        self.public.extend(names("pub mod "));
        for export in text.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next()) {
            // of modules, those whose types are all exported
            let whole = export.split("::*").filter_map(|before| words(before).last());
            let types = words(export).filter(|word| word.starts_with(char::is_uppercase));
            self.public.extend(whole.filter(|_| export.contains('*')).chain(types).map(str::to_owned));
            let renamed = export.split(" as ").skip(1).filter_map(|rest| words(rest).next());
            let renamed = renamed.filter(|word| word.starts_with(char::is_uppercase));
            self.types.extend(renamed.map(|name| (name.to_owned(), module.to_owned())));
        }
    }

    /// The public types, each with the module that defines it.
    fn public(self, program: bool) -> impl Iterator<Item = (String, PathBuf)> {
        let Crate { types, public } = self;
        let is_public = move |name: &str| program || name == "lib" || public.contains(name);
        types.into_iter().filter(move |(name, module)| {
            is_public(name) || module.file_name().is_some_and(|last| is_public(&last.to_string_lossy()))
        })
    }
}

#[test]
fn no_public_name_has_two_meanings() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut places: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    let folders = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path());
    for folder in folders.chain(["lab/measure", "python"].map(|folder| crates.parent().unwrap().join(folder)))
    {
        let mut one = Crate::default();
        let source = folder.join("src");
        one.read(&source);
        for (name, module) in one.public(source.join("main.rs").exists()) {
            places.entry(name).or_default().insert(module);
        }
    }
    assert!(places.len() > 200, "types are found: {}", places.len());
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "names with two meanings: {places:#?}");
}

#[test]
fn public_types_are_read_from_the_text() {
    let mut one = Crate::default();
    one.take(
        "pub mod a;\nmod b;\npub use b::{\n    Inner, Out as Outer,\n};\npub use e::*;\n",
        "lib".as_ref(),
    );
    one.take("pub struct Open<T>(T);\npub(crate) struct Private;\nstruct Own;\n", "a".as_ref());
    one.take("pub enum Inner {}\npub trait Within {}\npub struct Out;\n", "b".as_ref());
    one.take("pub type All = u8;\n", "e".as_ref());
    let names: Vec<String> = one.public(false).map(|(name, _)| name).collect();
    assert_eq!(names, ["Outer", "Open", "Out", "Inner", "All"]);
}
