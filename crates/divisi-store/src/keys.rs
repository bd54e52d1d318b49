//! A server's keys: a directory with one file each.

use crate::disk::{Disk, MachineDisk, private};
use crate::error::StoreError;
use crate::file::{decode, encode};
use crate::folder::Folder;
use crate::key::{KeyFile, KeyName, KeyState};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most messages that one key may encrypt: GCM with 96-bit IVs drawn at random (SP 800-38D, section 8.3).
pub const USES: u64 = 1 << 32;
/// How many uses are reserved on disk at once.
pub const BLOCK: u64 = 1024;

/// The keys of one server. Every change is durable when its call returns.
pub struct Keys {
    folder: Folder,
    /// What a crash interrupted and could not be finished.
    unfinished: Vec<StoreError>,
    /// By key id: the next use that was reserved and not given out.
    used: Mutex<HashMap<[u8; 16], u64>>,
    /// Held as long as this process uses the directory.
    _lock: Option<File>,
}

impl Keys {
    /// The keys in the directory `keys` of a data directory, both made if need be. Nobody but the data directory's owner may
    /// so much as look into it.
    ///
    /// # Errors
    /// [`StoreError::Open`] if others may; else as for [`Keys::open`].
    pub fn open_in(data: &Path) -> Result<Keys, StoreError> {
        private(data)?;
        Keys::open(&data.join("keys"))
    }

    /// The keys in a directory of this machine, made if need be; no other process may use it at the same time.
    ///
    /// # Errors
    /// [`StoreError::InUse`]; [`StoreError::Io`] if the directory cannot be made or read.
    pub fn open(dir: &Path) -> Result<Keys, StoreError> {
        let failed = |e| StoreError::Io(dir.into(), e);
        MachineDisk.make_dir(dir).map_err(failed)?;
        let path = dir.join(".lock");
        let mut options = OpenOptions::new();
        let lock = options.write(true).create(true).truncate(false).mode(0o600).open(path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(dir.into())),
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        Ok(Keys { _lock: Some(lock), ..Keys::open_on(Box::new(MachineDisk), dir)? })
    }

