//! Connections that threads share and that stay open, and the watch over the servers.

use super::harness::{BUSY, ServersHarness, ahead, encrypt, eventually, fails, with_alice, with_key, world};
use crate::{Client, ClientPool, Error, ErrorKind, HealthWatch, KeyType};
use divisi_net::PartyId;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn pool(harness: &ServersHarness) -> ClientPool {
    ClientPool::new(harness.config.clone(), harness.identity("alice").clone(), world()).unwrap()
}

fn failed(retry: bool) -> Error {
    Error { retry, ..Error::new(ErrorKind::Unavailable, divisi_core::step!("x"), "not now") }
}

/// Each request for a key has a name of its own, all bits of which are drawn.
#[test]
fn requests_for_keys_have_names_of_their_own() {
    let (harness, alice) = with_alice();
    let pool = pool(&harness);
    let new = [
        |_: &ClientPool, alice: &Client| alice.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]),
        |pool: &ClientPool, _: &Client| pool.new_key("k".parse().unwrap(), KeyType::Aes128, false, vec![]),
    ];
    for new in new {
        let drawn = [(); 64].map(|()| u128::from_le_bytes(new(&pool, &alice).request));
        let (ones, all) = drawn.iter().fold((0, u128::MAX), |(some, all), drawn| (some | drawn, all & drawn));
        assert_eq!((ones, all), (u128::MAX, 0));
    }
}

/// Many threads use few connections, each of which serves one of them at a time.
#[test]
fn threads_share_few_connections() {
    let (harness, _, key) = with_key(&[]);
    let pool = pool(&harness).with_most(3).with_patience(4 * BUSY);
    let (now, most, fresh) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                for _ in 0..5 {
                    let work = pool.run(|client| {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        fresh.fetch_add(usize::from(client.requests() == 0), Ordering::SeqCst);
                        let file = encrypt(client, &key, b"", b"text");
                        now.fetch_sub(1, Ordering::SeqCst);
                        file
                    });
                    work.unwrap();
                }
            });
        }
    });
    assert!((1..=3).contains(&most.into_inner()) && (1..=3).contains(&fresh.into_inner()));
    // a panic takes no place away
    for _ in 0..4 {
        let panics = || pool.run(|_| -> Result<(), Error> { panic!("a request of a test") });
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
    }
    pool.run(|client| encrypt(client, &key, b"", b"text")).unwrap();
    harness.assert_unharmed();
}

/// Whoever comes when all connections are in use waits for one, and not for ever.
#[test]
fn a_pool_in_use_is_waited_for() {
    let (harness, _, key) = with_key(&[]);
    let short = Duration::from_millis(100);
    let pool = pool(&harness).with_most(1).with_patience(short);
    let error = pool.run(|_| Ok(fails(pool.run(|_| Ok(())), "all 1 connections"))).unwrap();
    assert_eq!((error.kind, error.retry), (ErrorKind::Unavailable, true));
    pool.run(|client| encrypt(client, &key, b"", b"text")).unwrap();
}

