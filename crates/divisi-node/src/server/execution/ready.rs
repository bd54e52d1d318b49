//! The loaded keys of a session: the same, in the same order, at all three servers, because all agree on
//! every change.
//!
//! Adversary: any client. One that uses many keys in turn evicts its own keys, and nobody else's.

use divisi_core::Verified;
use divisi_rep3::Rep3;
use divisi_store::KeyName;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::Function;
use divisi_symphony::gcm::GcmKey;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The most keys that stay ready, some 250 KiB each.
const READY: usize = 64;

/// A key for AES-GCM; requests under way hold it, too.
pub(crate) type Gcm = Rc<RefCell<GcmKey>>;
/// A prepared function: a hash, or a MAC with its key and settings.
pub(crate) type Mac = Rc<Verified<Function<Rep3>>>;

/// The prepared state of a key.
#[derive(Clone)]
pub(crate) enum ReadyKey {
    Gcm(Gcm),
    Mac(Settings, Mac),
}

/// The name by which the engine knows a key that is used with these settings: what is computed from the key
/// alone depends on nothing else.
pub(super) fn key_name(id: &[u8; 16], settings: &Settings) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 key of a MAC as it is used v1");
    hasher.update(id).update(format!("{settings:?}").as_bytes());
    *hasher.finalize().as_bytes()
}

/// A prepared key.
pub(crate) struct Prepared<K> {
    name: KeyName,
    id: [u8; 16],
    /// The client for which it was loaded.
    client: String,
    key: K,
}

/// The keys that were prepared in this session, in the order of their last use.
pub(crate) struct KeyCache<K>(Vec<Prepared<K>>);

pub(crate) type Ready = KeyCache<ReadyKey>;

impl<K> Default for KeyCache<K> {
    fn default() -> Self {
        KeyCache(Vec::new())
    }
}

impl<K: Clone> KeyCache<K> {
    /// The prepared state of a key, if it is the wanted one, which then counts as used last.
    fn find(&mut self, id: &[u8; 16], wanted: impl Fn(&K) -> bool) -> Option<K> {
        let at = self.0.iter().position(|known| known.id == *id && wanted(&known.key))?;
        let known = self.0.remove(at);
        let key = known.key.clone();
        self.0.push(known);
        Some(key)
    }

    /// Whether this key is loaded.
    pub fn has(&self, id: &[u8; 16]) -> bool {
        self.0.iter().any(|known| known.id == *id)
    }

    /// Whether a key of this name is loaded.
    pub fn has_name(&self, name: &KeyName) -> bool {
        self.0.iter().any(|known| known.name == *name)
    }

    /// Store a loaded key for a client, in place of an earlier state of it. If there is no room, evict the
    /// least recently used key of the client that has most. Returns what was removed.
    fn put(&mut self, client: &str, name: KeyName, id: [u8; 16], key: K) -> Vec<Prepared<K>> {
        let mut gone = self.remove(|known| known.id == id);
        if self.0.len() >= READY {
            let mut counts: HashMap<&str, usize> = HashMap::from([(client, 1)]);
            self.0.iter().for_each(|known| *counts.entry(&known.client).or_default() += 1);
            let most = counts.values().copied().max().unwrap_or(0);
            // of several clients that have as many, the one whose key was used longest ago
            let goes = self.0.iter().position(|known| counts.get(&*known.client) == Some(&most));
            gone.push(self.0.remove(goes.unwrap_or(0)));
        }
        self.0.push(Prepared { name, id, client: client.to_owned(), key });
        gone
    }

    fn remove(&mut self, which: impl Fn(&Prepared<K>) -> bool) -> Vec<Prepared<K>> {
        let (gone, kept) = std::mem::take(&mut self.0).into_iter().partition(which);
        self.0 = kept;
        gone
    }
}

impl Ready {
    /// Keep the prepared state of a key for a client. What the engine made ahead for evicted keys is wiped
    /// with them.
    pub fn keep(&mut self, rep: &mut Rep3, client: &str, name: KeyName, id: [u8; 16], key: ReadyKey) {
        self.put(client, name, id, key).iter().for_each(|gone| gone.unbind(rep));
    }

    /// Wipe all keys of a name, with what the engine made ahead for them; returns whether there were any.
    /// They are found by name, because a server whose file is gone does not know the id.
    pub fn forget(&mut self, rep: &mut Rep3, name: &KeyName) -> bool {
        let gone = self.remove(|known| known.name == *name);
        gone.iter().for_each(|gone| gone.unbind(rep));
        !gone.is_empty()
    }

    /// The name under which the engine may garble ahead for the key of this function, as long as the key
    /// stays prepared. A request that uses the function for longer gets no name, because what was garbled for
    /// it would not be wiped; and a key that is prepared again has new shares.
    pub fn bound(&self, id: &[u8; 16], function: &Mac) -> Option<[u8; 32]> {
        self.0.iter().filter(|known| known.id == *id).find_map(|known| match &known.key {
            ReadyKey::Mac(settings, same) if Rc::ptr_eq(same, function) => Some(key_name(id, settings)),
            _ => None,
        })
    }

