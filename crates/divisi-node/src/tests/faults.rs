//! Servers that stop, come back, or were never there.

use super::harness::{BUSY, Midway, ServersHarness, TIMEOUT, decrypt, encrypt, eventually, text, world};
use crate::{Admit, CHUNK, Client, ErrorKind, Grant, Server, ServerOptions, What, Who};
use divisi_core::Refusal;
use divisi_net::{Config, Identity, Machine, PartyId};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Each server in turn dies while a file is under way: the client is told in time, and when it is back all
/// serve again.
#[test]
fn a_server_that_dies_in_the_middle_of_a_request() {
    let mut harness = ServersHarness::patient(|options| options.ending = Duration::ZERO);
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    for victim in 0..3 {
        let mut when = None;
        let mut input = Midway::new(io::repeat(0), CHUNK + 1, || {
            harness.signal(victim);
            when = Some(Instant::now());
        });
        let length = 40 * CHUNK as u64;
        let error = alice.encrypt(&key, b"", &mut input, length, &mut io::sink(), &mut |_| {}).unwrap_err();
        assert!(when.unwrap().elapsed() < TIMEOUT + BUSY, "{error}");
        assert_eq!(error.kind, ErrorKind::Abort, "{error:?}");
        assert!(!error.step.is_empty() && !error.message.is_empty());
        harness.stop(victim);
        let refused = harness.try_connect("alice").err().unwrap();
        assert_eq!((refused.kind, refused.retry), (ErrorKind::Unavailable, true));
        assert_eq!(refused.peer.map(|p| p.index()), Some(victim));
        harness.start(victim, None);
        alice = harness.served_again("alice");
        eventually(4 * BUSY, || encrypt(&mut alice, &key, b"", b"again"));
    }
    // no line of any log holds a part of a key's file
    let file = std::fs::read(harness.key_file(0, "k")).unwrap();
    let components = &file[file.len() - 32 - 33..file.len() - 32];
    for line in harness.log.lock().unwrap().iter() {
        assert!(!line.contains(&hex::encode(&components[17..])), "{line}");
    }
}

/// A server that is told to stop finishes what is under way, and tells who comes then to try again.
#[test]
fn a_server_that_stops_ends_what_is_under_way() {
    // on a busy machine the rest takes a server longer than the usual ten seconds
    let mut harness = ServersHarness::patient(|options| options.ending = Duration::from_secs(60));
    let mut alice = harness.connect("alice");
    let mut alicia = harness.connect("alicia");
    let key = harness.key(&mut alice, "k", false, &["alicia"]);
    let mut late = None;
    let mut input = Midway::new(io::repeat(0), 3 * CHUNK, || {
        harness.signal(1);
        // until the server has seen it, a request is served
        late = Some(loop {
            if let Err(e) = encrypt(&mut alicia, &key, b"", b"late") {
                break e;
            }
        });
    });
    let length = 6 * CHUNK as u64;
    alice.encrypt(&key, b"", &mut input, length, &mut io::sink(), &mut |_| {}).unwrap();
    let late = late.unwrap();
    assert!(late.retry && late.message.contains("party 2 is stopping: try again"), "{late}");
    assert!(!harness.logged("misuse"));
    harness.stop(1);
}

/// A leader that waits for requests, of which there are none, is woken when it is told to stop, and ends its
/// round then: the servers do not wait until it would have shown that it is alive.
#[test]
fn a_leader_that_waits_stops_at_once() {
    // the longest that the servers' time limit allows
    let mut harness = ServersHarness::patient(|options| options.beat = Some(BUSY));
    // by now the leader waits
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    harness.stop_all();
    assert!(begun.elapsed() < BUSY / 2, "{:?}", begun.elapsed());
}

/// A policy that admits everything; once it is armed, its next call hangs until it is released.
struct Hangs {
    armed: AtomicBool,
    released: AtomicBool,
}

