//! Many clients at once, some of them unkind: whoever behaves is served, and what one may have is bounded.

use super::harness::{BUSY, Midway, ServersHarness, encrypt, eventually, fails, text, with_key};
use crate::{CHUNK, Client, ErrorKind, KeyName, KeyType, Limits};
use divisi_fuzz::repetitions;
use divisi_net::PartyId;
use divisi_symmetric::algorithm::Settings;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn alice_with_key(harness: &ServersHarness) -> (Client, KeyName) {
    let mut alice = harness.connect("alice");
    let key = harness.key(&mut alice, "k", false, &["alicia", "carol"]);
    (alice, key)
}

/// Does `honest` while others do `unkind` again and again, from this many connections of alicia's.
fn beside(
    harness: &ServersHarness,
    connections: usize,
    unkind: impl Fn(&mut Client) + Sync,
    honest: impl FnOnce(),
) {
    let over = AtomicBool::new(false);
    std::thread::scope(|s| {
        for _ in 0..connections {
            s.spawn(|| {
                let mut alicia = harness.connect("alicia");
                while !over.load(Ordering::SeqCst) {
                    unkind(&mut alicia);
                }
            });
        }
        honest();
        over.store(true, Ordering::SeqCst);
    });
}

/// Requests without end by one client, refused ones and good ones, long ones and short ones: another's go
/// through among them.
#[test]
fn one_client_with_many_requests_starves_nobody() {
    let (harness, mut alice, key) = with_key(&["alicia", "carol"]);
    let absent: KeyName = "absent".parse().unwrap();
    let hash = Settings::new("sha3-256".parse().unwrap());
    let work = |alice: &mut Client| {
        for round in 0..repetitions(3, 5) {
            encrypt(alice, &key, b"", b"short").unwrap();
            encrypt(alice, &key, &[0; 20_000], b"long").unwrap();
            assert_eq!(alice.key_list().unwrap().len(), 1, "{round}");
        }
    };
    beside(&harness, 6, |alicia| drop(alicia.key_export(&absent).unwrap_err()), || work(&mut alice));
    beside(&harness, 6, |alicia| drop(encrypt(alicia, &key, b"", &text(3000)).unwrap()), || work(&mut alice));
    let hashes = |alicia: &mut Client| drop(alicia.hash(&hash, &mut &b"x"[..], 1, &mut |_| {}).unwrap());
    beside(&harness, 3, hashes, || work(&mut alice));
    harness.assert_unharmed();
}

/// A client has as many idle connections as it may have: other clients are served, and its next connection is
/// told to try again.
#[test]
fn idle_connections_are_bounded_by_client() {
    let (harness, mut alice, key) = with_key(&["alicia", "carol"]);
    let _idle: Vec<Client> = (0..32).map(|_| harness.connect("alicia")).collect();
    assert!(fails(harness.try_connect("alicia"), "busy with other connections").retry);
    encrypt(&mut alice, &key, b"", b"text").unwrap();
    encrypt(&mut harness.connect("carol"), &key, b"", b"text").unwrap();
}

