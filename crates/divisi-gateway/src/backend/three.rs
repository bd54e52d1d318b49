//! [`Backend`] by a pool of clients.

use super::{Backend, BackendTrouble, Key, KeyKind, ServersState};
use divisi_net::{Config, Identity, PartyId, World};
use divisi_node::{Client, ClientPool, Error, ErrorKind, KeyEntry, KeyName, KeyState, KeyType, Listed};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::hash::Hash;
use divisi_symmetric::sha2::Sha2;
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// The most connections of a gateway: the last one that the servers grant a client watches how they are.
pub const MOST_CONNECTIONS: usize = ClientPool::MOST - 1;

/// The step of errors of a client of divisi-node when it connects.
const CONNECT: &str = "divisi_node::client/connect";

/// How long a request is tried again while the servers come back.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often keys are listed while servers differ: their lists are asked for one after another, and a key
/// that is made meanwhile is in one and not in another.
const LISTS: usize = 3;

/// The three servers of a configuration, as one of its clients reaches them.
pub struct Three {
    pool: ClientPool,
    lanes: usize,
    /// How many requests are asked now, or wait for a connection.
    asking: AtomicUsize,
    watch: divisi_node::HealthWatch,
    /// When a request first found that the servers do not serve, if they still do not.
    away: Mutex<Option<Instant>>,
    world: Arc<dyn World>,
}

/// Counts a request while it is asked.
struct Asking<'c>(&'c AtomicUsize);

