//! Hashes and MACs that two of the servers garble and the third evaluates.

use super::digest::{clear, import, mac, settings};
use super::house::{BUSY, House, eventually, text, world};
use crate::request::PIECE;
use crate::{Client, ErrorKind, KeyType, RoundsChoice};
use std::collections::HashMap;
use std::io::Cursor;
use std::time::Duration;

const GARBLED: &str = "hashes and MACs run in constant rounds";

#[test]
fn digests_and_tags_are_those_of_the_standards() {
    let house = House::with(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = house.connect("alice");
    for (name, length) in [("sha256", 0), ("sha256", 55), ("sha512", 700), ("sha3-256", 40), ("shake128", 9)]
    {
        let settings = settings(name);
        let message = text(length);
        let digest = alice.hash(&settings, &mut Cursor::new(&message), length as u64, &mut |_| {}).unwrap();
        assert_eq!(*digest, clear(&settings, &[], [0; 12], &message), "{name} {length}");
    }
    assert!(house.logged(GARBLED));
    let mut keys = HashMap::new();
    let tags = [
        (KeyType::HmacSha256, &[32, PIECE + 100][..]),
        (KeyType::Kmac128, &[10][..]),
        (KeyType::CmacAes128, &[33][..]),
        (KeyType::GmacAes128, &[20][..]),
    ];
    for (kind, length) in tags.into_iter().flat_map(|(kind, all)| all.iter().map(move |n| (kind, *n))) {
        let settings = settings(kind.name());
        let (name, key) = keys.entry(kind.name()).or_insert_with(|| import(&mut alice, kind)).clone();
        let message = text(length);
        let made = mac(&mut alice, &name, &settings, &message).unwrap();
        assert_eq!(*made.tag, clear(&settings, &key, made.nonce.unwrap_or_default(), &message), "{kind}");
        let mut verify = |tag: &[u8]| {
            let message = &mut Cursor::new(&message);
            alice.mac_verify(&name, &settings, made.nonce, tag, message, length as u64, &mut |_| {})
        };
        assert_eq!(verify(&made.tag).unwrap(), made.key, "{kind}");
        let mut wrong = made.tag.to_vec();
        wrong[0] ^= 1;
        assert_eq!(verify(&wrong).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
    }
    assert!(!house.logged("session ended"));
}

/// While nobody asks for anything, the servers garble what the next request like the last will take.
#[test]
fn calls_are_garbled_while_nobody_asks() {
    let house = House::with(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = house.connect("alice");
    let settings = settings("sha256");
    for length in [5, 5, 5, 9, 5] {
        house.log.lock().unwrap().clear();
        let message = text(length);
        let digest = alice.hash(&settings, &mut Cursor::new(&message), length as u64, &mut |_| {}).unwrap();
        assert_eq!(*digest, clear(&settings, &[], [0; 12], &message), "{length}");
        eventually(Duration::from_secs(10), || {
            let log = house.log.lock().unwrap();
            let all = log.iter().filter(|line| line.contains("made ahead are in stock")).count();
            if all >= 3 { Ok(()) } else { Err("nothing is in stock") }
        });
    }
    assert!(!house.logged("session ended"));
}

/// Whoever leads a round proposes how it runs, and all go along: servers that propose different things serve
/// the same requests.
#[test]
fn servers_may_propose_different_things() {
    let mut house = House::new();
    house.stop(1);
    house.options.rounds = RoundsChoice::Constant;
    house.start(1, None);
    let settings = settings("sha256");
    // the servers find together again
    let mut alice = eventually(4 * BUSY, || {
        let mut alice = Client::connect(&house.config, house.identity("alice"), world())?;
        alice.hash(&settings, &mut Cursor::new(b""), 0, &mut |_| {}).map(|_| alice)
    });
    let ended = || house.log.lock().unwrap().iter().filter(|line| line.contains("session ended")).count();
    let before = ended();
    for length in 0..12 {
        let message = text(length);
        let digest = alice.hash(&settings, &mut Cursor::new(&message), length as u64, &mut |_| {}).unwrap();
        assert_eq!(*digest, clear(&settings, &[], [0; 12], &message), "{length}");
    }
    assert_eq!(ended(), before);
}
