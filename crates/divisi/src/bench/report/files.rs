//! The files of a report.

use crate::cleanup::{Cleanup, Entry};
use crate::failure::Failure;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The failure of a file that cannot be written there.
pub(super) fn no_files(out: &Path, e: &io::Error) -> Failure {
    Failure::usage(format!(
        "no file can be written into {} ({e}): give another directory with --out",
        out.display()
    ))
}

/// Check that files can be written into `out`, before hours of measuring, and make the directory if it does
/// not exist. The entry, which there is for a new directory, removes it again unless it is kept.
pub(super) fn directory(out: &Path, cleanup: &Cleanup) -> Result<Option<Entry>, Failure> {
    let failed = |e| no_files(out, &e);
    let made = match std::fs::create_dir(out) {
        Ok(()) => Some(cleanup.path(out)),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => None,
        Err(e) => return Err(failed(e)),
    };
    tempfile::tempfile_in(out).map_err(failed)?;
    Ok(made)
}

/// Write a file, which appears whole and in place of the one of an earlier report.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let readable = std::fs::Permissions::from_mode(0o644);
    let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
