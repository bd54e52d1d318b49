//! No two modules of a crate import each other, whether at once or by way of others; nor do two of its parts,
//! which are the files and folders beneath its root.
//!
//! A module may use what stands in its own folder, so arrows from a module to those beneath it do not count;
//! nor do those of tests. What a re-export hands on is counted where it is defined.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by its path in its crate; the root is empty.
type Name = Vec<String>;

/// Words of a path that name no item.
const FROM: [&str; 3] = ["crate", "super", "self"];

/// What a module says of itself.
#[derive(Default)]
struct Module {
    /// What is defined in it.
    items: BTreeSet<String>,
    /// What it imports, by the name that it has here; whether it hands it on.
    imports: Vec<(Vec<String>, String, bool)>,
    /// Every path in it but those of imports.
    paths: BTreeSet<Vec<String>>,
}

impl Module {
    fn read(text: &str) -> Module {
        let mut module = Module::default();
        let tokens: TokenStream = text.parse().unwrap();
        module.take(&tokens.into_iter().collect::<Vec<_>>());
        module
    }

    fn take(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        let mut public = false;
        while at < tokens.len() {
            if attribute(tokens, at).is_some_and(is_for_tests) {
                at += 2;
                while at < tokens.len() && !ends_item(&tokens[at]) {
                    at += 1;
                }
                at += 1;
                continue;
            }
            match &tokens[at] {
                TokenTree::Ident(word) if word == "pub" => {
                    public = true;
                    let scope =
                        tokens.get(at + 1).is_some_and(|next| group(next, Delimiter::Parenthesis).is_some());
                    at += if scope { 2 } else { 1 };
                    continue;
                }
                TokenTree::Ident(word) if word == "use" => {
                    let end = (at..tokens.len()).find(|i| is(&tokens[*i], ";")).unwrap_or(tokens.len());
                    imports(&tokens[at + 1..end], &[], &mut |path, name| {
                        self.imports.push((path.to_vec(), name, public));
                    });
                    at = end;
                }
                TokenTree::Ident(word) => {
                    if DEFINE.contains(&word.to_string().as_str())
                        && let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
                    {
                        self.items.insert(name.to_string());
                    }
                    if word == "macro_rules"
                        && let Some(TokenTree::Ident(name)) = tokens.get(at + 2)
                    {
                        self.items.insert(name.to_string());
                    }
                    let path = path(tokens, at);
                    at += 3 * path.len() - 2;
                    self.paths.insert(path);
                    public = false;
                    continue;
                }
                TokenTree::Group(inner) => {
                    self.take(&inner.stream().into_iter().collect::<Vec<_>>());
                }
                _ => {}
            }
            public = false;
            at += 1;
        }
    }
}

/// Before the name of what is defined.
const DEFINE: [&str; 8] = ["struct", "enum", "trait", "fn", "type", "const", "static", "union"];

fn is(token: &TokenTree, what: &str) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.to_string() == what)
}

fn group(token: &TokenTree, delimiter: Delimiter) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group.stream()),
        _ => None,
    }
}

/// What an attribute says that begins here.
fn attribute(tokens: &[TokenTree], at: usize) -> Option<String> {
    let inside = group(tokens.get(at + 1)?, Delimiter::Bracket)?;
    is(&tokens[at], "#").then(|| inside.to_string().replace(' ', ""))
}

fn is_for_tests(attribute: String) -> bool {
    ["cfg(test", "cfg(any(test", "cfg(all(test"].iter().any(|start| attribute.starts_with(start))
}

fn ends_item(token: &TokenTree) -> bool {
    is(token, ";") || group(token, Delimiter::Brace).is_some()
}

/// The path that begins here: names with `::` between them.
fn path(tokens: &[TokenTree], at: usize) -> Vec<String> {
    let mut path = vec![tokens[at].to_string()];
    let mut next = at + 1;
    while let [one, two, TokenTree::Ident(name), ..] = &tokens[next..]
        && is(one, ":")
        && is(two, ":")
    {
        path.push(name.to_string());
        next += 3;
    }
    path
}

