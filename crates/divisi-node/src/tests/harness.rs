//! Three servers and their clients in one process.

use crate::{Client, Error, KeyName, KeyType, Server, ServerOptions};
use divisi_net::{Config, Created, Identity, Machine, PartyId, Pin, World};
use divisi_store::{MachineDisk, StoredKeys};
use std::io::{self, Cursor, Read};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The servers' time limit where a test waits for it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(3);
/// The servers' time limit where no server is meant to be late, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time by which a busy machine may exceed a limit. An operation that fails the test would take minutes,
/// or for ever.
pub(super) const BUSY: Duration = Duration::from_secs(15);

struct Running {
    server: Arc<Server>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Servers with clients alice, alicia and carol; `stranger` is an identity that no server knows.
pub(crate) struct ServersHarness {
    pub config: Config,
    identities: Vec<Arc<Identity>>,
    clients: Vec<Arc<Identity>>,
    pub stranger: Identity,
    dir: tempfile::TempDir,
    running: Vec<Option<Running>>,
    /// By how much the servers' clocks are set forward.
    ahead: Arc<Mutex<Duration>>,
    pub log: Arc<Mutex<Vec<String>>>,
    pub options: ServerOptions,
}

pub(super) fn world() -> Arc<dyn World> {
    Arc::new(Machine)
}

/// The machine with another clock.
pub(crate) struct Clock<F>(pub F);

impl<F: Fn() -> Instant + Send + Sync + 'static> World for Clock<F> {
    fn now(&self) -> Instant {
        self.0()
    }
    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }
    fn entropy(&self, out: &mut [u8]) {
        Machine.entropy(out);
    }
    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

/// The machine with its clock set forward by this time.
pub(crate) fn ahead(time: &Arc<Mutex<Duration>>) -> Arc<dyn World> {
    let time = time.clone();
    Arc::new(Clock(move || Machine.now() + *time.lock().unwrap()))
}

/// Patient servers, and a client.
pub(super) fn with_alice() -> (ServersHarness, Client) {
    let harness = ServersHarness::patient(|_| {});
    let alice = harness.connect("alice");
    (harness, alice)
}

/// Patient servers, and a client with a key `k` that serves these others, too.
pub(super) fn with_key(clients: &[&str]) -> (ServersHarness, Client, KeyName) {
    let (harness, mut alice) = with_alice();
    let key = harness.key(&mut alice, "k", false, clients);
    (harness, alice, key)
}

impl ServersHarness {
    pub fn new() -> ServersHarness {
        ServersHarness::with(|_| {})
    }

    pub fn with(change: impl Fn(&mut ServerOptions)) -> ServersHarness {
        ServersHarness::within(TIMEOUT, change)
    }

    /// Servers that wait long for each other.
    pub fn patient(change: impl Fn(&mut ServerOptions)) -> ServersHarness {
        ServersHarness::within(PATIENCE, change)
    }