/// What may succeed later is tried again while there is time, and nothing else is.
#[test]
fn what_is_refused_for_now_is_tried_again() {
    let (harness, _) = with_alice();
    let pool = pool(&harness).with_patience(4 * BUSY);
    let mut calls = 0;
    let third = pool.run(|client| {
        calls += 1;
        if calls < 3 { Err(failed(true)) } else { client.key_list() }
    });
    assert!(third.unwrap().is_empty() && calls == 3);
    let mut calls = 0;
    let once = pool.run(|_| -> Result<(), Error> {
        calls += 1;
        Err(failed(false))
    });
    assert_eq!((once.unwrap_err(), calls), (failed(false), 1));
    let begun = Instant::now();
    let pool = pool.with_patience(Duration::from_millis(300));
    assert_eq!(pool.run(|_| -> Result<(), Error> { Err(failed(true)) }), Err(failed(true)));
    assert!((Duration::from_millis(100)..BUSY).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    // an identity that no server knows is refused at once
    let stranger = Arc::new(divisi_net::Identity::generate(&divisi_net::Machine));
    let strange = ClientPool::new(harness.config.clone(), stranger, world()).unwrap().with_patience(4 * BUSY);
    assert_eq!(strange.run(|client| client.key_list()).unwrap_err().kind, ErrorKind::Refused);
}

/// Connections that servers closed while nobody used them are made anew, and so are those that they are about
/// to close.
#[test]
fn connections_that_were_closed_are_made_anew() {
    let (mut harness, _, key) = with_key(&[]);
    let clock = Arc::new(Mutex::new(Duration::ZERO));
    let (config, alice) = (harness.config.clone(), harness.identity("alice").clone());
    let pool = ClientPool::new(config, alice, ahead(&clock)).unwrap().with_patience(4 * BUSY);
    // how many requests the connection had served before
    let used = || {
        pool.run(|client| {
            let before = client.requests();
            encrypt(client, &key, b"", b"text").map(|_| before)
        })
        .unwrap()
    };
    assert_eq!((used(), used()), (0, 1));
    *clock.lock().unwrap() += Duration::from_secs(200);
    assert_eq!(used(), 2);
    *clock.lock().unwrap() += Duration::from_secs(241);
    assert_eq!((used(), used()), (0, 1));
    harness.restart();
    used();
    assert!(used() > 0);
}

/// One closed connection of three, whichever it is, is enough for new ones.
#[test]
fn no_connection_is_used_without_the_two_others() {
    let (harness, _) = with_alice();
    let pool = pool(&harness);
    for party in PartyId::all(3) {
        pool.run(|client| client.key_list().map(|_| client.leave(party))).unwrap();
        assert_eq!(pool.run(|client| Ok(client.requests())), Ok(0), "{party}");
    }
}

/// Each server stops and starts while threads make requests: none is lost.
#[test]
fn no_request_is_lost_while_servers_restart_in_turn() {
    let (mut harness, alice, key) = with_key(&[]);
    drop(alice);
    let pool = pool(&harness).with_patience(4 * BUSY);
    let (over, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let until = Instant::now() + 12 * BUSY;
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                while over.load(Ordering::SeqCst) == 0 && Instant::now() < until {
                    pool.run(|client| encrypt(client, &key, b"", b"text")).unwrap();
                    done.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for i in 0..3 {
            harness.stop(i);
            harness.start(i, None);
            let before = done.load(Ordering::SeqCst);
            // those that waited, and one more of each thread
            let more = || done.load(Ordering::SeqCst) > before + 8;
            eventually(4 * BUSY, || if more() { Ok(()) } else { Err("requests are not done") });
        }
        over.store(1, Ordering::SeqCst);
    });
}

/// A key is made once, however often its request is sent.
#[test]
fn a_key_is_made_once() {
    let (harness, mut alice) = with_alice();
    let pool = pool(&harness);
    let new = pool.new_key("k".parse().unwrap(), KeyType::Aes256, false, vec![]);
    let key = pool.key_new(&new).unwrap();
    assert_eq!(pool.key_new(&new).unwrap(), key);
    assert_eq!(alice.key_list().unwrap().len(), 1);
    let other = pool.new_key("k".parse().unwrap(), KeyType::Aes256, false, vec![]);
    fails(pool.key_new(&other), "there is a key k already");
}

/// Who watches the servers learns in time which one is missing, and that it is back.
#[test]
fn a_missing_server_is_seen_and_so_is_its_return() {
    let mut harness = ServersHarness::new();
    let health = HealthWatch::start(&harness.config, harness.identity("alice"), &world()).unwrap();
    let serving = |health: &HealthWatch| {
        let report = eventually(4 * BUSY, || {
            let report = health.report();
            report.trouble().map_or(Ok(report), Err)
        });
        assert!(report.is_serving());
    };
    serving(&health);
    for i in 0..3 {
        let party = PartyId::from_index(i).unwrap();
        harness.stop(i);
        let begun = Instant::now();
        let named = eventually(BUSY, || match health.report() {
            report if report.missing() == [party] && report.of(party).is_some_and(|known| known.is_err()) => {
                Ok(report.trouble().unwrap())
            }
            report => Err(format!("{report:?}")),
        });
        assert!(named.contains(&party.to_string()), "{named}");
        assert!(begun.elapsed() < BUSY);
        harness.start(i, None);
        serving(&health);
    }
}
