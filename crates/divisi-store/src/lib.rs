//! Data that outlives a process: one file for each key at a server, and the count of a key's uses, which
//! never decreases.
//!
//! **Trust.** A server's disk holds that server's two of the three components of each key. One stolen disk
//! reveals nothing about a key, two of them reveal it. Files are protected against accidents (checksum,
//! version, mode), but not against somebody who can write the directory; against this the servers compare
//! their files when they load a key (check A26). Session keys are not stored: they end with their session, so
//! that nothing recorded or restored can make one of them occur twice. Correlated randomness is in [`stock`]:
//! encrypted, and each value given out once.
//!
//! **Crashes.** Every change is a new file that is synchronised and renamed into place, with its directory
//! synchronised; then the replaced contents are overwritten. A process may die between any two steps, and the
//! next start finds the old state or the new one (the tests in `cut.rs` interrupt at every step). Uses are
//! reserved in blocks before they happen, so that a crash loses some and repeats none. Overwriting reaches
//! the file's blocks only if file system and disk write in place: a journal, a snapshot or a flash
//! translation layer may keep an older copy.
//!
//! ```
//! use divisi_store::{KeyFile, KeyInfo, KeyState, KeyType, StoredKeys, Maker, Secret};
//! # let dir = tempfile::tempdir()?;
//! let keys = StoredKeys::open(dir.path())?;
//! let info = KeyInfo {
//!     name: "backup".parse()?,
//!     id: [1; 16],
//!     kind: KeyType::Aes128,
//!     bytes: 16,
//!     purpose: KeyType::Aes128.purpose(),
//!     generation: 1,
//!     state: KeyState::Prepared,
//!     request: [2; 16],
//!     maker: Maker { name: "alice".into(), fingerprint: [3; 32] },
//!     clients: vec![],
//!     exportable: false,
//!     party: 1,
//!     mesh: [4; 32],
//!     made: Some(1_800_000_000), // in seconds since 1970
//! };
//! let (name, id) = (info.name.clone(), info.id);
//! let secret = Secret { first: vec![5; 16].into(), second: vec![6; 16].into() };
//! let mut key = KeyFile { info, reserved: 0, secret: Some(secret), next_clients: None };
//! keys.prepare(&mut key)?; // then the servers compare, and
//! keys.activate(&name, &id)?;
//! assert_eq!(keys.reserve(&name, 1)?, 0);
//! assert_eq!(keys.active(&name, 1)?.info.state, KeyState::Active);
//! keys.destroy(&name)?;
//! assert!(keys.active(&name, 1).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(test)]
mod careful;
#[cfg(test)]
mod cut;
mod disk;
mod error;
#[cfg(test)]
mod failing;
mod file;
mod folder;
#[cfg(test)]
mod fuzz;
mod index;
mod key;
mod keys;
mod name;
pub mod stock;

pub use disk::{Disk, MachineDisk};
pub use error::StoreError;
pub use index::StoreSummary;
pub use key::{KeyFile, KeyInfo, KeyState, KeyType, LONGEST_MAC_KEY, Maker, Purpose, Secret, USES};
pub use keys::{BLOCK, StoredKeys};
pub use name::KeyName;