    fn within(timeout: Duration, change: impl Fn(&mut ServerOptions)) -> ServersHarness {
        let (listeners, made) = mesh(&["alice", "alicia", "carol"]);
        let text = format!("timeout_seconds = {}\n{}", timeout.as_secs_f64(), made.config.to_toml());
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = log.clone();
        let mut options = ServerOptions {
            log: Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())),
            ..ServerOptions::default()
        };
        change(&mut options);
        let mut harness = ServersHarness {
            config: Config::parse(&text).unwrap(),
            identities: made.parties.into_iter().map(Arc::new).collect(),
            clients: made.clients.into_iter().map(Arc::new).collect(),
            stranger: Identity::generate(&Machine),
            dir: tempfile::tempdir().unwrap(),
            running: vec![None, None, None],
            ahead: Arc::default(),
            log,
            options,
        };
        for (i, listener) in listeners.into_iter().enumerate() {
            harness.start(i, Some(listener));
        }
        // on a busy machine that takes longer than some tests wait for an answer
        harness.await_logged(3, "joined the other servers");
        harness
    }

    pub fn party_identity(&self, i: usize) -> Arc<Identity> {
        self.identities[i].clone()
    }

    /// Where server `i` (from 0) keeps its data.
    pub fn data(&self, i: usize) -> PathBuf {
        self.dir.path().join(format!("party-{}", i + 1))
    }

    /// Server `i`'s stored keys, as another process would open them.
    pub fn store(&self, i: usize) -> StoredKeys {
        StoredKeys::open_on(Box::new(MachineDisk), &self.data(i).join("keys")).unwrap()
    }

    /// Server `i`'s file of a key.
    pub fn key_file(&self, i: usize, name: &str) -> PathBuf {
        self.data(i).join(format!("keys/{name}.key"))
    }

    pub fn start(&mut self, i: usize, listener: Option<TcpListener>) {
        let me = PartyId::from_index(i).unwrap();
        let (config, identity, data) = (self.config.clone(), self.identities[i].clone(), self.data(i));
        let (options, world) = (self.options.clone(), ahead(&self.ahead));
        let server = match listener {
            Some(listener) => Server::open_at(listener, config, me, identity, &data, options, world).unwrap(),
            // the port of the server that stopped is free again in a moment
            None => eventually(Duration::from_secs(10), || {
                let (config, identity, options) = (config.clone(), identity.clone(), options.clone());
                Server::open(config, me, identity, &data, options, world.clone())
            }),
        };
        let server = Arc::new(server);
        let (stop, runs) = (server.stop_flag(), server.clone());
        let thread = std::thread::spawn(move || runs.run().unwrap());
        self.running[i] = Some(Running { server, stop, thread });
    }

    pub fn stop(&mut self, i: usize) {
        if let Some(Running { stop, thread, .. }) = self.running[i].take() {
            stop.store(true, Ordering::SeqCst);
            thread.join().unwrap();
        }
    }

    /// Set the servers' clocks forward: by less than their time limit, or sessions end.
    pub fn pass(&self, time: Duration) {
        *self.ahead.lock().unwrap() += time;
    }

    /// Stop all three at once, so that none waits for the others.
    pub fn stop_all(&mut self) {
        (0..3).for_each(|i| self.signal(i));
        (0..3).for_each(|i| self.stop(i));
    }

    /// Tell server `i` to stop, without waiting for it.
    pub fn signal(&self, i: usize) {
        if let Some(running) = &self.running[i] {
            running.stop.store(true, Ordering::SeqCst);
        }
    }

    /// What a reload changes at server `i`.
    pub fn reload(&self, i: usize, config: Config) -> Vec<String> {
        self.try_reload(i, config).unwrap()
    }

    pub fn try_reload(&self, i: usize, config: Config) -> Result<Vec<String>, crate::server::ServerError> {
        self.running[i].as_ref().unwrap().server.reload(config)
    }

    /// Give server `i`, which does not run, another identity.
    pub fn replace_identity(&mut self, i: usize, fresh: Arc<Identity>) {
        assert!(self.running[i].is_none());
        // whoever knew the new one would still be shown the old one
        let port = self.config.parties()[i].address.clone();
        eventually(Duration::from_secs(10), || TcpListener::bind(&port).map(drop));
        let party = PartyId::from_index(i).unwrap();
        self.config = self.config.add_party(party, None, Pin::Key(fresh.public())).unwrap();
        self.identities[i] = fresh;
    }

    pub fn restart(&mut self) {
        self.stop_all();
        (0..3).for_each(|i| self.start(i, None));
    }

    pub fn identity(&self, name: &str) -> &Arc<Identity> {
        let at = self.config.clients().iter().position(|c| c.name == name).unwrap();
        &self.clients[at]
    }

    pub fn try_connect(&self, name: &str) -> Result<Client, Error> {
        Client::connect(&self.config, self.identity(name), world())
    }

    pub fn connect(&self, name: &str) -> Client {
        self.try_connect(name).unwrap()
    }

    /// Connect when the servers can be reached again.
    pub fn reconnect(&self, name: &str) -> Client {
        eventually(4 * BUSY, || self.try_connect(name))
    }

    /// Connect when the servers serve again.
    pub fn served_again(&self, name: &str) -> Client {
        eventually(4 * BUSY, || {
            let mut client = self.try_connect(name)?;
            client.key_list().map(|_| client)
        })
    }

    /// A key of 128 bits, made by this client.
    pub fn key(&self, client: &mut Client, name: &str, exportable: bool, clients: &[&str]) -> KeyName {
        let clients = clients.iter().map(|c| (*c).to_owned()).collect();
        let new = client.new_key(name.parse().unwrap(), KeyType::Aes128, exportable, clients);
        client.key_new(&new).unwrap().name
    }

    /// What was logged, by any server.
    pub fn logged(&self, part: &str) -> bool {
        self.count_logged(part) > 0
    }

    /// How many lines with these words were logged, by all servers together.
    pub fn count_logged(&self, part: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|line| line.contains(part)).count()
    }

    /// Wait until so many lines with these words are logged.
    pub fn await_logged(&self, times: usize, part: &str) {
        eventually(4 * BUSY, || match self.count_logged(part) {
            found if found >= times => Ok(()),
            found => Err(format!("{part}: {found} times in {:#?}", self.log.lock().unwrap())),
        });
    }

    /// No session has ended.
    pub fn assert_unharmed(&self) {
        assert!(!self.logged("session ended"), "{:#?}", self.log.lock().unwrap());
    }
}

