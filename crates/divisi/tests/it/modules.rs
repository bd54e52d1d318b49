//! No two modules of a crate use each other, whether at once or by way of others.
//!
//! A module and what stands beneath it may: a circle is allowed if one of its members has all others beneath
//! it. (`cargo modules dependencies --acyclic` knows no such rule. It looks at single items, so that two
//! types of one file whose functions mention each other are a circle already.) Tests do not count. A
//! re-export counts where its name is used, as a use of the module that defines what it hands on.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// A module by its path in its crate; the root is empty.
type Name = Vec<String>;
type Modules = BTreeMap<Name, Module>;
/// Which modules each one uses.
type Arrows = BTreeMap<Name, BTreeSet<Name>>;

/// What a module says of itself.
#[derive(Default)]
struct Module {
    /// Paths of imports and re-exports by the names that they have here.
    imports: BTreeMap<String, Name>,
    /// Paths in the text, but for those of re-exports.
    used: BTreeSet<Name>,
    /// The modules that it declares in files of their own.
    children: Vec<String>,
}

/// The words and signs of a text, but for its tests and literals.
fn words(stream: TokenStream, found: &mut Vec<String>) {
    let mut test = false;
    for token in stream {
        match token {
            TokenTree::Group(group) if test => test = group.delimiter() != Delimiter::Brace,
            TokenTree::Group(group) => {
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                let start = found.len();
                found.push(open.into());
                words(group.stream(), found);
                found.push(close.into());
                let attribute = found[start..].concat();
                test =
                    ["[cfg(test", "[cfg(any(test", "[cfg(all(test"].iter().any(|s| attribute.starts_with(s));
            }
            TokenTree::Literal(_) => {}
            token if test => test = token.to_string() != ";",
            token => found.push(token.to_string()),
        }
    }
}

/// Take the path, or the tree of paths, that begins at a word: each with the name that it has afterwards.
/// Returns where it ends.
fn paths(words: &[String], mut at: usize, before: &[String], found: &mut Vec<(Name, String)>) -> usize {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let mut path = before.to_vec();
    loop {
        match word(at) {
            "{" => {
                at += 1;
                while !["}", ""].contains(&word(at)) {
                    at = paths(words, at, &path, found);
                    at += usize::from(word(at) == ",");
                }
                return at + 1;
            }
            "*" => {}
            "self" if !path.is_empty() => {}
            name => path.push(name.into()),
        }
        at += 1;
        let further = |next: &str| next == "{" || next == "*" || next.starts_with(is_letter);
        if [word(at), word(at + 1)] != [":", ":"] || !further(word(at + 2)) {
            break;
        }
        at += 2;
    }
    let renamed = word(at) == "as";
    let name = if renamed { Some(word(at + 1).to_owned()) } else { path.last().cloned() };
    found.extend(name.map(|name| (path, name)));
    at + if renamed { 2 } else { 0 }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

impl Module {
    fn read(text: &str) -> Module {
        let (mut module, mut all) = (Module::default(), Vec::new());
        words(text.parse().unwrap(), &mut all);
        let mut at = 0;
        while at < all.len() {
            let mut found = Vec::new();
            if all[at] == "use" && all[at + 1] != "<" {
                let public = at > 0 && ["pub", ")"].contains(&all[at - 1].as_str());
                at = paths(&all, at + 1, &[], &mut found);
                module.used.extend(found.iter().filter(|_| !public).map(|(path, _)| path.clone()));
                module.imports.extend(found.into_iter().map(|(path, name)| (name, path)));
            } else if all[at].starts_with(is_letter) {
                if all[at] == "mod" && all.get(at + 2).is_some_and(|end| end == ";") {
                    module.children.push(all[at + 1].clone());
                }
                at = paths(&all, at, &[], &mut found);
                module.used.extend(found.into_iter().map(|(path, _)| path));
            } else {
                at += 1;
            }
        }
        module
    }
}

/// Read the module in `file` and those that it declares, whose files are in `folder`.
fn read(file: &Path, folder: &Path, name: Name, modules: &mut Modules) {
    let module = Module::read(&fs::read_to_string(file).unwrap());
    for child in &module.children {
        let inside = folder.join(child);
        let files = [inside.with_extension("rs"), inside.join("mod.rs")];
        if let Some(file) = files.iter().find(|file| file.exists()) {
            read(file, &inside, [&name[..], from_ref(child)].concat(), modules);
        }
    }
    modules.insert(name, module);
}

/// The module in which a path ends that stands in the module `at`.
fn home(modules: &Modules, at: &[String], path: &[String], depth: usize) -> Option<Name> {
    let from_root = path.first().is_some_and(|first| first == "crate");
    let mut here = if from_root { Name::new() } else { at.to_vec() };
    for (i, name) in path.iter().enumerate().skip(usize::from(from_root)) {
        let inner = [&here[..], from_ref(name)].concat();
        match name.as_str() {
            "self" => {}
            "super" => drop(here.pop()?),
            _ if modules.contains_key(&inner) => here = inner,
            _ => {
                return match modules[&here].imports.get(name) {
                    Some(_) if depth > 16 => Some(here),
                    Some(import) => home(modules, &here, &[import, &path[i + 1..]].concat(), depth + 1),
                    None => Some(here),
                };
            }
        }
    }
    Some(here)
}

fn arrows(modules: &Modules) -> Arrows {
    let of = |(name, module): (&Name, &Module)| {
        // a single word is a path if it was imported
        let paths = module.used.iter().filter(|path| path.len() > 1 || module.imports.contains_key(&path[0]));
        let to = paths.filter_map(|path| home(modules, name, path, 0)).filter(|to| to != name);
        (name.clone(), to.collect())
    };
    modules.iter().map(of).collect()
}

fn beneath(module: &[String], top: &[String]) -> bool {
    module.len() > top.len() && module.starts_with(top)
}

/// Whether one module uses another, at once or by way of others, of which all stand beneath `top`.
fn uses(arrows: &Arrows, from: &Name, to: &Name, top: &[String]) -> bool {
    let (mut next, mut seen) = (vec![from], BTreeSet::new());
    while let Some(module) = next.pop() {
        let further = arrows[module].iter().filter(|further| beneath(further, top));
        next.extend(further.filter(|further| seen.insert(*further)));
    }
    seen.contains(to)
}

/// The arrows of circles among modules of which none has all others beneath it.
///
/// The members of such a circle have a nearest module above them all, `top`, which is not one of them. So it
/// has an arrow between what stands beneath two children of `top`, and the way back stays beneath `top`.
fn circles(arrows: &Arrows) -> Vec<String> {
    let mut found = Vec::new();
    for (from, to) in arrows.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        let top = from.iter().zip(to).take_while(|(one, two)| one == two).count();
        if top < from.len().min(to.len()) && uses(arrows, to, from, &from[..top]) {
            found.push(format!("{} -> {}", from.join("::"), to.join("::")));
        }
    }
    found
}