impl Admit for Hangs {
    fn admit(&self, _: &Who, _: &What<'_>) -> Result<Grant, Refusal> {
        if self.armed.swap(false, Ordering::SeqCst) {
            let begun = Instant::now();
            while !self.released.load(Ordering::SeqCst) && begun.elapsed() < 4 * (TIMEOUT + BUSY) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(Grant::given())
    }
}

/// A server that is there and does nothing: the others abort in time and name it, and continue when it runs
/// again.
#[test]
fn a_server_that_hangs_is_named_in_time() {
    let hangs = Arc::new(Hangs { armed: AtomicBool::new(false), released: AtomicBool::new(false) });
    let harness = ServersHarness::with(|options| options.admit = hangs.clone());
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    hangs.armed.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    let error = encrypt(&mut alice, &key, b"", b"x").unwrap_err();
    hangs.released.store(true, Ordering::SeqCst);
    assert!(begun.elapsed() < TIMEOUT + BUSY, "{:?}", begun.elapsed());
    assert_eq!((error.kind, error.retry), (ErrorKind::Abort, true), "{error:?}");
    assert!(error.peer.is_some() && error.message.contains("sent nothing for"), "{error}");
    eventually(4 * BUSY, || encrypt(&mut harness.try_connect("alice")?, &key, b"", b"x"));
}

/// A request while a server is away: the others say that they have not joined.
#[test]
fn a_server_that_is_not_there_is_named() {
    let mut harness = ServersHarness::new();
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    harness.stop(1);
    let begun = Instant::now();
    let error = encrypt(&mut alice, &key, b"", b"x").unwrap_err();
    assert!(error.retry, "{error:?}");
    assert!(begun.elapsed() < 2 * TIMEOUT + BUSY);
    harness.start(1, None);
    let mut alice = harness.served_again("alice");
    eventually(4 * BUSY, || encrypt(&mut alice, &key, b"", b"x"));
}

/// Clients at the same time are served one after the other, each rightly.
#[test]
fn many_clients_at_once() {
    let harness = ServersHarness::patient(|_| {});
    let key = harness.key(&mut harness.connect("alice"), "k", false, &["alicia", "carol"]);
    std::thread::scope(|s| {
        for (i, name) in ["alice", "alicia", "carol", "alice", "alicia"].into_iter().enumerate() {
            let (harness, key) = (&harness, &key);
            s.spawn(move || {
                let mut client = harness.connect(name);
                for round in 0..3 {
                    let text = text(1000 * i + round);
                    let file = encrypt(&mut client, key, name.as_bytes(), &text).unwrap();
                    let (back, error) = decrypt(&mut client, key, name.as_bytes(), &file);
                    assert!(error.is_none(), "{error:?}");
                    assert_eq!(back, text);
                }
            });
        }
    });
}

/// What is wrong with how a server is started is one sentence.
#[test]
fn a_server_that_cannot_run_says_why() {
    let mut harness = ServersHarness::new();
    // as the first party, with this one's identity
    let why = |harness: &ServersHarness, i: usize, data: &Path, listen: Option<&str>| {
        let options = ServerOptions { listen: listen.map(str::to_owned), ..ServerOptions::default() };
        let (config, identity) = (harness.config.clone(), harness.party_identity(i));
        let opened = Server::open(config, PartyId::P1, identity, data, options, world());
        opened.err().unwrap().to_string()
    };
    let any = Some("127.0.0.1:0");
    let elsewhere = tempfile::tempdir().unwrap();
    fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let used = why(&harness, 0, &harness.data(0), any);
    assert!(used.contains("another process uses the data directory"), "{used}");
    // the port comes first: nothing is made on the disk
    let none = elsewhere.path().join("none");
    let taken = why(&harness, 0, &none, None);
    assert!(taken.contains("is taken") && !none.exists(), "{taken}");
    let open = tempfile::tempdir().unwrap();
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o750)).unwrap();
    let refused = why(&harness, 0, open.path(), any);
    assert!(refused.contains("is open to others (mode 0750): run `chmod 700"), "{refused}");
    harness.stop(0);
    // the port is free again in a moment
    eventually(Duration::from_secs(5), || {
        let other = why(&harness, 1, elsewhere.path(), None);
        if other.contains("that of party 2") { Ok(()) } else { Err(other) }
    });

    let two = Config::create(2, &[], &["alice".into()], &Machine).unwrap();
    let opened = Server::open(
        two.config.clone(),
        PartyId::P1,
        Arc::new(Identity::generate(&Machine)),
        elsewhere.path(),
        ServerOptions::default(),
        world(),
    );
    assert!(opened.err().unwrap().to_string().contains("three servers, not 2"));
    let error = Client::connect(&two.config, &two.clients[0], world()).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Usage);
}

/// A leader that has nothing to do says so, which keeps the session alive.
#[test]
fn a_session_without_requests_lives_on() {
    let harness = ServersHarness::new();
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &[]);
    std::thread::sleep(TIMEOUT + Duration::from_secs(1));
    encrypt(&mut alice, &key, b"", b"x").unwrap();
    harness.assert_unharmed();
}
