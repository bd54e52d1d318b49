//! A copy of the project, with hooks, in which some files are changed.
//!
//! The copy is one workspace, with this package as a member, so that one build has the tests of all packages;
//! in the project, this package is a member of the laboratory's workspace.

use crate::folder::files_of;
use crate::hooks::Hooks;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of the copy before any of them is changed.
pub struct Source {
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Those that the project does not have.
    added: BTreeSet<PathBuf>,
    /// The lines that hooks insert into files, and that those files do not have otherwise.
    inserted: BTreeMap<String, BTreeSet<String>>,
}

impl Source {
    /// The files of the project, with all hooks.
    ///
    /// # Errors
    /// If a file cannot be read, or a hook does not fit.
    pub fn read(project: &Path) -> Result<Source, String> {
        let mut files = of_the_project(project)?;
        let own: BTreeSet<PathBuf> = files.keys().cloned().collect();
        let hooks = Hooks::read(&project.join(HOOKS))?;
        let mut inserted = BTreeMap::new();
        for (file, lines) in hooks.inserted() {
            let plain = files.get(Path::new(file)).map(|bytes| String::from_utf8_lossy(bytes));
            let plain: BTreeSet<&str> = plain.iter().flat_map(|text| text.lines()).map(str::trim).collect();
            inserted.insert(file.into(), lines.difference(&plain).map(|line| (*line).to_owned()).collect());
        }
        hooks.add(&mut files)?;
        joined(&mut files)?;
        let added = files.keys().filter(|file| !own.contains(*file)).cloned().collect();
        Ok(Source { files, added, inserted })
    }

    /// The files of the project, in which marks of secrets are told to `divisi-measure poison`. They have no
    /// other hooks, and the laboratory is a workspace of its own, as it is in the project.
    ///
    /// # Errors
    /// If a file cannot be read, or a hook does not fit.
    pub fn tainted(project: &Path) -> Result<Source, String> {
        let mut files = of_the_project(project)?;
        Hooks::read(&project.join(TAINT))?.add(&mut files)?;
        Ok(Source { files, added: BTreeSet::new(), inserted: BTreeMap::new() })
    }

    /// The text of a file, by its path from the project's folder.
    #[must_use]
    pub fn text(&self, file: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(Path::new(file))?).ok()
    }

    /// Whether hooks inserted this line into a file. A line that they changed is no such line.
    #[must_use]
    pub fn is_hook(&self, file: &str, line: &str) -> bool {
        self.inserted.get(file).is_some_and(|lines| lines.contains(line.trim()))
    }

    /// Whether hooks brought a file that the project does not have.
    #[must_use]
    pub fn is_added(&self, file: &str) -> bool {
        self.added.contains(Path::new(file))
    }

    /// The paths of all files of text, and their texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        self.files.iter().filter_map(move |(file, bytes)| Some((file.to_str()?, text(bytes)?)))
    }

    /// Writes the copy: each file as `changed` returns it for its path and text, or unchanged if that returns
    /// `None`. Files that are already as they should be are left alone, so that the next build has little to
    /// do; other files in the copy's folder are removed.
    ///
    /// # Errors
    /// If a file cannot be read, written or removed, or if `changed` fails.
    pub fn write(
        &self,
        copy: &Path,
        changed: impl Fn(&str, &str) -> Result<Option<String>, String>,
    ) -> Result<(), String> {
        for file in files_of(copy)?.iter().filter(|file| !self.files.contains_key(*file)) {
            let path = copy.join(file);
            std::fs::remove_file(&path).map_err(|e| format!("{path:?}: {e}"))?;
            // cargo would take an empty folder of `crates` for a package; those that are not empty stay
            let folders = path.ancestors().skip(1).take_while(|folder| *folder != copy);
            folders.map_while(|folder| std::fs::remove_dir(folder).ok()).for_each(drop);
        }
        for (file, bytes) in &self.files {
            let to = copy.join(file);
            let text = match (file.to_str(), std::str::from_utf8(bytes)) {
                (Some(file), Ok(text)) => changed(file, text)?,
                _ => None,
            };
            let bytes = text.as_ref().map_or(bytes.as_slice(), |text| text.as_bytes());
            if std::fs::read(&to).is_ok_and(|old| old == bytes) {
                continue;
            }
            let folder = to.parent().ok_or("a file stands in no folder")?;
            std::fs::create_dir_all(folder).map_err(|e| format!("{folder:?}: {e}"))?;
            std::fs::write(&to, bytes).map_err(|e| format!("{to:?}: {e}"))?;
        }
        Ok(())
    }
}

/// The folder of the hooks.
const HOOKS: &str = "lab/attacks/hooks";
/// The set of hooks that tell marks of secrets.
const TAINT: &str = "lab/attacks/hooks/taint";

