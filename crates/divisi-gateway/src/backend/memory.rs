//! Servers that are a table in memory, for tests of the API. Its encryption is none.

use super::{Backend, BackendTrouble, IV, Key, KeyKind, MAC, ServersState, TAG};
use divisi_node::KeyName;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// A table of keys in memory.
#[derive(Default)]
pub struct Memory {
    keys: Mutex<BTreeMap<KeyName, Key>>,
    /// What every call answers, if the servers are to be down.
    down: Mutex<Option<BackendTrouble>>,
    /// How many calls are answered before.
    spared: AtomicUsize,
    /// After how many encryptions more the key is replaced each time.
    restless: AtomicUsize,
    /// How often a key was replaced.
    replaced: AtomicUsize,
    /// Whether the next look for a key finds none.
    overlooks: AtomicBool,
    /// Whether it is not known yet how the servers are.
    unheard: AtomicBool,
    /// Whether calls with a key wait, and how many do.
    holds: AtomicBool,
    held: AtomicUsize,
    /// Whether there are as many requests as connections.
    crowded: AtomicBool,
}

impl Memory {
    /// From now on let every call fail like this, or none.
    pub fn fail(&self, trouble: Option<BackendTrouble>) {
        *self.down.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Let so many calls be answered before they fail; how many of those that were to be are left.
    pub fn spare(&self, calls: usize) -> usize {
        self.spared.swap(calls, Ordering::Relaxed)
    }

    /// Put another key in place of one, as if it were destroyed and made again.
    pub fn replace(&self, name: &KeyName) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get_mut(name) {
            // ids that differ in one byte are others, too: it is the last one first, then each other
            let place = 15 - self.replaced.fetch_add(1, Ordering::Relaxed) % 16;
            key.id[place] = key.id[place].wrapping_add(1);
        }
    }

    /// Let it be known, or not yet, how the servers are.
    pub fn hear(&self, known: bool) {
        self.unheard.store(!known, Ordering::Relaxed);
    }

    /// Let another key be in place of one after each of so many encryptions.
    pub fn replace_after(&self, encryptions: usize) {
        self.restless.store(encryptions, Ordering::Relaxed);
    }

    /// Let the next look for a key find none, as if somebody made it right afterwards.
    pub fn overlook(&self) {
        self.overlooks.store(true, Ordering::Relaxed);
    }

    /// From now on let calls with a key wait, or let them go on.
    pub fn hold(&self, holds: bool) {
        self.holds.store(holds, Ordering::SeqCst);
    }

    /// From now on let there be as many requests as connections, or fewer.
    pub fn crowd(&self, crowded: bool) {
        self.crowded.store(crowded, Ordering::SeqCst);
    }

    /// How many calls wait.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    fn up(&self) -> Result<(), BackendTrouble> {
        let down = self.down.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let less = |left: usize| left.checked_sub(1);
        let is_spared = || self.spared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        down.filter(|_| !is_spared()).map_or(Ok(()), Err)
    }

    fn of(&self, name: &KeyName, encrypts: bool) -> Result<Key, BackendTrouble> {
        self.held.fetch_add(1, Ordering::SeqCst);
        while self.holds.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        self.held.fetch_sub(1, Ordering::SeqCst);
        let key = self.find(name)?.filter(|key| key.kind.encrypts() == encrypts);
        key.ok_or_else(|| BackendTrouble::Refused(format!("there is no such key {name}")))
    }

    fn tag(key: &Key, parts: &[&[u8]]) -> [u8; MAC] {
        let mut hash = Sha256::new();
        hash.update(key.id);
        parts.iter().for_each(|part| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        });
        hash.finalize().into()
    }
}

impl Backend for Memory {
    fn encrypt(&self, name: &KeyName, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, BackendTrouble> {
        let key = self.of(name, true)?;
        let tag = Memory::tag(&key, &[aad, plaintext]);
        let mut sealed = vec![0; IV];
        sealed.extend(plaintext.iter().map(|byte| byte ^ 0x5a));
        sealed.extend_from_slice(tag.get(..TAG).unwrap_or_default());
        let left = self.restless.load(Ordering::Relaxed);
        if left > 0 {
            self.restless.store(left - 1, Ordering::Relaxed);
            self.replace(name);
        }
        Ok(sealed)
    }

    fn decrypt(
        &self,
        name: &KeyName,
        aad: &[u8],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, BackendTrouble> {
        let key = self.of(name, true)?;
        let Some(length) = sealed.len().checked_sub(IV + TAG) else { return Err(BackendTrouble::Forged) };
        let body = sealed.get(IV..IV + length).unwrap_or_default();
        let plaintext = Zeroizing::new(body.iter().map(|byte| byte ^ 0x5a).collect::<Vec<u8>>());
        let again = self.encrypt(&key.name, aad, &plaintext)?;
        if again == sealed { Ok(plaintext) } else { Err(BackendTrouble::Forged) }
    }

    fn mac(&self, name: &KeyName, message: &[u8]) -> Result<Zeroizing<Vec<u8>>, BackendTrouble> {
        let key = self.of(name, false)?;
        Ok(Zeroizing::new(Memory::tag(&key, &[message]).to_vec()))
    }

    fn verify(&self, name: &KeyName, tag: &[u8], message: &[u8]) -> Result<bool, BackendTrouble> {
        // the servers refuse a tag of another length
        if tag.len() != MAC {
            return Err(BackendTrouble::Refused(format!("a tag of {} bytes", tag.len())));
        }
        Ok(self.mac(name, message)?.as_slice() == tag)
    }

    fn make(&self, name: &KeyName, kind: KeyKind) -> Result<Key, BackendTrouble> {
        self.up()?;
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.contains_key(name) {
            return Err(BackendTrouble::Refused(format!("there is a key {name} already")));
        }
        let mut id = [0; 16];
        id.iter_mut().zip(Sha256::digest(name.as_str())).for_each(|(byte, hashed)| *byte = hashed);
        let key = Key { name: name.clone(), kind, id, made: 1_795_228_187 };
        keys.insert(name.clone(), key.clone());
        Ok(key)
    }

    fn find(&self, name: &KeyName) -> Result<Option<Key>, BackendTrouble> {
        self.up()?;
        if self.overlooks.swap(false, Ordering::Relaxed) {
            return Ok(None);
        }
        Ok(self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned())
    }

    fn list(&self) -> Result<Vec<Key>, BackendTrouble> {
        self.up()?;
        Ok(self.keys.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect())
    }

    fn health(&self) -> ServersState {
        let missing = match self.up() {
            Err(BackendTrouble::Down(party, why)) => vec![(party.unwrap_or(0), why)],
            _ => Vec::new(),
        };
        ServersState { missing, known: !self.unheard.load(Ordering::Relaxed) }
    }

    fn lanes(&self) -> usize {
        4
    }

    fn is_crowded(&self) -> bool {
        self.crowded.load(Ordering::SeqCst)
    }
}
