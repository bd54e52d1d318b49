//! The errors of stored keys, each as one sentence that names the file and says what to do.

use crate::name::KeyName;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a stored key cannot be read, written or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// An error of the system.
    Io(PathBuf, io::Error),
    /// Users other than its owner may read the file; its mode.
    Readable(PathBuf, u32),
    /// Users other than its owner may read or write the directory; its mode.
    Open(PathBuf, u32),
    /// Its contents are not what was written.
    Damaged(PathBuf, &'static str),
    /// A newer or older program wrote it.
    Version(PathBuf, u16),
    /// It belongs to another party.
    OtherParty(PathBuf, u8),
    /// In this directory names that differ in the case of a letter are one name.
    OneCase(PathBuf),
    /// Another process uses the directory.
    InUse(PathBuf),
    /// There is no such key.
    Missing(KeyName),
    /// A key of this name is in use.
    Exists(KeyName),
    /// The key was destroyed.
    Destroyed(KeyName),
    /// It is not known whether all servers have their parts.
    Unfinished(KeyName),
    /// All uses that the mode allows are spent.
    Exhausted(KeyName),
    /// The key has more clients than a file can hold.
    TooLarge(KeyName),
}

impl StoreError {
    /// Whether the disk has no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Self::Io(_, e) if matches!(e.kind(), StorageFull | QuotaExceeded))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, why) => {
                write!(
                    f,
                    "{} cannot be used ({why}): check that the disk works and has space",
                    path.display()
                )
            }
            Self::Readable(path, mode) => write!(
                f,
                "the key file {} can be read by others (mode {:04o}): run `chmod 600 {}`, and replace the key if others \
                 may have read it",
                path.display(),
                mode & 0o7777,
                path.display()
            ),
            Self::Open(path, mode) => write!(
                f,
                "the directory {} is open to others (mode {:04o}): run `chmod 700 {}`",
                path.display(),
                mode & 0o7777,
                path.display()
            ),
            Self::Damaged(path, what) => write!(
                f,
                "the key file {} is damaged ({what}): restore it from this server's backup, or destroy the key and \
                 make a new one",
                path.display()
            ),
            Self::Version(path, version) => write!(
                f,
                "the key file {} has format version {version}, which this program does not know: use the program that \
                 wrote it",
                path.display()
            ),
            Self::OtherParty(path, party) => {
                write!(
                    f,
                    "the key file {} belongs to party {party}: give each server its own files",
                    path.display()
                )
            }
            Self::OneCase(path) => write!(
                f,
                "the file system takes letters of both cases for one in {}, so that two keys could have one file: keep \
                 the data in a directory where they differ, as they do on Linux unless somebody asked for this",
                path.display()
            ),
            Self::InUse(path) => {
                write!(f, "another process uses the data directory {}: stop it first", path.display())
            }
            Self::Missing(name) => write!(f, "there is no key {name}: make it, or see `key list`"),
            Self::Exists(name) => {
                write!(f, "there is a key {name} already: choose another name, or destroy it first")
            }
            Self::Unfinished(name) => write!(
                f,
                "the key {name} was not finished by all servers: make it again with the same command, or destroy it"
            ),
            Self::Destroyed(name) => write!(f, "the key {name} was destroyed: make a new one"),
            Self::Exhausted(name) => {
                write!(f, "the key {name} has been used 2^32 times, the most GCM allows: make a new one")
            }
            Self::TooLarge(name) => write!(f, "the key {name} names too many clients: name fewer"),
        }
    }
}

impl std::error::Error for StoreError {}