/// The files of the project, without the hooks.
fn of_the_project(project: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    let mut files = BTreeMap::new();
    for file in files_of(project)?.into_iter().filter(|file| !file.starts_with(HOOKS)) {
        let path = project.join(&file);
        let bytes = std::fs::read(&path).map_err(|e| format!("{path:?}: {e}"))?;
        files.insert(file, bytes);
    }
    Ok(files)
}

/// Makes this package a member of the project's workspace, instead of the laboratory's.
fn joined(files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<(), String> {
    let text = |file: &str| {
        let bytes = files.get(Path::new(file)).ok_or(format!("no {file}"))?;
        String::from_utf8(bytes.clone()).map_err(|e| format!("{file}: {e}"))
    };
    let [manifest, lock, of_lab] = [text("Cargo.toml")?, text("Cargo.lock")?, text(LAB[1])?];
    let (before, after) = manifest.split_once(MEMBERS).ok_or(format!("Cargo.toml has no `{MEMBERS}`"))?;
    let manifest = format!("{before}{MEMBERS}, \"lab/attacks\"{after}");
    let line = format!("name = \"{}\"\n", env!("CARGO_PKG_NAME"));
    let package = of_lab.split(PACKAGE).find(|package| package.starts_with(&line));
    // what comes before the first package is none
    let mut packages: Vec<&str> = lock.split(PACKAGE).collect();
    packages.push(package.ok_or(format!("{} lacks this package", LAB[1]))?);
    packages[1..].sort_by_key(|package| package.lines().next());
    let packages: Vec<&str> = packages.iter().map(|package| package.trim_end()).collect();
    let lock = packages.join(&format!("\n\n{PACKAGE}")) + "\n";
    for (file, text) in [("Cargo.toml", manifest), ("Cargo.lock", lock)] {
        files.insert(file.into(), text.into_bytes());
    }
    // a package belongs to the workspace of the nearest folder that has one
    for file in LAB {
        files.remove(Path::new(file));
    }
    Ok(())
}

/// The manifest and the lock file of the laboratory's workspace.
const LAB: [&str; 2] = ["lab/Cargo.toml", "lab/Cargo.lock"];
/// Where the project's manifest has its members.
const MEMBERS: &str = "members = [\"crates/*\"";
/// What begins a package in a lock file.
const PACKAGE: &str = "[[package]]\n";

/// The project's folder, in which this package stands.
///
/// # Errors
/// If it stands in none.
pub fn project() -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(Path::to_path_buf).ok_or("the package stands in no folder".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The copy has this package as a member of its workspace, with the versions that both have locked.
    #[test]
    fn the_copy_is_one_workspace() {
        let project = project().unwrap();
        let source = Source::read(&project).unwrap();
        let manifest = source.text("Cargo.toml").unwrap();
        assert!(manifest.contains("\nmembers = [\"crates/*\", \"lab/attacks\", \"python\"]\n"));
        assert!(LAB.iter().all(|file| source.text(file).is_none()));
        let copy = source.text("Cargo.lock").unwrap();
        let lock = std::fs::read_to_string(project.join("Cargo.lock")).unwrap();
        let own = "\n[[package]]\nname = \"divisi-attacks\"\n";
        let [before, after] = [0, 1].map(|i| copy.split(own).nth(i).unwrap());
        let (_, after) = after.split_once("\n[[package]]").unwrap();
        assert_eq!(format!("{before}\n[[package]]{after}"), lock, "nothing else is changed");
        // a name alone stands for the one version that there is
        for line in copy.split(own).nth(1).unwrap().lines().take_while(|line| *line != "]") {
            let Some(name) = line.strip_prefix(" \"").and_then(|line| line.strip_suffix("\",")) else {
                continue;
            };
            let named = match name.split_once(' ') {
                Some((name, version)) => format!("\nname = \"{name}\"\nversion = \"{version}\"\n"),
                None => format!("\nname = \"{name}\"\n"),
            };
            assert_eq!(lock.matches(&named).count(), 1, "{name}");
        }
    }

    /// The functions of the marks are empty in the project and in the copy of the attacks, and report in the
    /// other one, in which nothing else is changed.
    #[test]
    fn marks_report_in_a_copy_of_their_own() {
        const MARKS: &str = "crates/divisi-core/src/taint.rs";
        let project = project().unwrap();
        let plain = std::fs::read_to_string(project.join(MARKS)).unwrap();
        assert_eq!(Source::read(&project).unwrap().text(MARKS), Some(&*plain));
        let tainted = Source::tainted(&project).unwrap();
        let marks = tainted.text(MARKS).unwrap();
        syn::parse_file(marks).unwrap();
        let empty = |text: &str| text.matches("    let _ = (step, ").count();
        assert_eq!((empty(&plain), empty(marks)), (4, 0));
        let others =
            of_the_project(&project).unwrap().into_iter().filter(|(file, _)| file != Path::new(MARKS));
        others.for_each(|(file, bytes)| assert!(tainted.files[&file] == bytes, "{file:?}"));
    }
}
