//! Keys in directories, and on disks that are full.

mod clients;
mod names;

use super::*;
use crate::Purpose;
use crate::file::LONGEST;
use crate::file::tests::sample;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

fn store() -> (tempfile::TempDir, StoredKeys) {
    let dir = tempfile::tempdir().unwrap();
    let keys = StoredKeys::open(&dir.path().join("keys")).unwrap();
    (dir, keys)
}

/// A disk on which nothing new has room, or nothing at all can be written.
#[derive(Default)]
struct Full(AtomicBool, AtomicBool);

impl Disk for std::sync::Arc<Full> {
    fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let have = fs::metadata(path).map_or(0, |meta| meta.len());
        if self.1.load(Ordering::SeqCst) {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        if self.0.load(Ordering::SeqCst) && bytes.len() as u64 > have {
            MachineDisk.write(path, &bytes[..bytes.len() / 2])?;
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        MachineDisk.write(path, bytes)
    }
}

/// On a full disk the existing keys remain, no half-written file is left behind, and a key can be destroyed.
#[test]
fn on_a_full_disk_keys_stay_and_can_be_destroyed() {
    let dir = tempfile::tempdir().unwrap();
    let full = std::sync::Arc::<Full>::default();
    let keys = StoredKeys::open_on(Box::new(full.clone()), &dir.path().join("keys")).unwrap();
    let name = made(&keys, "k");
    // whose file is longer, and stays longer when it is destroyed
    let long = made(&keys, &"l".repeat(KeyName::LONGEST));
    let files = || fs::read_dir(dir.path().join("keys")).unwrap().count();
    let before = files();
    full.0.store(true, Ordering::SeqCst);
    assert!(keys.reserve(&name, 1).unwrap_err().is_full());
    assert!(keys.prepare(&mut sample("other")).unwrap_err().is_full());
    assert_eq!(files(), before);
    assert_eq!(keys.active(&name, 2).unwrap().info.state, KeyState::Active);
    let secret = keys.load(&name).unwrap().unwrap().secret.unwrap().first.to_vec();
    // what is not written is not said
    full.1.store(true, Ordering::SeqCst);
    assert!(keys.destroy(&name).unwrap_err().is_full());
    assert_eq!(keys.count(|info| info.state == KeyState::Destroyed), 0);
    full.1.store(false, Ordering::SeqCst);
    keys.destroy(&name).unwrap();
    keys.destroy(&long).unwrap();
    assert_eq!(files(), before);
    // it is known at once, without the files
    assert_eq!(keys.count(|info| info.state == KeyState::Destroyed), 2);
    let left = keys.load(&name).unwrap().unwrap();
    assert!(left.info.state == KeyState::Destroyed && left.secret.is_none());
    let bytes = fs::read(dir.path().join("keys/k.key")).unwrap();
    assert!(!bytes.windows(secret.len()).any(|window| window == secret));
}

/// Ids of no key: those of keys are 16 times one. They begin or end otherwise.
const OTHERS: [[u8; 16]; 3] = [
    [2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2],
    [7; 16],
];

fn made(keys: &StoredKeys, name: &str) -> KeyName {
    let mut key = sample(name);
    key.reserved = 0;
    keys.prepare(&mut key).unwrap();
    keys.activate(&key.info.name, &key.info.id).unwrap();
    key.info.name.clone()
}

/// Stores with the same active keys have the same summary, whatever else is in them; name, id and generation
/// of an active key change it, and so does its end.
#[test]
fn a_summary_is_of_the_active_keys_of_one_party() {
    let put = |keys: &StoredKeys, name: &str, change: &dyn Fn(&mut KeyInfo)| {
        let mut key = sample(name);
        change(&mut key.info);
        keys.prepare(&mut key).unwrap();
        keys.activate(&key.info.name, &key.info.id).unwrap();
    };
    let (_dir, keys) = store();
    assert_eq!((keys.summary(2).known, keys.summary(2).active), (0, 0));
    let none = keys.summary(2).digest;
    put(&keys, "b", &|_| {});
    put(&keys, "a", &|_| {});
    let both = keys.summary(2);
    // servers of other builds compute the same
    assert_eq!(hex::encode(both.digest), "e17cd5206334b5c20e45bcb9cecd796949cc267c833758acd1f494b5bfea5aa1");
    assert_eq!((both.known, both.active), (2, 2));
    assert_eq!(keys.summary(1).known, 0, "the keys of another party are not counted");
    let (_other, same) = store();
    put(&same, "a", &|_| {});
    put(&same, "b", &|info| info.exportable ^= true);
    same.prepare(&mut sample("c")).unwrap();
    let prepared = same.summary(2);
    assert_eq!((prepared.known, prepared.active, prepared.digest), (3, 2, both.digest));
    same.destroy(&"a".parse().unwrap()).unwrap();
    same.destroy(&"b".parse().unwrap()).unwrap();
    assert_eq!((same.summary(2).known, same.summary(2).digest), (3, none));
    // a damaged file is not nothing
    let (dir, keys) = store();
    put(&keys, "a", &|_| {});
    fs::write(dir.path().join("keys/a.key"), "short").unwrap();
    let keys = StoredKeys::open_on(Box::new(MachineDisk), &dir.path().join("keys")).unwrap();
    assert_eq!((keys.summary(2).known, keys.summary(2).active), (1, 0));
    let changes: [&dyn Fn(&mut KeyInfo); 3] =
        [&|_| {}, &|info| info.id[15] ^= 1, &|info| info.generation += 1];
    let digests: Vec<[u8; 32]> = changes
        .iter()
        .map(|change| {
            let (_dir, keys) = store();
            put(&keys, "a", change);
            keys.summary(2).digest
        })
        .collect();
    assert!(digests[0] != digests[1] && digests[0] != digests[2] && digests[1] != digests[2]);
    assert!(digests.iter().all(|digest| *digest != both.digest && *digest != none));
}

#[test]
fn a_key_goes_from_prepared_to_active_to_destroyed() {
    let (_dir, keys) = store();
    let name: KeyName = "k".parse().unwrap();
    assert!(keys.load(&name).unwrap().is_none());
    keys.prepare(&mut sample("k")).unwrap();
    assert!(matches!(keys.active(&name, 2), Err(StoreError::Unfinished(named)) if named == name));
    assert!(OTHERS.iter().all(|other| keys.activate(&name, other).is_err()));
    keys.activate(&name, &[1; 16]).unwrap();
    assert_eq!(keys.active(&name, 2).unwrap().secret.unwrap().first.as_slice(), [0xaa; 16]);
    assert!(matches!(keys.active(&name, 1), Err(StoreError::OtherParty(..))));
    assert!(matches!(keys.prepare(&mut sample("k")), Err(StoreError::Exists(named)) if named == name));
    keys.destroy(&name).unwrap();
    assert!(matches!(keys.active(&name, 2), Err(StoreError::Destroyed(named)) if named == name));
    assert!(matches!(keys.reserve(&name, 1), Err(StoreError::Destroyed(named)) if named == name));
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
        let keys = StoredKeys::open(dir.path()).unwrap();
        let name = if seen == 0 { made(&keys, "k") } else { "k".parse().unwrap() };
        for n in [1, 1, 1500, 1, 5000] {
            let first = keys.reserve(&name, n).unwrap();
            assert!(first >= seen);
            seen = first + n;
        }
    }
    let keys = StoredKeys::open(dir.path()).unwrap();
    let name: KeyName = "k".parse().unwrap();
    let start = keys.load(&name).unwrap().unwrap().reserved;
    assert_eq!(keys.reserve(&name, USES - start - 1).unwrap(), start);
    assert_eq!(keys.reserve(&name, 1).unwrap(), USES - 1);
    let error = keys.reserve(&name, 1).unwrap_err().to_string();
    assert!(error.contains("2^32"), "{error}");
    drop(keys);
    let end = StoredKeys::open(dir.path()).unwrap().reserve(&name, 1);
    assert!(matches!(end, Err(StoreError::Exhausted(named)) if named == name));
}

