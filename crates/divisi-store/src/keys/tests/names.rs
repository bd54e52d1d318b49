//! Names that differ in the case of a letter.

use super::{made, store};
use crate::{KeyName, StoreError, StoredKeys};
use std::fs;

/// They are different keys, each with a file of its own.
#[test]
fn letters_of_both_cases_are_different_keys() {
    let (dir, keys) = store();
    let longest = "Kk".repeat(KeyName::LONGEST / 2);
    let [large, small, long] = ["K", "k", &longest].map(|name| made(&keys, name));
    assert_eq!(keys.list(None, 9, |_| true), [large.clone(), long.clone(), small.clone()]);
    assert_eq!(keys.list(Some(&large), 1, |_| true), [long]);
    keys.destroy(&large).unwrap();
    assert!(matches!(keys.active(&large, 2), Err(StoreError::Destroyed(_))));
    assert_eq!(keys.active(&small, 2).unwrap().info.name, small);
    assert!(["K", "k"].iter().all(|name| dir.path().join(format!("keys/{name}.key")).exists()));
}

/// Where the file of the lock is found by capital letters, too, two keys could share a file: such a store
/// does not open. A second name of the file stands for such a directory.
#[test]
fn a_directory_that_takes_both_cases_for_one_is_refused() {
    let (dir, keys) = store();
    drop(keys);
    let dir = dir.path().join("keys");
    fs::write(dir.join(".LOCK"), "another file").unwrap();
    for _ in 0..2 {
        drop(StoredKeys::open(&dir).unwrap());
    }
    fs::remove_file(dir.join(".LOCK")).unwrap();
    // nobody knows what it is
    std::os::unix::fs::symlink(dir.join(".LOCK"), dir.join(".LOCK")).unwrap();
    assert!(matches!(StoredKeys::open(&dir), Err(StoreError::Io(at, _)) if at == dir));
    fs::remove_file(dir.join(".LOCK")).unwrap();
    fs::hard_link(dir.join(".lock"), dir.join(".LOCK")).unwrap();
    let error = StoredKeys::open(&dir).err().unwrap();
    assert!(matches!(error, StoreError::OneCase(_)) && error.to_string().contains("both cases"), "{error}");
}
