//! Attacks on three servers over their sockets, by clients that they know or do not know: honest clients are
//! served all the same, and nothing grows. Each attack lasts a moment; the long ones, which measure, run by
//! `cargo test -p divisi-node --test pressure -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bursts;
mod floods;
#[path = "../../src/tests/own_process.rs"]
mod own_process;

use divisi_fuzz::repetitions;
use divisi_net::{Config, Identity, Machine, PartyId, World};
use divisi_node::{Client, Error, KeyName, KeyType, Limits, Server, ServerOptions};
use own_process::{bounded_memory, in_own_process, resident};
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time that a busy machine may take for an operation of milliseconds.
const BUSY: Duration = Duration::from_secs(30);
/// The number of clients besides alice, each of which may have 32 connections.
const MANY: usize = 8;
/// One test at a time in a process: they measure.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Running {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

struct ServersHarness {
    config: Config,
    parties: Vec<Arc<Identity>>,
    clients: HashMap<String, Identity>,
    dir: tempfile::TempDir,
    running: Vec<Option<Running>>,
    log: Arc<Mutex<Vec<String>>>,
}

fn world() -> Arc<dyn World> {
    Arc::new(Machine)
}

impl ServersHarness {
    fn new() -> ServersHarness {
        ServersHarness::of(MANY)
    }

    /// With this many clients beside alice.
    fn of(many: usize) -> ServersHarness {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let most = rustix::process::Rlimit { current: limit.maximum, ..limit };
        rustix::process::setrlimit(rustix::process::Resource::Nofile, most).unwrap();
        let listeners: Vec<_> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let hosts: Vec<String> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
        let mut names = vec!["alice".to_owned()];
        names.extend((0..many).map(|i| format!("c{i}")));
        let made = Config::create(3, &hosts, &names, &Machine).unwrap();
        let mut harness = ServersHarness {
            config: made.config,
            parties: made.parties.into_iter().map(Arc::new).collect(),
            clients: names.into_iter().zip(made.clients).collect(),
            dir: tempfile::tempdir().unwrap(),
            running: vec![None, None, None],
            log: Arc::default(),
        };
        listeners.into_iter().enumerate().for_each(|(i, listener)| harness.start(i, Some(listener)));
        harness
    }

    fn start(&mut self, i: usize, listener: Option<TcpListener>) {
        let (me, log) = (PartyId::from_index(i).unwrap(), self.log.clone());
        let data = self.dir.path().join(i.to_string());
        let options = || ServerOptions {
            limits: Limits { keys: 100_000, ..Limits::default() },
            log: Arc::new({
                let log = log.clone();
                // lines about finished requests are not kept
                move |line| {
                    if !line.contains(": done in") {
                        log.lock().unwrap().push(line.to_owned());
                    }
                }
            }),
            ..ServerOptions::default()
        };
        let (config, identity) = (|| self.config.clone(), || self.parties[i].clone());
        let server = match listener {
            Some(listener) => {
                Server::open_at(listener, config(), me, identity(), &data, options(), world()).unwrap()
            }
            // the port of the server that stopped is free again in a moment
            None => eventually(|| Server::open(config(), me, identity(), &data, options(), world())),
        };
        let stop = server.stop_flag();
        let thread = std::thread::spawn(move || server.run().unwrap());
        self.running[i] = Some(Running { stop, thread });
    }

    fn stop(&mut self, i: usize) {
        if let Some(Running { stop, thread }) = self.running[i].take() {
            stop.store(true, Ordering::SeqCst);
            thread.join().unwrap();
        }
    }

    fn address(&self, i: usize) -> SocketAddr {
        self.config.parties()[i].address.parse().unwrap()
    }

    fn logged(&self, part: &str) -> bool {
        self.log.lock().unwrap().iter().any(|line| line.contains(part))
    }

    fn connect(&self, name: &str) -> Result<Client, Error> {
        Client::connect(&self.config, &self.clients[name], world())
    }

    fn key(&self) -> KeyName {
        let mut alice = eventually(|| self.connect("alice"));
        let new = alice.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]);
        eventually(|| alice.key_new(&new)).name
    }

    /// The 99th percentile of the times of alice's requests of one block, all on one connection; each must be
    /// served.
    fn blocks(&self, key: &KeyName, n: usize) -> Duration {
        let mut alice = eventually(|| self.connect("alice"));
        p99((0..n).map(|_| timed(|| block(&mut alice, key).unwrap())).collect())
    }

    /// The same, with a new connection for each.
    fn comes(&self, key: &KeyName, n: usize) -> Duration {
        p99((0..n)
            .map(|_| timed(|| block(&mut eventually(|| self.connect("alice")), key).unwrap()))
            .collect())
    }
}

impl Drop for ServersHarness {
    fn drop(&mut self) {
        self.running.iter().flatten().for_each(|running| running.stop.store(true, Ordering::SeqCst));
        (0..3).for_each(|i| self.stop(i));
        if std::thread::panicking() {
            eprintln!("{:#?}", self.log.lock().unwrap());
        }
    }
}

