//! The files of a stock: access to them, their contents, their removal.

use super::info::Head;
use super::{SealKey, StockError, StockInfo, StockState};
use crate::disk::{Disk, MachineDisk};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use zeroize::Zeroizing;

pub(super) const HEAD: &str = "head";
pub(super) const STATE: &str = "state";
pub(super) const NEW: &str = "state.new";
pub(super) const GONE: &str = "destroyed";
pub(super) const LOCK: &str = ".lock";
pub(super) const LOT: &str = ".lot";
/// No head or state is longer.
pub(super) const LONGEST: usize = 16 * 1024;

/// Lock a directory for this process alone.
pub(super) fn lock(dir: &Path) -> Result<File, StockError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(dir.join(LOCK));
    held(dir, file.map_err(|e| StockError::Io(dir.into(), e))?)
}

/// Lock the file of a directory's lock, which was opened. Whoever removes a stock removes this file, too, and
/// perhaps has done so meanwhile: then another process may have made another one, and holds it.
pub(super) fn held(dir: &Path, file: File) -> Result<File, StockError> {
    let failed = |e| StockError::Io(dir.into(), e);
    let in_use = || StockError::InUse(dir.into());
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use()),
        Err(TryLockError::Error(e)) => return Err(failed(e)),
    }
    let own = file.metadata().map_err(failed)?;
    match std::fs::metadata(dir.join(LOCK)) {
        Ok(named) if (named.dev(), named.ino()) == (own.dev(), own.ino()) => Ok(file),
        Ok(_) => Err(in_use()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(in_use()),
        Err(e) => Err(failed(e)),
    }
}

pub(super) fn context<'c>(wrap: &'c [u8], party: &'c [u8], name: &'c str) -> [&'c [u8]; 3] {
    [wrap, party, name.as_bytes()]
}

/// The description and the state of the stock in a directory, even while another process uses it.
///
/// # Errors
/// If there is no stock, others may enter its directory, or a file of it cannot be used.
pub fn look(dir: &Path, key: &SealKey) -> Result<(StockInfo, StockState), StockError> {
    private(dir)?;
    let (head, state) = read(&MachineDisk, dir, key)?;
    Ok((head.info.clone(), state))
}

/// Remove the stock in a directory, in whatever state it is, and overwrite its head, without which no other
/// file of it can be decrypted. Returns whether there was a stock.
///
/// # Errors
/// [`StockError::InUse`] if another process uses it; [`StockError::Io`] if a file cannot be removed.
pub fn forget(dir: &Path) -> Result<bool, StockError> {
    if !dir.is_dir() {
        return Ok(false);
    }
    let lock = lock(dir)?;
    let there = [HEAD, STATE, GONE].iter().any(|name| dir.join(name).exists());
    erase(&MachineDisk, dir)?;
    // while it is held: a process that holds it next would hold a file that nobody finds
    let _ = MachineDisk.remove(&dir.join(LOCK));
    drop(lock);
    // a directory with files of somebody else stays
    let _ = std::fs::remove_dir(dir);
    Ok(there)
}

pub(super) fn file_name(series: &str, lot: u64) -> String {
    format!("{series}-{lot:08}{LOT}")
}

pub(super) fn too_long(dir: &Path) -> StockError {
    StockError::Damaged(dir.into(), "it has more kinds of values than a stock may have")
}

/// Check that only the owner can enter a directory.
pub(super) fn private(dir: &Path) -> Result<(), StockError> {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(dir) {
        Ok(meta) if meta.permissions().mode() & 0o077 == 0 => Ok(()),
        Ok(meta) => Err(StockError::Readable(dir.into(), meta.permissions().mode())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(StockError::Missing(dir.into())),
        Err(e) => Err(StockError::Io(dir.into(), e)),
    }
}

/// Whether a stock may be replaced, because it has no value that was made and not taken.
pub(super) fn is_over(dir: &Path, key: &SealKey) -> Result<bool, StockError> {
    let (_, state) = read(&MachineDisk, dir, key)?;
    Ok(state.counts.iter().all(|count| count.left() == 0))
}

pub(super) fn read(disk: &dyn Disk, dir: &Path, key: &SealKey) -> Result<(Head, StockState), StockError> {
    let [path, of_state] = [HEAD, STATE].map(|name| dir.join(name));
    let Some(bytes) = load(disk, &path, LONGEST)? else {
        return Err(match load(disk, &dir.join(GONE), LONGEST)? {
            Some(_) => StockError::Destroyed(dir.into()),
            None => StockError::Missing(dir.into()),
        });
    };
    let body = key.open(&path, &context(&[], &[], HEAD), bytes)?;
    let no_head = || StockError::Damaged(path.clone(), "it is not the head of a stock");
    let (head, rest) = postcard::take_from_bytes::<Head>(&body).map_err(|_| no_head())?;
    if !rest.is_empty() {
        return Err(no_head());
    }
    let bytes = load(disk, &of_state, LONGEST)?;
    let bytes = bytes.ok_or_else(|| StockError::Damaged(of_state.clone(), "it is missing"))?;
    let body = key.open(&of_state, &context(&head.wrap, &[head.info.party], STATE), bytes)?;
    let no_state = || StockError::Damaged(of_state.clone(), "it is not the state of this stock");
    let (state, rest) = postcard::take_from_bytes::<StockState>(&body).map_err(|_| no_state())?;
    let sound = state.counts.iter().all(|count| count.taken <= count.made);
    if !rest.is_empty() || state.counts.len() != head.info.series.len() || !sound {
        return Err(no_state());
    }
    Ok((head, state))
}

/// A file's bytes; `None` if there is no such file.
pub(super) fn load(
    disk: &dyn Disk,
    path: &Path,
    longest: usize,
) -> Result<Option<Zeroizing<Vec<u8>>>, StockError> {
    match disk.read(path, longest) {
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::InvalidData => {
            Err(StockError::Damaged(path.into(), "it is longer than when it was written"))
        }
        Err(e) => Err(StockError::Io(path.into(), e)),
    }
}

/// Overwrite and remove a file, if it exists; `len` is its approximate length.
pub(super) fn wipe(disk: &dyn Disk, path: &Path, len: usize) -> Result<(), StockError> {
    let wipe = || {
        if matches!(disk.read(path, 0), Err(e) if e.kind() == io::ErrorKind::NotFound) {
            return Ok(());
        }
        disk.write(path, &vec![0; len])?;
        disk.sync(path)?;
        disk.remove(path)
    };
    wipe().map_err(|e| StockError::Io(path.into(), e))
}

/// Overwrite and remove the head, which holds alpha, then remove all other files of the stock. The error is
/// the first one, returned after everything was tried.
pub(super) fn erase(disk: &dyn Disk, dir: &Path) -> Result<(), StockError> {
    let mut done = wipe(disk, &dir.join(HEAD), LONGEST);
    let synced = disk.sync_dir(dir).map_err(|e| StockError::Io(dir.into(), e));
    done = done.and(synced);
    let names = disk.list(dir).map_err(|e| StockError::Io(dir.into(), e));
    let ours = |name: &&String| name.ends_with(LOT) || [STATE, NEW, GONE].contains(&name.as_str());
    for name in names.iter().flatten().filter(ours) {
        // it is not overwritten, because nobody can decrypt it without the head
        let path = dir.join(name);
        done = done.and(disk.remove(&path).map_err(|e| StockError::Io(path, e)));
    }
    done = done.and(names.map(drop));
    done.and(disk.sync_dir(dir).map_err(|e| StockError::Io(dir.into(), e)))
}