    pub fn gcm(&mut self, id: &[u8; 16]) -> Option<Gcm> {
        match self.find(id, |key| matches!(key, ReadyKey::Gcm(_)))? {
            ReadyKey::Gcm(key) => Some(key),
            ReadyKey::Mac(..) => None,
        }
    }

    pub fn mac(&mut self, id: &[u8; 16], settings: &Settings) -> Option<Mac> {
        match self.find(id, |key| matches!(key, ReadyKey::Mac(with, _) if with == settings))? {
            ReadyKey::Mac(_, function) => Some(function),
            ReadyKey::Gcm(_) => None,
        }
    }
}

impl Prepared<ReadyKey> {
    fn unbind(&self, rep: &mut Rep3) {
        if let ReadyKey::Mac(settings, _) = &self.key {
            rep.forget_key(&key_name(&self.id, settings));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(stock: &mut KeyCache<()>, client: &str, key: u8) {
        stock.put(client, format!("k{key}").parse().unwrap(), [key; 16], ());
    }

    fn used(stock: &mut KeyCache<()>, key: u8) -> bool {
        stock.find(&[key; 16], |()| true).is_some()
    }

    /// The name under which the engine knows a key depends on the key's id and on all settings with which it
    /// is used, because the state of a KMAC key depends on the customization.
    #[test]
    fn a_key_is_called_by_all_that_it_leaves_something_for() {
        let kmac = |message: &str, output_bytes: usize| Settings {
            customization: message.as_bytes().to_vec(),
            output_bytes,
            ..Settings::new("kmac128".parse().unwrap())
        };
        let hmac = Settings::new("hmac-sha256".parse().unwrap());
        let mut nearly = [1; 16];
        nearly[15] = 2;
        let names = [
            key_name(&[1; 16], &kmac("a", 32)),
            key_name(&[1; 16], &kmac("b", 32)),
            key_name(&[1; 16], &kmac("a", 33)),
            key_name(&[1; 16], &hmac),
            key_name(&[2; 16], &hmac),
            key_name(&nearly, &hmac),
        ];
        assert!(names.iter().enumerate().all(|(i, x)| names[..i].iter().all(|y| x != y)));
    }

    /// Ids that differ in any byte belong to different keys.
    #[test]
    fn a_key_is_found_by_its_whole_id() {
        for at in 0..16 {
            let (mut stock, id, mut other) = (KeyCache::default(), [7; 16], [7; 16]);
            other[at] ^= 0x80;
            stock.put("alice", "k".parse().unwrap(), id, ());
            assert!(stock.has(&id) && stock.find(&id, |()| true).is_some());
            assert!(!stock.has(&other) && stock.find(&other, |()| true).is_none(), "{at}");
            // nor does it take the other one's place
            let gone = stock.put("alice", "k1".parse().unwrap(), other, ());
            assert!(gone.is_empty() && stock.has(&id), "{at}");
        }
    }

    /// One client that uses more keys in turn than there is room for loses its own keys, however long the
    /// others have not used theirs.
    #[test]
    fn who_uses_many_keys_drives_out_its_own() {
        let mut stock = KeyCache::default();
        put(&mut stock, "alice", 250);
        put(&mut stock, "alicia", 251);
        put(&mut stock, "alicia", 252);
        for round in 0..3 {
            (0..200).for_each(|key| put(&mut stock, "greedy", key));
            assert_eq!(stock.0.len(), READY);
            // those that it used last stay
            assert!((200 - READY as u8 + 3..200).all(|key| stock.has(&[key; 16])), "{round}");
        }
        assert!([250, 251, 252].iter().all(|key| stock.has(&[*key; 16])));
        // also if it has one alone, which was put in last
        let mut full = KeyCache::default();
        (0..READY as u8 - 1).for_each(|key| put(&mut full, &format!("client {key}"), key));
        (200..202).for_each(|key| put(&mut full, "greedy", key));
        assert!(full.has(&[0; 16]) && !full.has(&[200; 16]) && full.has(&[201; 16]));
        // who comes again gets room
        (220..230).for_each(|key| put(&mut stock, "carol", key));
        assert!((220..230).all(|key| stock.has(&[key; 16])));
        assert!([250, 251, 252].iter().all(|key| used(&mut stock, *key)));
    }

    /// Where all have as many, the key that was used longest ago goes; one client alone loses that, too.
    #[test]
    fn what_was_used_longest_ago_goes() {
        let mut stock = KeyCache::default();
        (0..READY as u8).for_each(|key| put(&mut stock, if key % 2 == 0 { "alice" } else { "alicia" }, key));
        assert!(used(&mut stock, 0) && used(&mut stock, 1));
        put(&mut stock, "carol", 100);
        assert!(!stock.has(&[2; 16]) && stock.has(&[0; 16]) && stock.has(&[1; 16]));
        put(&mut stock, "alice", 101);
        assert!(!stock.has(&[3; 16]) || !stock.has(&[4; 16]));
        // a key that is put in again takes no other's room
        put(&mut stock, "alice", 101);
        assert_eq!(stock.0.len(), READY);
        let name = "k101".parse().unwrap();
        assert!(stock.has_name(&name) && stock.remove(|known| known.name == name).len() == 1);
        assert!(!stock.has_name(&name) && stock.0.len() == READY - 1);
    }
}
