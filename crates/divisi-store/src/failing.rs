//! A disk that refuses one operation, whichever it is: the error that a caller gets names a place in the
//! directory that it gave.

use crate::disk::{Disk, MachineDisk};
use crate::file::tests::sample;
use crate::stock::tests::{entropy, info, key};
use crate::stock::{Reserve, StockError};
use crate::{StoreError, StoredKeys};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zeroize::Zeroizing;

/// Refuses the operation that comes after as many others.
struct Refusing(Arc<AtomicUsize>);

impl Refusing {
    fn tick(&self) -> io::Result<()> {
        match self.0.fetch_sub(1, Ordering::SeqCst) {
            0 => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        }
    }
}

impl Disk for Refusing {
    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        self.tick()?;
        MachineDisk.make_dir(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.tick()?;
        MachineDisk.list(dir)
    }

    fn read(&self, path: &Path, longest: usize) -> io::Result<(Zeroizing<Vec<u8>>, u32)> {
        self.tick()?;
        MachineDisk.read(path, longest)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.tick()?;
        MachineDisk.write(path, bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.tick()?;
        MachineDisk.sync(path)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.tick()?;
        MachineDisk.link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.tick()?;
        MachineDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.tick()?;
        MachineDisk.remove(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.tick()?;
        MachineDisk.sync_dir(dir)
    }
}

/// Does something on a disk that refuses its first operation, its second one, and so on to the last. Returns
/// how many errors there were, each of which is an error of the system that names a place.
fn refused<E: std::fmt::Debug>(
    act: impl Fn(Box<dyn Disk>, &Path) -> Result<(), E>,
    names: impl Fn(&E, &Path) -> bool,
) -> usize {
    let mut errors = 0;
    for at in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let left = Arc::new(AtomicUsize::new(at));
        let end = act(Box::new(Refusing(Arc::clone(&left))), dir.path());
        if let Err(error) = &end {
            assert!(names(error, dir.path()), "operation {at}: {error:?}");
        }
        errors += usize::from(end.is_err());
        // all of them were done
        if left.load(Ordering::SeqCst) <= at && end.is_ok() {
            break;
        }
    }
    errors
}

#[test]
fn an_error_of_a_key_names_a_place() {
    let act = |disk: Box<dyn Disk>, dir: &Path| {
        let keys = StoredKeys::open_on(disk, &dir.join("keys"))?;
        let mut key = sample("k");
        key.reserved = 0;
        let (name, id) = (key.info.name.clone(), key.info.id);
        keys.prepare(&mut key)?;
        keys.activate(&name, &id)?;
        keys.reserve(&name, 1)?;
        keys.prepare_clients(&name, &id, Some(&["carol".into()]))?;
        keys.activate_clients(&name, &id)?;
        keys.chown(&name, &id, &key.info.maker, &[])?;
        keys.active(&name, 2)?;
        keys.destroy(&name)?;
        keys.load(&name).map(drop)
    };
    let names = |error: &StoreError, dir: &Path| {
        matches!(error, StoreError::Io(named, _) if named.starts_with(dir)) && !error.is_full()
    };
    let errors = refused(act, names);
    assert!(errors > 30, "{errors}");
}

#[test]
fn an_error_of_a_stock_names_a_place() {
    let act = |disk: Box<dyn Disk>, dir: &Path| {
        let reserve = Reserve::create_on(disk, dir, key(1), entropy(), info(2), vec![7; 6].into())?;
        reserve.put(0, 4, &[1; 100])?;
        reserve.put(1, 2, &[2; 100])?;
        reserve.risk(true)?;
        reserve.risk(false)?;
        reserve.take(0, 4)?;
        reserve.lot(0, 0)?;
        reserve.wipe(0, 0)?;
        reserve.close()?;
        reserve.destroy()
    };
    let names = |error: &StockError, dir: &Path| {
        matches!(error, StockError::Io(named, _) if named.starts_with(dir)) && !error.is_full()
    };
    let errors = refused(act, names);
    assert!(errors > 20, "{errors}");
}