/// Uses are on the disk before they are given out, in each block of them.
#[test]
fn no_use_is_given_out_before_it_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let keys = StoredKeys::open(dir.path()).unwrap();
    let name = made(&keys, "k");
    for n in [300, 1, 1023, 1024, 1025].into_iter().cycle().take(40) {
        let end = keys.reserve(&name, n).unwrap() + n;
        assert!(keys.load(&name).unwrap().unwrap().reserved >= end, "{end}");
    }
}

#[test]
fn a_file_that_others_may_read_or_that_is_damaged_is_refused_and_named() {
    let (dir, keys) = store();
    let name = made(&keys, "k");
    let path = dir.path().join("keys/k.key");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for bit in [0o40, 0o20, 0o10, 0o4, 0o2, 0o1] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600 | bit)).unwrap();
        let error = keys.active(&name, 2).err().unwrap().to_string();
        assert!(error.contains("chmod 600") && error.contains("k.key"), "{bit:o}: {error}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = keys.active(&name, 2).err().unwrap().to_string();
    assert!(error.contains("damaged") && error.contains("k.key"), "{error}");
    fs::copy(&path, dir.path().join("keys/other.key")).unwrap();
    fs::write(&path, vec![1; LONGEST + 1]).unwrap();
    assert!(matches!(keys.load(&name), Err(StoreError::Damaged(named, _)) if named == path));
    keys.destroy(&name).unwrap();
    assert!(!path.exists());
    // what cannot be read may be a key: it is neither missing nor damaged
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert!(matches!(keys.load(&name), Err(StoreError::Io(at, _)) if at == path));
    assert!(matches!(keys.destroy(&name), Err(StoreError::Io(at, _)) if at == path));
}

