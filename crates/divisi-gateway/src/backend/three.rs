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
        let Some(found) = found else { return Ok(None) };
        if found.differs.is_empty() { Ok(key(found.key)) } else { Err(differ(&found.differs)) }
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
mod tests {
    use super::*;

    /// Of servers that are away the whole patience is spent once, and again when they have served meanwhile.
    #[test]
    fn patience_ends_until_the_servers_have_served() {
        let (mut away, start) = (None, Instant::now());
        for (seconds, serving, left) in [
            (0, true, 5),
            (10, false, 5),
            (12, false, 3),
            (15, false, 0),
            (99, false, 0),
            (100, true, 5),
            (101, false, 5),
            (103, false, 3),
        ] {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(patience(&mut away, serving, now), Duration::from_secs(left), "{seconds} s");
        }
    }

    /// A caller's forgery or mistake is what all three servers say. What fewer say is the servers' trouble,
    /// whatever else the report has in common with theirs.
    #[test]
    fn only_all_three_servers_find_a_forgery_or_refuse() {
        let of = |kind, by_all| {
            let (step, message) = ("compare".to_owned(), "no".to_owned());
            trouble(Error { kind, retry: false, peer: None, by_all, step, message })
        };
        assert!(matches!(of(ErrorKind::Mismatch, true), BackendTrouble::Forged));
        assert!(matches!(of(ErrorKind::Mismatch, false), BackendTrouble::Down(None, _)));
        assert_eq!(of(ErrorKind::Refused, true), BackendTrouble::Refused("no".into()));
        assert!(matches!(of(ErrorKind::Refused, false), BackendTrouble::Down(None, _)));
        // who is at fault is told, and why
        for kind in [ErrorKind::Abort, ErrorKind::Refused, ErrorKind::Unavailable, ErrorKind::Mismatch] {
            let (peer, step, message) = (PartyId::all(3).nth(1), "compare".to_owned(), "no".to_owned());
            let of_two = trouble(Error { kind, retry: false, peer, by_all: false, step, message });
            assert_eq!(of_two, BackendTrouble::Down(Some(2), "no".into()));
        }
        let (kind, message) = (ErrorKind::Usage, "wrong call".to_owned());
        let misuse =
            trouble(Error { kind, retry: false, peer: None, by_all: true, step: "compare".into(), message });
        assert_eq!(misuse, BackendTrouble::Misuse("wrong call".into()));
        // what passes, and what happens at the door, has nothing to do with the request
        for (retry, step) in [(true, "compare"), (false, CONNECT)] {
            let (kind, step, message) = (ErrorKind::Refused, step.to_owned(), "no".to_owned());
            let by_all = trouble(Error { kind, retry, peer: None, by_all: true, step, message });
            assert!(matches!(by_all, BackendTrouble::Down(None, _)), "{by_all:?}");
        }
    }

    fn entry(state: KeyState, kind: KeyType) -> KeyEntry {
        let (name, maker, clients) = ("k".parse().unwrap(), "me".to_owned(), Vec::new());
        let (id, bytes, generation, exportable, made) = ([1; 16], 32, 1, false, Some(5));
        KeyEntry { name, id, kind, bytes, generation, state, maker, clients, exportable, made }
    }

    /// Servers that differ are asked again, in vain if they still do.
    #[test]
    fn lists_that_differ_are_asked_for_again() {
        for differing in 0..=LISTS {
            let mut asked = 0;
            let listed = agreed(|| {
                asked += 1;
                let differs = if asked > differing { vec![] } else { vec![PartyId::P2] };
                Ok(vec![Listed { key: entry(KeyState::Active, KeyType::Aes256), differs }])
            });
            let ends = if differing < LISTS { Ok(1) } else { Err(differ(&[PartyId::P2])) };
            assert_eq!((listed.map(|keys| keys.len()), asked), (ends, LISTS.min(differing + 1)));
        }
    }

    /// A key that is being made, or is destroyed, is none.
    #[test]
    fn only_active_keys_are_keys() {
        let of = |state, kind| key(entry(state, kind));
        assert!(of(KeyState::Active, KeyType::Aes256).is_some_and(|key| key.made == 5 && key.id == [1; 16]));
        assert!(of(KeyState::Prepared, KeyType::Aes256).is_none());
        assert!(of(KeyState::Destroyed, KeyType::Aes256).is_none());
        assert!(of(KeyState::Active, KeyType::Aes192).is_none());
    }

    /// Who has another entry of a key is named.
    #[test]
    fn who_differs_is_named() {
        let BackendTrouble::Down(party, why) = differ(&[PartyId::P2]) else { panic!("it is trouble") };
        assert_eq!(party, Some(2));
        assert!(why.contains("party 2"), "{why}");
        let BackendTrouble::Down(party, why) = differ(&[PartyId::P1, PartyId::P3]) else { panic!() };
        assert_eq!(party, Some(1));
        assert!(why.contains("party 1 and party 3"), "{why}");
    }

    /// A refusal by some is one by all if all three have no such key, or one of another kind. Of a key that
    /// is there, whatever some say is trouble.
    #[test]
    fn a_key_that_all_three_lack_is_a_refusal() {
        let by = |by_all| {
            let (step, message) = ("compare".to_owned(), "party 2 says: no".to_owned());
            Error { kind: ErrorKind::Refused, retry: false, peer: None, by_all, step, message }
        };
        let key = |kind| Key { name: "k".parse().unwrap(), kind, id: [0; 16], made: 0 };
        let of = |found| settled(by(false), KeyKind::encrypts, || found);
        for found in [None, Some(key(KeyKind::Hmac))] {
            let BackendTrouble::Refused(why) = of(Ok(found)) else { panic!("it is not there") };
            assert!(!why.contains("party 2"), "{why}");
        }
        assert!(matches!(of(Ok(Some(key(KeyKind::Aes128)))), BackendTrouble::Down(..)));
        let unknown = Err(BackendTrouble::Down(None, "x".into()));
        assert!(matches!(of(unknown), BackendTrouble::Down(..)));
        let asked = || panic!("all three have said it");
        assert!(matches!(settled(by(true), KeyKind::encrypts, asked), BackendTrouble::Refused(_)));
        // what passes, what happens at the door, and what is no refusal is trouble, whatever there is
        for other in [
            Error { retry: true, ..by(false) },
            Error { step: CONNECT.to_owned(), ..by(false) },
            Error { kind: ErrorKind::Unavailable, ..by(false) },
        ] {
            assert!(matches!(settled(other, KeyKind::encrypts, || Ok(None)), BackendTrouble::Down(..)));
        }
    }
}
