//! [`Backend`] by a pool of clients.

use super::{Backend, BackendTrouble, Key, KeyKind, ServersState};
use divisi_net::{Config, Identity, PartyId, World};
use divisi_node::{ClientPool, Error, ErrorKind, KeyEntry, KeyName, KeyState, KeyType};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::sha2::Sha2;
use std::io::Cursor;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The most connections of a gateway: the last one that the servers grant a client watches how they are.
pub const MOST_CONNECTIONS: usize = ClientPool::MOST - 1;

/// The step of errors of a client of divisi-node when it connects.
const CONNECT: &str = "divisi_node::client/connect";

/// The three servers of a configuration, as one of its clients reaches them.
pub struct Three {
    pool: ClientPool,
    lanes: usize,
    watch: divisi_node::HealthWatch,
}

impl Three {
    /// The servers of this configuration. Nothing is dialled before the first request, but by the threads
    /// that watch how they are.
    ///
    /// # Errors
    /// One sentence, if the configuration is not one of three servers or no thread can be started.
    pub fn new(
        config: &Config,
        identity: &Arc<Identity>,
        world: &Arc<dyn World>,
        connections: usize,
    ) -> Result<Three, String> {
        let pool = ClientPool::new(config.clone(), Arc::clone(identity), Arc::clone(world));
        let lanes = connections.clamp(1, MOST_CONNECTIONS);
        let pool = pool.map_err(|e| e.to_string())?.with_most(lanes);
        let watch = divisi_node::HealthWatch::start(config, identity, world).map_err(|e| e.to_string())?;
        Ok(Three { pool, lanes, watch })
    }
}

/// Whether all three servers say that a ciphertext or tag is not authentic. Any other mismatch is one of
/// theirs.
fn is_forged(e: &Error) -> bool {
    e.kind == ErrorKind::Mismatch && e.by_all
}

fn trouble(e: Error) -> BackendTrouble {
    let peer = e.peer.map(PartyId::number);
    match e.kind {
        _ if is_forged(&e) => BackendTrouble::Forged,
        // a refusal by fewer than all may be one server's alone, or a lie; and who is refused at the door is
        // not refused because of the request
        ErrorKind::Refused if !e.retry && e.by_all && e.step != CONNECT => BackendTrouble::Refused(e.message),
        ErrorKind::Usage => BackendTrouble::Misuse(e.message),
        ErrorKind::Abort | ErrorKind::Refused | ErrorKind::Unavailable | ErrorKind::Mismatch => {
            BackendTrouble::Down(peer, e.message)
        }
    }
}

/// The key of an entry, if it is of a type that Transit knows and can be used.
fn key(entry: KeyEntry) -> Option<Key> {
    let kind = match entry.kind {
        KeyType::Aes256 => KeyKind::Aes256,
        KeyType::Aes128 => KeyKind::Aes128,
        KeyType::HmacSha256 => KeyKind::Hmac,
        _ => return None,
    };
    let made = entry.made.unwrap_or(0);
    (entry.state == KeyState::Active).then_some(Key { name: entry.name, kind, id: entry.id, made })
}

const fn kind_of(kind: KeyKind) -> KeyType {
    match kind {
        KeyKind::Aes256 => KeyType::Aes256,
        KeyKind::Aes128 => KeyType::Aes128,
        KeyKind::Hmac => KeyType::HmacSha256,
    }
}

fn hmac() -> Settings {
    Settings::new(Algorithm::Hmac(Hash::Sha2(Sha2::Sha256)))
}

