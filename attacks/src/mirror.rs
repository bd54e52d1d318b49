//! A copy of the project, in which some files are changed.
//!
//! The copy is one workspace, with this package as a member, so that one build has the tests of all packages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Writes the copy: each file as `changed` returns it for its path and text, or unchanged if that returns
/// `None`. Files of the copy that are already as they should be are left alone, so that the next build has
/// little to do; files that the project does not have are removed.
///
/// # Errors
/// If a file cannot be read, written or removed, or if `changed` fails.
pub fn write(
    project: &Path,
    copy: &Path,
    changed: impl Fn(&str, &str) -> Result<Option<String>, String>,
) -> Result<(), String> {
    let files = files_of(project)?;
    for file in files_of(copy)?.difference(&files) {
        let path = copy.join(file);
        std::fs::remove_file(&path).map_err(|e| format!("{path:?}: {e}"))?;
    }
    for file in &files {
        let (from, to) = (project.join(file), copy.join(file));
        let mut bytes = std::fs::read(&from).map_err(|e| format!("{from:?}: {e}"))?;
        if let (Some(file), Ok(text)) = (file.to_str(), std::str::from_utf8(&bytes)) {
            let text = changed(file, text)?.unwrap_or_else(|| text.to_owned());
            bytes = joined(project, file, text)?.into_bytes();
        }
        if std::fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        let folder = to.parent().ok_or("a file stands in no folder")?;
        std::fs::create_dir_all(folder).map_err(|e| format!("{folder:?}: {e}"))?;
        std::fs::write(&to, bytes).map_err(|e| format!("{to:?}: {e}"))?;
    }
    Ok(())
}

/// A file of the copy, in which this package belongs to the project's workspace.
fn joined(project: &Path, file: &str, text: String) -> Result<String, String> {
    let without = |part: &str| format!("{file} has no `{}`", part.trim_end());
    match file {
        "Cargo.toml" => {
            let members = "members = [\"crates/*\"";
            let at = text.find(members).ok_or_else(|| without(members))? + members.len();
            Ok(format!("{}, \"attacks\"{}", &text[..at], &text[at..]))
        }
        "attacks/Cargo.toml" => {
            // profiles are those of the workspace
            let (package, _) = text.split_once("\n[profile").ok_or_else(|| without("[profile"))?;
            let (before, after) =
                package.split_once("[workspace]\n").ok_or_else(|| without("[workspace]"))?;
            Ok(format!("{before}{after}"))
        }
        "Cargo.lock" => {
            let path = project.join("attacks/Cargo.lock");
            let of_this = std::fs::read_to_string(&path).map_err(|e| format!("{path:?}: {e}"))?;
            let own = format!("name = \"{}\"\n", env!("CARGO_PKG_NAME"));
            let own = of_this.split("[[package]]\n").find(|package| package.starts_with(&own));
            let own = own.ok_or_else(|| format!("{path:?} lacks this package"))?;
            let mut packages: Vec<&str> = text.split("[[package]]\n").collect();
            packages.push(own);
            // what comes before the first of them is none
            packages[1..].sort_by_key(|package| package.lines().next());
            let packages: Vec<&str> = packages.iter().map(|package| package.trim_end()).collect();
            Ok(packages.join("\n\n[[package]]\n") + "\n")
        }
        _ => Ok(text),
    }
}

/// All files below a folder, by their paths from it, without `.git` and without whatever has a name that
/// begins with `target`.
///
/// # Errors
/// If an entry of a folder cannot be read.
pub fn files_of(folder: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let (mut files, mut folders) = (BTreeSet::new(), vec![folder.to_path_buf()]);
    while let Some(at) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&at) else { continue };
        for entry in entries {
            let entry = entry.map_err(|e| format!("{at:?}: {e}"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == ".git" || name.starts_with("target") {
                continue;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if let Ok(relative) = path.strip_prefix(folder) {
                files.insert(relative.to_path_buf());
            }
        }
    }
    Ok(files)
}

/// The project's folder, in which this package stands.
///
/// # Errors
/// If it stands in none.
pub fn project() -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_path_buf).ok_or("the package stands in no folder".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The copy has this package as a member of its workspace, with the versions that both have locked.
    #[test]
    fn the_copy_is_one_workspace() {
        let project = project().unwrap();
        let of_copy = |file: &str| {
            let text = std::fs::read_to_string(project.join(file)).unwrap();
            (joined(&project, file, text.clone()).unwrap(), text)
        };
        assert!(of_copy("Cargo.toml").0.contains("\nmembers = [\"crates/*\", \"attacks\"]\n"));
        let (manifest, _) = of_copy("attacks/Cargo.toml");
        assert!(!manifest.contains("[workspace]") && !manifest.contains("[profile"));
        let (copy, lock) = of_copy("Cargo.lock");
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
}