impl Drop for ServersHarness {
    fn drop(&mut self) {
        (0..3).for_each(|i| self.signal(i));
        for running in self.running.iter_mut().filter_map(Option::take) {
            let _ = running.thread.join();
        }
    }
}

/// Ports for three parties, and their configuration.
pub(super) fn mesh(clients: &[&str]) -> (Vec<TcpListener>, Created) {
    let listeners: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let hosts: Vec<String> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    let clients: Vec<String> = clients.iter().map(|name| (*name).to_owned()).collect();
    (listeners, Config::create(3, &hosts, &clients, &Machine).unwrap())
}

/// Import a key, and return its name.
pub(super) fn import(client: &mut Client, name: &str, kind: KeyType, key: &[u8]) -> KeyName {
    let new = client.new_key(name.parse().unwrap(), kind, true, vec![]);
    let made = client.key_import(&new, key).unwrap();
    assert_eq!(made.bytes as usize, key.len());
    made.name
}

/// Check that a request failed, for a reason with these words.
#[track_caller]
pub(super) fn fails<T>(result: Result<T, Error>, words: &str) -> Error {
    let Err(error) = result else { panic!("served, and not: {words}") };
    assert!(error.message.contains(words), "{error}");
    error
}

/// An input that does something once, when byte `at` is read.
pub(super) struct Midway<R, F> {
    input: R,
    read: usize,
    at: usize,
    happens: Option<F>,
}

impl<R: Read, F: FnOnce()> Midway<R, F> {
    pub fn new(input: R, at: usize, happens: F) -> Midway<R, F> {
        Midway { input, read: 0, at, happens: Some(happens) }
    }

    pub fn has_happened(&self) -> bool {
        self.happens.is_none()
    }
}

impl<R: Read, F: FnOnce()> Read for Midway<R, F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if (self.read..self.read + out.len()).contains(&self.at)
            && let Some(happens) = self.happens.take()
        {
            happens();
        }
        let read = self.input.read(out)?;
        self.read += read;
        Ok(read)
    }
}

pub(super) fn encrypt(client: &mut Client, key: &KeyName, aad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    client.encrypt(key, aad, &mut Cursor::new(text), text.len() as u64, &mut out, &mut |_| {})?;
    Ok(out)
}

pub(super) fn decrypt(
    client: &mut Client,
    key: &KeyName,
    aad: &[u8],
    file: &[u8],
) -> (Vec<u8>, Option<Error>) {
    let mut out = Vec::new();
    let result = client.decrypt(key, aad, &mut Cursor::new(file), file.len() as u64, &mut out, &mut |_| {});
    (out, result.err())
}

/// The same bytes, but for the last bit of this one.
pub(super) fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    flipped[at] ^= 1;
    flipped
}

/// Some text of a length, no two chunks alike.
pub(super) fn text(len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    blake3::Hasher::new().update(&len.to_le_bytes()).finalize_xof().fill(&mut out);
    out
}

/// Try until it goes well, for what needs the servers to find together again.
pub(super) fn eventually<T, E: std::fmt::Display>(
    within: Duration,
    mut what: impl FnMut() -> Result<T, E>,
) -> T {
    let until = Instant::now() + within;
    loop {
        match what() {
            Ok(value) => return value,
            Err(e) => assert!(Instant::now() < until, "{e}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
