//! A connection that sends and receives at once.

use crate::parties::*;
use divisi_net::{Connection, ConnectionError, Duplex, Machine, WaitOutcome, World};
use std::time::Duration;

const LONGEST: usize = 1 << 20;

/// A client's end of a connection, and the server's end, which can receive and send at the same time.
fn ends(timeout: Duration) -> (Connection, Duplex, divisi_net::Bell, impl Sized) {
    let site = site(3, &["alice"]);
    let listener = site.listener(0);
    let dialled = std::thread::scope(|s| {
        let dial = s.spawn(|| site.dial(&site.clients[0], Duration::from_secs(20)));
        let mut accepted = listener.next_client(Duration::from_secs(20)).unwrap();
        accepted.set_timeout(timeout);
        (dial.join().unwrap().unwrap(), accepted)
    });
    let (duplex, bell) = Duplex::new(dialled.1).unwrap();
    (dialled.0, duplex, bell, (site, listener))
}

/// Both ends write far more than the buffers between them hold before either reads: neither waits for the
/// other.
#[test]
fn whoever_writes_first_is_read_all_the_same() {
    let (mut client, mut duplex, _bell, _kept) = ends(Duration::from_secs(20));
    let (n, bytes) = (200, 100_000);
    std::thread::scope(|s| {
        s.spawn(|| {
            (0..n).for_each(|i| client.send(&vec![i as u8; bytes]).unwrap());
            (0..n).for_each(|i| assert_eq!(client.recv(LONGEST).unwrap(), vec![!(i as u8); bytes]));
        });
        (0..n).for_each(|i| duplex.queue(&vec![!(i as u8); bytes]).unwrap());
        let mut received = 0;
        while received < n || !duplex.is_sent() {
            if let WaitOutcome::Message(body) =
                duplex.wait(Some(LONGEST), Machine.now() + Duration::from_millis(50)).unwrap()
            {
                assert_eq!(*body, vec![received as u8; bytes]);
                received += 1;
            }
        }
    });
}

/// A bell ends the current wait, or the next one if there is none; a message that comes meanwhile is not
/// lost.
#[test]
fn a_bell_wakes_whoever_waits() {
    let (mut client, mut duplex, bell, _kept) = ends(Duration::from_secs(20));
    let long = || Machine.now() + Duration::from_secs(20);
    (0..3).for_each(|_| bell.ring());
    assert!(matches!(duplex.wait(Some(LONGEST), long()).unwrap(), WaitOutcome::Woken));
    let other = bell.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        other.ring();
    });
    assert!(matches!(duplex.wait(Some(LONGEST), long()).unwrap(), WaitOutcome::Woken));
    client.send(b"text").unwrap();
    // a client that is not listened to is not read
    let soon = Machine.now() + Duration::from_millis(50);
    assert!(matches!(duplex.wait(None, soon).unwrap(), WaitOutcome::Nothing));
    assert!(
        matches!(duplex.wait(Some(LONGEST), long()).unwrap(), WaitOutcome::Message(body) if *body == *b"text")
    );
    client.close();
    assert!(matches!(duplex.wait(Some(LONGEST), long()), Err(ConnectionError::Closed(_))));
}

/// A peer that takes nothing, or begins a message and does not end it, is given up after the time limit; one
/// that says nothing at all, or nothing more, is not.
#[test]
fn a_peer_that_stops_half_way_is_given_up() {
    let limit = Duration::from_millis(300);
    let wait = |duplex: &mut Duplex| duplex.wait(Some(LONGEST), Machine.now() + Duration::from_secs(20));
    let (mut client, mut duplex, _bell, _kept) = ends(limit);
    client.send(b"text").unwrap();
    assert!(matches!(wait(&mut duplex).unwrap(), WaitOutcome::Message(body) if *body == *b"text"));
    let silent = duplex.wait(Some(LONGEST), Machine.now() + 2 * limit).unwrap();
    assert!(matches!(silent, WaitOutcome::Nothing));
    let too_long = duplex.queue(&vec![0; (1 << 30) + 1]);
    assert!(matches!(too_long, Err(ConnectionError::TooLong { max, .. }) if max == 1 << 30));
    // whoever only sends returns when everything is sent
    duplex.queue(b"text").unwrap();
    let sent = duplex.wait(None, Machine.now() + Duration::from_secs(60)).unwrap();
    assert!(matches!(sent, WaitOutcome::Nothing) && duplex.is_sent() && client.recv(4).unwrap() == *b"text");
    (0..100).for_each(|_| duplex.queue(&vec![0; LONGEST]).unwrap());
    assert!(matches!(wait(&mut duplex), Err(ConnectionError::Timeout(..))));

    let (mut client, mut duplex, _bell, _kept) = ends(limit);
    // this send does not end, because nobody reads the end of the message
    std::thread::spawn(move || client.send(&vec![0; LONGEST + 1]));
    assert!(matches!(wait(&mut duplex), Err(ConnectionError::TooLong { len, .. }) if len == LONGEST + 1));
}

/// A peer that takes what is sent, but slowly, has the time limit anew with all that it takes.
#[test]
fn a_slow_peer_is_not_given_up() {
    let (mut client, mut duplex, _bell, _kept) = ends(Duration::from_secs(1));
    let messages = 60;
    (0..messages).for_each(|_| duplex.queue(&vec![0; LONGEST]).unwrap());
    let begun = Machine.now();
    std::thread::scope(|s| {
        s.spawn(|| {
            for _ in 0..messages {
                client.recv(LONGEST).unwrap();
                std::thread::sleep(Duration::from_millis(25));
            }
        });
        while !duplex.is_sent() {
            duplex.wait(None, Machine.now() + Duration::from_secs(20)).unwrap();
        }
    });
    assert!(begun.elapsed() > Duration::from_millis(1200));
}

/// A client that is gone is noticed at once also while nothing is received from it: otherwise its socket
/// would wake the waiting thread again and again.
#[test]
fn who_is_gone_is_noticed_by_who_does_not_listen() {
    let (client, mut duplex, _bell, _kept) = ends(Duration::from_secs(20));
    duplex.queue(b"never read").unwrap();
    let soon = Machine.now() + Duration::from_millis(50);
    assert!(matches!(duplex.wait(None, soon).unwrap(), WaitOutcome::Nothing));
    assert!(duplex.is_sent());
    // because of the bytes that it has not read, its end is a reset
    drop(client);
    let waited = duplex.wait(None, Machine.now() + Duration::from_secs(10));
    assert!(matches!(waited, Err(ConnectionError::Closed(_))));
    // nor does anything go out any more
    duplex.queue(b"never sent").unwrap();
    let waited = duplex.wait(None, Machine.now() + Duration::from_secs(10));
    assert!(matches!(waited, Err(ConnectionError::Closed(_))));
}
