//! No two modules of a crate import each other, whether at once or by way of others.
//!
//! A module and what stands beneath it may use each other, as a file and its folder: a cycle is allowed if
//! one of its members has all others beneath it. Every other cycle is refused, with arrows from a module to
//! those beneath it counted like all others; those of tests are not. What a re-export hands on is counted
//! where it is defined. A crate is what one root file declares: each library and each program of each
//! package.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

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
    /// The modules that it declares in files of their own, and the file if it says which one.
    children: BTreeMap<String, Option<String>>,
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
        let mut file = None;
        while at < tokens.len() {
            if let Some(path) = attribute(tokens, at).as_ref().and_then(|said| said.strip_prefix("path=")) {
                file = Some(path.trim_matches('"').to_owned());
            }
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
                    if word == "mod"
                        && let [TokenTree::Ident(name), end, ..] = &tokens[at + 1..]
                        && is(end, ";")
                    {
                        self.children.insert(name.to_string(), file.take());
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
    /// What a root file declares.
    fn read(root: &Path) -> Modules {
        let mut modules = BTreeMap::new();
        collect(root, root.parent().unwrap(), Vec::new(), &mut modules);
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

    /// Which modules each one imports.
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
            to.filter(|to| to != name).collect()
        };
        self.0.iter().map(|(name, module)| (name.clone(), of(name, module))).collect()
    }
}

/// Reads the module in `file` and those that it declares, whose files are in `folder`.
fn collect(file: &Path, folder: &Path, name: Name, modules: &mut BTreeMap<Name, Module>) {
    let module = Module::read(&fs::read_to_string(file).unwrap());
    for (child, path) in &module.children {
        let inside = folder.join(child);
        let files = match path {
            Some(path) => vec![file.with_file_name(path)],
            None => vec![folder.join(format!("{child}.rs")), inside.join("mod.rs")],
        };
        let found = files.iter().find(|file| file.exists());
        let found = found.unwrap_or_else(|| panic!("{}: no file for `mod {child};`", file.display()));
        collect(found, &inside, [&name[..], std::slice::from_ref(child)].concat(), modules);
    }
    modules.insert(name, module);
}

type Arrows = BTreeMap<Name, BTreeSet<Name>>;

/// Whether a module stands beneath another.
fn beneath(module: &Name, top: &Name) -> bool {
    module.len() > top.len() && module.starts_with(top)
}