/// The paths of an import, each with the name that it has afterwards.
fn imports(tokens: &[TokenTree], before: &[String], found: &mut impl FnMut(&[String], String)) {
    for tree in tokens.split(|token| is(token, ",")).filter(|tree| !tree.is_empty()) {
        let mut path = before.to_vec();
        let mut renamed = None;
        let mut all = false;
        for (at, token) in tree.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    renamed = tree.get(at + 1).map(ToString::to_string);
                    break;
                }
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(inner) => {
                    imports(&inner.stream().into_iter().collect::<Vec<_>>(), &path, found);
                    all = true;
                }
                _ if is(token, "*") => path.push("*".into()),
                _ => {}
            }
        }
        if !all && let Some(last) = path.last() {
            let name = renamed.unwrap_or_else(|| last.clone());
            found(&path, name);
        }
    }
}

/// The modules of a crate that are there without tests.
struct Modules(BTreeMap<Name, Module>);

impl Modules {
    fn read(source: &Path) -> Modules {
        let mut modules = BTreeMap::new();
        collect(source, &mut Vec::new(), &mut modules);
        // a module that is declared for tests alone is no part of the crate
        let names: Vec<Name> = modules.keys().cloned().collect();
        let declared = |modules: &BTreeMap<Name, Module>, name: &Name| {
            name.is_empty()
                || (1..=name.len()).all(|end| {
                    let parent = modules.get(&name[..end - 1]);
                    parent.is_some_and(|parent| parent.paths.contains(&vec!["mod".to_owned()]))
                        && parent.is_some_and(|parent| parent.paths.contains(&name[end - 1..end]))
                })
        };
        let gone: Vec<Name> = names.into_iter().filter(|name| !declared(&modules, name)).collect();
        gone.iter().for_each(|name| _ = modules.remove(name));
        Modules(modules)
    }

    /// The module in which a path of this module ends.
    fn home(&self, at: &Name, path: &[String], depth: usize) -> Option<Name> {
        let (first, mut rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" => Vec::new(),
            "self" => at.clone(),
            "super" => {
                let mut up = at.clone();
                up.pop()?;
                while let Some((word, further)) = rest.split_first()
                    && word == "super"
                {
                    up.pop()?;
                    rest = further;
                }
                up
            }
            _ => {
                rest = path;
                at.clone()
            }
        };
        let own = !FROM.contains(&first.as_str());
        if own && !self.0.contains_key(&[&here[..], &rest[..1]].concat()) {
            let import = self.0[at].imports.iter().find(|(_, name, _)| name == first)?;
            let known = FROM.contains(&import.0[0].as_str()) && depth < 16;
            let further = [&import.0[..], &rest[1..]].concat();
            return if known { self.home(at, &further, depth + 1) } else { None };
        }
        while let Some((name, further)) = rest.split_first() {
            let inner = [&here[..], std::slice::from_ref(name)].concat();
            if self.0.contains_key(&inner) {
                (here, rest) = (inner, further);
                continue;
            }
            let module = &self.0[&here];
            if module.items.contains(name) || depth >= 16 {
                return Some(here);
            }
            let handed = module.imports.iter().find(|(_, known, _)| known == name);
            return match handed {
                Some((path, ..)) => self.home(&here, &[&path[..], further].concat(), depth + 1),
                None => Some(here),
            };
        }
        Some(here)
    }

    /// Which modules each one imports, but those beneath it.
    fn arrows(&self) -> BTreeMap<Name, BTreeSet<Name>> {
        let of = |name: &Name, module: &Module| {
            let used = |word: &String| module.paths.iter().any(|path| path[0] == *word);
            let imports = module.imports.iter();
            let imports =
                imports.filter(|(_, name, public)| !public || used(name)).map(|(path, ..)| path.clone());
            let paths = module.paths.iter().filter(|path| path.len() > 1).cloned();
            let to = imports.chain(paths).filter_map(|path| {
                let path = path.strip_suffix(&["*".to_owned()]).unwrap_or(&path).to_vec();
                self.home(name, &path, 0)
            });
            to.filter(|to| !to.starts_with(name)).collect()
        };
        self.0.iter().map(|(name, module)| (name.clone(), of(name, module))).collect()
    }
}