fn eventually<T, E: std::fmt::Display>(mut what: impl FnMut() -> Result<T, E>) -> T {
    let until = Instant::now() + 2 * BUSY;
    loop {
        match what() {
            Ok(value) => return value,
            Err(e) => assert!(Instant::now() < until, "{e}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn block(client: &mut Client, key: &KeyName) -> Result<(), Error> {
    client.encrypt(key, b"", &mut &[7; 16][..], 16, &mut Vec::new(), &mut |_| {})
}

fn timed(what: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    what();
    let lasted = begun.elapsed();
    assert!(lasted < BUSY, "{lasted:?}");
    lasted
}

fn p99(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[(all.len() * 99).div_ceil(100).max(1) - 1]
}

/// Check that requests take at most three times as long as without an attack, or half a second.
fn bounded(calm: Duration, attacked: Duration, what: &str) {
    println!("{what}: p99 {attacked:?}, without it {calm:?}");
    assert!(attacked <= (3 * calm).max(Duration::from_millis(500)), "{what}: {attacked:?} against {calm:?}");
}

/// Connections of strangers that say nothing, at each server.
fn idle(connections: usize, n: usize) {
    let _alone = alone();
    let harness = ServersHarness::new();
    let key = harness.key();
    let calm = (harness.blocks(&key, n), harness.comes(&key, n));
    let memory = resident();
    let dial = |i: usize| TcpStream::connect(harness.address(i % 3)).ok();
    let held: Vec<TcpStream> = (0..3 * connections).filter_map(dial).collect();
    assert_eq!(held.len(), 3 * connections);
    let comes = harness.comes(&key, n);
    let blocks = harness.blocks(&key, n);
    bounded_memory(memory, "idle connections");
    if n > 100 {
        bounded(calm.0, blocks, "idle connections");
        bounded(calm.1, comes, "idle connections, at the listener");
    }
}

/// Known clients that hold every connection there is, each so many.
fn known(each: usize, n: usize) {
    let _alone = alone();
    let harness = ServersHarness::new();
    let key = harness.key();
    let calm = harness.blocks(&key, n);
    let memory = resident();
    let mut held = Vec::new();
    for i in 0..MANY {
        held.extend((0..each).map(|_| eventually(|| harness.connect(&format!("c{i}")))));
        assert!(harness.connect(&format!("c{i}")).err().unwrap().retry);
        let expected = format!("client c{i} was turned away: too many connections are open");
        assert!(harness.logged(&expected), "{expected}");
    }
    assert_eq!(held.len(), MANY * each);
    // who has none gets one, and keeps it
    let attacked = harness.blocks(&key, n);
    harness.comes(&key, 3);
    if n > 100 {
        bounded(calm, attacked, "256 connections of known clients");
    }
    bounded_memory(memory, "connections of known clients");
    // of those that are held, all but a few are as they were
    let gone = held.iter_mut().filter_map(|client| client.key_list().err()).collect::<Vec<_>>();
    assert!(gone.len() <= 8 && gone.iter().all(|error| error.retry), "{gone:?}");
}

/// One client makes keys without end: another's texts and lists go through meanwhile and afterwards.
fn keys(made: usize, n: usize) {
    let _alone = alone();
    let harness = ServersHarness::new();
    let key = harness.key();
    let calm = harness.blocks(&key, n);
    let memory = resident();
    // alice's blocks beside what the greedy client does
    let beside = |greed: &(dyn Fn(&mut Client) + Sync), what: &str| {
        let (over, mut during) = (AtomicBool::new(false), Vec::new());
        std::thread::scope(|s| {
            s.spawn(|| {
                greed(&mut harness.connect("c0").unwrap());
                over.store(true, Ordering::SeqCst);
            });
            while !over.load(Ordering::SeqCst) {
                during.push(harness.blocks(&key, n));
            }
        });
        if n > 100 {
            bounded(calm, p99(during), what);
        }
    };
    let name = |i: usize| -> KeyName { format!("x{i:06}").parse().unwrap() };
    let makes = |greedy: &mut Client| {
        for i in 0..made {
            let new = greedy.new_key(name(i), KeyType::Aes128, false, vec![]);
            greedy.key_new(&new).unwrap();
        }
    };
    beside(&makes, "a client that makes keys");
    let uses = |greedy: &mut Client| {
        assert_eq!(greedy.key_list().unwrap().len(), made);
        (0..made.min(1000)).for_each(|i| block(greedy, &name(i)).unwrap());
    };
    beside(&uses, "a client that lists and uses its many keys");
    let listed = timed(|| assert_eq!(harness.connect("alice").unwrap().key_list().unwrap().len(), 1));
    bounded_memory(memory, "many keys");
    println!("beside {made} keys of another, one's own are listed in {listed:?}");
}

/// Each attack for a moment, and for long.
macro_rules! attacks {
    ($($short:ident $long:ident: $attack:ident, $little:expr, $much:expr;)*) => {
        $(
            #[test]
            fn $short() {
                in_own_process(stringify!($short), || $attack($little, 20));
            }

            #[test]
            #[ignore = "some minutes"]
            fn $long() {
                $attack($much, 1000);
            }
        )*
    };
}

attacks! {
    idle_connections_of_strangers_shut_nobody_out idle_connections_of_strangers_delay_nobody:
        idle, 500, 500;
    clients_that_hold_every_connection_shut_nobody_out clients_that_hold_every_connection_delay_nobody:
        known, 32, 32;
    many_keys_of_one_client_starve_nobody ten_thousand_keys_of_one_client_delay_nobody:
        keys, repetitions(50, 150), 10_000;
}