/// The shortest way from one module to another by modules beneath `top`.
fn way(arrows: &Arrows, from: &Name, to: &Name, top: &Name) -> Option<Vec<Name>> {
    let mut ways = VecDeque::from([vec![from.clone()]]);
    let mut seen = BTreeSet::from([from.clone()]);
    while let Some(way) = ways.pop_front() {
        let last = way.last()?;
        if last == to {
            return Some(way);
        }
        for next in arrows.get(last).into_iter().flatten() {
            if beneath(next, top) && seen.insert(next.clone()) {
                ways.push_back([&way[..], std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

/// Cycles of modules of which none has all others beneath it, one for each two folders or files that take
/// part.
///
/// The members of such a cycle have a nearest module above them all, which is not one of them. So it has an
/// arrow between what stands beneath two different children of that module, and a way back that never leaves
/// what is beneath it.
fn cycles(arrows: &Arrows) -> Vec<Vec<Name>> {
    let mut found = BTreeMap::new();
    for (from, targets) in arrows {
        for to in targets {
            let shared = from.iter().zip(to).take_while(|(one, two)| one == two).count();
            if shared == from.len() || shared == to.len() {
                continue;
            }
            let (top, mut ends) = (from[..shared].to_vec(), [&from[shared], &to[shared]]);
            ends.sort();
            let key = (top.clone(), ends.map(String::clone));
            if !found.contains_key(&key)
                && let Some(back) = way(arrows, to, from, &top)
            {
                found.insert(key, [std::slice::from_ref(from), &back[..]].concat());
            }
        }
    }
    found.into_values().collect()
}

/// The packages: those of the workspace, and those of the laboratory.
fn packages() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let lab = crates.parent().unwrap().join("lab");
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut packages: Vec<PathBuf> = inside(crates).chain(inside(&lab)).collect();
    packages.retain(|folder| folder.join("Cargo.toml").exists());
    packages.sort();
    packages
}

/// The root files of a package's library and programs.
fn roots(package: &Path) -> Vec<PathBuf> {
    let source = package.join("src");
    let programs = fs::read_dir(source.join("bin")).into_iter().flatten().map(|entry| entry.unwrap().path());
    let programs = programs.map(|path| if path.is_dir() { path.join("main.rs") } else { path });
    let roots = [source.join("lib.rs"), source.join("main.rs")].into_iter().chain(programs);
    roots.filter(|root| root.exists()).collect()
}

#[test]
fn no_module_imports_itself_by_way_of_others() {
    let mut found = Vec::new();
    for package in packages() {
        let roots = roots(&package);
        assert!(!roots.is_empty(), "{}", package.display());
        for root in roots {
            let name = root.strip_prefix(package.parent().unwrap()).unwrap();
            for cycle in cycles(&Modules::read(&root).arrows()) {
                let names: Vec<String> = cycle.iter().map(|name| name.join("::")).collect();
                found.push(format!("{}: {}", name.display(), names.join(" -> ")));
            }
        }
    }
    assert!(found.is_empty(), "modules that import each other:\n{}", found.join("\n"));
}

/// Modules that no file of their folder uses, so that they are on no cycle at all: their files share types
/// that have a file, too.
const HEADS: [(&str, &[&str]); 2] = [("divisi-field", &["gf64"]), ("divisi", &["bench", "report"])];

#[test]
fn what_files_of_a_folder_share_does_not_stand_above_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (package, module) in HEADS {
        let module: Name = module.iter().map(|word| (*word).to_owned()).collect();
        let arrows = Modules::read(&crates.join(package).join("src/lib.rs")).arrows();
        let users = arrows.iter().filter(|(name, to)| beneath(name, &module) && to.contains(&module));
        let users: Vec<String> = users.map(|(name, _)| name.join("::")).collect();
        assert!(arrows.keys().filter(|name| beneath(name, &module)).count() > 3, "{package}: {module:?}");
        assert!(users.is_empty(), "{package}: {} is used by {}", module.join("::"), users.join(", "));
    }
}

/// The arrows between modules with these texts.
fn arrows_of(modules: &[(&str, &str)]) -> Arrows {
    let modules = modules.iter().map(|(name, text)| {
        let name: Name = name.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect();
        (name, Module::read(text))
    });
    Modules(modules.collect()).arrows()
}

/// The reader sees through re-exports and groups, and not into tests.
#[test]
fn arrows_are_read_from_the_text() {
    let arrows = arrows_of(&[
        ("", "mod a; mod b; mod c; pub use b::{self, Inner as Outer}; #[cfg(test)] mod t;"),
        ("a", "mod low; use crate::{Outer, c::deep}; fn f() { deep(); low::g() }"),
        ("a::low", "pub fn g() {}"),
        ("b", "pub struct Inner; #[cfg(test)] mod tests { use crate::a::f; }"),
        ("c", "pub fn deep() { super::a::f() }"),
    ]);
    let of = |name: &str| arrows[&vec![name.to_owned()]].iter().map(|to| to.join("::")).collect::<Vec<_>>();
    assert_eq!(of("a"), ["a::low", "b", "c"]);
    assert_eq!(of("b"), [""; 0]);
    assert_eq!(of("c"), ["a"]);
    let declared =
        Module::read("mod a; #[cfg(test)] mod t; mod within {} #[path = \"../o.rs\"] mod other;").children;
    let declared: Vec<_> = declared.iter().map(|(name, file)| (name.as_str(), file.as_deref())).collect();
    assert_eq!(declared, [("a", None), ("other", Some("../o.rs"))]);
}

/// A cycle is found unless one of its members has all others beneath it, however it goes up and down.
#[test]
fn cycles_are_found() {
    let cycle = |modules: &[(&str, &str)]| {
        let all = modules.iter().map(|(name, _)| name.split("::").map(str::to_owned).collect::<Name>());
        let mut above: Vec<(String, String)> = vec![(String::new(), String::new())];
        for name in all {
            above.extend((1..name.len()).map(|end| (name[..end].join("::"), String::new())));
        }
        above.retain(|(name, _)| modules.iter().all(|(known, _)| known != name));
        let above = above.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        cycles(&arrows_of(&modules.iter().copied().chain(above).collect::<Vec<_>>())).len()
    };
    // two files of a folder, and a file with what stands beneath it
    assert_eq!(cycle(&[("a", "use crate::b::B; pub struct A;"), ("b", "use crate::a::A; pub struct B;")]), 1);
    assert_eq!(cycle(&[("a", "use crate::b::B; pub struct A;"), ("b", "pub struct B;")]), 0);
    assert_eq!(cycle(&[("a", "use low::B; pub struct A;"), ("a::low", "use super::A; pub struct B;")]), 0);
    // d -> a::low -> a -> a::tree -> d: from a down to what it uses
    let a = ("a", "use tree::T; pub struct A;");
    let tree = ("a::tree", "use crate::d::D; pub struct T;");
    let low = ("a::low", "use super::A; pub struct L;");
    assert_eq!(cycle(&[("d", "use crate::a::low::L; pub struct D;"), a, low, tree]), 1);
    assert_eq!(cycle(&[("d", "pub struct D;"), a, low, tree]), 0);
    // a -> a::low -> a::tree -> a: a stands above the others; without a two of them import each other
    let tree = ("a::tree", "use super::A; pub struct T;");
    let low = ("a::low", "use super::tree::T; pub struct L;");
    assert_eq!(cycle(&[("a", "use low::L; pub struct A;"), low, tree]), 0);
    let tree = ("a::tree", "use super::low::L; pub struct T;");
    assert_eq!(cycle(&[("a", "use low::L; pub struct A;"), low, tree]), 1);
}
