//! A server's keys: a directory with one file for each.

use crate::disk::{Disk, MachineDisk, private};
use crate::error::StoreError;
use crate::file::{decode, encode};
use crate::folder::Folder;
use crate::index::{Index, StoreSummary};
use crate::key::{KeyFile, KeyInfo, KeyState, KeyType, Maker, USES};
use crate::name::KeyName;
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of uses that are reserved on disk at once.
pub const BLOCK: u64 = 1024;
/// The file that the process holds which uses a directory.
const LOCK: &str = ".lock";

/// The keys of one server. Every change is durable when its call returns.
pub struct StoredKeys {
    folder: Folder,
    index: Index,
    /// Interrupted operations that could not be completed after a crash.
    unfinished: Vec<StoreError>,
    /// By key id: the next reserved use that was not given out yet.
    used: Mutex<HashMap<[u8; 16], u64>>,
    /// Held while this process uses the directory.
    _lock: Option<File>,
}

impl StoredKeys {
    /// The keys in the directory `keys` of a data directory; both are made if they do not exist. Only the
    /// owner of the data directory may enter it.
    ///
    /// # Errors
    /// [`StoreError::Open`] if others may enter it; otherwise those of [`StoredKeys::open`].
    pub fn open_in(data: &Path) -> Result<StoredKeys, StoreError> {
        private(data)?;
        StoredKeys::open(&data.join("keys"))
    }

    /// The keys in a directory of this machine, which is made if it does not exist. No other process may use
    /// it at the same time.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another process uses the directory; [`StoreError::OneCase`] if it takes
    /// letters of both cases for one; [`StoreError::Io`] if it cannot be made or read.
    pub fn open(dir: &Path) -> Result<StoredKeys, StoreError> {
        let failed = |e| StoreError::Io(dir.into(), e);
        MachineDisk.make_dir(dir).map_err(failed)?;
        let path = dir.join(LOCK);
        let mut options = OpenOptions::new();
        let lock = options.write(true).create(true).truncate(false).mode(0o600).open(path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(dir.into())),
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        tells_cases_apart(dir, &lock)?;
        Ok(StoredKeys { _lock: Some(lock), ..StoredKeys::open_on(Box::new(MachineDisk), dir)? })
    }

    /// The keys in a directory of any disk; completes operations that a crash interrupted.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the directory cannot be made or read.
    pub fn open_on(disk: Box<dyn Disk>, dir: &Path) -> Result<StoredKeys, StoreError> {
        let (folder, unfinished) = Folder::open(disk, dir)?;
        let keys =
            StoredKeys { folder, index: Index::default(), unfinished, used: Mutex::default(), _lock: None };
        for name in keys.folder.names()?.iter().filter_map(|file| file.parse().ok()) {
            // `troubles` reports damaged files
            let _ = keys.load(&name);
        }
        Ok(keys)
    }

    /// The errors of single key files, for the operator at the start of a server. Damaged keys are refused;
    /// all other keys can be used.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the directory cannot be read.
    pub fn troubles(&self) -> Result<Vec<String>, StoreError> {
        let mut troubles: Vec<String> = self.unfinished.iter().map(ToString::to_string).collect();
        for file in self.folder.names()? {
            let Ok(name) = file.parse::<KeyName>() else {
                let path = self.folder.path(&file.escape_default().to_string());
                troubles.push(format!("{} is not a key file: no key can have this name", path.display()));
                continue;
            };
            troubles.extend(self.load(&name).err().map(|e| e.to_string()));
        }
        Ok(troubles)
    }

    /// The names of the first matching keys after `after`, destroyed ones included, in order, at most this
    /// many. It reads no file: the index in memory knows all keys.
    pub fn list(
        &self,
        after: Option<&KeyName>,
        most: usize,
        wanted: impl FnMut(&KeyInfo) -> bool,
    ) -> Vec<KeyName> {
        self.index.list(after, most, wanted)
    }

    /// The number of keys for which `holds` is true, destroyed ones included. It reads no file.
    pub fn count(&self, holds: impl Fn(&KeyInfo) -> bool) -> usize {
        self.index.count(holds)
    }