impl<'c> Asking<'c> {
    fn begin(count: &'c AtomicUsize) -> Asking<'c> {
        count.fetch_add(1, Ordering::Relaxed);
        Asking(count)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Three {
    fn run<T>(&self, work: impl FnMut(&mut Client) -> Result<T, Error>) -> Result<T, Error> {
        let _asking = Asking::begin(&self.asking);
        self.pool.run_within(self.patience(), work)
    }

    /// The trouble with a key that must have a kind of which `fits` is true.
    fn trouble_with(&self, name: &KeyName, fits: fn(KeyKind) -> bool, e: Error) -> BackendTrouble {
        settled(e, fits, || self.find(name))
    }

    /// How long a request is tried again: not at all once it is known for as long that the servers do not
    /// serve, so that nobody waits for what will not come.
    fn patience(&self) -> Duration {
        let mut since = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        patience(&mut since, self.watch.report().is_serving(), self.world.now())
    }

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
        Ok(Three {
            pool,
            lanes,
            asking: AtomicUsize::new(0),
            watch,
            away: Mutex::default(),
            world: world.clone(),
        })
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

/// The trouble with a key. A server that lacks it, or has one of another type, may say so before the others
/// do, who then repeat what it said: so all three are asked whether there is such a key. Of what the one said
/// nothing is used.
fn settled(
    e: Error,
    fits: fn(KeyKind) -> bool,
    find: impl FnOnce() -> Result<Option<Key>, BackendTrouble>,
) -> BackendTrouble {
    let by_some = e.kind == ErrorKind::Refused && !e.retry && !e.by_all && e.step != CONNECT;
    match by_some.then(find) {
        Some(Ok(found)) if found.as_ref().is_none_or(|key| !fits(key.kind)) => {
            BackendTrouble::Refused("the servers have no key of this name for this use".into())
        }
        _ => trouble(e),
    }
}

/// The trouble with servers of which these have another entry of a key than the others, or none.
fn differ(parties: &[PartyId]) -> BackendTrouble {
    let named = parties.iter().map(PartyId::to_string).collect::<Vec<_>>().join(" and ");
    let advice = "nothing of it was used; have the operators look at it with `divisi key list`";
    let message =
        format!("{named} and the rest of the servers do not have the same entry of a key: {advice}");
    BackendTrouble::Down(parties.first().map(|party| party.number()), message)
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

const fn makes_macs(kind: KeyKind) -> bool {
    !kind.encrypts()
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
        self.run(|client| {
            let mut sealed = Vec::with_capacity(plaintext.len() + super::IV + super::TAG);
            let length = plaintext.len() as u64;
            client.encrypt(name, aad, &mut &plaintext[..], length, &mut sealed, &mut |_| {})?;
            Ok(sealed)
        })
        .map_err(|e| self.trouble_with(name, KeyKind::encrypts, e))
    }

    fn decrypt(
        &self,
        name: &KeyName,
        aad: &[u8],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, BackendTrouble> {
        self.run(|client| {
            // large enough never to move: a move would leave a copy behind
            let mut plaintext = Zeroizing::new(Vec::with_capacity(sealed.len()));
            let (mut input, length) = (Cursor::new(sealed), sealed.len() as u64);
            client.decrypt(name, aad, &mut input, length, &mut *plaintext, &mut |_| {})?;
            Ok(plaintext)
        })
        .map_err(|e| self.trouble_with(name, KeyKind::encrypts, e))
    }

    fn mac(&self, name: &KeyName, message: &[u8]) -> Result<Zeroizing<Vec<u8>>, BackendTrouble> {
        let length = message.len() as u64;
        self.run(|client| {
            client.mac(name, &hmac(), &mut &message[..], length, &mut |_| {}).map(|tagged| tagged.tag)
        })
        .map_err(|e| self.trouble_with(name, makes_macs, e))
    }

    fn verify(&self, name: &KeyName, tag: &[u8], message: &[u8]) -> Result<bool, BackendTrouble> {
        let length = message.len() as u64;
        let verified = self.run(|client| {
            client.mac_verify(name, &hmac(), None, tag, &mut &message[..], length, &mut |_| {})
        });
        match verified {
            Ok(_) => Ok(true),
            Err(e) if is_forged(&e) => Ok(false),
            Err(e) => Err(self.trouble_with(name, makes_macs, e)),
        }
    }

    fn make(&self, name: &KeyName, kind: KeyKind) -> Result<Key, BackendTrouble> {
        // its name is drawn here, once: however often it is sent, the servers make one key for it
        let new = self.pool.new_key(name.clone(), kind_of(kind), false, Vec::new());
        let entry = self.pool.key_new(&new).map_err(trouble)?;
        key(entry).ok_or_else(|| BackendTrouble::Down(None, "the servers made a key of another type".into()))
    }

    fn find(&self, name: &KeyName) -> Result<Option<Key>, BackendTrouble> {
        let found = self.run(|client| client.key_named(name)).map_err(trouble)?;
        found.map_or(Ok(None), of_all)
    }

    fn list(&self) -> Result<Vec<Key>, BackendTrouble> {
        agreed(|| self.run(|client| client.key_list()))
    }

    fn health(&self) -> ServersState {
        let report = self.watch.report();
        let missing = report.missing().into_iter().map(|party| (party.number(), report.reason(party)));
        ServersState { missing: missing.collect(), known: report.is_complete() }
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn is_crowded(&self) -> bool {
        self.asking.load(Ordering::Relaxed) >= self.lanes
    }
}

/// The key of which all three have the same entry, if it can be used.
fn of_all(found: Listed) -> Result<Option<Key>, BackendTrouble> {
    if found.differs.is_empty() { Ok(key(found.key)) } else { Err(differ(&found.differs)) }
}

/// The keys that all three list alike, in one of [`LISTS`] attempts.
fn agreed(mut list: impl FnMut() -> Result<Vec<Listed>, Error>) -> Result<Vec<Key>, BackendTrouble> {
    let mut differs = Vec::new();
    for _ in 0..LISTS {
        let listed = list().map_err(trouble)?;
        match listed.iter().find(|listed| !listed.differs.is_empty()) {
            None => return Ok(listed.into_iter().filter_map(|listed| key(listed.key)).collect()),
            Some(listed) => differs.clone_from(&listed.differs),
        }
    }
    Err(differ(&differs))
}

/// What is left of [`PATIENCE`], where `away` says since when it is known that the servers do not serve.
fn patience(away: &mut Option<Instant>, serving: bool, now: Instant) -> Duration {
    if serving {
        *away = None;
        return PATIENCE;
    }
    PATIENCE.saturating_sub(now.saturating_duration_since(*away.get_or_insert(now)))
}

#[cfg(test)]
mod tests;
