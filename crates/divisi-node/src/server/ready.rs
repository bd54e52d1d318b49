//! The loaded keys of a session: the same, in the same order, at all three servers, because all agree on
//! every change.
//!
//! Adversary: any client. One that uses many keys by turns evicts its own keys, and nobody else's.

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
/// A key for a MAC, as its settings have it, or a hash.
pub(crate) type Mac = Rc<Verified<Function<Rep3>>>;

/// What was made of a key.
#[derive(Clone)]
pub(crate) enum ReadyKey {
    Gcm(Gcm),
    Mac(Settings, Mac),
}

struct Prepared<K> {
    name: KeyName,
    id: [u8; 16],
    /// The client for which it was loaded.
    client: String,
    key: K,
}

/// Keys made ready in this session, the one that was used last at the end.
pub(crate) struct Shelf<K>(Vec<Prepared<K>>);

pub(crate) type Ready = Shelf<ReadyKey>;

impl<K> Default for Shelf<K> {
    fn default() -> Self {
        Shelf(Vec::new())
    }
}

impl<K: Clone> Shelf<K> {
    /// What was made of a key, if it is this: it is then the last to go.
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
    /// least recently used key of the client that has most.
    pub fn put(&mut self, client: &str, name: KeyName, id: [u8; 16], key: K) {
        self.0.retain(|known| known.id != id);
        if self.0.len() >= READY {
            let mut counts: HashMap<&str, usize> = HashMap::from([(client, 1)]);
            self.0.iter().for_each(|known| *counts.entry(&known.client).or_default() += 1);
            let most = counts.values().copied().max().unwrap_or(0);
            // of several that have as many, whoever has used one longest ago
            let goes = self.0.iter().position(|known| counts.get(&*known.client) == Some(&most));
            self.0.remove(goes.unwrap_or(0));
        }
        self.0.push(Prepared { name, id, client: client.to_owned(), key });
    }

    /// Wipe all keys of a name; returns whether there were any. By name and not by id, because a server that
    /// lost its file does not know the id.
    pub fn forget(&mut self, name: &KeyName) -> bool {
        let before = self.0.len();
        self.0.retain(|known| known.name != *name);
        self.0.len() < before
    }
}

impl Ready {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn put(stock: &mut Shelf<()>, client: &str, key: u8) {
        stock.put(client, format!("k{key}").parse().unwrap(), [key; 16], ());
    }

    fn used(stock: &mut Shelf<()>, key: u8) -> bool {
        stock.find(&[key; 16], |()| true).is_some()
    }

    /// Ids that differ in any byte are of two keys.
    #[test]
    fn a_key_is_found_by_its_whole_id() {
        for at in 0..16 {
            let (mut stock, id, mut other) = (Shelf::default(), [7; 16], [7; 16]);
            other[at] ^= 0x80;
            stock.put("alice", "k".parse().unwrap(), id, ());
            assert!(stock.has(&id) && stock.find(&id, |()| true).is_some());
            assert!(!stock.has(&other) && stock.find(&other, |()| true).is_none(), "{at}");
        }
    }

    /// One client that uses more keys by turns than there is room for has its own go, however long the others
    /// have not used theirs.
    #[test]
    fn who_uses_many_keys_drives_out_its_own() {
        let mut stock = Shelf::default();
        put(&mut stock, "alice", 250);
        put(&mut stock, "bob", 251);
        put(&mut stock, "bob", 252);
        for round in 0..3 {
            (0..200).for_each(|key| put(&mut stock, "greedy", key));
            assert_eq!(stock.0.len(), READY);
            // those that it used last stay
            assert!((200 - READY as u8 + 3..200).all(|key| stock.has(&[key; 16])), "{round}");
        }
        assert!([250, 251, 252].iter().all(|key| stock.has(&[*key; 16])));
        // who comes anew gets room
        (220..230).for_each(|key| put(&mut stock, "carol", key));
        assert!((220..230).all(|key| stock.has(&[key; 16])));
        assert!([250, 251, 252].iter().all(|key| used(&mut stock, *key)));
    }

    /// Where all have as many, the key that was used longest ago goes; one client alone loses that, too.
    #[test]
    fn what_was_used_longest_ago_goes() {
        let mut stock = Shelf::default();
        (0..READY as u8).for_each(|key| put(&mut stock, if key % 2 == 0 { "alice" } else { "bob" }, key));
        assert!(used(&mut stock, 0) && used(&mut stock, 1));
        put(&mut stock, "carol", 100);
        assert!(!stock.has(&[2; 16]) && stock.has(&[0; 16]) && stock.has(&[1; 16]));
        put(&mut stock, "alice", 101);
        assert!(!stock.has(&[3; 16]) || !stock.has(&[4; 16]));
        // a key that is put in anew takes no other's room
        put(&mut stock, "alice", 101);
        assert_eq!(stock.0.len(), READY);
        assert!(stock.has_name(&"k101".parse().unwrap()) && stock.forget(&"k101".parse().unwrap()));
        assert!(!stock.forget(&"k101".parse().unwrap()) && !stock.has_name(&"k101".parse().unwrap()));
    }
}