    /// What there is of the keys of party `party`. Keys of other parties do not count. It reads no file.
    #[must_use]
    pub fn summary(&self, party: u8) -> StoreSummary {
        let mut summary = self.index.summary(party);
        // a directory that cannot be read has no file that is known
        let files = self.folder.names().unwrap_or_default();
        let damaged = |file: &&String| file.parse().map_or(true, |name| self.index.kind(&name).is_none());
        summary.known += files.iter().filter(damaged).count() as u64;
        summary
    }

    /// The type of a key in any state, as the index has it; `None` if there is none. It reads no file.
    #[must_use]
    pub fn kind(&self, name: &KeyName) -> Option<KeyType> {
        self.index.kind(name)
    }

    /// A key in any state; `None` if there never was one of this name.
    ///
    /// # Errors
    /// If the key's file cannot be used.
    pub fn load(&self, name: &KeyName) -> Result<Option<KeyFile>, StoreError> {
        let _guard = self.guard();
        self.found(name)
    }

    /// Like [`StoredKeys::load`], for callers that hold the lock, so that no other thread changes the key.
    fn found(&self, name: &KeyName) -> Result<Option<KeyFile>, StoreError> {
        let key = self.read(name)?;
        self.index.note(name, key.as_ref());
        Ok(key)
    }

