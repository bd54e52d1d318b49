//! An index of the keys in memory, so that a list of keys reads no file.
//!
//! It is updated with every file that is written or read, so that a file that was lost or restored while the
//! process runs is noticed at the latest when it is used.

use crate::key::{KeyInfo, KeyType};
use crate::name::KeyName;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The public data of each key, by name.
#[derive(Default)]
pub(crate) struct Index(Mutex<BTreeMap<KeyName, KeyInfo>>);

impl Index {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<KeyName, KeyInfo>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Record the public data of the key with this name, or with `None` that there is no such key.
    pub fn note(&self, name: &KeyName, info: Option<&KeyInfo>) {
        let mut keys = self.lock();
        match info {
            Some(info) if keys.get(name) != Some(info) => drop(keys.insert(name.clone(), info.clone())),
            Some(_) => {}
            None => drop(keys.remove(name)),
        }
    }

    /// The names of the first matching keys after `after`, at most this many.
    pub fn list(
        &self,
        after: Option<&KeyName>,
        most: usize,
        mut wanted: impl FnMut(&KeyInfo) -> bool,
    ) -> Vec<KeyName> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let keys = self.lock();
        let keys = keys.range::<KeyName, _>((from, Bound::Unbounded)).filter(|(_, info)| wanted(info));
        keys.take(most).map(|(name, _)| name.clone()).collect()
    }

    /// The type of the key with this name.
    pub fn kind(&self, name: &KeyName) -> Option<KeyType> {
        self.lock().get(name).map(|info| info.kind)
    }

    /// The number of keys for which `holds` is true.
    pub fn count(&self, holds: impl Fn(&KeyInfo) -> bool) -> usize {
        self.lock().values().filter(|info| holds(info)).count()
    }
}