#[test]
fn a_file_under_another_name_is_damage() {
    let (dir, keys) = store();
    made(&keys, "k");
    for other in ["other", "K"] {
        fs::copy(dir.path().join("keys/k.key"), dir.path().join(format!("keys/{other}.key"))).unwrap();
        let error = keys.load(&other.parse().unwrap()).err().unwrap().to_string();
        assert!(error.contains("another name"), "{error}");
    }
}

/// A key of another party is named, with its party; so is a directory that cannot be used.
#[test]
fn errors_name_their_file() {
    let (dir, keys) = store();
    let name = made(&keys, "k");
    let file = dir.path().join("keys/k.key");
    assert!(keys.active(&name, 2).is_ok());
    let Err(StoreError::OtherParty(named, 2)) = keys.active(&name, 1) else { panic!("of party 2") };
    assert_eq!(named, file);
    let other = dir.path().join("other");
    fs::create_dir_all(other.join(LOCK)).unwrap();
    assert!(matches!(StoredKeys::open(&other), Err(StoreError::Io(named, _)) if named == other));
    for no_folder in [file.clone(), file.join("below")] {
        let opened = StoredKeys::open_in(&no_folder);
        assert!(matches!(opened, Err(StoreError::Io(named, _)) if named == no_folder), "{no_folder:?}");
    }
}

#[test]
fn a_directory_that_others_may_use_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    drop(StoredKeys::open_in(&data).unwrap());
    for mode in [0o710, 0o702, 0o755] {
        fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
        let error = StoredKeys::open_in(&data).err().unwrap().to_string();
        assert!(error.contains(&format!("chmod 700 {}`", data.display())), "{error}");
    }
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    drop(StoredKeys::open_in(&data).unwrap());
    let file = data.join("file");
    fs::write(&file, "").unwrap();
    let error = StoredKeys::open_in(&file).err().unwrap();
    assert!(matches!(&error, StoreError::Io(path, _) if *path == file), "{error}");
}

/// What is known of a destroyed key without reading its file is what its file says.
#[test]
fn a_destroyed_key_is_known_as_it_is_read() {
    let (dir, keys) = store();
    let mut key = sample("k");
    (key.info.kind, key.info.purpose, key.info.bytes) = (KeyType::HmacSha256, Purpose::Mac, 100);
    keys.prepare(&mut key).unwrap();
    let known = |keys: &StoredKeys| {
        let all = std::cell::RefCell::new(Vec::new());
        keys.count(|info| {
            all.borrow_mut().push(info.clone());
            true
        });
        all.into_inner()
    };
    keys.destroy(&key.info.name).unwrap();
    let before = known(&keys);
    drop(keys);
    assert_eq!(before, known(&StoredKeys::open(&dir.path().join("keys")).unwrap()));
    assert_eq!(before.len(), 1);
}

#[test]
fn one_damaged_or_stray_file_harms_no_other_key() {
    let (dir, keys) = store();
    let name = made(&keys, "good");
    drop(keys);
    let folder = dir.path().join("keys");
    fs::write(folder.join("bad.key"), b"no key").unwrap();
    fs::write(folder.join("a stray file.key"), b"").unwrap();
    // the name is one that a crash would leave, but it is a directory's
    fs::create_dir(folder.join("odd.key.new")).unwrap();
    let keys = StoredKeys::open(&folder).unwrap();
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
    let folder = dir.path().join("keys");
    // what the first one is about to rename is left as it is
    fs::write(folder.join("k.key.new"), b"half").unwrap();
    assert!(matches!(StoredKeys::open(&folder), Err(StoreError::InUse(named)) if named == folder));
    assert_eq!(fs::read(folder.join("k.key.new")).unwrap(), b"half");
    drop(keys);
    StoredKeys::open(&dir.path().join("keys")).unwrap();
}