fn arrows_of(root: &Path) -> Arrows {
    let mut modules = Modules::new();
    read(root, root.parent().unwrap(), Name::new(), &mut modules);
    arrows(&modules)
}

/// The files in a folder.
fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path())
}

#[test]
fn no_two_modules_use_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let lab = crates.parent().unwrap().join("lab");
    let (mut found, mut all) = (Vec::new(), 0);
    for package in inside(crates).chain(inside(&lab)).chain([crates.parent().unwrap().join("python")]) {
        let source = package.join("src");
        let roots = ["lib.rs", "main.rs"].map(|name| source.join(name));
        for root in roots.into_iter().chain(inside(&source.join("bin"))).filter(|root| root.is_file()) {
            let arrows = arrows_of(&root);
            all += arrows.values().map(BTreeSet::len).sum::<usize>();
            found.extend(circles(&arrows).into_iter().map(|arrow| format!("{}: {arrow}", root.display())));
        }
    }
    assert!(all > 2000, "arrows are read: {all}");
    assert!(found.is_empty(), "arrows of circles of modules:\n{}", found.join("\n"));
}

/// Modules that no file of their folder uses: their files share types that have a file, too.
#[test]
fn what_files_of_a_folder_share_does_not_stand_above_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (package, module) in [("divisi-field", "gf64"), ("divisi", "reproduce")] {
        let arrows = arrows_of(&crates.join(package).join("src/lib.rs"));
        let module: Name = module.split("::").map(str::to_owned).collect();
        let below = arrows.iter().filter(|(name, _)| beneath(name, &module));
        let users: Vec<_> = below.clone().filter(|(_, to)| to.contains(&module)).collect();
        assert!(below.count() > 3 && users.is_empty(), "{package}: {module:?} is used by {users:?}");
    }
}

/// Circles are found across re-exports and groups, however they go up and down, and not in tests.
#[test]
fn circles_are_read_from_the_text() {
    let lines = |texts: &[(&str, &str)]| {
        let mut modules = Modules::from([(Name::new(), Module::default())]);
        for (name, text) in texts {
            let name: Name = name.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect();
            modules.insert(name, Module::read(text));
        }
        circles(&arrows(&modules)).join(", ")
    };
    let both = "a -> b, b -> a";
    assert_eq!(lines(&[("a", "use crate::b::B;"), ("b", "fn f() { super::a::g(1) }")]), both);
    assert_eq!(lines(&[("a", "use crate::b::B;"), ("b", "#[cfg(test)] mod tests { use crate::a::A; }")]), "");
    assert_eq!(lines(&[("a", "use crate::b::B;"), ("b", "/// [`crate::a`]\npub struct B;")]), "");
    let root = ("", "mod a; pub use b::{self as c, Inner as Outer};");
    assert_eq!(lines(&[root, ("a", "use crate::{x::Y, Outer};"), ("b", "use crate::a::*;")]), both);
    assert_eq!(
        lines(&[root, ("a", "use crate as r; fn f() { crate::c::g() }"), ("b", "use super::a;")]),
        both
    );
    // a re-export that nobody uses, and one that its own module uses
    assert_eq!(lines(&[("a", "pub use crate::b::B;"), ("b", "use crate::a::A;")]), "");
    assert_eq!(lines(&[("a", "pub use crate::b::B; struct A(B);"), ("b", "use crate::a::A;")]), both);
    // a file and what stands beneath it; then down, and from there to what uses it
    let (a, low) = (("a", "use tree::T;"), ("a::low", "use super::A;"));
    assert_eq!(lines(&[a, low, ("a::tree", "use super::A;")]), "");
    let tree = ("a::tree", "use crate::d::D;");
    assert_eq!(lines(&[a, low, tree, ("d", "use crate::a::low::L;")]), "a::tree -> d, d -> a::low");
    assert_eq!(lines(&[a, low, tree, ("d", "")]), "");
    let (low, tree) = (("a::low", "use super::tree::T;"), ("a::tree", "use super::low::L;"));
    assert_eq!(lines(&[a, low, tree]), "a::low -> a::tree, a::tree -> a::low");
}
