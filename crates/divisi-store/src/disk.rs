//! The few file operations that this crate needs: those of the machine, or of a test's disk that fails
//! between any two of them.

use crate::error::StoreError;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use zeroize::Zeroizing;

/// Files in directories. A change is sure to survive a crash only after the matching `sync` has returned.
/// Each operation is that of the machine, unless a test's disk does it otherwise.
pub trait Disk: Send + Sync {
    /// Make a directory for its owner alone, if it is not there.
    ///
    /// # Errors
    /// The error of the operating system.
    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        if dir.is_dir() {
            return Ok(());
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }

    /// The names of the files in a directory.
    ///
    /// # Errors
    /// The error of the operating system.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            // a name that is not UTF-8 is not one of ours
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    /// A whole file of at most `longest` bytes, and its mode.
    ///
    /// # Errors
    /// The error of the operating system; `InvalidData` if the file is longer, or is no regular file.
    fn read(&self, path: &Path, longest: usize) -> io::Result<(Zeroizing<Vec<u8>>, u32)> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        let len = usize::try_from(meta.len()).ok().filter(|len| *len <= longest && meta.is_file());
        let Some(len) = len else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is not a regular file of at most the expected length",
            ));
        };
        // as long as the file, because all of it is wiped; one byte more, so that reading to the end does not
        // move the buffer
        let mut bytes = Zeroizing::new(Vec::with_capacity(len + 1));
        file.take(len as u64).read_to_end(&mut bytes)?;
        Ok((bytes, meta.permissions().mode()))
    }

    /// Write a file of mode 0600, new or in place of its old bytes.
    ///
    /// # Errors
    /// The error of the operating system.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // not truncated: overwriting must meet the old blocks
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        // the process's umask may have taken the owner's bits, too
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)
    }

    /// Ensure that a file's bytes outlive a crash.
    ///
    /// # Errors
    /// The error of the operating system.
    fn sync(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// Give a file a second name.
    ///
    /// # Errors
    /// The error of the operating system.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    /// Rename a file, over another if there is one, in one step.
    ///
    /// # Errors
    /// The error of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Remove a name of a file.
    ///
    /// # Errors
    /// The error of the operating system.
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Ensure that a directory's names outlive a crash.
    ///
    /// # Errors
    /// The error of the operating system.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}

/// Check that only the owner can enter a directory, if it exists.
pub(crate) fn private(dir: &Path) -> Result<(), StoreError> {
    match fs::metadata(dir) {
        Ok(meta) if !meta.is_dir() => Err(StoreError::Io(dir.into(), io::ErrorKind::NotADirectory.into())),
        Ok(meta) if meta.permissions().mode() & 0o077 == 0 => Ok(()),
        Ok(meta) => Err(StoreError::Open(dir.into(), meta.permissions().mode())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(StoreError::Io(dir.into(), e)),
    }
}

/// The real machine's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineDisk;

impl Disk for MachineDisk {}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cannot be looked at is not missing.
    #[test]
    fn a_folder_is_private_or_missing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, b"").unwrap();
        for _ in 0..2 {
            assert!(private(&dir.path().join("none")).is_ok());
            for below in [file.clone(), file.join("folder")] {
                assert!(matches!(private(&below), Err(StoreError::Io(named, _)) if named == below));
            }
        }
    }
}