fn collect(folder: &Path, name: &mut Name, modules: &mut BTreeMap<Name, Module>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            name.push(stem);
            collect(&path, name, modules);
            name.pop();
        } else if path.extension().is_some_and(|end| end == "rs") && stem != "main" {
            let own = if ["mod", "lib"].contains(&stem.as_str()) { None } else { Some(stem) };
            let module = Module::read(&fs::read_to_string(&path).unwrap());
            modules.insert(name.iter().cloned().chain(own).collect(), module);
        }
    }
}

/// A way from a module back to itself, if there is one.
fn circle(arrows: &BTreeMap<Name, BTreeSet<Name>>, start: &Name) -> Option<Vec<Name>> {
    let mut ways = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        for next in &arrows[way.last()?] {
            let further = [&way[..], std::slice::from_ref(next)].concat();
            if next == start {
                return Some(further);
            }
            if arrows.contains_key(next) && seen.insert(next.clone()) {
                ways.insert(0, further);
            }
        }
    }
    None
}

/// The arrows among the parts of a crate: the files and folders beneath its root, with all that they hold.
fn among_parts(arrows: &BTreeMap<Name, BTreeSet<Name>>) -> BTreeMap<Name, BTreeSet<Name>> {
    let part = |name: &Name| name.iter().take(1).cloned().collect::<Name>();
    let mut parts: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    for (from, to) in arrows {
        let others = to.iter().map(part).filter(|to| !to.is_empty() && *to != part(from));
        parts.entry(part(from)).or_default().extend(others);
    }
    parts
}

/// Crates whose parts still import each other, though no two files do.
const KNOTTED: [&str; 3] = ["divisi", "divisi-node", "divisi-ot"];

#[test]
fn no_module_imports_itself_by_way_of_others() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if !folder.join("src/lib.rs").exists() {
            continue;
        }
        let modules = Modules::read(&folder.join("src")).arrows();
        let parts = if KNOTTED.contains(&&name[..]) { BTreeMap::new() } else { among_parts(&modules) };
        for arrows in [modules, parts] {
            let mut told = BTreeSet::new();
            for module in arrows.keys() {
                if let Some(way) = circle(&arrows, module).filter(|_| !told.contains(module)) {
                    let names: Vec<String> = way.iter().map(|name| name.join("::")).collect();
                    found.push(format!("{name}: {}", names.join(" -> ")));
                    told.extend(way);
                }
            }
        }
    }
    assert!(found.is_empty(), "modules that import each other:\n{}", found.join("\n"));
}

/// The reader sees through re-exports and groups, and not into tests.
#[test]
fn arrows_are_read_from_the_text() {
    let modules = [
        ("", "mod a; mod b; mod c; pub use b::{self, Inner as Outer}; #[cfg(test)] mod t;"),
        ("a", "use crate::{Outer, c::deep}; fn f() { deep() }"),
        ("b", "pub struct Inner; #[cfg(test)] mod tests { use crate::a::f; }"),
        ("c", "pub fn deep() { super::a::f() }"),
    ];
    let modules = modules.into_iter().map(|(name, text)| {
        let name: Name = if name.is_empty() { Vec::new() } else { vec![name.into()] };
        (name, Module::read(text))
    });
    let arrows = Modules(modules.collect()).arrows();
    let of = |name: &str| arrows[&vec![name.to_owned()]].iter().map(|to| to.join("::")).collect::<Vec<_>>();
    assert_eq!(of("a"), ["b", "c"]);
    assert_eq!(of("b"), [""; 0]);
    assert_eq!(of("c"), ["a"]);
    assert!(circle(&arrows, &vec!["a".into()]).is_some() && circle(&arrows, &vec!["b".into()]).is_none());
    // no two files import each other, but the folders that they are in do
    let file = |path: &[&str]| path.iter().map(|name| (*name).to_owned()).collect::<Name>();
    let (one, two, three) = (file(&["d", "one"]), file(&["f", "two"]), file(&["d", "three"]));
    let arrows = [(one.clone(), [two.clone()].into()), (two, [three.clone()].into()), (three, [].into())];
    let arrows = BTreeMap::from(arrows);
    assert!(circle(&arrows, &one).is_none() && circle(&among_parts(&arrows), &file(&["d"])).is_some());
}
