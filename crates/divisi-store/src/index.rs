//! An index of the keys in memory, so that a list of keys reads no file.
//!
//! It is updated with every file that is written or read, so that a file that was lost or restored while the
//! process runs is noticed at the latest when it is used.

use crate::key::{KeyFile, KeyInfo, KeyState, KeyType};
use crate::name::KeyName;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a store has of one party's keys, for a comparison with the stores of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSummary {
    /// The number of its keys in any state, also prepared and destroyed ones, and of files whose keys cannot
    /// be read: 0 only if there is nothing.
    pub known: u64,
    /// The number of its active keys.
    pub active: u64,
    /// A digest of name, id and generation of each active key, the same at all servers that have the same
    /// active keys.
    pub digest: [u8; 32],
}

/// The public data of each key, by name.
#[derive(Default)]
pub(crate) struct Index(Mutex<BTreeMap<KeyName, Known>>);

/// What is known of a key without its file.
#[derive(PartialEq, Eq)]
struct Known {
    info: KeyInfo,
    /// Whether a change of its clients is written and not in force.
    changing: bool,
}

impl Index {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<KeyName, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Record the public data of the key with this name, or with `None` that there is no such key.
    pub fn note(&self, name: &KeyName, key: Option<&KeyFile>) {
        let mut keys = self.lock();
        let Some(key) = key else { return drop(keys.remove(name)) };
        let changing = key.next_clients.is_some();
        if keys.get(name).is_none_or(|known| known.changing != changing || known.info != key.info) {
            keys.insert(name.clone(), Known { info: key.info.clone(), changing });
        }
    }

    /// The name of the key with this id.
    pub fn named(&self, id: &[u8; 16]) -> Option<KeyName> {
        self.lock().iter().find(|(_, known)| known.info.id == *id).map(|(name, _)| name.clone())
    }

    /// The ids of the keys whose clients are being changed, in the order of their names.
    pub fn changing(&self) -> Vec<[u8; 16]> {
        self.lock().values().filter(|known| known.changing).map(|known| known.info.id).collect()
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
        let keys =
            keys.range::<KeyName, _>((from, Bound::Unbounded)).filter(|(_, known)| wanted(&known.info));
        keys.take(most).map(|(name, _)| name.clone()).collect()
    }

    /// The type of the key with this name.
    pub fn kind(&self, name: &KeyName) -> Option<KeyType> {
        self.lock().get(name).map(|known| known.info.kind)
    }

    /// What there is of one party's keys.
    pub fn summary(&self, party: u8) -> StoreSummary {
        let keys = self.lock();
        let own = || keys.values().map(|known| &known.info).filter(|info| info.party == party);
        let mut digest = blake3::Hasher::new_derive_key("divisi 2026 active keys of a store v1");
        let mut active = 0;
        // in the order of their names
        for info in own().filter(|info| info.state == KeyState::Active) {
            active += 1;
            let name = info.name.as_str().as_bytes();
            digest.update(&(name.len() as u64).to_le_bytes()).update(name);
            digest.update(&info.id).update(&info.generation.to_le_bytes());
        }
        StoreSummary { known: own().count() as u64, active, digest: *digest.finalize().as_bytes() }
    }

    /// The number of keys for which `holds` is true.
    pub fn count(&self, holds: impl Fn(&KeyInfo) -> bool) -> usize {
        self.lock().values().filter(|known| holds(&known.info)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::sample;
    use crate::key::Purpose;

    /// Whatever of a key is another than before, it is known, as it is known that it changes.
    #[test]
    fn whatever_changes_of_a_key_is_known() {
        let changes: &[fn(&mut KeyFile)] = &[
            |key| key.info.id[15] ^= 1,
            |key| key.info.kind = KeyType::Aes256,
            |key| key.info.bytes += 1,
            |key| key.info.purpose = Purpose::Mac,
            |key| key.info.generation += 1,
            |key| key.info.state = KeyState::Prepared,
            |key| key.info.request[15] ^= 1,
            |key| key.info.maker.name.push('x'),
            |key| key.info.maker.fingerprint[31] ^= 1,
            |key| key.info.clients.push("carol".into()),
            |key| key.info.exportable ^= true,
            |key| key.info.party = 3,
            |key| key.info.mesh[31] ^= 1,
            |key| key.info.made = None,
            |key| key.next_clients = Some(Vec::new()),
        ];
        for (number, change) in changes.iter().enumerate() {
            let (index, mut key) = (Index::default(), sample("k"));
            let name = key.info.name.clone();
            index.note(&name, Some(&key));
            change(&mut key);
            index.note(&name, Some(&key));
            let mut known = None;
            index.list(None, 1, |info| known.replace(info.clone()).is_none());
            assert_eq!(known, Some(key.info), "{number}");
            assert_eq!(index.changing().is_empty(), key.next_clients.is_none(), "{number}");
        }
    }

    /// Each of many active keys counts in what servers compare.
    #[test]
    fn a_summary_is_of_all_of_many_keys() {
        let of = |other: Option<usize>| {
            let index = Index::default();
            for i in 0..600 {
                let mut key = sample(&format!("k{i:04}"));
                key.info.generation += u32::from(other == Some(i));
                index.note(&key.info.name.clone(), Some(&key));
            }
            index.summary(2)
        };
        let alike = of(None);
        assert_eq!((alike.known, alike.active), (600, 600));
        for at in [0, 2, 255, 256, 511, 512, 599] {
            assert_ne!(of(Some(at)).digest, alike.digest, "{at}");
        }
    }
}
