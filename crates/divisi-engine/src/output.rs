//! An output file that appears only when it is complete.
//!
//! Where the system has files without names, an incomplete file has none: a process that is killed leaves
//! nothing behind. Elsewhere it has a temporary name beside its place and is locked while it is written, so
//! that the next output there recognises and removes what a killed process left.

use crate::cleanup::{Cleanup, Entry};
use crate::failure::Failure;
use rustix::fs::{AtFlags, CWD, OFlags, linkat};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::{Builder, NamedTempFile};

/// The prefix of the names of incomplete files.
const UNFINISHED: &str = ".divisi-";
/// A file that was changed within this time may not be locked yet.
const NEW: Duration = Duration::from_secs(10);

/// A file that is not complete yet.
pub struct OutputFile {
    file: Unfinished,
    /// The directory of its future place.
    dir: PathBuf,
}

enum Unfinished {
    Unnamed(File),
    Named(NamedTempFile, Entry),
}

impl OutputFile {
    /// Begin a file for the place `path`, with the permissions `mode` minus the process's umask.
    ///
    /// # Errors
    /// [`Failure`] if the directory cannot be written, or if `path` is something other than an ordinary file.
    pub fn beside(path: &Path, mode: u32, cleanup: &Cleanup) -> Result<OutputFile, Failure> {
        Self::begin(path, mode, cleanup, unnamed)
    }

    fn begin(
        path: &Path,
        mode: u32,
        cleanup: &Cleanup,
        unnamed: impl FnOnce(&Path, u32) -> io::Result<File>,
    ) -> Result<OutputFile, Failure> {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match std::fs::symlink_metadata(path) {
            Ok(there) if there.is_dir() => {
                return Err(Failure::usage(format!(
                    "{} is a directory: give a file with --out",
                    path.display()
                )));
            }
            // A rename into place would replace a device, a pipe or a link.
            Ok(there) if !there.is_file() => {
                let error = format!(
                    "{} is no ordinary file (a device, a pipe or a link): give a file with --out",
                    path.display()
                );
                return Err(Failure::usage(error));
            }
            _ => {}
        }
        if !dir.is_dir() {
            return Err(Failure::usage(format!(
                "there is no directory {} for {}: make it, or give another place with --out",
                dir.display(),
                path.display()
            )));
        }
        remove_stale(dir);
        let file = match unnamed(dir, mode) {
            Ok(file) => Unfinished::Unnamed(file),
            Err(_) => named(dir, mode, cleanup).map_err(|e| unwritten(path, &e))?,
        };
        Ok(OutputFile { file, dir: dir.into() })
    }

    fn file(&mut self) -> &mut File {
        match &mut self.file {
            Unfinished::Unnamed(file) => file,
            Unfinished::Named(file, _) => file.as_file_mut(),
        }
    }

    /// The writer of the file.
    pub fn writer(&mut self) -> &mut dyn Write {
        self.file()
    }

    /// Complete the file: put it into its place, and replace an existing file, whose permissions stay, and
    /// whose group, too; if the group cannot stay, only the owner's permissions do.
    ///
    /// # Errors
    /// [`Failure`] if the file cannot be written to the disk or renamed.
    pub fn put_in_place(mut self, path: &Path) -> Result<(), Failure> {
        if let Ok(there) = std::fs::symlink_metadata(path)
            && there.is_file()
        {
            let mode = mode_in_group(self.file(), there.gid(), there.permissions().mode() & 0o777);
            let mode = mode.map_err(|e| unwritten(path, &e))?;
            self.file().set_permissions(Permissions::from_mode(mode)).map_err(|e| unwritten(path, &e))?;
        }
        self.file().sync_all().map_err(|e| unwritten(path, &e))?;
        match self.file {
            // only a rename replaces a file, and only a file with a name can be renamed
            Unfinished::Unnamed(file) => {
                let linked = Builder::new().prefix(UNFINISHED).make_in(&self.dir, |name| link(&file, name));
                let linked = linked.map_err(|e| unwritten(path, &e))?;
                linked.persist(path).map_err(|e| unwritten(path, &e.error))?;
            }
            Unfinished::Named(file, entry) => {
                file.persist(path).map_err(|e| unwritten(path, &e.error))?;
                entry.keep();
            }
        }
        Ok(())
    }

