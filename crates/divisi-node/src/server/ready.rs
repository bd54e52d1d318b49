//! Keys made ready in a session: the same, in the same order, at all three servers, because what changes it
//! is agreed by all.

use crate::gcm::GcmKey;
use divisi_core::Verified;
use divisi_rep3::Rep3;
use divisi_store::KeyName;
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::Function;
use std::cell::RefCell;
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

struct Prepared {
    name: KeyName,
    id: [u8; 16],
    key: ReadyKey,
}

/// Keys made ready in this session.
#[derive(Default)]
pub(crate) struct Ready(Vec<Prepared>);

impl Ready {
    /// What was made of a key, if it is this: it is then the last to go.
    fn find(&mut self, id: &[u8; 16], wanted: impl Fn(&ReadyKey) -> bool) -> Option<ReadyKey> {
        let at = self.0.iter().position(|known| known.id == *id && wanted(&known.key))?;
        let known = self.0.remove(at);
        let key = known.key.clone();
        self.0.push(known);
        Some(key)
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

    /// Put a key in, in place of what else was made of it; the one that was used longest ago may have to go.
    pub fn put(&mut self, name: KeyName, id: [u8; 16], key: ReadyKey) {
        self.0.retain(|known| known.id != id);
        if self.0.len() >= READY {
            self.0.remove(0);
        }
        self.0.push(Prepared { name, id, key });
    }

    /// Wipe all keys of a name, and whether there were any: not by id, which a server whose file is gone does
    /// not know.
    pub fn forget(&mut self, name: &KeyName) -> bool {
        let before = self.0.len();
        self.0.retain(|known| known.name != *name);
        self.0.len() < before
    }
}
