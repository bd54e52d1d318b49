//! Hashes and MACs that two of the servers garble and the third evaluates.

use super::digest::{clear, hash_is_right, import_some, mac, settings, verify};
use super::harness::{BUSY, Midway, ServersHarness, eventually, flipped, import, text};
use crate::request::PIECE;
use crate::{ErrorKind, KeyType, RoundsChoice};
use divisi_fuzz::repetitions;
use divisi_symmetric::algorithm::Settings;
use std::collections::HashMap;
use std::io::Cursor;

/// What each server logs of what it made while nobody asked.
pub(super) const STOCKED: &str = "made ahead are in stock";
const GARBLED: &str = "hashes, MACs and modes of chained blocks run in constant rounds";

#[test]
fn digests_and_tags_are_those_of_the_standards() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    for (name, length) in
        [("sha256", 0), ("sha256", 55), ("sha512", repetitions(300, 700)), ("sha3-256", 40), ("shake128", 9)]
    {
        hash_is_right(&mut alice, &settings(name), &text(length));
    }
    assert!(harness.logged(GARBLED));
    let mut keys = HashMap::new();
    let tags = [
        (KeyType::HmacSha256, &[32, PIECE + 100][..]),
        (KeyType::Kmac128, &[10][..]),
        (KeyType::CmacAes128, &[33][..]),
        (KeyType::GmacAes128, &[20][..]),
    ];
    for (kind, length) in tags.into_iter().flat_map(|(kind, all)| all.iter().map(move |n| (kind, *n))) {
        let settings = settings(kind.name());
        let (name, key) = keys.entry(kind.name()).or_insert_with(|| import_some(&mut alice, kind)).clone();
        let message = text(length);
        let made = mac(&mut alice, &name, &settings, &message).unwrap();
        assert_eq!(*made.tag, clear(&settings, &key, made.nonce.unwrap_or_default(), &message), "{kind}");
        let mut verify = |tag: &[u8]| verify(&mut alice, &name, &settings, made.nonce, tag, &message);
        assert_eq!(verify(&made.tag).unwrap(), made.key, "{kind}");
        // of a message of several pieces the right tag alone by default: short ones have wrong tags, too
        if length < PIECE || repetitions(false, true) {
            assert_eq!(verify(&flipped(&made.tag, 0)).unwrap_err().kind, ErrorKind::Mismatch, "{kind}");
        }
    }
    harness.assert_unharmed();
}

/// While nobody asks for anything, the servers garble what the next request like the last will take.
#[test]
fn calls_are_garbled_while_nobody_asks() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    let settings = settings("sha256");
    for length in [5, 5, 5, 9, 5] {
        harness.log.lock().unwrap().clear();
        hash_is_right(&mut alice, &settings, &text(length));
        harness.await_logged(3, STOCKED);
    }
    harness.assert_unharmed();
}

/// Calls that are garbled for a key serve that key and its settings only: other keys and other settings come
/// in between, and keys are destroyed.
#[test]
fn calls_are_garbled_for_keys() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let mut alice = harness.connect("alice");
    let kmac = |text: &str| Settings { customization: text.as_bytes().to_vec(), ..settings("kmac128") };
    let uses = [
        (KeyType::HmacSha256, settings("hmac-sha256")),
        (KeyType::Kmac128, kmac("")),
        (KeyType::Kmac128, kmac("other")),
        (KeyType::CmacAes128, settings("cmac-aes128")),
        (KeyType::HmacSha256, Settings { output_bytes: 16, ..settings("hmac-sha256") }),
    ];
    let mut keys = HashMap::new();
    for lengths in [&[10, 10, 10, 16][..], &[10, 10]] {
        for (kind, settings) in &uses {
            let (name, key) =
                keys.entry(kind.name()).or_insert_with(|| import_some(&mut alice, *kind)).clone();
            for length in lengths {
                let (before, message) = (harness.count_logged(STOCKED), text(*length));
                let made = mac(&mut alice, &name, settings, &message).unwrap();
                assert_eq!(*made.tag, clear(settings, &key, [0; 12], &message), "{kind} {length}");
                harness.await_logged(before + 3, STOCKED);
            }
        }
    }
    // the key is destroyed and another one made, for which nothing of the first is used
    let (name, _) = keys.remove("hmac-sha256").unwrap();
    alice.key_destroy(&name).unwrap();
    assert!(harness.logged("is wiped from the memory"));
    let key: Vec<u8> = (100..132).collect();
    let name = import(&mut alice, "another", KeyType::HmacSha256, &key);
    for _ in 0..3 {
        let (before, settings) = (harness.count_logged(STOCKED), settings("hmac-sha256"));
        let made = mac(&mut alice, &name, &settings, b"0123456789").unwrap();
        assert_eq!(*made.tag, clear(&settings, &key, [0; 12], b"0123456789"));
        harness.await_logged(before + 3, STOCKED);
    }
    harness.assert_unharmed();
}

/// While a long message is under way its key is prepared again, with other shares; each tag is nevertheless
/// right.
#[test]
fn a_key_made_ready_anew_does_not_disturb_what_is_under_way() {
    let harness = ServersHarness::patient(|options| options.rounds = RoundsChoice::Constant);
    let (mut alice, mut other) = (harness.connect("alice"), harness.connect("alice"));
    let (name, key) = import_some(&mut alice, KeyType::CmacAes128);
    let full = settings("cmac-aes128");
    let half = Settings { output_bytes: 8, ..full.clone() };
    // it is read to its end when its first piece is done
    let (long, short) = (text(6 * PIECE + 100), text(100));
    let spring = || {
        for settings in [&half, &full, &full] {
            let made = mac(&mut other, &name, settings, &short).unwrap();
            assert_eq!(*made.tag, clear(settings, &key, [0; 12], &short));
        }
    };
    let mut input = Midway::new(&long[..], 6 * PIECE, spring);
    let made = alice.mac(&name, &full, &mut input, long.len() as u64, &mut |_| {}).unwrap();
    assert_eq!(*made.tag, clear(&full, &key, [0; 12], &long));
    assert!(input.has_happened() && !harness.logged("session ended"));
}

/// The leader of a round proposes how it runs, and the others follow: requests are served even if servers
/// propose different ways.
#[test]
fn servers_may_propose_different_things() {
    let mut harness = ServersHarness::patient(|_| {});
    harness.stop(1);
    harness.options.rounds = RoundsChoice::Constant;
    harness.start(1, None);
    let settings = settings("sha256");
    // the servers find together again
    let mut alice = eventually(4 * BUSY, || {
        let mut alice = harness.try_connect("alice")?;
        alice.hash(&settings, &mut Cursor::new(b""), 0, &mut |_| {}).map(|_| alice)
    });
    let ended = || harness.log.lock().unwrap().iter().filter(|line| line.contains("session ended")).count();
    let before = ended();
    for length in 0..12 {
        hash_is_right(&mut alice, &settings, &text(length));
    }
    assert_eq!(ended(), before);
}
