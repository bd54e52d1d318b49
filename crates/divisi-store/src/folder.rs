//! A directory of key files: a file is replaced in one atomic step, and its old contents are overwritten.

use crate::disk::Disk;
use crate::error::StoreError;
use crate::file::LONGEST;
use std::io;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const KEY: &str = ".key";
const NEW: &str = ".key.new";
const OLD: &str = ".key.old";

/// A directory of key files on any disk. Every change is durable when its call returns.
pub(crate) struct Folder {
    dir: PathBuf,
    disk: Box<dyn Disk>,
}

impl Folder {
    /// Open a directory, which is made if it does not exist, and finish what a crash interrupted. An error in
    /// finishing concerns one key only, so that these errors are returned beside the folder.
    pub(crate) fn open(disk: Box<dyn Disk>, dir: &Path) -> Result<(Folder, Vec<StoreError>), StoreError> {
        let folder = Folder { dir: dir.into(), disk };
        let mut unfinished = Vec::new();
        folder.disk.make_dir(dir).map_err(|e| StoreError::Io(dir.into(), e))?;
        for file in folder.list()? {
            if let Some(name) = file.strip_suffix(NEW).or_else(|| file.strip_suffix(OLD)) {
                unfinished.extend(folder.clean(name).err());
            }
        }
        Ok((folder, unfinished))
    }

    fn list(&self) -> Result<Vec<String>, StoreError> {
        self.disk.list(&self.dir).map_err(|e| StoreError::Io(self.dir.clone(), e))
    }

