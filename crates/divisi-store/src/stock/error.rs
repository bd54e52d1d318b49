//! The errors of stored preprocessing, each as one sentence that names the file and says what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a stock cannot be read, written or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum StockError {
    /// An error of the system.
    Io(PathBuf, io::Error),
    /// Users other than its owner may read or write it; its mode.
    Readable(PathBuf, u32),
    /// There is no stock.
    Missing(PathBuf),
    /// Its contents are not what was written.
    Damaged(PathBuf, &'static str),
    /// A newer or older program wrote it.
    Version(PathBuf, u16),
    /// It is sealed under another key.
    OtherKey(PathBuf),
    /// The file is not a key file.
    NoKey(PathBuf),
    /// It belongs to another party.
    OtherParty(PathBuf, u8),
    /// Another process uses it.
    InUse(PathBuf),
    /// A stock exists that is not used up.
    Exists(PathBuf),
    /// It was destroyed by an abort, or because a process died during a check that could reveal alpha.
    Destroyed(PathBuf),
    /// The kind of values that ran out, how many were needed, and how many were left; then a command that
    /// makes more.
    UsedUp(PathBuf, String, u64, u64, String),
}

impl StockError {
    /// Whether the disk has no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Self::Io(_, e) if matches!(e.kind(), StorageFull | QuotaExceeded))
    }
}

impl fmt::Display for StockError {
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
                "{} is open to others (mode {:04o}): run `chmod go= {}`, and make a new stock if others may have read it",
                path.display(),
                mode & 0o7777,
                path.display()
            ),
            Self::Missing(path) => {
                write!(f, "there is no stock in {}: make one with `divisi prep make`", path.display())
            }
            Self::Damaged(path, what) => write!(
                f,
                "{} is damaged ({what}): drop the stock with `divisi prep drop` and make another with `divisi prep make`",
                path.display()
            ),
            Self::Version(path, version) => write!(
                f,
                "{} has format version {version}, which this program does not know: use the program that wrote it",
                path.display()
            ),
            Self::OtherKey(path) => write!(
                f,
                "{} is sealed under another key: give the key file that it was made with by --key-file",
                path.display()
            ),
            Self::NoKey(path) => write!(
                f,
                "{} is not the key file of a stock: give the file that `divisi prep make` wrote",
                path.display()
            ),
            Self::OtherParty(path, party) => {
                write!(f, "{} belongs to party {party}: give each party its own files", path.display())
            }
            Self::InUse(path) => {
                write!(f, "another process uses the stock in {}: wait until it has ended", path.display())
            }
            Self::Exists(path) => write!(
                f,
                "there is a stock in {} that is not used up: use it, drop it with `divisi prep drop`, or give another --out",
                path.display()
            ),
            Self::Destroyed(path) => write!(
                f,
                "the stock in {} was destroyed because a session on it aborted: make another with `divisi prep make`",
                path.display()
            ),
            Self::UsedUp(path, what, wanted, left, more) => write!(
                f,
                "the stock in {} is used up ({wanted} {what} were wanted, {left} are left): drop what is left with `divisi prep \
                 drop`, and make more with `{more}`",
                path.display()
            ),
        }
    }
}

impl std::error::Error for StockError {}