impl Backend for Three {
    fn encrypt(&self, name: &KeyName, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, BackendTrouble> {
        self.pool
            .run(|client| {
                let mut sealed = Vec::with_capacity(plaintext.len() + super::IV + super::TAG);
                let length = plaintext.len() as u64;
                client.encrypt(name, aad, &mut &plaintext[..], length, &mut sealed, &mut |_| {})?;
                Ok(sealed)
            })
            .map_err(trouble)
    }

    fn decrypt(
        &self,
        name: &KeyName,
        aad: &[u8],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, BackendTrouble> {
        self.pool
            .run(|client| {
                // large enough never to move: a move would leave a copy behind
                let mut plaintext = Zeroizing::new(Vec::with_capacity(sealed.len()));
                let (mut input, length) = (Cursor::new(sealed), sealed.len() as u64);
                client.decrypt(name, aad, &mut input, length, &mut *plaintext, &mut |_| {})?;
                Ok(plaintext)
            })
            .map_err(trouble)
    }

    fn mac(&self, name: &KeyName, message: &[u8]) -> Result<Zeroizing<Vec<u8>>, BackendTrouble> {
        let length = message.len() as u64;
        self.pool
            .run(|client| {
                client.mac(name, &hmac(), &mut &message[..], length, &mut |_| {}).map(|tagged| tagged.tag)
            })
            .map_err(trouble)
    }

    fn verify(&self, name: &KeyName, tag: &[u8], message: &[u8]) -> Result<bool, BackendTrouble> {
        let length = message.len() as u64;
        let verified = self.pool.run(|client| {
            client.mac_verify(name, &hmac(), None, tag, &mut &message[..], length, &mut |_| {})
        });
        match verified {
            Ok(_) => Ok(true),
            Err(e) if is_forged(&e) => Ok(false),
            Err(e) => Err(trouble(e)),
        }
    }

    fn make(&self, name: &KeyName, kind: KeyKind) -> Result<Key, BackendTrouble> {
        // its name is drawn here, once: however often it is sent, the servers make one key for it
        let new = self.pool.new_key(name.clone(), kind_of(kind), false, Vec::new());
        let entry = self.pool.key_new(&new).map_err(trouble)?;
        key(entry).ok_or_else(|| BackendTrouble::Down(None, "the servers made a key of another type".into()))
    }

    fn find(&self, name: &KeyName) -> Result<Option<Key>, BackendTrouble> {
        let found = self.pool.run(|client| client.key_named(name)).map_err(trouble)?;
        let Some(found) = found else { return Ok(None) };
        if found.differs.is_empty() {
            return Ok(key(found.key));
        }
        // which of them is right, none of them can say
        let why = "the servers do not agree on a key: have each operator look at it with `divisi key list`";
        Err(BackendTrouble::Down(None, why.into()))
    }

    fn list(&self) -> Result<Vec<Key>, BackendTrouble> {
        let listed = self.pool.run(|client| client.key_list()).map_err(trouble)?;
        // a key on which the servers differ cannot be used: it is not listed
        let agreed = listed.into_iter().filter(|listed| listed.differs.is_empty());
        Ok(agreed.filter_map(|listed| key(listed.key)).collect())
    }

    fn health(&self) -> ServersState {
        let report = self.watch.report();
        let known = PartyId::all(3).all(|party| report.of(party).is_some());
        let missing = report.missing().into_iter().map(|party| (party.number(), report.reason(party)));
        ServersState { missing: missing.collect(), known }
    }

    fn lanes(&self) -> usize {
        self.lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A caller's forgery or mistake is what all three servers say. What fewer say is the servers' trouble,
    /// whatever else the report has in common with theirs.
    #[test]
    fn only_all_three_servers_find_a_forgery_or_refuse() {
        let of = |kind, by_all| {
            let (step, message) = ("x".to_owned(), "no".to_owned());
            trouble(Error { kind, retry: false, peer: None, by_all, step, message })
        };
        assert!(matches!(of(ErrorKind::Mismatch, true), BackendTrouble::Forged));
        assert!(matches!(of(ErrorKind::Mismatch, false), BackendTrouble::Down(None, _)));
        assert!(matches!(of(ErrorKind::Refused, true), BackendTrouble::Refused(_)));
        assert!(matches!(of(ErrorKind::Refused, false), BackendTrouble::Down(None, _)));
    }
}
