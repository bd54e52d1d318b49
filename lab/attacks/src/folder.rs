//! The files below a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