    fn read(&self, name: &KeyName) -> Result<Option<KeyFile>, StoreError> {
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
    /// If there is no such key, its file cannot be used, it holds the part of another party, or the key is
    /// not active.
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

    /// Store a new key as prepared. It replaces a destroyed key of its name, or one that was never active.
    ///
    /// # Errors
    /// [`StoreError::Exists`] if a key of this name is active; otherwise if its file cannot be read or
    /// written.
    pub fn prepare(&self, key: &mut KeyFile) -> Result<(), StoreError> {
        let _guard = self.guard();
        if self.found(&key.info.name)?.is_some_and(|old| old.info.state == KeyState::Active) {
            return Err(StoreError::Exists(key.info.name.clone()));
        }
        key.info.state = KeyState::Prepared;
        self.replace(key)
    }

    /// Make a prepared key active: all three servers have their parts, and have compared them.
    ///
    /// # Errors
    /// If there is no key of this name and id, it is destroyed, or its file cannot be read or written.
    pub fn activate(&self, name: &KeyName, id: &[u8; 16]) -> Result<(), StoreError> {
        let _guard = self.guard();
        let missing = || StoreError::Missing(name.clone());
        let mut key = self.found(name)?.filter(|key| key.info.id == *id).ok_or_else(missing)?;
        match key.info.state {
            KeyState::Active => Ok(()),
            KeyState::Destroyed => Err(StoreError::Destroyed(name.clone())),
            KeyState::Prepared => {
                key.info.state = KeyState::Active;
                self.replace(&key)
            }
        }
    }

    /// Give a key to other clients: from now on `maker` counts as its maker, and `clients` are the others
    /// that it serves.
    ///
    /// # Errors
    /// If there is no key of this name and id, it is destroyed, or its file cannot be read or written.
    pub fn chown(
        &self,
        name: &KeyName,
        id: &[u8; 16],
        maker: &Maker,
        clients: &[String],
    ) -> Result<(), StoreError> {
        let _guard = self.guard();
        let mut key = self.living(name, id)?;
        (key.info.maker, key.info.clients) = (maker.clone(), clients.to_vec());
        key.next_clients = None;
        self.replace(&key)
    }

    /// Write the clients that a key is to serve besides its maker, which has no effect before
    /// [`StoredKeys::activate_clients`]; or, with `None`, drop such a change.
    ///
    /// # Errors
    /// If there is no key of this name and id, it is destroyed, or its file cannot be read or written.
    pub fn prepare_clients(
        &self,
        name: &KeyName,
        id: &[u8; 16],
        clients: Option<&[String]>,
    ) -> Result<(), StoreError> {
        let _guard = self.guard();
        let mut key = self.living(name, id)?;
        if key.next_clients.as_deref() == clients {
            return Ok(());
        }
        key.next_clients = clients.map(<[String]>::to_vec);
        self.replace(&key)
    }

    /// Put a change of a key's clients in force: all three servers have written it, and have compared it.
    /// Without a change nothing happens.
    ///
    /// # Errors
    /// If there is no key of this name and id, it is destroyed, or its file cannot be read or written.
    pub fn activate_clients(&self, name: &KeyName, id: &[u8; 16]) -> Result<(), StoreError> {
        let _guard = self.guard();
        let mut key = self.living(name, id)?;
        let Some(clients) = key.next_clients.take() else { return Ok(()) };
        key.info.clients = clients;
        self.replace(&key)
    }

    /// The ids of the keys with a change of their clients that is not in force. It reads no file.
    #[must_use]
    pub fn changing(&self) -> Vec<[u8; 16]> {
        self.index.changing()
    }

    /// The name of the key with this id, as the index has it. It reads no file.
    #[must_use]
    pub fn named(&self, id: &[u8; 16]) -> Option<KeyName> {
        self.index.named(id)
    }

    /// The key of this name and id, for callers that hold the lock.
    fn living(&self, name: &KeyName, id: &[u8; 16]) -> Result<KeyFile, StoreError> {
        let missing = || StoreError::Missing(name.clone());
        let key = self.found(name)?.filter(|key| key.info.id == *id).ok_or_else(missing)?;
        if key.info.state == KeyState::Destroyed {
            return Err(StoreError::Destroyed(name.clone()));
        }
        Ok(key)
    }

    /// Count `n` uses of a key before they happen; returns the number of the first. No number is given out
    /// twice, whatever crashes in between. Uses of a prepared key are counted, too, because it may become
    /// active when it is first used.
    ///
    /// # Errors
    /// [`StoreError::Exhausted`] beyond [`USES`]; otherwise if there is no such key, it is destroyed, or its
    /// file cannot be read or written.
    pub fn reserve(&self, name: &KeyName, n: u64) -> Result<u64, StoreError> {
        let mut used = self.guard();
        let mut key = self.found(name)?.ok_or_else(|| StoreError::Missing(name.clone()))?;
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

    /// Destroy a key: only its public data remain, so that the next key of this name gets another generation
    /// number. A damaged file is overwritten and removed. A full disk does not prevent the destruction.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the key's file cannot be read, overwritten or removed.
    pub fn destroy(&self, name: &KeyName) -> Result<(), StoreError> {
        let _guard = self.guard();
        match self.found(name) {
            Ok(None) => Ok(()),
            Ok(Some(mut key)) => {
                key.info.state = KeyState::Destroyed;
                key.secret = None;
                // as it will be read
                key.info.bytes = key.info.kind.bytes();
                key.next_clients = None;
                match self.replace(&key) {
                    Err(e) if e.is_full() => {
                        self.folder.overwrite(name.as_str(), &encode(&key)?)?;
                        self.index.note(name, Some(&key));
                        Ok(())
                    }
                    done => done,
                }
            }
            Err(e @ StoreError::Io(..)) => Err(e),
            Err(_) => {
                self.folder.remove(name.as_str())?;
                self.index.note(name, None);
                Ok(())
            }
        }
    }

    fn replace(&self, key: &KeyFile) -> Result<(), StoreError> {
        self.folder.replace(key.info.name.as_str(), &encode(key)?)?;
        self.index.note(&key.info.name, Some(key));
        Ok(())
    }

    fn guard(&self) -> MutexGuard<'_, HashMap<[u8; 16], u64>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Check that names which differ in the case of a letter are different files: the file of the lock must not
/// have a second name in capital letters. Linux tells them apart, but a directory can be told not to, and
/// disks of other systems do not.
fn tells_cases_apart(dir: &Path, lock: &File) -> Result<(), StoreError> {
    let failed = |e| StoreError::Io(dir.into(), e);
    let same = match std::fs::metadata(dir.join(LOCK.to_ascii_uppercase())) {
        Ok(other) => {
            let own = lock.metadata().map_err(failed)?;
            (own.dev(), own.ino()) == (other.dev(), other.ino())
        }
        Err(e) if e.kind() == ErrorKind::NotFound => false,
        Err(e) => return Err(failed(e)),
    };
    if same { Err(StoreError::OneCase(dir.into())) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