    /// Complete the file: put it into its place, unless a file exists there.
    ///
    /// # Errors
    /// [`Failure`] if a file exists there, or if this one cannot be written to the disk or named.
    pub fn put_in_empty_place(mut self, path: &Path) -> Result<(), Failure> {
        self.file().sync_all().map_err(|e| unwritten(path, &e))?;
        match self.file {
            Unfinished::Unnamed(file) => link(&file, path).map_err(|e| unwritten(path, &e))?,
            Unfinished::Named(file, entry) => {
                file.persist_noclobber(path).map_err(|e| unwritten(path, &e.error))?;
                entry.keep();
            }
        }
        Ok(())
    }
}

/// A file of this directory without a name.
fn unnamed(dir: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::TMPFILE.bits() as i32;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).mode(mode).open(dir)?;
    // locked, because it gets a temporary name before it is in its place
    let _ = file.try_lock();
    Ok(file)
}

/// A locked file of this directory with a name of its own.
fn named(dir: &Path, mode: u32, cleanup: &Cleanup) -> io::Result<Unfinished> {
    let mut builder = Builder::new();
    let file = builder.prefix(UNFINISHED).permissions(Permissions::from_mode(mode)).tempfile_in(dir)?;
    // if files cannot be locked, files of killed processes cannot be recognised, and nothing is removed
    let _ = file.as_file().try_lock();
    let entry = cleanup.path(file.path());
    Ok(Unfinished::Named(file, entry))
}

/// Give a file to this group, and return the permissions that it gets of `mode`: all of them in that group,
/// and in another one only those of its owner, so that nobody else reads it.
fn mode_in_group(file: &File, group: u32, mode: u32) -> io::Result<u32> {
    if file.metadata()?.gid() != group {
        // what counts is the group that the file then has
        let _ = fchown(file, None, Some(group));
    }
    Ok(if file.metadata()?.gid() == group { mode } else { mode & 0o700 })
}

/// The outcome of a write to standard output. It is no failure that the reader has closed it, and wants no
/// more.
///
/// # Errors
/// [`Failure`] if the result, or a part of it, is lost.
pub fn written(outcome: io::Result<()>) -> Result<(), Failure> {
    match outcome {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::usage(format!(
            "standard output cannot be written ({e}), so the result is lost: free some space, or give it another place"
        ))),
        _ => Ok(()),
    }
}

/// Give a file that has no name the name `name`.
fn link(file: &File, name: &Path) -> io::Result<()> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, own, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Remove the incomplete files that killed processes left in this directory. These are the ones whose lock
/// nobody holds, and that are old enough for a living writer to have locked them.
fn remove_stale(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let aged = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|age| age > NEW));
        if aged && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            // a file that this user may not remove stays
            let _ = std::fs::remove_file(path);
        }
    }
}