    /// The keys in a directory of any disk; finishes what a crash interrupted.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open_on(disk: Box<dyn Disk>, dir: &Path) -> Result<Keys, StoreError> {
        let (folder, unfinished) = Folder::open(disk, dir)?;
        Ok(Keys { folder, unfinished, used: Mutex::default(), _lock: None })
    }

    /// What is wrong with the files of single keys, which are refused while all others are served: for an
    /// operator, at the start.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the directory cannot be read.
    pub fn troubles(&self) -> Result<Vec<String>, StoreError> {
        let mut troubles: Vec<String> = self.unfinished.iter().map(ToString::to_string).collect();
        for file in self.folder.names()? {
            let Ok(name) = file.parse::<KeyName>() else {
                let path = self.folder.path(&file.escape_default().to_string());
                troubles.push(format!("{} is no key's file: no key has such a name", path.display()));
                continue;
            };
            troubles.extend(self.load(&name).err().map(|e| e.to_string()));
        }
        Ok(troubles)
    }

    /// The names of all keys, destroyed ones included, in order.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn names(&self) -> Result<Vec<KeyName>, StoreError> {
        let mut names: Vec<KeyName> = self.folder.names()?.iter().filter_map(|f| f.parse().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// A key, whatever its state; `None` if there never was one of this name.
    ///
    /// # Errors
    /// What is wrong with its file.
    pub fn load(&self, name: &KeyName) -> Result<Option<KeyFile>, StoreError> {
        let path = self.folder.path(name.as_str());
        let Some((bytes, mode)) = self.folder.read(name.as_str())? else { return Ok(None) };
        if mode & 0o077 != 0 {
            return Err(StoreError::Readable(path, mode));
        }
        let key = decode(&path, &bytes)?;
        if key.info.name != *name {
            return Err(StoreError::Damaged(path, "it holds a key of another name"));
        }
        Ok(Some(key))
    }

    /// A key of party `party` that may be used.
    ///
    /// # Errors
    /// What is wrong with its file, and any state but active.
    pub fn active(&self, name: &KeyName, party: u8) -> Result<KeyFile, StoreError> {
        let key = self.load(name)?.ok_or_else(|| StoreError::Missing(name.clone()))?;
        if key.info.party != party {
            return Err(StoreError::OtherParty(self.folder.path(name.as_str()), key.info.party));
        }
        match key.info.state {
            KeyState::Active => Ok(key),
            KeyState::Prepared => Err(StoreError::Unfinished(name.clone())),
            KeyState::Destroyed => Err(StoreError::Destroyed(name.clone())),
        }
    }

    /// Store a new key, prepared. It may take the place of a destroyed one, or of another that was never active.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if a key of this name is active; [`StoreError::Io`].
    pub fn prepare(&self, key: &mut KeyFile) -> Result<(), StoreError> {
        let _guard = self.guard();
        if self.load(&key.info.name)?.is_some_and(|old| old.info.state == KeyState::Active) {
            return Err(StoreError::Exists(key.info.name.clone()));
        }
        key.info.state = KeyState::Prepared;
        self.replace(key)
    }

    /// A prepared key becomes active: all three have their parts, and have compared them.
    ///
    /// # Errors
    /// If there is no such key; [`StoreError::Io`].
    pub fn activate(&self, name: &KeyName, id: &[u8; 16]) -> Result<(), StoreError> {
        let _guard = self.guard();
        let missing = || StoreError::Missing(name.clone());
        let mut key = self.load(name)?.filter(|key| key.info.id == *id).ok_or_else(missing)?;
        match key.info.state {
            KeyState::Active => Ok(()),
            KeyState::Destroyed => Err(StoreError::Destroyed(name.clone())),
            KeyState::Prepared => {
                key.info.state = KeyState::Active;
                self.replace(&key)
            }
        }
    }

    /// Count `n` uses of a key before they happen; the number of the first. No number is given out twice, whatever crashes in
    /// between. A prepared key is counted, too: that all three have it may turn out only when it is used.
    ///
    /// # Errors
    /// [`StoreError::Exhausted`] beyond [`USES`]; what is wrong with the key's file.
    pub fn reserve(&self, name: &KeyName, n: u64) -> Result<u64, StoreError> {
        let mut used = self.guard();
        let mut key = self.load(name)?.ok_or_else(|| StoreError::Missing(name.clone()))?;
        if key.info.state == KeyState::Destroyed {
            return Err(StoreError::Destroyed(name.clone()));
        }
        let next = *used.entry(key.info.id).or_insert(key.reserved);
        let end = next.checked_add(n).filter(|end| *end <= USES);
        let end = end.ok_or_else(|| StoreError::Exhausted(name.clone()))?;
        if end > key.reserved {
            key.reserved = end.div_ceil(BLOCK).saturating_mul(BLOCK).min(USES);
            self.replace(&key)?;
        }
        used.insert(key.info.id, end);
        Ok(next)
    }

    /// Destroy a key: what remains of it is its name, so that its next generation is told apart from it. A damaged file is
    /// overwritten and removed. A full disk keeps no key from being destroyed.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn destroy(&self, name: &KeyName) -> Result<(), StoreError> {
        let _guard = self.guard();
        match self.load(name) {
            Ok(None) => Ok(()),
            Ok(Some(mut key)) => {
                key.info.state = KeyState::Destroyed;
                key.secret = None;
                match self.replace(&key) {
                    Err(e) if e.is_full() => self.folder.overwrite(name.as_str(), &encode(&key)?),
                    done => done,
                }
            }
            Err(e @ StoreError::Io(..)) => Err(e),
            Err(_) => self.folder.remove(name.as_str()),
        }
    }

    fn replace(&self, key: &KeyFile) -> Result<(), StoreError> {
        self.folder.replace(key.info.name.as_str(), &encode(key)?)
    }

    fn guard(&self) -> MutexGuard<'_, HashMap<[u8; 16], u64>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::LONGEST;
    use crate::file::tests::sample;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn store() -> (tempfile::TempDir, Keys) {
        let dir = tempfile::tempdir().unwrap();
        let keys = Keys::open(&dir.path().join("keys")).unwrap();
        (dir, keys)
    }

    /// A disk on which nothing new has room.
    #[derive(Default)]
    struct Full(std::sync::atomic::AtomicBool);

    impl Disk for std::sync::Arc<Full> {
        fn make_dir(&self, dir: &Path) -> std::io::Result<()> {
            MachineDisk.make_dir(dir)
        }
        fn list(&self, dir: &Path) -> std::io::Result<Vec<String>> {
            MachineDisk.list(dir)
        }
        fn read(&self, path: &Path, longest: usize) -> std::io::Result<(zeroize::Zeroizing<Vec<u8>>, u32)> {
            MachineDisk.read(path, longest)
        }
        fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
            let have = fs::metadata(path).map_or(0, |meta| meta.len());
            if self.0.load(std::sync::atomic::Ordering::SeqCst) && bytes.len() as u64 > have {
                MachineDisk.write(path, &bytes[..bytes.len() / 2])?;
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            MachineDisk.write(path, bytes)
        }
        fn sync(&self, path: &Path) -> std::io::Result<()> {
            MachineDisk.sync(path)
        }
        fn link(&self, from: &Path, to: &Path) -> std::io::Result<()> {
            MachineDisk.link(from, to)
        }
        fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
            MachineDisk.rename(from, to)
        }
        fn remove(&self, path: &Path) -> std::io::Result<()> {
            MachineDisk.remove(path)
        }
        fn sync_dir(&self, dir: &Path) -> std::io::Result<()> {
            MachineDisk.sync_dir(dir)
        }
    }

    /// A full disk keeps what is there, leaves nothing half written behind, and no key from being destroyed.
    #[test]
    fn on_a_full_disk_keys_stay_and_can_be_destroyed() {
        let dir = tempfile::tempdir().unwrap();
        let full = std::sync::Arc::<Full>::default();
        let keys = Keys::open_on(Box::new(full.clone()), &dir.path().join("keys")).unwrap();
        let name = made(&keys, "k");
        full.0.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(keys.reserve(&name, 1).unwrap_err().is_full());
        assert!(keys.prepare(&mut sample("other")).unwrap_err().is_full());
        assert_eq!(keys.active(&name, 2).unwrap().info.state, KeyState::Active);
        let files = || fs::read_dir(dir.path().join("keys")).unwrap().count();
        let before = files();
        let secret = keys.load(&name).unwrap().unwrap().secret.unwrap().first.to_vec();
        keys.destroy(&name).unwrap();
        assert_eq!(files(), before);
        let left = keys.load(&name).unwrap().unwrap();
        assert!(left.info.state == KeyState::Destroyed && left.secret.is_none());
        let bytes = fs::read(dir.path().join("keys/k.key")).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }

    fn made(keys: &Keys, name: &str) -> KeyName {
        let mut key = sample(name);
        key.reserved = 0;
        keys.prepare(&mut key).unwrap();
        keys.activate(&key.info.name, &key.info.id).unwrap();
        key.info.name.clone()
    }

    #[test]
    fn a_key_goes_from_prepared_to_active_to_destroyed() {
        let (_dir, keys) = store();
        let name: KeyName = "k".parse().unwrap();
        assert!(keys.load(&name).unwrap().is_none());
        keys.prepare(&mut sample("k")).unwrap();
        assert!(matches!(keys.active(&name, 2), Err(StoreError::Unfinished(_))));
        assert!(keys.activate(&name, &[9; 16]).is_err());
        keys.activate(&name, &[1; 16]).unwrap();
        assert_eq!(keys.active(&name, 2).unwrap().secret.unwrap().first.as_slice(), [0xaa; 16]);
        assert!(matches!(keys.active(&name, 1), Err(StoreError::OtherParty(..))));
        assert!(matches!(keys.prepare(&mut sample("k")), Err(StoreError::Exists(_))));
        keys.destroy(&name).unwrap();
        assert!(matches!(keys.active(&name, 2), Err(StoreError::Destroyed(_))));
        assert!(matches!(keys.reserve(&name, 1), Err(StoreError::Destroyed(_))));
        let left = keys.load(&name).unwrap().unwrap();
        assert!(left.secret.is_none() && left.info.generation == 1);
        keys.prepare(&mut sample("k")).unwrap();
    }

    #[test]
    fn no_file_holds_a_component_after_destruction() {
        let (dir, keys) = store();
        let name = made(&keys, "k");
        for _ in 0..3 {
            keys.reserve(&name, BLOCK).unwrap();
        }
        keys.destroy(&name).unwrap();
        for file in fs::read_dir(dir.path().join("keys")).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(8).any(|w| w == [0xaa; 8] || w == [0xbb; 8]));
        }
    }

    #[test]
    fn what_is_replaced_is_overwritten() {
        let (dir, keys) = store();
        let name = made(&keys, "k");
        let kept = dir.path().join("kept");
        fs::hard_link(dir.path().join("keys/k.key"), &kept).unwrap();
        keys.destroy(&name).unwrap();
        assert!(fs::read(kept).unwrap().iter().all(|b| *b == 0));
    }

    #[test]
    fn uses_count_up_over_restarts_to_their_end() {
        let dir = tempfile::tempdir().unwrap();
        let mut seen = 0;
        for _ in 0..3 {
            let keys = Keys::open(dir.path()).unwrap();
            let name = if seen == 0 { made(&keys, "k") } else { "k".parse().unwrap() };
            for n in [1, 1, 1500, 1] {
                let first = keys.reserve(&name, n).unwrap();
                assert!(first >= seen);
                seen = first + n;
            }
        }
        let keys = Keys::open(dir.path()).unwrap();
        let name: KeyName = "k".parse().unwrap();
        let start = keys.load(&name).unwrap().unwrap().reserved;
        assert_eq!(keys.reserve(&name, USES - start - 1).unwrap(), start);
        assert_eq!(keys.reserve(&name, 1).unwrap(), USES - 1);
        let error = keys.reserve(&name, 1).unwrap_err().to_string();
        assert!(error.contains("2^32"), "{error}");
        drop(keys);
        assert!(matches!(Keys::open(dir.path()).unwrap().reserve(&name, 1), Err(StoreError::Exhausted(_))));
    }

    #[test]
    fn a_file_that_others_may_read_or_that_is_damaged_is_refused_and_named() {
        let (dir, keys) = store();
        let name = made(&keys, "k");
        let path = dir.path().join("keys/k.key");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = keys.active(&name, 2).err().unwrap().to_string();
        assert!(error.contains("chmod 600") && error.contains("k.key"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[40] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = keys.active(&name, 2).err().unwrap().to_string();
        assert!(error.contains("damaged") && error.contains("k.key"), "{error}");
        fs::copy(&path, dir.path().join("keys/other.key")).unwrap();
        fs::write(&path, vec![1; LONGEST + 1]).unwrap();
        assert!(matches!(keys.load(&name), Err(StoreError::Damaged(..))));
        keys.destroy(&name).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_file_under_another_name_is_damage() {
        let (dir, keys) = store();
        made(&keys, "k");
        fs::copy(dir.path().join("keys/k.key"), dir.path().join("keys/other.key")).unwrap();
        let error = keys.load(&"other".parse().unwrap()).err().unwrap().to_string();
        assert!(error.contains("another name"), "{error}");
    }

    #[test]
    fn a_directory_that_others_may_use_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        drop(Keys::open_in(&data).unwrap());
        for mode in [0o710, 0o702, 0o755] {
            fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
            let error = Keys::open_in(&data).err().unwrap().to_string();
            assert!(error.contains(&format!("chmod 700 {}`", data.display())), "{error}");
        }
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        Keys::open_in(&data).unwrap();
    }

    #[test]
    fn one_damaged_or_stray_file_harms_no_other_key() {
        let (dir, keys) = store();
        let name = made(&keys, "good");
        drop(keys);
        let folder = dir.path().join("keys");
        fs::write(folder.join("bad.key"), b"no key").unwrap();
        fs::write(folder.join("a stray file.key"), b"").unwrap();
        // what a crash would leave, but that it is a directory
        fs::create_dir(folder.join("odd.key.new")).unwrap();
        let keys = Keys::open(&folder).unwrap();
        let troubles = keys.troubles().unwrap();
        for expected in ["odd", "bad.key", "a stray file"] {
            assert!(troubles.iter().any(|trouble| trouble.contains(expected)), "{expected}: {troubles:?}");
        }
        assert_eq!(troubles.len(), 3);
        assert!(keys.active(&name, 2).is_ok() && keys.active(&"bad".parse().unwrap(), 2).is_err());
    }

    #[test]
    fn one_process_at_a_time() {
        let (dir, keys) = store();
        let again = Keys::open(&dir.path().join("keys"));
        assert!(matches!(again, Err(StoreError::InUse(_))));
        drop(keys);
        Keys::open(&dir.path().join("keys")).unwrap();
    }
}