/// What exceeds a limit is refused with a sentence, and nothing else is.
#[test]
fn limits_are_those_of_the_client() {
    let limits =
        Limits { keys: 2, message_bytes: 10, text_bytes: 1000, bytes_an_hour: 3000, ..Limits::default() };
    let harness = ServersHarness::patient(|options| options.limits = limits.clone());
    let (mut alice, key) = alice_with_key(&harness);
    let settings = Settings::new("sha256".parse().unwrap());
    let hash =
        |alice: &mut Client, n: u64| alice.hash(&settings, &mut &[0; 20][..], n, &mut |_| {}).map(drop);
    fails(hash(&mut alice, 11), "accepts at most 10");
    let mut alice = harness.connect("alice");
    hash(&mut alice, 10).unwrap();
    fails(encrypt(&mut alice, &key, b"", &text(1001)), "accepts at most 1000");
    let mut alice = harness.connect("alice");
    for _ in 0..2 {
        encrypt(&mut alice, &key, b"", &text(1000)).unwrap();
    }
    let full = encrypt(&mut alice, &key, b"", &text(1000));
    let error = fails(full, "2010 of its 3000 bytes within the hour");
    assert_eq!((error.kind, error.retry), (ErrorKind::Unavailable, true));
    // a name is counted once, however often a key is made under it
    let mut alice = harness.connect("alice");
    harness.key(&mut alice, "k2", false, &[]);
    let third = alice.new_key("k3".parse().unwrap(), KeyType::Aes128, false, vec![]);
    fails(alice.key_new(&third), "keeps at most 2");
    alice.key_destroy(&"k2".parse().unwrap()).unwrap();
    fails(alice.key_new(&third), "keeps at most 2");
    harness.key(&mut alice, "k2", false, &[]);
    // another client has limits of its own
    let mut alicia = harness.connect("alicia");
    encrypt(&mut alicia, &key, b"", &text(1000)).unwrap();
    harness.key(&mut alicia, "b", false, &[]);
}

/// A key that is destroyed while a file is encrypted with it encrypts no more of it.
#[test]
fn a_key_that_is_destroyed_ends_what_is_under_way() {
    let (harness, mut alice, key) = with_key(&["alicia", "carol"]);
    let mut alicia = harness.connect("alicia");
    let mut input = Midway::new(io::repeat(0), 8 * CHUNK, || alice.key_destroy(&key).unwrap());
    let length = 40 * CHUNK as u64;
    fails(
        alicia.encrypt(&key, b"", &mut input, length, &mut io::sink(), &mut |_| {}),
        "key k was destroyed meanwhile",
    );
    fails(encrypt(&mut harness.connect("alicia"), &key, b"", b"text"), "destroyed");
}

/// When a server has no more time to end what is under way, it says so, and does not merely hang up.
#[test]
fn whoever_is_cut_off_by_a_stop_is_told() {
    let mut harness = ServersHarness::patient(|options| options.ending = Duration::ZERO);
    let (mut alice, key) = alice_with_key(&harness);
    let mut input = Midway::new(io::repeat(0), 8 * CHUNK, || harness.signal(2));
    let length = 400 * CHUNK as u64;
    let error = alice.encrypt(&key, b"", &mut input, length, &mut io::sink(), &mut |_| {}).unwrap_err();
    assert!(error.retry, "{error}");
    harness.stop(2);
    harness.start(2, None);
    let mut alice = harness.served_again("alice");
    eventually(4 * BUSY, || encrypt(&mut alice, &key, b"", b"again"));
}

/// A server that never calls one client when it leads cannot starve it: the two others call it, and their
/// logs say whom the first passes over.
#[test]
fn a_leader_that_passes_a_client_over_starves_nobody() {
    let harness = ServersHarness::patient(|options| options.passes_over = Some((PartyId::P1, "alicia")));
    let (mut alice, key) = alice_with_key(&harness);
    let mut alicia = harness.connect("alicia");
    let over = AtomicBool::new(false);
    std::thread::scope(|s| {
        // with another's requests between its own, and without
        s.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                encrypt(&mut alice, &key, b"", b"hers").unwrap();
            }
        });
        (0..repetitions(20, 50)).for_each(|_| drop(encrypt(&mut alicia, &key, b"", b"his").unwrap()));
        over.store(true, Ordering::SeqCst);
    });
    encrypt(&mut alicia, &key, &[0; 20_000], &text(3 * CHUNK)).unwrap();
    assert_eq!(alicia.key_list().unwrap().len(), 1);
    let until = std::time::Instant::now() + 2 * BUSY;
    while !harness.logged("party 1 has passed over client alicia in 32 rounds") {
        assert!(std::time::Instant::now() < until, "{:?}", harness.log.lock().unwrap());
        encrypt(&mut alicia, &key, b"", b"his").unwrap();
    }
    assert!(!harness.logged("passed over client alice") && !harness.logged("party 2 has passed over"));
    harness.assert_unharmed();
}
