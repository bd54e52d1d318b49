//! The steps that a crate's sources name, read from its files: what ships, without tests.

use crate::Step;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a line does that names a step, but sends no message with it.
const MUTE: [&str; 16] = [
    "misuse(",
    "Misuse {",
    "Misuse::",
    "misfit",
    "unfit(",
    "Unfit {",
    "well_formed(",
    "require(",
    "taint::",
    ".take(",
    ".admit(",
    "admit_or_end(",
    ".demand(",
    ".demand_pair(",
    ".demand_settled(",
    ".stored(",
];

/// A step that stands in the sources.
#[derive(Clone, Debug)]
pub struct SourceStep {
    /// Its name: the module, and what `step!` says.
    pub name: String,
    /// Whether some line may send a message with it, and not only report with it.
    pub speaks: bool,
    /// The file in which it stands.
    pub file: PathBuf,
}

impl SourceStep {
    /// Its id on the wire.
    #[must_use]
    pub fn id(&self) -> u32 {
        Step::new(Box::leak(self.name.clone().into_boxed_str())).id
    }
}

/// A line of what ships, with the module that it stands in.
struct Line {
    module: String,
    file: PathBuf,
    text: String,
}

/// All lines of a crate that ship, module by module.
struct Reader<'a> {
    read: &'a dyn Fn(&Path) -> Option<String>,
    lines: Vec<Line>,
}

impl Reader<'_> {
    /// Read a module, of which the file and the folder of its own modules are given, and all below it.
    fn module(&mut self, name: &str, file: &Path, folder: &Path) {
        let Some(text) = (self.read)(file) else { return };
        // attributes come before what they belong to
        let (mut gated, mut below) = (false, None);
        for line in text.lines() {
            let code = line.trim_start();
            if let Some(indent) = below {
                // the end of an inline module that does not ship
                if code == "}" && line.len() == code.len() + indent {
                    below = None;
                }
                continue;
            }
            if code.is_empty() || code.starts_with("//") {
                continue;
            }
            if code.starts_with("#[") || code.starts_with("#!") {
                gated |= code.starts_with("#[cfg(") && code.contains("test") && !code.contains("not(");
                continue;
            }
            let item = code.split_once("mod ").filter(|(before, _)| before.is_empty() || is_public(before));
            if let Some((_, rest)) = item {
                let own: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if rest.ends_with('{') && gated {
                    below = Some(line.len() - code.len());
                } else if rest.ends_with(';') && !gated {
                    let (name, inner) = (format!("{name}::{own}"), folder.join(&own));
                    let file = [folder.join(format!("{own}.rs")), inner.join("mod.rs")];
                    file.iter().for_each(|file| self.module(&name, file, &inner));
                }
            } else if !gated {
                let (module, file) = (name.to_owned(), file.to_owned());
                self.lines.push(Line { module, file, text: code.to_owned() });
            }
            gated = false;
        }
    }
}

fn is_public(before: &str) -> bool {
    before.starts_with("pub") && before.trim_end().ends_with(['b', ')'])
}

/// Whether a word stands in a text by itself; a purpose of draws is another constant than a step.
fn has_word(text: &str, word: &str) -> bool {
    text.replace("purposes::", "purposes_")
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

/// The steps of a crate, whose files `read` reads, from the first one on.
pub fn steps_in(name: &str, first: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<SourceStep> {
    let mut reader = Reader { read, lines: Vec::new() };
    reader.module(name, first, first.parent().unwrap_or(first));
    let lines = reader.lines;
    let (mut found, mut constant) = (BTreeMap::<String, (bool, PathBuf)>::new(), None);
    for Line { module, file, text } in &lines {
        if let Some((before, rest)) = text.split_once("const ").filter(|(_, rest)| !rest.starts_with("fn ")) {
            let named = rest.split(':').next().unwrap_or("").trim().to_owned();
            constant = (before.is_empty() || is_public(before)).then_some((named, before.is_empty()));
        }
        let mut rest = text.as_str();
        while let Some((_, after)) = rest.split_once("step!(\"") {
            let own = after.split('"').next().unwrap_or("");
            let speaks = match &constant {
                Some((constant, private)) => lines.iter().any(|line| {
                    let below = line.module.strip_prefix(module.as_str());
                    let near =
                        !private || below.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
                    let defines = line.text.contains("const ") || line.text.starts_with("use ");
                    near && !defines
                        && has_word(&line.text, constant)
                        && !MUTE.iter().any(|mute| line.text.contains(mute))
                }),
                None => !MUTE.iter().any(|mute| text.contains(mute)),
            };
            found.entry(format!("{module}/{own}")).or_insert_with(|| (false, file.clone())).0 |= speaks;
            rest = after;
        }
        if text.ends_with(';') {
            constant = None;
        }
    }
    found.into_iter().map(|(name, (speaks, file))| SourceStep { name, speaks, file }).collect()
}

/// The steps of the crate in this folder.
#[must_use]
pub fn steps_of(folder: &Path) -> Vec<SourceStep> {
    let name = folder.file_name().map(|name| name.to_string_lossy().replace('-', "_")).unwrap_or_default();
    steps_in(&name, &folder.join("src/lib.rs"), &|file| std::fs::read_to_string(file).ok())
}

/// The steps of the tests of the crate in this folder, with which shapes send what callers carry.
fn steps_of_tests(folder: &Path) -> Vec<SourceStep> {
    steps_in("it", &folder.join("tests/it/main.rs"), &|file| std::fs::read_to_string(file).ok())
}

/// The ids of the steps of the crate in this folder that stand in one of these files, which are named by the
/// ends of their paths, a line each.
#[must_use]
pub fn steps_within(folder: &Path, files: &str) -> BTreeSet<u32> {
    let within = |step: &SourceStep| files.lines().any(|file| !file.is_empty() && step.file.ends_with(file));
    steps_of(folder).iter().filter(|step| within(step)).map(SourceStep::id).collect()
}

/// The names of all steps of the crates that stand beside the one in this folder, of that one, and of its
/// tests, by ids.
#[must_use]
pub fn names(folder: &Path) -> BTreeMap<u32, String> {
    let beside = folder.parent().and_then(|all| std::fs::read_dir(all).ok());
    let folders: BTreeSet<PathBuf> =
        beside.into_iter().flatten().filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    let all = folders.iter().flat_map(|folder| steps_of(folder)).chain(steps_of_tests(folder));
    all.map(|step| (step.id(), step.name)).collect()
}
