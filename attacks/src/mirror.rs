//! A copy of the project, in which some files are changed.

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
        if let (Some(file), Ok(text)) = (file.to_str(), std::str::from_utf8(&bytes))
            && let Some(text) = changed(file, text)?
        {
            bytes = text.into_bytes();
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