    /// The names of the keys that have files.
    pub(crate) fn names(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.list()?.iter().filter_map(|file| file.strip_suffix(KEY)).map(str::to_owned).collect())
    }

    /// The file of the key of this name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.with(name, KEY)
    }

    fn with(&self, name: &str, suffix: &str) -> PathBuf {
        self.dir.join(format!("{name}{suffix}"))
    }

    /// The content and the mode of a key's file; `None` if there is no such file.
    pub(crate) fn read(&self, name: &str) -> Result<Option<(Zeroizing<Vec<u8>>, u32)>, StoreError> {
        let path = self.path(name);
        match self.disk.read(&path, LONGEST) {
            Ok(read) => Ok(Some(read)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {
                Err(StoreError::Damaged(path, "it does not have the length of a key file"))
            }
            Err(e) => Err(StoreError::Io(path, e)),
        }
    }

    /// Replace a key's file, if there is one, by a new file with these bytes in one step, and overwrite the
    /// old one.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.clean(name)?;
        let [path, new, old] = [KEY, NEW, OLD].map(|suffix| self.with(name, suffix));
        let replace = || {
            if let Err(e) = self.disk.write(&new, bytes).and_then(|()| self.disk.sync(&new)) {
                // if there was no room for the whole file, free the room that it took
                let _ = self.wipe(&new);
                return Err(e);
            }
            let replaces = match self.disk.link(&path, &old) {
                Ok(()) => true,
                Err(e) if e.kind() == io::ErrorKind::NotFound => false,
                Err(e) => return Err(e),
            };
            self.disk.rename(&new, &path)?;
            self.disk.sync_dir(&self.dir)?;
            if replaces {
                // not before: until the directory is synchronised, a crash can undo the renaming
                self.wipe(&old)?;
            }
            Ok(())
        };
        replace().map_err(|e| StoreError::Io(path.clone(), e))
    }

    /// Overwrite a key's file in place by these bytes, which are fewer than it has, so that this needs no
    /// room on the disk. A crash meanwhile leaves a damaged file.
    pub(crate) fn overwrite(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(name);
        let overwrite = || {
            let len = self.bytes(&path)?.map_or(0, |bytes| bytes.len());
            self.disk.write(&path, &vec![0; len])?;
            self.disk.sync(&path)?;
            self.disk.write(&path, bytes)?;
            self.disk.sync(&path)
        };
        overwrite().map_err(|e| StoreError::Io(path.clone(), e))
    }

    /// Overwrite and remove a key's file.
    pub(crate) fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name);
        let wiped = self.wipe(&path).and_then(|()| self.disk.sync_dir(&self.dir));
        wiped.map_err(|e| StoreError::Io(path, e))
    }

    /// Overwrite and remove what an interrupted change of this key left behind.
    fn clean(&self, name: &str) -> Result<(), StoreError> {
        let [path, new, old] = [KEY, NEW, OLD].map(|suffix| self.with(name, suffix));
        let clean = || {
            if self.bytes(&new)?.is_some() {
                self.wipe(&new)?;
            }
            if let Some(left) = self.bytes(&old)? {
                if self.bytes(&path)?.is_some_and(|now| *now == *left) {
                    // a second name of the file itself: it was not replaced
                    self.disk.remove(&old)?;
                } else {
                    self.disk.sync_dir(&self.dir)?;
                    self.wipe(&old)?;
                }
            }
            Ok(())
        };
        clean().map_err(|e| StoreError::Io(path.clone(), e))
    }

    fn bytes(&self, path: &Path) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        match self.disk.read(path, LONGEST) {
            Ok((bytes, _)) => Ok(Some(bytes)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn wipe(&self, path: &Path) -> io::Result<()> {
        let len = match self.bytes(path) {
            Err(e) if e.kind() == io::ErrorKind::InvalidData => LONGEST,
            bytes => bytes?.map_or(0, |bytes| bytes.len()),
        };
        self.disk.write(path, &vec![0; len])?;
        self.disk.sync(path)?;
        self.disk.remove(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MachineDisk;
    use std::sync::{Arc, Mutex};

    /// A disk without second names, which says what is written.
    #[derive(Default)]
    struct NoLinks(Mutex<Vec<(PathBuf, Vec<u8>)>>);

    impl Disk for Arc<NoLinks> {
        fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
            self.0.lock().unwrap().push((path.into(), bytes.to_vec()));
            MachineDisk.write(path, bytes)
        }

        fn link(&self, _: &Path, _: &Path) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Nothing is replaced whose old content could not be overwritten afterwards.
    #[test]
    fn where_files_have_one_name_nothing_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.key"), b"old").unwrap();
        let (folder, _) = Folder::open(Box::new(Arc::<NoLinks>::default()), dir.path()).unwrap();
        for _ in 0..2 {
            assert!(matches!(folder.replace("a", b"new"), Err(StoreError::Io(..))));
            assert_eq!(std::fs::read(dir.path().join("a.key")).unwrap(), b"old");
        }
    }

    /// Files of every length are overwritten to their end: those that are removed, those that an interrupted
    /// change left, and those that become shorter in their place.
    #[test]
    fn long_files_are_overwritten_to_their_end() {
        for len in [1, 4095, 4097, LONGEST] {
            let dir = tempfile::tempdir().unwrap();
            let paths = ["a.key", "b.key", "c.key.new"].map(|name| dir.path().join(name));
            paths.iter().for_each(|path| std::fs::write(path, vec![7; len]).unwrap());
            let disk = Arc::<NoLinks>::default();
            let (folder, _) = Folder::open(Box::new(disk.clone()), dir.path()).unwrap();
            folder.remove("a").unwrap();
            folder.overwrite("b", b"").unwrap();
            let written = disk.0.lock().unwrap();
            for path in &paths {
                assert!(written.contains(&(path.clone(), vec![0; len])), "{} of {len} bytes", path.display());
            }
        }
    }

    /// An error names the file that could not be replaced, overwritten or removed.
    #[test]
    fn errors_name_their_file() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, _) = Folder::open(Box::new(MachineDisk), dir.path()).unwrap();
        // a folder is no file
        let path = dir.path().join("a.key");
        std::fs::create_dir(&path).unwrap();
        for end in [folder.replace("a", b"new"), folder.overwrite("a", b""), folder.remove("a")] {
            assert!(matches!(&end, Err(StoreError::Io(at, _)) if *at == path), "{end:?}");
        }
    }

    /// What interrupted changes left of several keys is overwritten, and removed.
    #[test]
    fn what_is_left_of_every_key_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let left = ["a.key.new", "b.key.new", "a.key.old", "b.key.old"].map(|name| dir.path().join(name));
        left.iter().for_each(|path| std::fs::write(path, b"secret").unwrap());
        // they were replaced before the change was interrupted
        let now = ["a.key", "b.key"].map(|name| dir.path().join(name));
        // one has the length of what was left
        std::fs::write(&now[0], b"public").unwrap();
        std::fs::write(&now[1], b"new").unwrap();
        let disk = Arc::<NoLinks>::default();
        let (folder, unfinished) = Folder::open(Box::new(disk.clone()), dir.path()).unwrap();
        assert!(unfinished.is_empty() && folder.list().unwrap().len() == now.len());
        let written = disk.0.lock().unwrap();
        assert!(left.iter().all(|path| written.contains(&(path.clone(), vec![0; 6]))), "{written:?}");
    }
}