fn unwritten(path: &Path, e: &io::Error) -> Failure {
    Failure::usage(match e.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{} exists already: choose another name for --out", path.display())
        }
        io::ErrorKind::StorageFull => {
            format!(
                "{} cannot be written because the disk is full: free some space, or give another place",
                path.display()
            )
        }
        _ => format!("{} cannot be written ({e}): give another place with --out", path.display()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begin a file in one of two ways: without a name (0), or as on a system without nameless files (1).
    fn begin(path: &Path, way: usize, cleanup: &Cleanup) -> Result<OutputFile, Failure> {
        match way {
            0 => OutputFile::beside(path, 0o600, cleanup),
            _ => OutputFile::begin(path, 0o600, cleanup, |_, _| Err(io::ErrorKind::Unsupported.into())),
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_being_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let cleanup = Cleanup::new();
        let stale = dir.path().join(".divisi-stale");
        std::fs::write(&stale, "half a plaintext").unwrap();
        let old = |path: &Path| {
            let hour = Duration::from_secs(3600);
            File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - hour).unwrap();
        };
        let others = ["divisi-other", ".other", "stale"].map(|name| dir.path().join(name));
        others.iter().for_each(|other| std::fs::write(other, "somebody's").unwrap());
        let written = begin(&dir.path().join("a"), 1, &cleanup).unwrap();
        assert!(stale.exists(), "it may be another's that was made this moment");
        std::fs::read_dir(dir.path()).unwrap().for_each(|entry| old(&entry.unwrap().path()));
        let other = begin(&dir.path().join("b"), 1, &cleanup).unwrap();
        assert!(!stale.exists());
        assert!(others.iter().all(|other| other.exists()));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2 + others.len());
        drop((written, other));
    }

    /// A process that dies here leaves no file, because no file has a name yet.
    #[test]
    fn a_file_that_is_not_complete_has_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut output = OutputFile::beside(&dir.path().join("a"), 0o600, &Cleanup::new()).unwrap();
        output.writer().write_all(b"a plaintext").unwrap();
        if matches!(output.file, Unfinished::Unnamed(_)) {
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn only_an_ordinary_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let cleanup = Cleanup::new();
        for refused in [link.as_path(), dir.path(), Path::new("/dev/null")] {
            let failure = OutputFile::beside(refused, 0o600, &cleanup).err().unwrap();
            assert!(failure.error.contains("--out"), "{failure}");
        }
        for way in [0, 1] {
            std::fs::write(&file, b"old").unwrap();
            begin(&file, way, &cleanup).unwrap().put_in_place(&file).unwrap();
            assert_eq!(std::fs::read(&file).unwrap(), b"");
        }
    }

    #[test]
    fn the_permissions_of_a_file_that_is_replaced_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        for (way, mode) in [(0, 0o640), (1, 0o640), (0, 0o444), (1, 0o600)] {
            let _ = std::fs::remove_file(&path);
            std::fs::write(&path, b"old").unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            begin(&path, way, &Cleanup::new()).unwrap().put_in_place(&path).unwrap();
            let now = std::fs::metadata(&path).unwrap();
            assert_eq!((now.permissions().mode() & 0o777, now.len()), (mode, 0));
        }
    }

    /// Group 0 is this user's own, or one that it may give a file to, or neither.
    #[test]
    fn in_another_group_only_the_owner_keeps_permissions() {
        let file = tempfile::tempfile().unwrap();
        let own = file.metadata().unwrap().gid();
        assert_eq!(mode_in_group(&file, own, 0o664).unwrap(), 0o664);
        for group in [0, 54_321] {
            let mode = mode_in_group(&file, group, 0o664).unwrap();
            let is_there = file.metadata().unwrap().gid() == group;
            assert_eq!(mode, if is_there { 0o664 } else { 0o600 });
        }
    }

    #[test]
    fn only_a_closed_pipe_is_no_failure() {
        assert!(written(Ok(())).is_ok() && written(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        for lost in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::Other] {
            assert_eq!(written(Err(lost.into())).unwrap_err().kind.exit_code(), 2);
        }
    }

    #[test]
    fn what_is_not_finished_does_not_appear() {
        [0, 1].into_iter().for_each(nothing_appears);
    }

    fn nothing_appears(way: usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let cleanup = Cleanup::new();
        let mut output = begin(&path, way, &cleanup).unwrap();
        output.writer().write_all(b"half").unwrap();
        drop(output);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);

        let mut output = begin(&path, way, &cleanup).unwrap();
        output.writer().write_all(b"all").unwrap();
        output.put_in_empty_place(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"all");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let second = begin(&path, way, &cleanup).unwrap().put_in_empty_place(&path);
        assert!(second.unwrap_err().error.contains("exists already"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(OutputFile::beside(dir.path(), 0o600, &cleanup).is_err());
    }
}
