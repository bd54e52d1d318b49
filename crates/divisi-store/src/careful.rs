//! A disk that says which files were removed whose bytes may still be on it.

use crate::disk::{Disk, MachineDisk};
use crate::file::tests::sample;
use crate::stock::Reserve;
use crate::stock::tests::{entropy, info, key};
use crate::{KeyName, StoredKeys};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What is sure of a file: that it was overwritten by zeros, and that these are on the disk.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Written,
    Zeroed,
    Wiped,
}

#[derive(Default)]
struct Careful {
    files: Mutex<BTreeMap<PathBuf, Fate>>,
    /// What was left of each file that was removed, or whose zeros were overwritten.
    ends: Mutex<Vec<(PathBuf, Fate)>>,
}

impl Careful {
    /// How the files with this ending ended.
    fn of(&self, ending: &str) -> Vec<Fate> {
        let ends = self.ends.lock().unwrap();
        let named = ends.iter().filter(|(path, _)| path.to_str().unwrap().ends_with(ending));
        named.map(|(_, fate)| *fate).collect()
    }
}

impl Disk for Arc<Careful> {
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let fate = if bytes.iter().all(|byte| *byte == 0) { Fate::Zeroed } else { Fate::Written };
        match self.files.lock().unwrap().insert(path.into(), fate) {
            Some(before) if before != Fate::Written => self.ends.lock().unwrap().push((path.into(), before)),
            _ => {}
        }
        MachineDisk.write(path, bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        if let Some(fate) = self.files.lock().unwrap().get_mut(path).filter(|fate| **fate == Fate::Zeroed) {
            *fate = Fate::Wiped;
        }
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.files.lock().unwrap();
        let fate = files.remove(from).unwrap_or(Fate::Written);
        files.insert(to.into(), fate);
        MachineDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let fate = self.files.lock().unwrap().remove(path).unwrap_or(Fate::Written);
        self.ends.lock().unwrap().push((path.into(), fate));
        MachineDisk.remove(path)
    }
}

/// Zeros that were not synchronised need never reach the disk if the file is removed or written again: so
/// they are, before, in each file that held a part of a key.
#[test]
fn a_keys_file_is_wiped_before_it_goes() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("left.key.new"), b"secret").unwrap();
    std::fs::write(dir.path().join("bad.key"), b"secret").unwrap();
    let disk = Arc::<Careful>::default();
    let keys = StoredKeys::open_on(Box::new(disk.clone()), dir.path()).unwrap();
    let name: KeyName = "k".parse().unwrap();
    keys.prepare(&mut sample("k")).unwrap();
    keys.activate(&name, &[1; 16]).unwrap();
    keys.destroy(&name).unwrap();
    keys.destroy(&"bad".parse().unwrap()).unwrap();
    let folder = crate::folder::Folder::open(Box::new(disk.clone()), dir.path()).unwrap().0;
    folder.overwrite("k", b"x").unwrap();
    // of the change of a key twice, of what was left, of what is damaged, and of what is overwritten
    for (ending, files) in [("k.key.old", 2), ("left.key.new", 1), ("bad.key", 1), ("/k.key", 1)] {
        assert_eq!(disk.of(ending), vec![Fate::Wiped; files], "{ending}");
    }
}

/// A stock with one lot.
fn with_a_lot(dir: &Path, disk: &Arc<Careful>) -> Reserve {
    let made = Reserve::create_on(Box::new(disk.clone()), dir, key(1), entropy(), info(2), vec![1; 6].into());
    let reserve = made.unwrap();
    reserve.put(0, 4, &[1; 100]).unwrap();
    reserve
}

/// The same of the lots of a stock that are used up, and of its head, which holds alpha.
#[test]
fn lots_and_heads_are_wiped_before_they_go() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::<Careful>::default();
    let reserve = with_a_lot(dir.path(), &disk);
    reserve.take(0, 4).unwrap();
    reserve.wipe(0, 0).unwrap();
    reserve.destroy().unwrap();
    for ending in [".lot", "/head"] {
        assert_eq!(disk.of(ending), [Fate::Wiped], "{ending}");
    }
}

/// Of a stock that is destroyed the head goes first, wiped: whatever fails then, nobody can decrypt the rest.
#[test]
fn the_head_of_a_stock_goes_before_all_else() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::<Careful>::default();
    let reserve = with_a_lot(dir.path(), &disk);
    reserve.destroy().unwrap();
    let ends = disk.ends.lock().unwrap();
    assert_eq!((&ends[0], ends.len()), (&(dir.path().join("head"), Fate::Wiped), 3));
}
